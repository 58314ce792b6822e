/* One step over msgpack. */
#include "base/msgpack.h"

/* Of a value that begins with 0xc0 .. 0xdf: the bytes of its head, the first included (0 for what is no msgpack), and
 * what it is. */
static const uint8_t head_bytes[32] = {
    1, 0, 1, 1, 2, 3, 5, 3, 4, 6, 5, 9, 2, 3, 5, 9, /* nil - false true bin8-32 ext8-32 f32 f64 u8-u64 */
    2, 3, 5, 9, 2, 2, 2, 2, 2, 2, 3, 5, 3, 5, 3, 5, /* i8-i64 fixext1-16 str8-32 array16-32 map16-32 */
};
static const uint8_t type_of[32] = {
    LN_NULL,   LN_NULL, LN_BOOL, LN_BOOL, LN_BYTES, LN_BYTES, LN_BYTES, LN_EXT,   LN_EXT, LN_EXT, LN_DOUBLE,
    LN_DOUBLE, LN_INT,  LN_INT,  LN_INT,  LN_INT,   LN_INT,   LN_INT,   LN_INT,   LN_INT, LN_EXT, LN_EXT,
    LN_EXT,    LN_EXT,  LN_EXT,  LN_TEXT, LN_TEXT,  LN_TEXT,  LN_ARRAY, LN_ARRAY, LN_MAP, LN_MAP,
};

static void read_double(uint8_t b, const uint8_t *p, ln_value *v) {
    uint32_t bits = ln_be32(p);
    float f;
    if (b == 0xcb) {
        v->u = ln_be64(p);
        return;
    }
    __builtin_memcpy(&f, &bits, 4);
    v->d = (double)f;
}

static void read_whole(uint8_t b, const uint8_t *p, ln_value *v) {
    switch (b) {
    case 0xcc: v->i = p[0]; return;
    case 0xcd: v->i = ln_be16(p); return;
    case 0xce: v->i = ln_be32(p); return;
    case 0xd0: v->i = (int8_t)p[0]; return;
    case 0xd1: v->i = (int16_t)ln_be16(p); return;
    case 0xd2: v->i = (int32_t)ln_be32(p); return;
    default: v->u = ln_be64(p); break;
    }
    if (b == 0xcf && v->u > INT64_MAX) v->type = LN_UINT;
}

/* The length that stands in `bytes` bytes: 1, 2 or 4. */
static uint32_t read_length(const uint8_t *p, int bytes) {
    return bytes == 1 ? p[0] : bytes == 2 ? ln_be16(p) : ln_be32(p);
}

/* The rest of a head of more than one byte; p is behind the first. */
static void read_head(uint8_t b, const uint8_t *p, ln_value *v) {
    int bytes = head_bytes[b - 0xc0] - 1;
    switch (v->type) {
    case LN_DOUBLE: read_double(b, p, v); return;
    case LN_INT: read_whole(b, p, v); return;
    case LN_EXT:
        v->len = b >= 0xd4 ? 1u << (b - 0xd4) : read_length(p, bytes - 1);
        v->ext = (int8_t)p[bytes - 1];
        return;
    default: v->len = read_length(p, bytes); return;
    }
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
        v->type = type_of[b - 0xc0];
        if (bytes > 1) read_head(b, p + 1, v);
        else v->i = b & 1; /* a boolean; a null has no content */
    }
    *next = p + bytes;
    if (v->type == LN_TEXT || v->type == LN_BYTES || v->type == LN_EXT) v->at = *next;
    return LN_HEAD_OK;
}
