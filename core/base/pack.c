/* msgpack written straight into a buffer: whole values. */
#include "base/pack.h"

static void put_ext(ln_buf *out, const ln_value *v) {
    uint8_t *to = ln_buf_reserve(out, LN_PACK_MAX), kind = (uint8_t)v->ext;
    if (!to) return;
    if (v->len && v->len <= 16 && (v->len & (v->len - 1)) == 0) *to++ = (uint8_t)(0xd4 + __builtin_ctz(v->len));
    else if (v->len <= 0xff) to = ln_pack_be(to, 0xc7, v->len, 1);
    else if (v->len <= 0xffff) to = ln_pack_be(to, 0xc8, v->len, 2);
    else to = ln_pack_be(to, 0xc9, v->len, 4);
    *to++ = kind;
    out->len = (size_t)(to - out->data);
    ln_buf_append(out, v->at, v->len);
}

void ln_pack_put(ln_buf *out, const ln_value *v) {
    uint8_t *to = ln_buf_reserve(out, LN_PACK_MAX);
    if (!to) return;
    switch (v->type) {
    case LN_BOOL: *to++ = v->i ? 0xc3 : 0xc2; break;
    case LN_INT: to = ln_pack_int(to, v->i); break;
    case LN_UINT: to = ln_pack_uint(to, v->u); break;
    case LN_DOUBLE: to = ln_pack_double(to, v->d); break;
    case LN_TEXT:
    case LN_BYTES:
        ln_pack_put_head(out, v->type, v->len);
        ln_buf_append(out, v->at, v->len);
        return;
    case LN_ARRAY:
    case LN_MAP: ln_buf_append(out, v->at, v->len); return;
    case LN_EXT: put_ext(out, v); return;
    default: *to++ = 0xc0; break;
    }
    out->len = (size_t)(to - out->data);
}
