/* The tree of fields: built path by path, searched by length and bytes. */
#include "ingest/fields.h"

void ln_fields_init(ln_fields *f, ln_mem *mem) { *f = (ln_fields){.mem = mem}; }

void ln_fields_free(ln_fields *f) {
    for (ln_name *name = f->names, *older; name; name = older) {
        older = name->older;
        ln_mem_free(f->mem, name, sizeof *name + name->len);
    }
    for (ln_level *level = f->levels, *older; level; level = older) {
        older = level->older;
        ln_mem_free(f->mem, level, sizeof *level);
    }
    ln_fields_init(f, f->mem);
}

static size_t chain_of(const uint8_t *text, size_t len) {
    size_t ends = len ? text[0] + (size_t)7 * text[len - 1] : 0;
    return (len * 5 + ends) % LN_LEVEL_CHAINS;
}

static ln_name *find(const ln_level *level, const uint8_t *text, size_t len) {
    ln_name *name = level->chain[chain_of(text, len)];
    while (name && (name->len != len || memcmp(name->text, text, len) != 0)) name = name->next;
    return name;
}

const ln_name *ln_level_find(const ln_level *level, const uint8_t *text, size_t len) {
    const ln_name *name = find(level, text, len);
    /* A name stays without either where memory ran short while its path was built. */
    return name && (name->below || name->column >= 0) ? name : NULL;
}

/* The bit of a name's column, by its place in the level's list. */
static uint64_t bit_of(const ln_level *level, const ln_name *name) {
    for (uint32_t i = 0; name && i < level->columns && i < 64; i++)
        if (level->column[i] == name->column) return UINT64_C(1) << i;
    return 0;
}

void ln_guess_set(ln_level *level, ln_guess *g, const uint8_t *text, uint32_t bytes, const ln_name *name) {
    memset(g->word, 0, sizeof g->word);
    memset(g->mask, 0, sizeof g->mask);
    memcpy(g->word, text, bytes);
    memset(g->mask, 0xff, bytes);
    g->bytes = bytes;
    g->name = name;
    g->bit = bit_of(level, name);
    g->column = !name ? LN_GUESS_PASS : name->below ? LN_GUESS_CARE : name->column;
}

/* Guesses that stand for 0xc1, which begins no value: what follows such a "name" is refused by whoever reads on. */
static void forget(ln_level *level) {
    static const uint8_t nothing = 0xc1;
    for (int i = 0; i < LN_LEVEL_GUESSES; i++) {
        ln_guess_set(level, &level->guess[i], &nothing, 1, NULL);
        level->guess[i].bytes = 0;
        level->guess[i].column = LN_GUESS_CARE;
    }
}

static ln_level *level_new(ln_fields *f) {
    ln_level *level = ln_mem_zero(f->mem, sizeof *level);
    if (!level) return NULL;
    forget(level);
    level->older = f->levels;
    f->levels = level;
    return level;
}

static ln_name *name_new(ln_fields *f, ln_level *level, const uint8_t *text, size_t len) {
    ln_name *name, **chain = &level->chain[chain_of(text, len)];
    if (len > UINT32_MAX) return NULL;
    name = ln_mem_new(f->mem, sizeof *name + len);
    if (!name) return NULL;
    *name = (ln_name){.next = *chain, .older = f->names, .column = -1, .len = (uint32_t)len};
    memcpy(name->text, text, len);
    *chain = name;
    f->names = name;
    return name;
}

/* Bytes up to the next dot. */
static size_t name_len(const uint8_t *text, const uint8_t *end) {
    const uint8_t *dot = text == end ? NULL : memchr(text, '.', (size_t)(end - text));
    return (size_t)((dot ? dot : end) - text);
}

/* The name at the end of the path; NULL where it is not there. With `make` it is made with all levels above it; NULL
 * where memory is short. */
static ln_name *path_get(ln_fields *f, const uint8_t *path, const uint8_t *end, int make) {
    ln_level **level = &f->root;
    for (;;) {
        size_t len = name_len(path, end);
        ln_name *name;
        if (!*level && make) *level = level_new(f);
        name = *level ? find(*level, path, len) : NULL;
        if (!name && *level && make) name = name_new(f, *level, path, len);
        if (!name || path + len == end) return name;
        level = &name->below;
        path += len + 1;
    }
}

/* Notes the new column in each level that the path passes through. */
static void path_note(ln_fields *f, const uint8_t *path, const uint8_t *end, uint16_t column) {
    for (ln_level *level = f->root;;) {
        size_t len = name_len(path, end);
        if (level->columns < 64) level->all |= UINT64_C(1) << level->columns;
        level->column[level->columns++] = column;
        forget(level);
        if (path + len == end) return;
        level = find(level, path, len)->below;
        path += len + 1;
    }
}

int ln_fields_add(ln_fields *f, const char *path, size_t len) {
    const uint8_t *text = (const uint8_t *)path, *end = text + len;
    ln_name *name = path_get(f, text, end, 0);
    if (name && name->column >= 0) return name->column;
    if (f->columns == LN_FIELDS_MAX) return -1;
    name = path_get(f, text, end, 1);
    if (!name) return -1;
    name->column = (int32_t)f->columns++;
    path_note(f, text, end, (uint16_t)name->column);
    return name->column;
}
