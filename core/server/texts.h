/* The texts of a script and of the modules beside it, as they were at one time: what was checked is what is loaded, and
 * what ran before can be gone back to. */
#ifndef LN_SERVER_TEXTS_H
#define LN_SERVER_TEXTS_H

#include "lunette_program.h"

enum { LN_TEXTS_MAX = 256, LN_TEXTS_BYTES_MAX = 16 << 20 };

typedef struct ln_texts {
    lunette_text *text; /* paths and texts are owned */
    size_t count;
} ln_texts;

/* A number that tells one text from another. */
uint64_t ln_texts_hash(const char *text, size_t len);
/* Those that the host has loaded its script from; 0, or -1 where memory is short. */
int ln_texts_of_host(ln_texts *t, lunette *host);
/* Reads a file, which must have that hash and length: 0, or -1 with *why, a view. */
int ln_texts_read(ln_texts *t, const char *path, uint64_t hash, size_t len, const char **why);
void ln_texts_free(ln_texts *t);

#endif
