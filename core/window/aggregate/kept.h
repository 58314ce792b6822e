/* A value that a state keeps: what is longer than eight bytes is a copy of its own. All bytes zero is none. */
#ifndef LN_WINDOW_AGGREGATE_KEPT_H
#define LN_WINDOW_AGGREGATE_KEPT_H

#include "base/msgpack.h"
#include "base/pack.h"
#include "window/aggregate/saved.h"

static inline int ln_kept_is_copied(const ln_value *v) { return v->type >= LN_TEXT && v->len > 0; }

static inline void ln_kept_free_value(ln_value *v, ln_mem *mem) {
    uint8_t *copy;
    if (ln_kept_is_copied(v)) {
        memcpy(&copy, &v->at, sizeof copy);
        ln_mem_free(mem, copy, v->len);
    }
    memset(v, 0, sizeof *v);
}

/* Puts a copy of *v in the place of *kept; LN_OK, or LN_ENOMEM, and *kept is as it was. */
static inline int ln_kept_set(ln_value *kept, ln_mem *mem, const ln_value *v) {
    uint8_t *copy = NULL;
    if (ln_kept_is_copied(v)) {
        copy = ln_mem_new(mem, v->len);
        if (!copy) return LN_ENOMEM;
        memcpy(copy, v->at, v->len);
    }
    ln_kept_free_value(kept, mem);
    *kept = *v;
    if (copy) kept->at = copy;
    return LN_OK;
}

enum { LN_KEPT_DEPTH = 128 }; /* as deep as a record may be */

/* Where the msgpack value at `p` ends; NULL where it is broken, goes beyond `end`, or is too deep. */
static inline const uint8_t *ln_kept_end(const uint8_t *p, const uint8_t *end) {
    uint64_t left[LN_KEPT_DEPTH + 1] = {1};
    for (int depth = 0; depth >= 0;) {
        ln_value v;
        if (!left[depth]) {
            depth--;
            continue;
        }
        left[depth]--;
        if (ln_msgpack_head(p, end, &v, &p) != LN_HEAD_OK) return NULL;
        if (v.type == LN_ARRAY || v.type == LN_MAP) {
            if (depth == LN_KEPT_DEPTH) return NULL;
            left[++depth] = (uint64_t)v.len * (v.type == LN_MAP ? 2 : 1);
        } else if (v.type >= LN_TEXT) {
            if ((size_t)(end - p) < v.len) return NULL;
            p += v.len;
        }
    }
    return p;
}

static inline void ln_kept_save(const ln_value *v, ln_buf *out) { ln_pack_put(out, v); }

/* A value that was saved, as a view of its bytes; one that is missing, null or broken is an error. */
static inline void ln_kept_load(ln_saved *saved, ln_value *v) {
    const uint8_t *p = saved->at, *end = saved->bad ? NULL : ln_kept_end(p, saved->end), *behind;
    *v = (ln_value){0};
    if (!end) {
        saved->bad = 1;
        return;
    }
    (void)ln_msgpack_head(p, end, v, &behind);
    if (v->type == LN_ARRAY || v->type == LN_MAP) {
        v->len = (uint32_t)(end - p);
        v->at = p;
    }
    if (v->type <= LN_NULL || (size_t)(end - p) > UINT32_MAX) saved->bad = 1;
    saved->at = end;
}

#endif
