/* The image of an engine: its state between two batches as bytes, in sections that follow each other. Numbers are as in
 * saved.h; whoever reads trusts none of them. `save` writes it, `load` reads it, `load_rows` turns slices into windows
 * where the new plan has use for those. */
#ifndef LN_WINDOW_IMAGE_H
#define LN_WINDOW_IMAGE_H

#include "window/state.h"

enum { LN_IMAGE_VERSION = 1, LN_IMAGE_MARK = 0x4c4e5331 /* "LNS1" */ };

/* What a cell is, beside numbers. */
enum ln_image_cell {
    LN_IMAGE_ON_TIME_DONE = 1,
    LN_IMAGE_SHOWN = 2,
    LN_IMAGE_LAST_FINAL = 4,
    LN_IMAGE_NONEMPTY = 8,
    LN_IMAGE_PAST = 16
};

/* What a load knows of the engine that was saved. */
typedef struct ln_image {
    ln_saved in;
    uint32_t aggregates;     /* of the saved engine */
    int32_t *to;             /* of each: its number in the new plan; -1: none */
    uint8_t *is_fold;        /* of each: 2 where its state is declared */
    ln_trigger early, late;  /* its programs */
    uint64_t early_same[64]; /* of each of their nodes: the bit of the node in the same place, 0 for none */
    uint64_t late_same[64];
    int stateful, rare, sliced;
    int64_t size_us, hop_us, offset_us, slice_us;
    uint32_t *slot, *handle; /* numbers in use */
    size_t slots, slot_cap, handles, handle_cap;
} ln_image;

static inline int ln_image_bad(ln_image *m) {
    m->in.bad = 1;
    return LN_EINVALID;
}

static inline int ln_image_state(const ln_image *m) { return m->in.bad ? LN_EINVALID : LN_OK; }

/* A count of things of which each takes a byte at least. */
static inline uint64_t ln_image_count(ln_image *m) {
    uint64_t n = ln_saved_uint(&m->in);
    if (n > ln_saved_left(&m->in)) ln_image_bad(m);
    return m->in.bad ? 0 : n;
}

static inline unsigned ln_image_byte(ln_image *m) {
    const uint8_t *at = ln_saved_run(&m->in, 1);
    return at ? *at : 0;
}

/* Windows that have a cell each, into an engine that has cells. */
int ln_image_cells(ln_engine *e, ln_image *m);
/* The state of one window, aggregate by aggregate, out of the image into a run of identities; `slot` of its folds, 0
 * where there is none. LN_OK, LN_ENOMEM or LN_EINVALID. */
int ln_image_run(ln_engine *e, ln_image *m, uint8_t *run, uint32_t slot);
/* Files windows in the order in which they were opened, gives those that are new to folds their slots, and sets alarms.
 * LN_OK or LN_ENOMEM. */
int ln_image_file(ln_engine *e, ln_cell **cell, size_t count);
/* Slices into an engine that has slices, or into one that has cells. */
int ln_image_rows(ln_engine *e, ln_image *m);
/* The key of that number, which the image has brought; NULL, and the image is bad, where it has not. */
ln_key *ln_image_key(ln_engine *e, ln_image *m);

#endif
