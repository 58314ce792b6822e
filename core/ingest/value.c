/* Slow reading of records that the scanner has passed: one value, one field. Nothing here trusts them all the same: on
 * bytes that are no msgpack a value is LN_MISSING and its end the end of the bytes. */
#include "base/msgpack.h"

#include <string.h>

static int is_container(const ln_value *v) { return v->type == LN_ARRAY || v->type == LN_MAP; }

/* The head at `p` and the payload of a text, bytes or ext; their end, or NULL where they are not there. */
static const uint8_t *read_flat(const uint8_t *p, const uint8_t *end, ln_value *v) {
    const uint8_t *next;
    if (ln_msgpack_head(p, end, v, &next) != LN_HEAD_OK) return NULL;
    if (v->type == LN_TEXT || v->type == LN_BYTES || v->type == LN_EXT) {
        if (v->len > (size_t)(end - next)) return NULL;
        next += v->len;
    }
    return next;
}

/* The end of `owed` values from `p` on; NULL where they are not there. */
static const uint8_t *pass(const uint8_t *p, const uint8_t *end, uint64_t owed) {
    while (p && owed) {
        ln_value v;
        p = read_flat(p, end, &v);
        owed--;
        if (p && is_container(&v)) owed += v.type == LN_MAP ? 2 * (uint64_t)v.len : v.len;
    }
    return p;
}

const uint8_t *ln_value_read(const uint8_t *p, const uint8_t *end, int deep, ln_value *out) {
    const uint8_t *next = read_flat(p, end, out);
    if (next && is_container(out)) {
        if (deep) next = pass(next, end, out->type == LN_MAP ? 2 * (uint64_t)out->len : out->len);
        if (deep && next) out->len = (uint32_t)(next - p);
        out->at = p;
    }
    if (next) return next;
    *out = (ln_value){.type = LN_MISSING};
    return end;
}

/* The last value named so in the map at `p`; LN_MISSING where there is none. */
static void find(const uint8_t *p, const uint8_t *end, const char *text, size_t len, ln_value *out) {
    ln_value head, name, value;
    const uint8_t *next = ln_value_read(p, end, 0, &head);
    *out = (ln_value){.type = LN_MISSING};
    if (head.type != LN_MAP) return;
    for (uint32_t i = 0; i < head.len && next < end; i++) {
        next = ln_value_read(next, end, 1, &name);
        next = ln_value_read(next, end, 1, &value);
        if (name.type == LN_TEXT && name.len == len && memcmp(name.at, text, len) == 0) *out = value;
    }
}

void ln_record_get(const uint8_t *record, uint32_t len, const char *path, size_t path_len, ln_value *out) {
    const uint8_t *p = record, *end = record + len;
    const char *stop = path + path_len;
    for (;;) {
        const char *dot = path == stop ? NULL : memchr(path, '.', (size_t)(stop - path));
        size_t name_len = (size_t)((dot ? dot : stop) - path);
        find(p, end, path, name_len, out);
        if (!dot) return;
        path = dot + 1;
        if (out->type != LN_MAP) {
            *out = (ln_value){.type = LN_MISSING};
            return;
        }
        p = out->at;
        end = p + out->len;
    }
}
