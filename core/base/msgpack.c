/* One step over msgpack. */
#include "base/msgpack.h"

/* Bytes of the head of a value that begins with 0xc0 .. 0xdf, its first byte included; 0 for what is no msgpack. */
static const uint8_t head_bytes[32] = {
    1, 0, 1, 1, 2, 3, 5, 3, 4, 6, 5, 9, 2, 3, 5, 9, /* nil - false true bin8-32 ext8-32 f32 f64 u8-u64 */
    2, 3, 5, 9, 2, 2, 2, 2, 2, 2, 3, 5, 3, 5, 3, 5, /* i8-i64 fixext1-16 str8-32 array16-32 map16-32 */
};

static int head_of_sized(uint8_t b, const uint8_t *p, ln_value *v) {
    switch (b) {
    case 0xc0: v->type = LN_NULL; break;
    case 0xc2: case 0xc3: v->type = LN_BOOL; v->i = b & 1; break;
    case 0xc4: v->type = LN_BYTES; v->len = p[1]; break;
    case 0xc5: v->type = LN_BYTES; v->len = ln_be16(p + 1); break;
    case 0xc6: v->type = LN_BYTES; v->len = ln_be32(p + 1); break;
    case 0xc7: v->type = LN_EXT; v->len = p[1]; v->ext = (int8_t)p[2]; break;
    case 0xc8: v->type = LN_EXT; v->len = ln_be16(p + 1); v->ext = (int8_t)p[3]; break;
    case 0xc9: v->type = LN_EXT; v->len = ln_be32(p + 1); v->ext = (int8_t)p[5]; break;
    case 0xca: {
        uint32_t bits = ln_be32(p + 1);
        float f;
        __builtin_memcpy(&f, &bits, 4);
        v->type = LN_DOUBLE;
        v->d = (double)f;
        break;
    }
    case 0xcb: v->type = LN_DOUBLE; v->u = ln_be64(p + 1); break;
    case 0xcc: v->type = LN_INT; v->i = p[1]; break;
    case 0xcd: v->type = LN_INT; v->i = ln_be16(p + 1); break;
    case 0xce: v->type = LN_INT; v->i = ln_be32(p + 1); break;
    case 0xcf: v->u = ln_be64(p + 1); v->type = v->u > INT64_MAX ? LN_UINT : LN_INT; break;
    case 0xd0: v->type = LN_INT; v->i = (int8_t)p[1]; break;
    case 0xd1: v->type = LN_INT; v->i = (int16_t)ln_be16(p + 1); break;
    case 0xd2: v->type = LN_INT; v->i = (int32_t)ln_be32(p + 1); break;
    case 0xd3: v->type = LN_INT; v->i = (int64_t)ln_be64(p + 1); break;
    case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8:
        v->type = LN_EXT; v->len = 1u << (b - 0xd4); v->ext = (int8_t)p[1];
        break;
    case 0xd9: v->type = LN_TEXT; v->len = p[1]; break;
    case 0xda: v->type = LN_TEXT; v->len = ln_be16(p + 1); break;
    case 0xdb: v->type = LN_TEXT; v->len = ln_be32(p + 1); break;
    case 0xdc: v->type = LN_ARRAY; v->len = ln_be16(p + 1); break;
    case 0xdd: v->type = LN_ARRAY; v->len = ln_be32(p + 1); break;
    case 0xde: v->type = LN_MAP; v->len = ln_be16(p + 1); break;
    default: v->type = LN_MAP; v->len = ln_be32(p + 1); break;
    }
    return LN_HEAD_OK;
}

int ln_msgpack_head(const uint8_t *p, const uint8_t *end, ln_value *v, const uint8_t **next) {
    uint8_t b, bytes = 1;
    if (p >= end) return LN_HEAD_SHORT;
    b = *p;
    *v = (ln_value){0};
    if (b < 0x80 || b >= 0xe0) {
        v->type = LN_INT;
        v->i = (int8_t)b;
    } else if (b < 0x90) {
        v->type = LN_MAP;
        v->len = b & 15;
    } else if (b < 0xa0) {
        v->type = LN_ARRAY;
        v->len = b & 15;
    } else if (b < 0xc0) {
        v->type = LN_TEXT;
        v->len = b & 31;
    } else {
        bytes = head_bytes[b - 0xc0];
        if (!bytes) return LN_HEAD_BAD;
        if (end - p < bytes) return LN_HEAD_SHORT;
        head_of_sized(b, p, v);
    }
    *next = p + bytes;
    if (v->type == LN_TEXT || v->type == LN_BYTES || v->type == LN_EXT) v->at = *next;
    return LN_HEAD_OK;
}
