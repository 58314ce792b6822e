/* A flat line of JSON to msgpack, eight bytes at a time. There is no check for the end of the input: it stands before a
 * 0, at which every step below stops. */
#include "ingest/flat.h"

#include "base/pack.h"
#include "base/word.h"

enum {
    FIELDS_MAX = 15,           /* whose number stands in the map's first byte */
    DIGITS_MAX = 18,           /* of a number that cannot pass 64 bits */
    NAME_ROOM = LN_PACK_MAX,   /* the longest head of a text */
    STEP = LN_WORD_BYTES,      /* read and written at once */
    AFTER = STEP + LN_PACK_MAX /* bytes written beyond a text: its last step, and the number behind it */
};

/* The rest of a text that is longer than one step; `p` is its first byte. */
static const uint8_t *text_long(const uint8_t *p, uint8_t **to, const uint8_t *stop) {
    const uint8_t *end = p + STEP;
    uint64_t bits;
    size_t len;
    while (!(bits = ln_word_special(ln_word_load(end)))) end += STEP;
    end += ln_word_first(bits);
    len = (size_t)(end - p);
    if (*end != '"' || (size_t)(stop - *to) < len + NAME_ROOM + AFTER) return NULL;
    *to = ln_pack_head(*to, LN_TEXT, (uint32_t)len);
    memcpy(*to, p, len);
    *to += len;
    return end + 1;
}

/* The text behind the quote at `p`; its end, or NULL. */
static inline const uint8_t *text(const uint8_t *p, uint8_t **to, const uint8_t *stop) {
    uint64_t word = ln_word_load(++p), bits = ln_word_special(word);
    unsigned len;
    if (!bits) return text_long(p, to, stop);
    len = ln_word_first(bits);
    if (p[len] != '"' || stop - *to < NAME_ROOM + STEP + AFTER) return NULL;
    **to = (uint8_t)(0xa0 | len);
    memcpy(*to + 1, &word, sizeof word);
    *to += 1 + len;
    return p + len + 1;
}

/* Takes the digits at `p` up into *n and counts them; the end of them, or somewhere among them where there are more
 * than DIGITS_MAX. */
static inline const uint8_t *digits(const uint8_t *p, uint64_t *n, unsigned *count) {
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned here;
    do {
        uint64_t word = ln_word_load(p),
                 bits = ((word + LN_WORD_EACH(0x7f - '9')) | (word - LN_WORD_EACH('0'))) & LN_WORD_EACH(0x80);
        here = bits ? ln_word_first(bits) : STEP;
        if (here == 0) break;
        word = (word ^ LN_WORD_EACH('0')) << (64 - 8 * here);
        word = (word * (1 + (10 << 8)) >> 8) & UINT64_C(0x00ff00ff00ff00ff);
        word = (word * (1 + (100 << 16)) >> 16) & UINT64_C(0x0000ffff0000ffff);
        word = word * (1 + (UINT64_C(10000) << 32)) >> 32;
        *n = *n * power[here] + word;
        *count += here;
        p += here;
    } while (here == STEP && *count <= DIGITS_MAX);
    return p;
}

/* The number at `p`; its end, or NULL. A decimal is exact up to the one division, as long as its digits are a whole
 * number within 2^53 and the power of ten is a double itself. */
static inline const uint8_t *number(const uint8_t *p, uint8_t **to) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    int negative = *p == '-';
    const uint8_t *first = p += negative;
    unsigned count = 0, whole;
    uint64_t n = 0;
    double d;
    p = digits(p, &n, &count);
    whole = count;
    if (count == 0 || count > DIGITS_MAX || (*first == '0' && count > 1)) return NULL;
    if (*p != '.') {
        if (negative && n == 0) return NULL;
        *to = ln_pack_int(*to, negative ? -(int64_t)n : (int64_t)n);
        return p;
    }
    p = digits(p + 1, &n, &count);
    if (count == whole || count > DIGITS_MAX || n > UINT64_C(1) << 53) return NULL;
    d = (double)n / power[count - whole];
    *to = ln_pack_double(*to, negative ? -d : d);
    return p;
}

/* The value at `p`; its end, or NULL. */
static inline const uint8_t *value(const uint8_t *p, uint8_t **to, const uint8_t *stop) {
    if (*p == '"') return text(p, to, stop);
    if (*p == '-' || (*p >= '0' && *p <= '9')) return number(p, to);
    if (memcmp(p, "true", 4) == 0) return *(*to)++ = 0xc3, p + 4;
    if (memcmp(p, "null", 4) == 0) return *(*to)++ = 0xc0, p + 4;
    if (memcmp(p, "false", 5) == 0) return *(*to)++ = 0xc2, p + 5;
    return NULL;
}

uint8_t *ln_flat_convert(const uint8_t *p, uint8_t *to, const uint8_t *stop, uint32_t *fields, size_t *len,
                         const uint8_t **next) {
    const uint8_t *line = p;
    uint8_t *head = to++;
    uint32_t n = 0;
    if (*p != '{') return NULL;
    do {
        p++;
        p += *p == ' ';
        if (*p != '"' || ++n > FIELDS_MAX) return NULL;
        p = text(p, &to, stop);
        if (!p || *p++ != ':') return NULL;
        p += *p == ' ';
        p = value(p, &to, stop);
        if (!p) return NULL;
    } while (*p == ',');
    if (*p++ != '}') return NULL;
    *len = (size_t)(p - line);
    p += *p == '\r';
    if (*p++ != '\n') return NULL;
    *head = (uint8_t)(0x80 | n);
    *fields = n;
    *next = p;
    return to;
}
