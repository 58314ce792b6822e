/* The rows of one batch as a pipeline sees them: each row's state, time, clock, the watermark by which it is judged and
 * the one it leaves behind, and the columns that the driver computes. Worked out before anything is grouped. */
#ifndef LN_WINDOW_FRAME_H
#define LN_WINDOW_FRAME_H

#include "base/arena.h"
#include "base/buf.h"
#include "lunette.h"
#include "window/watermark.h"

/* The message of a row's script error. */
typedef struct ln_note {
    const char *text;
    size_t len;
} ln_note;

typedef struct ln_bounds {
    uint32_t row;
    int64_t start_us, end_us;
} ln_bounds;

/* Of each row, where the engine is traced: what the watermark itself, which runs ahead, no longer knows. */
typedef struct ln_row_sources {
    const ln_source *own;            /* NULL where the row moves no time */
    const ln_source *before, *after; /* who held W as the row found it, and as it left it */
} ln_row_sources;

typedef struct ln_rows {
    ln_mem mem; /* apart from the engine's: scratch of a batch is no state */
    const ln_plan *plan;
    const ln_batch *batch;
    ln_frame shown; /* what the driver sees */
    uint32_t cap;   /* rows that the arrays below hold */
    uint8_t *row;
    int64_t *time_us, *clock_us;
    int64_t *judged_us;      /* W as the row finds it, after the clock has moved */
    int64_t *after_us;       /* W as the row leaves it */
    ln_value *const *column; /* of the batch, up to plan->computed_first */
    ln_value **computed;
    ln_arena texts;    /* of computed columns and notes */
    ln_note *note;     /* of each row */
    ln_bounds *bounds; /* windows of assigners, by row */
    size_t bounds_count, bounds_cap;
    ln_buf scratch;
    int64_t clock_now_us; /* the clock after the last row judged */
    int stamped;
    int traced;
    uint32_t stamping;       /* traced: the row being stamped */
    ln_row_sources *sources; /* traced: of each row */
    size_t sources_cap;
} ln_rows;

void ln_rows_init(ln_rows *f, const ln_plan *plan);
void ln_rows_free(ln_rows *f);
/* Takes a batch; `now_us` is the host's clock. LN_OK or LN_ENOMEM. */
int ln_rows_begin(ln_rows *f, const ln_batch *batch, int64_t now_us);
/* Clock and time of each row. */
void ln_rows_judge(ln_rows *f);
/* The watermark before and after each row. LN_OK or LN_ENOMEM. */
int ln_rows_stamp(ln_rows *f, ln_watermark *w);

/* The value of a column, the batch's or a computed one; -1 is none. */
static inline const ln_value *ln_rows_value(const ln_rows *f, int32_t column, uint32_t row) {
    static const ln_value none = {0};
    if (column < 0) return &none;
    if ((uint32_t)column < f->plan->computed_first) return &f->column[column][row];
    return &f->computed[(uint32_t)column - f->plan->computed_first][row];
}

#endif
