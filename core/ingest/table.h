/* What batches are made in, one at a time: columns, the rows' records, and what is made of JSON lines. Readers that
 * share a table have the same columns. */
#ifndef LN_INGEST_TABLE_H
#define LN_INGEST_TABLE_H

#include "base/buf.h"
#include "ingest/fields.h"
#include "ingest/json.h"
#include "ingest/strings.h"

typedef struct ln_table {
    ln_mem *mem;
    ln_json *json; /* NULL before the first line */
    ln_buf made;
    ln_fields fields;
    uint32_t rows_max;
    uint32_t rows_wanted; /* of the next batch, at most rows_max */
    ln_value *column[LN_FIELDS_MAX];
    ln_string_table *strings[LN_FIELDS_MAX]; /* of columns whose texts are numbered */
    uint32_t made_rows, made_columns;        /* of the present batch */
    const uint8_t **record;
    uint32_t *record_bytes;
    uint8_t *malformed;
} ln_table;

/* NULL where memory is short. */
ln_table *ln_table_new(ln_mem *mem, uint32_t rows_max);
void ln_table_delete(ln_table *t);
/* The allocator has moved to `mem`. */
void ln_table_settle(ln_table *t, ln_mem *mem);
/* The column of the field at `path`; -1 where there is no more room for one. */
int ln_table_column(ln_table *t, const char *path, size_t len);
/* As ln_reader_strings. */
const ln_strings *ln_table_strings(ln_table *t, int column, uint32_t most, uint64_t seed);
/* A batch of so many rows is made: its texts get their numbers. */
void ln_table_made(ln_table *t, uint32_t rows);
/* Makes one row, row 0, of bytes that are no record; `err` is what is wrong with them. 0, or -1: memory is short. */
int ln_table_put_bad(ln_table *t, const uint8_t *bytes, size_t len, int err);

#endif
