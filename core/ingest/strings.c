/* A column's dictionary. Texts are looked up in blocks: while the slots of one block are fetched, all its hashes are
 * worked out. Measured, of 10,000 texts that return: 5 ns a text of one word, 7.5 of three. */
#include "ingest/strings.h"

#include "base/assert.h"

#include <string.h>

enum { SLOTS_MIN = 256, BLOCK = 32, PROBES_MAX = 32, WORDS_MAX = LN_STRINGS_WIDE };
#define NOWHERE SIZE_MAX /* of a row without a short text */

/* A mixer of 64 bits, to stretch a seed. */
static uint64_t stretch(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t slot_bytes(uint32_t words) { return (words + 1) * sizeof(uint64_t); }

int ln_strings_init(ln_string_table *t, ln_mem *mem, uint32_t rows_max, uint32_t most, uint64_t seed) {
    *t = (ln_string_table){.mem = mem, .rows_max = rows_max, .most = most ? most : LN_STRINGS_MAX};
    for (int i = 0; i < 4; i++) t->secret[i] = seed = stretch(seed);
    t->words = LN_STRINGS_NARROW;
    t->slots = SLOTS_MIN;
    t->id = ln_mem_zero(mem, rows_max * sizeof *t->id);
    t->row = ln_mem_new(mem, rows_max * sizeof *t->row);
    t->slot = ln_mem_zero(mem, SLOTS_MIN * slot_bytes(t->words));
    t->shown.id = t->id;
    t->shown.row = t->row;
    if (t->id && t->row && t->slot) return 0;
    ln_strings_free(t);
    return -1;
}

void ln_strings_free(ln_string_table *t) {
    ln_mem_free(t->mem, t->id, t->rows_max * sizeof *t->id);
    ln_mem_free(t->mem, t->row, t->rows_max * sizeof *t->row);
    ln_mem_free(t->mem, t->slot, t->slots * slot_bytes(t->words));
    *t = (ln_string_table){.mem = t->mem};
}

/* ---- one text, of so many words: they are a constant wherever these are called -------------------------------- */

static inline void load(uint64_t *text, uint32_t words, const uint8_t *at, uint32_t len) {
    /* Read from the middle - len on: so many ones, then zeros. */
    static const uint8_t ones[2 * LN_STRINGS_READ] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    };
    uint64_t mask[WORDS_MAX];
    memcpy(text, at, words * sizeof *text);
    memcpy(mask, ones + LN_STRINGS_READ - len, words * sizeof *mask);
    for (uint32_t i = 0; i < words; i++) text[i] &= mask[i];
    text[words - 1] |= (uint64_t)(len + 1) << 56;
}

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 both = (unsigned __int128)a * b;
    return (uint64_t)both ^ (uint64_t)(both >> 64);
}

/* Folded twice: texts that differ in a few digits would lie in a pattern after once. */
static inline size_t hash(const uint64_t *k, const uint64_t *text, uint32_t words) {
    uint64_t h = text[words - 1];
    if (words > 1) h ^= fold(text[0] ^ k[2], text[1] ^ k[3]);
    return (size_t)fold(fold(h ^ k[0], k[1]) ^ k[2], k[3]);
}

/* 0 where they are the same. */
static inline uint64_t differ(const uint64_t *a, const uint64_t *b, uint32_t words) {
    uint64_t d = 0;
    for (uint32_t i = 0; i < words; i++) d |= a[i] ^ b[i];
    return d;
}

/* The number of a row's text that is in neither of its first two slots; 0 where those near them are all taken. */
static int32_t find_on(ln_string_table *t, const uint64_t *text, size_t at, uint32_t row) {
    uint32_t words = t->words;
    for (size_t last = at + PROBES_MAX; at != last; at++) {
        uint64_t *slot = t->slot + (at & (t->slots - 1)) * (words + 1);
        if (!differ(slot, text, words)) return (int32_t)slot[words];
        if (slot[words - 1]) continue;
        memcpy(slot, text, words * sizeof *slot);
        t->row[t->shown.rows++] = row;
        slot[words] = ++t->shown.count;
        return (int32_t)slot[words];
    }
    return 0;
}

