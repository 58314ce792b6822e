/* msgpack to JSON lines, without recursion. */
#include "egress/json.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/msgpack.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { DEPTH_MAX = 256 };

/* An open array or map: values still to come (for a map names and values), and what it is. */
typedef struct level {
    uint64_t left;
    uint8_t map, begun;
} level;

static void put(ln_buf *out, const char *text) { ln_buf_append(out, text, strlen(text)); }

/* Bytes of the well-formed UTF-8 character at s, or 0. */
static size_t utf8_bytes(const uint8_t *s, const uint8_t *end) {
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;
    if (n == 0 || (size_t)(end - s) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (*s == 0xe0 && s[1] < 0xa0) return 0; /* longer than needed */
    if (*s == 0xed && s[1] > 0x9f) return 0; /* a surrogate */
    if (*s == 0xf0 && s[1] < 0x90) return 0;
    if (*s == 0xf4 && s[1] > 0x8f) return 0; /* beyond U+10FFFF */
    return n;
}

static int is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

static void put_special(ln_buf *out, uint8_t c) {
    static const char names[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    char text[8];
    for (const char *n = names; *n; n += 2) {
        if ((uint8_t)*n != c) continue;
        ln_buf_byte(out, '\\');
        ln_buf_byte(out, (uint8_t)n[1]);
        return;
    }
    snprintf(text, sizeof text, "\\u%04x", c);
    put(out, text);
}

static void put_text(ln_buf *out, const uint8_t *s, size_t len) {
    const uint8_t *end = s + len, *from;
    ln_buf_byte(out, '"');
    while (s < end) {
        size_t n;
        for (from = s; s < end && is_plain(*s);) s++;
        ln_buf_append(out, from, (size_t)(s - from));
        if (s == end) break;
        n = utf8_bytes(s, end);
        if (n == 0) put(out, "\xef\xbf\xbd");
        else if (n > 1) ln_buf_append(out, s, n);
        else put_special(out, *s);
        s += n ? n : 1;
    }
    ln_buf_byte(out, '"');
}

static void put_base64(ln_buf *out, const uint8_t *s, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    ln_buf_byte(out, '"');
    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = (uint32_t)s[i] << 16;
        if (i + 1 < len) group |= (uint32_t)s[i + 1] << 8;
        if (i + 2 < len) group |= s[i + 2];
        ln_buf_byte(out, (uint8_t)digits[group >> 18]);
        ln_buf_byte(out, (uint8_t)digits[group >> 12 & 63]);
        ln_buf_byte(out, i + 1 < len ? (uint8_t)digits[group >> 6 & 63] : '=');
        ln_buf_byte(out, i + 2 < len ? (uint8_t)digits[group & 63] : '=');
    }
    ln_buf_byte(out, '"');
}

static void put_double(ln_buf *out, double d) {
    uint8_t *to;
    if (!isfinite(d)) {
        put(out, "null");
        return;
    }
    to = ln_buf_reserve(out, LN_DECIMAL_MAX);
    if (to) out->len += ln_decimal_write(d, (char *)to);
}

static void put_scalar(ln_buf *out, const ln_value *v) {
    char text[32];
    switch (v->type) {
    case LN_BOOL: put(out, v->i ? "true" : "false"); return;
    case LN_INT:
        snprintf(text, sizeof text, "%" PRId64, v->i);
        put(out, text);
        return;
    case LN_UINT:
        snprintf(text, sizeof text, "%" PRIu64, v->u);
        put(out, text);
        return;
    case LN_DOUBLE: put_double(out, v->d); return;
    case LN_TEXT: put_text(out, v->at, v->len); return;
    case LN_BYTES: put_base64(out, v->at, v->len); return;
    case LN_EXT:
        snprintf(text, sizeof text, "{\"ext\":%d,\"data\":", v->ext);
        put(out, text);
        put_base64(out, v->at, v->len);
        put(out, "}");
        return;
    default: put(out, "null"); return;
    }
}

/* A name that is no text: the text of its JSON, in quotes. An array or a map as a name shows as its kind alone, with
 * what it holds left out; returns the end of it. */
static const uint8_t *put_odd_name(ln_buf *out, const ln_value *v, const uint8_t *p, const uint8_t *end) {
    uint64_t skip = v->type == LN_ARRAY ? v->len : v->type == LN_MAP ? 2 * (uint64_t)v->len : 0;
    if (v->type == LN_ARRAY || v->type == LN_MAP) {
        put(out, v->type == LN_ARRAY ? "\"[]\"" : "\"{}\"");
        for (ln_value inner; skip > 0; skip--) {
            if (ln_msgpack_head(p, end, &inner, &p) != LN_HEAD_OK) return end;
            if (inner.type == LN_ARRAY) skip += inner.len;
            else if (inner.type == LN_MAP) skip += 2 * (uint64_t)inner.len;
            else if (inner.type >= LN_TEXT) p += inner.len;
        }
    } else if (v->type == LN_BYTES) {
        put_scalar(out, v);
    } else {
        ln_buf_byte(out, '"');
        if (v->type == LN_EXT) put(out, "ext");
        else put_scalar(out, v);
        ln_buf_byte(out, '"');
    }
    return v->type >= LN_TEXT && v->type != LN_ARRAY && v->type != LN_MAP ? p + v->len : p;
}

static void separate(ln_buf *out, level *l) {
    if (l->map && l->left % 2) ln_buf_byte(out, ':');
    else if (l->begun) ln_buf_byte(out, ',');
    l->begun = 1;
}

/* One value; returns its end. */
static const uint8_t *put_value(ln_buf *out, const uint8_t *p, const uint8_t *end) {
    level stack[DEPTH_MAX];
    int depth = 0;
    do {
        ln_value v;
        int name = depth && stack[depth - 1].map && stack[depth - 1].left % 2 == 0;
        if (ln_msgpack_head(p, end, &v, &p) != LN_HEAD_OK) return end;
        if (depth) {
            separate(out, &stack[depth - 1]);
            stack[depth - 1].left--;
        }
        if (name && v.type != LN_TEXT) {
            p = put_odd_name(out, &v, p, end);
        } else if (v.type == LN_ARRAY || v.type == LN_MAP) {
            LN_ASSERT(depth < DEPTH_MAX);
            ln_buf_byte(out, v.type == LN_MAP ? '{' : '[');
            stack[depth++] = (level){.left = (uint64_t)v.len * (v.type == LN_MAP ? 2 : 1), .map = v.type == LN_MAP};
        } else {
            put_scalar(out, &v);
            if (v.type >= LN_TEXT) p += v.len;
        }
        while (depth && stack[depth - 1].left == 0) ln_buf_byte(out, stack[--depth].map ? '}' : ']');
    } while (depth);
    return p;
}

void ln_json_lines(ln_buf *out, const uint8_t *p, size_t len) {
    const uint8_t *end = p + len;
    while (p < end && !out->failed) {
        p = put_value(out, p, end);
        ln_buf_byte(out, '\n');
    }
}
