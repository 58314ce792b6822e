/* What happens inside of an engine, told step by step to whoever traces it. Where nobody does, e->tracing is NULL and
 * nothing here is called. Pointers of an event live for that call only. */
#ifndef LN_WINDOW_TRACE_H
#define LN_WINDOW_TRACE_H

#include "window/pane.h"

enum ln_trace_kind {
    LN_TRACE_BEGIN = 0, /* a record meets its windows: what is told up to its LN_TRACE_RECORD belongs behind that */
    LN_TRACE_RECORD,    /* a record's fate */
    LN_TRACE_JOINED,    /* a record that waited has met its windows */
    LN_TRACE_WATERMARK, /* W has moved, or another source holds it */
    LN_TRACE_IDLE,      /* a source is silent for so long that it no longer holds W */
    LN_TRACE_GONE,      /* a source is gone for good */
    LN_TRACE_OPENED,
    LN_TRACE_MERGED, /* the window `from` is now part of this one */
    LN_TRACE_COMPLETED,
    LN_TRACE_PANE,
    LN_TRACE_EXPIRED,
    LN_TRACE_FINISH, /* the input has ended: W becomes plus infinity */
    LN_TRACE_END,    /* nothing more is told */
    LN_TRACE_KINDS
};

enum ln_trace_fate { LN_FATE_TAKEN = 0, LN_FATE_WAITING, LN_FATE_FILTERED, LN_FATE_REJECTED };
enum ln_trace_cause { LN_CAUSE_NONE = 0, LN_CAUSE_RECORD, LN_CAUSE_CLOCK, LN_CAUSE_WATERMARK };

typedef struct ln_trace_window {
    int64_t start_us, end_us;
    int64_t over_us; /* of one that refused a record as late: a lateness above this would have kept it */
} ln_trace_window;

typedef struct ln_trace_source {
    const uint8_t *name;
    uint32_t len;
    int64_t promise_us, heard_us;
    int active;
} ln_trace_source;

typedef struct ln_trace_event {
    uint8_t kind;     /* enum ln_trace_kind */
    uint8_t fate;     /* of a record: enum ln_trace_fate */
    uint8_t cause;    /* of a pane: enum ln_trace_cause */
    uint8_t empty;    /* opened without a record, to fill the grid */
    int8_t reason;    /* of a record that was rejected: enum ln_reason */
    uint64_t record;  /* the number, from 1, of the record that was being worked on; 0: none was */
    int64_t clock_us; /* LN_PAST where there is none yet */
    int64_t watermark_us;
    int64_t time_us;    /* of a record; LN_PAST where it has none */
    const uint8_t *key; /* canonical msgpack; NULL where there is none */
    uint32_t key_len;
    uint32_t source_len;
    const uint8_t *source; /* canonical msgpack, or a stream's number as uint64_t; NULL where there is none */
    int streams;           /* sources are streams */
    int64_t start_us, end_us;
    int64_t from_start_us, from_end_us;
    const ln_trace_window *taken, *refused; /* windows of a record */
    uint32_t taken_count, refused_count;
    const char *message; /* of a reject; NULL where there is none */
    size_t message_len;
    const ln_pane *pane;
    const ln_stats *stats; /* at the end */
    const ln_trace_source *sources;
    uint32_t sources_count; /* of those told */
    uint64_t sources_known; /* of all */
} ln_trace_event;

#endif
