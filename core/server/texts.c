/* See texts.h. */
#define _GNU_SOURCE
#include "server/texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
uint64_t ln_texts_hash(const char *text, size_t len) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Takes the text over; frees it where that fails. */
static int add(ln_texts *t, const char *path, char *text, size_t len) {
    lunette_text *grown = realloc(t->text, (t->count + 1) * sizeof *grown);
    char *name = strdup(path);
    if (grown) t->text = grown;
    if (!grown || !name) {
        free(name);
        free(text);
        return -1;
    }
    t->text[t->count++] = (lunette_text){.path = name, .text = text, .len = len};
    return 0;
}

int ln_texts_of_host(ln_texts *t, lunette *host) {
    lunette_text from;
    for (size_t i = 0; !lunette_file(host, i, &from); i++) {
        char *copy = malloc(from.len + 1);
        if (!copy) return -1;
        memcpy(copy, from.text, from.len);
        if (add(t, from.path, copy, from.len)) return -1;
    }
    return 0;
}

static int read_whole(const char *path, char *to, size_t len) {
    FILE *f = fopen(path, "rbe");
    size_t got;
    if (!f) return -1;
    errno = 0;
    got = fread(to, 1, len + 1, f);
    fclose(f);
    return got == len ? 0 : -1;
}

int ln_texts_read(ln_texts *t, const char *path, uint64_t hash, size_t len, const char **why) {
    char *text;
    *why = "more files than a script is made of";
    if (t->count >= LN_TEXTS_MAX || len > LN_TEXTS_BYTES_MAX) return -1;
    *why = "memory is short";
    text = malloc(len + 1);
    if (!text) return -1;
    *why = "it has changed while it was checked: save it, and reload again";
    if (read_whole(path, text, len) || ln_texts_hash(text, len) != hash) {
        free(text);
        return -1;
    }
    *why = "memory is short";
    return add(t, path, text, len);
}

void ln_texts_free(ln_texts *t) {
    for (size_t i = 0; i < t->count; i++) {
        free((void *)(uintptr_t)t->text[i].path);
        free((void *)(uintptr_t)t->text[i].text);
    }
    free(t->text);
    *t = (ln_texts){0};
}
