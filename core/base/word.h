/* Text eight bytes at a time. Words are read as little endian: the first byte is the lowest. */
#ifndef LN_BASE_WORD_H
#define LN_BASE_WORD_H

#include <stdint.h>
#include <string.h>

enum { LN_WORD_BYTES = 8 };

#define LN_WORD_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t ln_word_load(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Bit 7 of the first byte that does not stand for itself in a text of JSON (a quote, a backslash, a control character)
 * or that is not ASCII; 0 where there is none. Bits above the lowest that is set mean nothing. */
static inline uint64_t ln_word_special(uint64_t word) {
    uint64_t quote = (word ^ LN_WORD_EACH('"')) - LN_WORD_EACH(1);
    uint64_t backslash = (word ^ LN_WORD_EACH('\\')) - LN_WORD_EACH(1);
    uint64_t del = (word ^ LN_WORD_EACH(0x7f)) - LN_WORD_EACH(1);
    return (quote | backslash | del | (word - LN_WORD_EACH(0x20)) | word) & LN_WORD_EACH(0x80);
}

/* Which byte the lowest bit belongs to. */
static inline unsigned ln_word_first(uint64_t bits) { return (unsigned)__builtin_ctzll(bits) / 8; }

#endif
