/* What the tests of the scanner share: a projector with its columns, for one row, and values shown as text. */
#ifndef LN_INGEST_TEST_SCAN_H
#define LN_INGEST_TEST_SCAN_H

#include "base/test.h"
#include "ingest/scan.h"

static const ln_limits roomy = {.record_bytes = 1 << 20, .nesting = 32, .elements = 65536};

#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

/* A value's bytes and how it is shown. */
typedef struct golden {
    const char *name;
    const uint8_t *bytes;
    size_t len;
    const char *shown;
} golden;

#define X16 "0123456789abcdef"
#define X31 X16 "0123456789abcde"
#define X32 X16 X16

static inline void show(const ln_value *v, char *to, size_t room) {
    size_t at = 0;
    switch (v->type) {
    case LN_MISSING: snprintf(to, room, "missing"); return;
    case LN_NULL: snprintf(to, room, "null"); return;
    case LN_BOOL: snprintf(to, room, "bool %d", (int)v->i); return;
    case LN_INT: snprintf(to, room, "int %" PRId64, v->i); return;
    case LN_UINT: snprintf(to, room, "uint %" PRIu64, v->u); return;
    case LN_DOUBLE: snprintf(to, room, "double %.17g", v->d); return;
    case LN_TEXT: snprintf(to, room, "text %" PRIu32 ":%.*s", v->len, (int)v->len, (const char *)v->at); return;
    case LN_BYTES: at = (size_t)snprintf(to, room, "bytes %" PRIu32 ":", v->len); break;
    case LN_EXT: at = (size_t)snprintf(to, room, "ext %d %" PRIu32 ":", v->ext, v->len); break;
    case LN_ARRAY: at = (size_t)snprintf(to, room, "array %" PRIu32 ":", v->len); break;
    case LN_MAP: at = (size_t)snprintf(to, room, "map %" PRIu32 ":", v->len); break;
    default: snprintf(to, room, "type %d", v->type); return;
    }
    for (uint32_t i = 0; i < v->len && at + 3 < room; i++) at += (size_t)snprintf(to + at, room - at, "%02x", v->at[i]);
}

static inline int shows(const ln_value *v, const char *want) {
    char got[512];
    show(v, got, sizeof got);
    return CHECK_TEXT(got, want);
}

/* ---- a projector with its columns, for one row ---- */

typedef struct bench {
    ln_mem mem;
    ln_fields fields;
    ln_value value[LN_FIELDS_MAX];
    ln_value *column[LN_FIELDS_MAX];
    uint8_t malformed;
    uint8_t *copy; /* the record, ending where its allocation less the pad ends */
    size_t copy_bytes;
} bench;

static inline void bench_init(bench *b) {
    ln_mem_init(&b->mem);
    ln_fields_init(&b->fields, &b->mem);
    for (int i = 0; i < LN_FIELDS_MAX; i++) b->column[i] = &b->value[i];
    b->copy = NULL;
}

static inline void bench_free(bench *b) {
    ln_fields_free(&b->fields);
    free(b->copy);
    CHECK_INT(b->mem.used, 0);
}

static inline int bench_field(bench *b, const char *path) { return ln_fields_add(&b->fields, path, strlen(path)); }

/* Projects from a fresh copy whose pad is filled with `pad`; the record's length, or -1 where it was not accepted. */
static inline int64_t bench_project(bench *b, const ln_limits *limits, const uint8_t *bytes, size_t len, int pad) {
    const uint8_t *end;
    free(b->copy);
    b->copy = malloc(len + LN_SCAN_PAD);
    if (!b->copy) abort();
    memset(b->copy, pad, len + LN_SCAN_PAD);
    memcpy(b->copy, bytes, len);
    end = ln_scan_project(&b->fields, limits, b->copy, b->copy + len, b->column, 0, &b->malformed);
    return end ? end - b->copy : -1;
}

#endif
