/* The fields that are asked for: a tree of the maps that hold them, one level for each map, with their columns. A name
 * in a record is found by a guess first: records of a stream resemble each other, so the name that stood at this
 * position in the record before is compared, whole words at a time; only where it differs the level is searched.
 *
 * Invariant: a guess never decides anything by itself. It holds the bytes of the name it stands for, head included, and
 * what a search for that name had found; adding a field to a level forgets its guesses. */
#ifndef LN_INGEST_FIELDS_H
#define LN_INGEST_FIELDS_H

#include "base/mem.h"

#include <string.h>

enum { LN_FIELDS_MAX = 256, LN_LEVEL_GUESSES = 32, LN_LEVEL_CHAINS = 32, LN_GUESS_BYTES = 32 };

typedef struct ln_level ln_level;

/* A name that is asked for in one map. */
typedef struct ln_name {
    struct ln_name *next;  /* in its chain */
    struct ln_name *older; /* of all names */
    ln_level *below;       /* fields inside this one; NULL: none */
    int32_t column;        /* -1: only fields inside it are asked for */
    uint32_t len;          /* bytes */
    uint8_t text[];
} ln_name;

/* Instead of a column: nobody asks for the field; or the field is one to be looked at with care. */
enum { LN_GUESS_PASS = -1, LN_GUESS_CARE = -2 };

/* The name at one position: a msgpack text of up to 31 bytes. */
typedef struct ln_guess {
    uint64_t word[LN_GUESS_BYTES / 8]; /* head and name, then zeros */
    uint64_t mask[LN_GUESS_BYTES / 8]; /* ones where `word` counts */
    const ln_name *name;               /* NULL: nobody asks for it */
    int32_t column;                    /* of a field that nothing inside of is asked for */
    uint64_t bit;                      /* of that column, in the level's `all` */
    uint32_t bytes;                    /* head and name */
} ln_guess;

/* The fields of one map. */
struct ln_level {
    ln_level *older; /* of all levels */
    ln_name *chain[LN_LEVEL_CHAINS];
    uint16_t column[LN_FIELDS_MAX]; /* of all fields in this map and the maps inside it */
    uint32_t columns;
    uint64_t all;  /* a bit for each column, where there are at most 64 */
    uint32_t wild; /* records yet to come before one is taken for flat again */
    ln_guess guess[LN_LEVEL_GUESSES];
};

typedef struct ln_fields {
    ln_mem *mem;
    ln_level *root; /* the record; NULL while nothing is asked for */
    ln_level *levels;
    ln_name *names;
    uint32_t columns;
} ln_fields;

void ln_fields_init(ln_fields *f, ln_mem *mem);
void ln_fields_free(ln_fields *f);
/* The column of the field at `path`, a new one where it was not asked for before; -1 where there are LN_FIELDS_MAX
 * already, or memory is short. Columns are numbered from 0. */
int ln_fields_add(ln_fields *f, const char *path, size_t len);
/* The name in this level; NULL where nobody asks for it. */
const ln_name *ln_level_find(const ln_level *level, const uint8_t *text, size_t len);
/* Makes `g` stand for a short text: `text` with its one byte of head before it, `bytes` in all. */
void ln_guess_set(ln_level *level, ln_guess *g, const uint8_t *text, uint32_t bytes, const ln_name *name);

static inline uint64_t ln_guess_load(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

/* True where the bytes at `p`, of which LN_GUESS_BYTES can be read, begin with the name of the guess. */
static inline int ln_guess_hits(const ln_guess *g, const uint8_t *p) {
    uint64_t differs = (ln_guess_load(p) ^ g->word[0]) & g->mask[0];
    if (g->bytes <= 8) return differs == 0;
    differs |= (ln_guess_load(p + 8) ^ g->word[1]) & g->mask[1];
    if (g->bytes > 16) {
        differs |= (ln_guess_load(p + 16) ^ g->word[2]) & g->mask[2];
        differs |= (ln_guess_load(p + 24) ^ g->word[3]) & g->mask[3];
    }
    return differs == 0;
}

#endif
