/* What an engine that is saved keeps for it. */
#ifndef LN_WINDOW_SAVING_H
#define LN_WINDOW_SAVING_H

#include "window/saved_plan.h"

struct ln_saving {
    ln_buf entry; /* the one handed out */
    ln_buf one;   /* a state, before its length is known */
    ln_buf slots, handles;
    ln_buf queue;    /* entries saved before they changed: kind, number, length, bytes */
    size_t queue_at; /* those before it have been handed out */
    int cut;         /* entries are as they were at the cut */
    size_t old_at;   /* of the keys that had changed at the cut: those before it have been handed out */
    size_t gone_at;  /* likewise of those that had gone */
    uint64_t extent_next, extent_until; /* extents to be saved in this round */
    uint64_t extent_gone, gone_at_cut;  /* those before it have been told to have gone; and are to be told */
    int failed;
};

/* Appends the entry of a key. */
void ln_save_key(ln_engine *e, uint32_t id, ln_buf *out);
void ln_save_extent(ln_engine *e, const ln_grave *grave, ln_buf *out);
void ln_save_rest(ln_engine *e, ln_buf *out);

#endif
