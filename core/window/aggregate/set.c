/* The set of an exact distinct. */
#include "window/aggregate/set.h"

#include "base/msgpack.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint8_t *plain_end(const uint8_t *p, const uint8_t *end, ln_value *v) {
    if (ln_msgpack_head(p, end, v, &p) != LN_HEAD_OK || v->type > LN_ARRAY) return NULL;
    if (v->type != LN_TEXT && v->type != LN_BYTES) return p;
    return (size_t)(end - p) < v->len ? NULL : p + v->len;
}

const uint8_t *ln_set_value_end(const uint8_t *p, const uint8_t *end) {
    ln_value v, inner;
    p = plain_end(p, end, &v);
    if (!p || v.type != LN_ARRAY) return p;
    for (uint32_t i = 0; i < v.len && p; i++) {
        p = plain_end(p, end, &inner);
        if (p && inner.type == LN_ARRAY) return NULL;
    }
    return p;
}

void ln_set_free(ln_set *s) {
    ln_mem_free(s->bytes.mem, s->place, s->places * sizeof *s->place);
    ln_buf_free(&s->bytes);
    *s = (ln_set){.seed = s->seed, .bytes.mem = s->bytes.mem};
}

/* The tag is the hash's low half, and its place follows from the tag, so that a larger table can be filled from it. */
static int widen(ln_set *s) {
    size_t places = s->places ? 2 * s->places : 8;
    ln_set_place *grown = ln_mem_zero(s->bytes.mem, places * sizeof *grown);
    if (!grown) return LN_ENOMEM;
    for (size_t i = 0; i < s->places; i++) {
        size_t j = s->place[i].tag & (places - 1);
        if (!s->place[i].at) continue;
        while (grown[j].at) j = (j + 1) & (places - 1);
        grown[j] = s->place[i];
    }
    ln_mem_free(s->bytes.mem, s->place, s->places * sizeof *grown);
    s->place = grown;
    s->places = places;
    return LN_OK;
}

/* No value is the beginning of another. */
static int is_at(const ln_set *s, size_t at, const uint8_t *bytes, size_t len) {
    return s->bytes.len - at >= len && memcmp(s->bytes.data + at, bytes, len) == 0;
}

int ln_set_add(ln_set *s, const uint8_t *bytes, size_t len, uint64_t most) {
    uint32_t tag = (uint32_t)XXH3_64bits_withSeed(bytes, len, s->seed);
    size_t i, at = s->bytes.len;
    if (3 * (s->count + 1) > 2 * s->places && widen(s) != LN_OK) return LN_ENOMEM;
    for (i = tag & (s->places - 1); s->place[i].at; i = (i + 1) & (s->places - 1))
        if (s->place[i].tag == tag && is_at(s, s->place[i].at - 1, bytes, len)) return LN_OK;
    if (s->count >= most || at + len >= UINT32_MAX) return LN_EELEMENTS;
    ln_buf_append(&s->bytes, bytes, len);
    if (s->bytes.failed) {
        s->bytes.failed = 0; /* nothing was appended: it is as it was */
        return LN_ENOMEM;
    }
    s->place[i] = (ln_set_place){tag, (uint32_t)at + 1};
    s->count++;
    return LN_OK;
}
