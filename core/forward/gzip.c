/* Bytes to gzip, by zlib. */
#include "forward/gzip.h"

#include "lunette.h"

enum { GZIP_ONLY = 16 + MAX_WBITS, MEMORY_LEVEL = 8, PREFIX = 16 };

/* zlib frees without saying how much: the size stands before each block. */
void *ln_zlib_alloc(void *mem, unsigned items, unsigned size) {
    size_t bytes = (size_t)items * size + PREFIX;
    uint8_t *p = ln_mem_new(mem, bytes);
    if (!p) return NULL;
    memcpy(p, &bytes, sizeof bytes);
    return p + PREFIX;
}

void ln_zlib_free(void *mem, void *block) {
    uint8_t *p = (uint8_t *)block - PREFIX;
    size_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    ln_mem_free(mem, p, bytes);
}

int ln_gzip(ln_buf *out, ln_mem *mem, const uint8_t *bytes, size_t len, size_t more) {
    z_stream z = {.zalloc = ln_zlib_alloc, .zfree = ln_zlib_free, .opaque = mem};
    size_t room;
    int code;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return LN_ENOMEM;
    room = deflateBound(&z, (uLong)len);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)len;
    z.next_out = ln_buf_reserve(out, room + more);
    z.avail_out = (uInt)room;
    code = z.next_out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    if (code == Z_STREAM_END) out->len += room - z.avail_out;
    deflateEnd(&z);
    return code == Z_STREAM_END ? LN_OK : LN_ENOMEM;
}
