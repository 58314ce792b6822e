/* gzip in pieces, by zlib. */
#include "forward/inflate.h"

#include "forward/gzip.h"
#include "lunette.h"

enum { GZIP_ONLY = 16 + MAX_WBITS, WINDOW_MIN = 1 << 14 /* bytes */ };

void ln_inflate_init(ln_inflate *x, ln_mem *mem) {
    *x = (ln_inflate){.mem = mem};
    ln_buf_init(&x->window, mem);
}

static void stop(ln_inflate *x) {
    if (x->open) inflateEnd(&x->z);
    x->open = 0;
}

void ln_inflate_close(ln_inflate *x) {
    stop(x);
    if (x->window.cap > LN_INFLATE_FREE) ln_buf_free(&x->window);
    ln_buf_clear(&x->window);
    x->start = 0;
}

static int begin(ln_inflate *x) {
    stop(x);
    x->z = (z_stream){.zalloc = ln_zlib_alloc, .zfree = ln_zlib_free, .opaque = x->mem};
    if (inflateInit2(&x->z, GZIP_ONLY) != Z_OK) return LN_ENOMEM;
    x->open = 1;
    x->z.next_in = (Bytef *)(uintptr_t)x->in;
    x->z.avail_in = (uInt)(x->in_end - x->in);
    ln_buf_clear(&x->window);
    x->start = 0;
    x->out = 0;
    x->ended = x->moved = 0;
    return LN_OK;
}

int ln_inflate_begin(ln_inflate *x, const uint8_t *in, size_t len, uint64_t most) {
    x->in = in;
    x->in_end = in + len;
    x->most = most;
    return begin(x);
}

int ln_inflate_again(ln_inflate *x) {
    if (!x->moved && x->ended) {
        x->start = 0;
        return LN_OK;
    }
    return begin(x);
}

/* Room behind what is in the window: by dropping what has been read where that is much, or by growing. */
static int make_room(ln_inflate *x) {
    ln_buf *w = &x->window;
    size_t grow = w->cap ? w->cap : WINDOW_MIN;
    if (w->len < w->cap) return LN_OK;
    if (w->cap >= LN_INFLATE_WINDOW && x->start >= w->len / 2) {
        memmove(w->data, w->data + x->start, w->len - x->start);
        w->len -= x->start;
        x->start = 0;
        x->moved = 1;
        return LN_OK;
    }
    return ln_buf_reserve(w, grow) ? LN_OK : LN_ENOMEM;
}

/* Behind a member: the next one, or the end. */
static void end_member(ln_inflate *x) {
    if (x->z.avail_in) inflateReset(&x->z);
    else x->ended = 1;
}

int ln_inflate_more(ln_inflate *x) {
    ln_buf *w = &x->window;
    int err = make_room(x);
    if (err) return err;
    x->z.next_out = w->data + w->len;
    x->z.avail_out = (uInt)(w->cap - w->len < UINT32_MAX ? w->cap - w->len : UINT32_MAX);
    while (!x->ended && x->z.avail_out) {
        uInt in = x->z.avail_in, out = x->z.avail_out;
        int code = inflate(&x->z, Z_NO_FLUSH);
        w->len += out - x->z.avail_out;
        x->out += out - x->z.avail_out;
        if (x->out > x->most) return LN_INFLATE_TOO_MUCH;
        if (code == Z_MEM_ERROR) return LN_ENOMEM;
        if (code == Z_STREAM_END) end_member(x);
        else if (code != Z_OK || (in == x->z.avail_in && out == x->z.avail_out)) return LN_INFLATE_BROKEN;
    }
    return LN_OK;
}
