/* The framer: the slow and exact face of the scanner. It alone says what is wrong with a record. */
#include "ingest/scan.h"

#include "base/msgpack.h"

ln_limits ln_limits_stated(const ln_limits *limits) {
    ln_limits l = limits ? *limits : (ln_limits){0};
    if (!l.record_bytes) l.record_bytes = 4 << 20;
    if (l.record_bytes > 1 << 30) l.record_bytes = 1 << 30;
    if (!l.nesting) l.nesting = 32;
    if (l.nesting > LN_NESTING_MAX) l.nesting = LN_NESTING_MAX;
    if (!l.elements) l.elements = 65536;
    if (l.elements > INT32_MAX) l.elements = INT32_MAX;
    return l;
}

void ln_framer_init(ln_framer *f) {
    f->at = 0;
    f->owed = 1;
    f->elements = 0;
    f->depth = 0;
}

/* Counts a map or array of n values; LN_OK, or the limit that it passes. */
static int enter(ln_framer *f, const ln_limits *limits, uint64_t n) {
    if (f->depth >= limits->nesting) return LN_EDEPTH;
    if (n > limits->elements - f->elements) return LN_EELEMENTS;
    f->elements += n;
    f->owed += n;
    f->left[f->depth++] = (uint32_t)n;
    return LN_OK;
}

/* Closes what ends with the value just passed. */
static void leave(ln_framer *f) {
    while (f->depth && f->left[f->depth - 1] == 0) f->depth--;
}

int ln_framer_run(ln_framer *f, const ln_limits *limits, const uint8_t *record, size_t len) {
    while (f->owed) {
        const uint8_t *next;
        ln_value v;
        uint64_t at, owed = f->owed;
        int err = LN_OK, head;
        if (f->at >= len) return LN_FRAME_MORE;
        head = ln_msgpack_head(record + f->at, record + len, &v, &next);
        if (head == LN_HEAD_SHORT) return LN_FRAME_MORE;
        if (head == LN_HEAD_BAD) return LN_EMSGPACK;
        at = (uint64_t)(next - record);
        if (v.type == LN_TEXT || v.type == LN_BYTES || v.type == LN_EXT) at += v.len;
        if (f->depth) f->left[f->depth - 1]--;
        f->owed = --owed;
        if (v.type == LN_ARRAY) err = enter(f, limits, v.len);
        if (v.type == LN_MAP) err = enter(f, limits, 2 * (uint64_t)v.len);
        if (err) return err;
        /* Each value still to come is at least one byte. */
        if (at + f->owed > limits->record_bytes) return LN_ERECORD;
        f->at = at;
        leave(f);
    }
    return f->at > len ? LN_FRAME_MORE : LN_OK;
}
