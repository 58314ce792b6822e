/* What an engine that is being loaded keeps for it. */
#ifndef LN_WINDOW_LOADING_H
#define LN_WINDOW_LOADING_H

#include "window/saved_plan.h"

/* Where a cell waited. */
typedef struct ln_load_place {
    ln_cell *cell;
    ln_span place;
    int expiring, in_wheel;
} ln_load_place;

/* An extent, with the number of its key. */
typedef struct ln_load_extent {
    uint64_t number;
    uint32_t key;
    ln_span extent;
} ln_load_extent;

struct ln_loading {
    ln_saved_plan from;
    int exact;
    uint64_t numbers_max;  /* more keys, or rows of a slice, than limits.state_bytes has room for are none */
    ln_buf slots, handles; /* of the entry loaded last */
    ln_load_place *place;  /* exact: cells that are still to be filed */
    size_t place_count, place_cap;
    ln_load_extent *extent; /* exact: those that are still to be added */
    size_t extent_count, extent_cap;
    const char *why;  /* what is wrong with an entry */
    uint64_t extents; /* the number of the next one */
    /* Of the rest, for the end. */
    int has_rest;
    uint64_t extents_gone, extents_count;
    int64_t wheel_first[2]; /* of completing and expiring */
    int has_wheel[2];
    uint32_t filings[2];
    uint64_t hand, chunks;
    uint32_t *chunk; /* lists of the slab of keys */
    size_t chunk_count[3], chunk_cap;
    __int128 pivot_us, folded_us, next_us;
    ln_span *slice; /* those that there are, each followed by its rows as {rows, 0} */
    size_t slice_count, slice_cap;
};

/* Says what is wrong, where nothing has before; LN_EINVALID. */
int ln_load_refuse(ln_engine *e, const char *why);
/* A run of states into one of identities: LN_OK, LN_ENOMEM or LN_EINVALID. */
int ln_load_run(ln_engine *e, ln_saved *s, uint8_t *run);
/* The folds of a window, whose slot is noted for the driver: the same. */
int ln_load_folds(ln_engine *e, uint32_t slot, ln_saved *s);
/* A cell of these bounds in its place among the key's, not filed yet; NULL with *err. */
ln_cell *ln_load_cell(ln_engine *e, ln_cell_key *key, ln_span span, uint64_t age, int *err);
/* Files it for that clock; 0 or -1. */
int ln_load_alarm(ln_engine *e, ln_cell *c, int64_t alarm_us);
/* What hangs on a key, where windows are cells, and where they were when it was saved. */
int ln_load_cells(ln_engine *e, ln_cell_key *key, ln_saved *s);
void ln_load_drop_cells(ln_engine *e, ln_cell_key *key);
/* load_grid: rows of slices, as rows again or as cells. */
int ln_load_rows(ln_engine *e, uint32_t id, ln_saved *s);
int ln_load_rows_as_cells(ln_engine *e, ln_cell_key *key, ln_saved *s);
void ln_load_drop_rows(ln_engine *e, uint32_t id);
/* All rows are there: what is put together from them is found again, and slices go that have gone. */
int ln_load_grid_end(ln_engine *e);
/* load_rest */
int ln_load_rest(ln_engine *e, ln_saved *s);
/* 128 bits as two words. */
__int128 ln_load_wide(ln_saved *s);

#endif