/* Which of the first two slots it is can't be foreseen: both are compared. */
static inline int32_t find(ln_string_table *t, const uint64_t *text, uint32_t words, size_t at, uint32_t row) {
    const uint64_t *slot = t->slot + at * (words + 1);
    uint64_t first = differ(slot, text, words), second = differ(slot + words + 1, text, words);
    uint64_t which = 3 ^ (((first | (0 - first)) >> 63) | ((second | (0 - second)) >> 63 << 1));
    return LN_LIKELY(which) ? (int32_t)slot[(which >> 1) * (words + 1) + words] : find_on(t, text, at, row);
}

static inline int needs_more(uint32_t words, const ln_value *v) {
    return v->type == LN_TEXT && v->len >= 8 * words && v->len <= LN_STRINGS_BYTES;
}

void ln_strings_look(ln_string_table *t, const ln_value *cell, uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++) t->too_narrow |= needs_more(t->words, &cell[r]);
}

/* Numbers the texts of up to BLOCK rows from `first` on. */
static inline void number_block(ln_string_table *t, uint32_t words, const ln_value *cell, uint32_t first,
                                uint32_t rows) {
    uint64_t text[BLOCK][WORDS_MAX], k[4];
    size_t at[BLOCK], mask = t->slots - 2;
    uint32_t seen = 0;
    memcpy(k, t->secret, sizeof k);
    for (uint32_t i = 0; i < rows; i++) {
        const ln_value *v = &cell[first + i];
        at[i] = NOWHERE;
        if (v->type != LN_TEXT || v->len >= 8 * words) {
            t->too_narrow |= needs_more(words, v);
            continue;
        }
        load(text[i], words, v->at, v->len);
        at[i] = hash(k, text[i], words) & mask;
        __builtin_prefetch(t->slot + at[i] * (words + 1));
        seen++;
    }
    t->seen += seen;
    for (uint32_t i = 0; i < rows; i++)
        t->id[first + i] = at[i] == NOWHERE ? 0 : find(t, text[i], words, at[i], first + i);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* A table of so many slots; where memory is short the old one serves on, as far as it goes. */
static void resize(ln_string_table *t, size_t slots) {
    size_t size = t->words + 1;
    uint64_t *table = ln_mem_zero(t->mem, slots * slot_bytes(t->words));
    if (!table) return;
    for (const uint64_t *s = t->slot, *end = s + t->slots * size; s < end; s += size) {
        size_t at = hash(t->secret, s, t->words) & ~(size_t)1;
        if (!s[t->words - 1]) continue;
        while (table[(at & (slots - 1)) * size + t->words - 1]) at++;
        memcpy(table + (at & (slots - 1)) * size, s, slot_bytes(t->words));
    }
    ln_mem_free(t->mem, t->slot, t->slots * slot_bytes(t->words));
    t->slot = table;
    t->slots = slots;
}

/* An empty table for texts of three words; where memory is short all stays as it is. */
static void widen(ln_string_table *t) {
    uint64_t *table = ln_mem_zero(t->mem, SLOTS_MIN * slot_bytes(LN_STRINGS_WIDE));
    if (!table) return;
    ln_mem_free(t->mem, t->slot, t->slots * slot_bytes(t->words));
    t->slot = table;
    t->slots = SLOTS_MIN;
    t->words = LN_STRINGS_WIDE;
    t->too_narrow = 0;
}

/* A new generation. Where most texts of the last one were new, numbers cost more than they save. */
static void restart(ln_string_table *t) {
    if (t->shown.count >= t->most && t->seen < 2 * (uint64_t)t->shown.count) t->rest = LN_STRINGS_REST;
    memset(t->slot, 0, t->slots * slot_bytes(t->words));
    memset(t->id, 0, t->rows_max * sizeof *t->id);
    if (t->rest) resize(t, SLOTS_MIN);
    t->shown.count = 0;
    t->shown.generation++;
    t->seen = 0;
}

void ln_strings_batch(ln_string_table *t, const ln_value *cell, uint32_t rows) {
    t->shown.rows = 0;
    if (t->rest) {
        t->rest--;
        return;
    }
    if (t->shown.count >= t->most || t->too_narrow) restart(t);
    if (t->rest) return;
    if (t->too_narrow) widen(t);
    for (uint32_t first = 0; first < rows; first += BLOCK) {
        uint32_t n = rows - first < BLOCK ? rows - first : BLOCK;
        if (t->words == LN_STRINGS_NARROW) number_block(t, LN_STRINGS_NARROW, cell, first, n);
        else number_block(t, LN_STRINGS_WIDE, cell, first, n);
        if (2 * (size_t)t->shown.count > t->slots && t->slots < 2 * (size_t)t->most) resize(t, 2 * t->slots);
    }
}
