/* See facts.h. */
#include "durable/facts.h"

#include "durable/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void ln_facts_free(ln_facts *f) {
    for (size_t i = 0; i < f->count; i++) free(f->item[i].bytes);
    free(f->item);
    *f = (ln_facts){0};
}

static size_t find(const ln_facts *f, const char *name) {
    size_t i = 0;
    while (i < f->count && strcmp(f->item[i].name, name) != 0) i++;
    return i;
}

/* Room for one more; NULL where memory is short. */
static ln_fact *add(ln_facts *f, const char *name) {
    if (f->count == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 16;
        ln_fact *grown = realloc(f->item, cap * sizeof *grown);
        if (!grown) return NULL;
        f->item = grown;
        f->cap = cap;
    }
    f->item[f->count] = (ln_fact){.len = 0};
    snprintf(f->item[f->count].name, LN_FACT_NAME, "%s", name);
    return &f->item[f->count++];
}

void ln_facts_put(ln_facts *f, const char *name, const void *bytes, size_t len) {
    size_t i = find(f, name);
    ln_fact *fact = i < f->count ? &f->item[i] : add(f, name);
    uint8_t *copy = fact ? malloc(len + 1) : NULL;
    if (!copy) {
        f->failed = 1;
        return;
    }
    if (len) memcpy(copy, bytes, len);
    copy[len] = '\0';
    free(fact->bytes);
    fact->bytes = copy;
    fact->len = len;
}

void ln_facts_put_text(ln_facts *f, const char *name, const char *text) { ln_facts_put(f, name, text, strlen(text)); }

void ln_facts_put_number(ln_facts *f, const char *name, int64_t number) {
    char text[32];
    ln_facts_put(f, name, text, (size_t)snprintf(text, sizeof text, "%" PRId64, number));
}

const ln_fact *ln_facts_get(const ln_facts *f, const char *name) {
    size_t i = find(f, name);
    return i < f->count && f->item[i].bytes ? &f->item[i] : NULL;
}

const char *ln_facts_text(const ln_facts *f, const char *name) {
    const ln_fact *fact = ln_facts_get(f, name);
    return fact ? (const char *)fact->bytes : "";
}

int64_t ln_facts_number(const ln_facts *f, const char *name, int64_t otherwise) {
    const ln_fact *fact = ln_facts_get(f, name);
    return fact ? strtoll((const char *)fact->bytes, NULL, 10) : otherwise;
}

void ln_facts_drop(ln_facts *f, const char *begins) {
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (strncmp(f->item[i].name, begins, strlen(begins)) != 0) f->item[kept++] = f->item[i];
        else free(f->item[i].bytes);
    }
    f->count = kept;
}

/* ---- in a ledger ----------------------------------------------------------------------------------------------- */

static int take(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    char name[LN_FACT_NAME];
    snprintf(name, sizeof name, "%.*s", (int)key_bytes, (const char *)key);
    ln_facts_put(ctx, name, value, value_bytes);
    return 0;
}

int ln_facts_read(ln_facts *f, ln_ledger *ledger) {
    int code = ln_ledger_scan(ledger, LN_DURABLE_FACTS, NULL, 0, take, f);
    if (code) return -code;
    return f->failed ? LN_LEDGER_RETRY : LN_LEDGER_OK;
}

void ln_facts_write(const ln_facts *f, ln_batch_writer *batch) {
    ln_batch_delete_range(batch, LN_DURABLE_FACTS, "\0", 1, "\xff", 1);
    for (size_t i = 0; i < f->count; i++) {
        const ln_fact *fact = &f->item[i];
        if (fact->bytes) ln_batch_put(batch, LN_DURABLE_FACTS, fact->name, strlen(fact->name), fact->bytes, fact->len);
    }
}
