/* See revive.h. */
#define _GNU_SOURCE
#include "durable/revive.h"

#include "durable/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 256 << 10 };

/* ---- opening --------------------------------------------------------------------------------------------------- */

int ln_durable_open(const char *folder, int look, ln_ledger **ledger, ln_facts *facts,
                    char problem[LN_LEDGER_PROBLEM]) {
    int code = look ? ln_ledger_look(folder, ledger, problem) : ln_ledger_open(folder, ledger, problem);
    int64_t format;
    if (code != LN_LEDGER_OK) return code;
    code = ln_facts_read(facts, *ledger);
    format = ln_facts_number(facts, LN_FACT_FORMAT, LN_DURABLE_FORMAT);
    if (code != LN_LEDGER_OK) {
        snprintf(problem, LN_LEDGER_PROBLEM, "%s", ln_ledger_error(*ledger));
    } else if (format < 1 || format > LN_DURABLE_FORMAT) {
        snprintf(problem, LN_LEDGER_PROBLEM,
                 "%s: was written by lunette %s in format %" PRId64
                 ", and this one knows formats up to %d: run that version, or name another folder",
                 folder, ln_facts_text(facts, LN_FACT_VERSION), format, LN_DURABLE_FORMAT);
        code = LN_LEDGER_LOST;
    }
    if (code == LN_LEDGER_OK) return code;
    ln_ledger_close(*ledger);
    *ledger = NULL;
    return code;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

void ln_kept_texts_write(ln_batch_writer *batch, const lunette_text *text, size_t count) {
    ln_mem mem;
    ln_buf value;
    ln_mem_init(&mem);
    ln_buf_init(&value, &mem);
    for (size_t i = 0; i < count; i++) {
        uint8_t key[LN_DURABLE_NUMBER_KEY];
        ln_durable_number_key(key, i);
        ln_buf_clear(&value);
        ln_buf_append(&value, text[i].path, strlen(text[i].path) + 1);
        ln_buf_append(&value, text[i].text, text[i].len);
        if (value.failed) batch->bytes.failed = 1;
        else ln_batch_put(batch, LN_DURABLE_TEXTS, key, sizeof key, value.data, value.len);
    }
    ln_buf_free(&value);
}

/* Path and text have one block, the path's. */
static int take_text(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    ln_kept_texts *t = ctx;
    size_t path_bytes = strnlen((const char *)value, value_bytes) + 1;
    lunette_text *grown = realloc(t->text, (t->count + 1) * sizeof *grown);
    char *copy = malloc(value_bytes + 1);
    (void)key, (void)key_bytes;
    if (grown) t->text = grown;
    if (!grown || !copy || path_bytes > value_bytes) {
        free(copy);
        return 1;
    }
    memcpy(copy, value, value_bytes);
    copy[value_bytes] = '\0';
    t->text[t->count++] = (lunette_text){copy, copy + path_bytes, value_bytes - path_bytes};
    return 0;
}

int ln_kept_texts_read(ln_kept_texts *t, ln_ledger *ledger) {
    int code = ln_ledger_scan(ledger, LN_DURABLE_TEXTS, NULL, 0, take_text, t);
    return code > 0 ? LN_LEDGER_RETRY : -code;
}

void ln_kept_texts_free(ln_kept_texts *t) {
    for (size_t i = 0; i < t->count; i++) free((void *)(uintptr_t)t->text[i].path);
    free(t->text);
    *t = (ln_kept_texts){0};
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

typedef struct reviving {
    lunette *host;
    ln_buf piece; /* entries are given in larger pieces: each call costs as much as several of them */
    uint64_t entries;
} reviving;

static int give(reviving *r) {
    int code = r->piece.failed ? LUNETTE_FAILED : LUNETTE_OK;
    if (code == LUNETTE_OK && r->piece.len) code = lunette_restore(r->host, r->piece.data, r->piece.len);
    ln_buf_clear(&r->piece);
    return code;
}

static int take_entry(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    reviving *r = ctx;
    (void)key, (void)key_bytes;
    r->entries++;
    ln_buf_append(&r->piece, value, value_bytes);
    return r->piece.len >= PIECE_BYTES || r->piece.failed ? give(r) : 0;
}

int ln_revive(ln_ledger *ledger, lunette *host, uint64_t *entries) {
    ln_mem mem;
    reviving r = {.host = host};
    int code;
    ln_mem_init(&mem);
    ln_buf_init(&r.piece, &mem);
    code = ln_ledger_scan(ledger, LN_DURABLE_ENTRIES, NULL, 0, take_entry, &r);
    if (!code) code = give(&r);
    ln_buf_free(&r.piece);
    *entries = r.entries;
    return code;
}
