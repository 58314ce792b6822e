/* msgpack written straight into a buffer: whole values. */
#include "base/pack.h"

static uint8_t *ext_head(uint8_t *to, const ln_value *v) {
    if (v->len && v->len <= 16 && (v->len & (v->len - 1)) == 0) *to++ = (uint8_t)(0xd4 + __builtin_ctz(v->len));
    else if (v->len <= 0xff) to = ln_pack_be(to, 0xc7, v->len, 1);
    else if (v->len <= 0xffff) to = ln_pack_be(to, 0xc8, v->len, 2);
    else to = ln_pack_be(to, 0xc9, v->len, 4);
    *to++ = (uint8_t)v->ext;
    return to;
}

uint8_t *ln_pack_value_slow(uint8_t *to, const ln_value *v) {
    switch (v->type) {
    case LN_BOOL: *to++ = v->i ? 0xc3 : 0xc2; return to;
    case LN_UINT: return ln_pack_uint(to, v->u);
    case LN_TEXT:
    case LN_BYTES: to = ln_pack_head(to, v->type, v->len); break;
    case LN_ARRAY:
    case LN_MAP: break;
    case LN_EXT: to = ext_head(to, v); break;
    default: *to++ = 0xc0; return to;
    }
    if (v->len) memcpy(to, v->at, v->len);
    return to + v->len;
}

void ln_pack_put(ln_buf *out, const ln_value *v) {
    uint8_t *to = ln_buf_reserve(out, ln_pack_room(v));
    if (to) out->len = (size_t)(ln_pack_value(to, v) - out->data);
}
