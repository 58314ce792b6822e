/* A pane as it leaves the engine, and where it goes. The engine knows no encoding: it hands each pane, as a struct
 * whose pointers live for that call only, to a sink. Lua's part of a value (folds) is not in it. */
#ifndef LN_WINDOW_PANE_H
#define LN_WINDOW_PANE_H

#include "base/buf.h"
#include "lunette.h"

struct ln_trace_event;

enum ln_timing { LN_EARLY = 0, LN_ON_TIME, LN_LATE };

/* How the engine shows times and names its values: what all panes of a pipeline have in common. */
typedef struct ln_pane_shape {
    int unit;             /* enum ln_unit: bounds leave in it */
    const char *pipeline; /* NULL where the pipeline's name is not shown */
    size_t pipeline_len;
    const ln_aggregate *aggregate; /* names */
    uint32_t aggregates;
    uint32_t *fold_at; /* of a staged pane: where in `into` the null of each fold stands, written by stage */
} ln_pane_shape;

typedef struct ln_pane {
    const uint8_t *key; /* canonical msgpack */
    uint32_t key_len;
    uint32_t index;
    int64_t start_us, end_us; /* LN_PAST and LN_FUTURE leave as null */
    uint8_t timing;           /* enum ln_timing */
    uint8_t final;
    uint8_t retract;
    uint8_t approx; /* an exact distinct has become an estimate */
    uint8_t cut;    /* a collect has left values out */
    uint32_t absorbed_count;
    const int64_t *absorbed_us; /* starts, rising */
    const ln_value *value;      /* one for each aggregate; that of a fold is missing, and leaves as null */
} ln_pane;

/* A copy with its values (not its absorbed starts) in one block of memory; the key is still borrowed. NULL where memory
 * is short. */
ln_pane *ln_pane_copy(ln_mem *mem, const ln_pane *pane, uint32_t values);
void ln_pane_free(ln_mem *mem, ln_pane *pane);

/* `staged` panes are for the driver, which finishes them; the others are for the output. Each function returns LN_OK,
 * or why nothing more can be taken. */
struct ln_sink {
    void *ctx;
    int (*pane)(void *ctx, const ln_pane_shape *shape, const ln_pane *pane);
    /* The same as a msgpack map into `into`, whatever the output's format, and the places of its folds. */
    int (*stage)(void *ctx, const ln_pane_shape *shape, const ln_pane *pane, ln_buf *into);
    int (*reject)(void *ctx, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                  const char *message, size_t message_len);
    /* Bytes that wait to be taken: the engine pauses between two firings when there are many. */
    size_t (*waiting)(void *ctx);
    /* What happens inside of an engine that is traced; NULL: nobody will trace one. */
    int (*trace)(void *ctx, const ln_pane_shape *shape, const struct ln_trace_event *event);
};

#endif
