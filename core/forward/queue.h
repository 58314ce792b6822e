/* Bytes that come in at the end and go at the beginning. A queue that has become large gives its memory back when it is
 * empty, so that a thousand quiet connections hold little. */
#ifndef LN_FORWARD_QUEUE_H
#define LN_FORWARD_QUEUE_H

#include "base/buf.h"

enum { LN_QUEUE_KEPT = 1 << 17, LN_QUEUE_MOVED = 1 << 12 /* bytes */ };

typedef struct ln_queue {
    ln_buf buf;
    size_t done; /* bytes of `buf` that have gone */
} ln_queue;

static inline void ln_queue_init(ln_queue *q, ln_mem *mem) {
    ln_buf_init(&q->buf, mem);
    q->done = 0;
}
static inline size_t ln_queue_len(const ln_queue *q) { return q->buf.len - q->done; }
/* NULL where nothing has ever been put in. */
static inline const uint8_t *ln_queue_at(const ln_queue *q) { return q->buf.data ? q->buf.data + q->done : NULL; }

static inline void ln_queue_pack(ln_queue *q) {
    if (q->done) memmove(q->buf.data, q->buf.data + q->done, ln_queue_len(q));
    q->buf.len -= q->done;
    q->done = 0;
}

static inline void ln_queue_drop(ln_queue *q, size_t len) {
    q->done += len;
    if (q->done == q->buf.len) {
        q->done = 0;
        ln_buf_clear(&q->buf);
        if (q->buf.cap > LN_QUEUE_KEPT) ln_buf_free(&q->buf);
    } else if (q->done >= LN_QUEUE_MOVED && q->done >= q->buf.len / 2) {
        ln_queue_pack(q);
    }
}

/* Room at the end, found by moving before growing. */
static inline uint8_t *ln_queue_space(ln_queue *q, size_t want) {
    if (q->buf.cap - q->buf.len < want) ln_queue_pack(q);
    return ln_buf_reserve(&q->buf, want);
}

#endif
