/* See table.h. */
#include "ingest/table.h"

#include "base/assert.h"
#include "base/pack.h"

ln_table *ln_table_new(ln_mem *mem, uint32_t rows_max) {
    ln_table *t = ln_mem_zero(mem, sizeof *t);
    if (!t) return NULL;
    t->mem = mem;
    t->rows_max = t->rows_wanted = rows_max;
    ln_fields_init(&t->fields, mem);
    ln_buf_init(&t->made, mem);
    t->record = ln_mem_new(mem, rows_max * sizeof *t->record);
    t->record_bytes = ln_mem_new(mem, rows_max * sizeof *t->record_bytes);
    t->malformed = ln_mem_new(mem, rows_max * sizeof *t->malformed);
    if (t->record && t->record_bytes && t->malformed) return t;
    ln_table_delete(t);
    return NULL;
}

void ln_table_delete(ln_table *t) {
    for (int i = 0; i < LN_FIELDS_MAX; i++) {
        ln_mem_free(t->mem, t->column[i], t->rows_max * sizeof **t->column);
        if (t->strings[i]) ln_strings_free(t->strings[i]);
        ln_mem_free(t->mem, t->strings[i], sizeof **t->strings);
    }
    ln_mem_free(t->mem, t->record, t->rows_max * sizeof *t->record);
    ln_mem_free(t->mem, t->record_bytes, t->rows_max * sizeof *t->record_bytes);
    ln_mem_free(t->mem, t->malformed, t->rows_max * sizeof *t->malformed);
    ln_fields_free(&t->fields);
    ln_buf_free(&t->made);
    ln_json_delete(t->json, t->mem);
    ln_mem_free(t->mem, t, sizeof *t);
}

void ln_table_settle(ln_table *t, ln_mem *mem) { t->mem = t->fields.mem = t->made.mem = mem; }

int ln_table_column(ln_table *t, const char *path, size_t len) {
    uint32_t next = t->fields.columns;
    if (next < LN_FIELDS_MAX && !t->column[next]) {
        t->column[next] = ln_mem_new(t->mem, t->rows_max * sizeof **t->column);
        if (!t->column[next]) return -1;
    }
    return ln_fields_add(&t->fields, path, len);
}

const ln_strings *ln_table_strings(ln_table *t, int column, uint32_t most, uint64_t seed) {
    ln_string_table *s;
    LN_ASSERT(column >= 0 && (uint32_t)column < t->fields.columns);
    if (t->strings[column]) return &t->strings[column]->shown;
    s = ln_mem_new(t->mem, sizeof *s);
    if (s && ln_strings_init(s, t->mem, t->rows_max, most, seed) == 0) {
        t->strings[column] = s;
        if ((uint32_t)column < t->made_columns) ln_strings_look(s, t->column[column], t->made_rows);
        return &s->shown;
    }
    ln_mem_free(t->mem, s, sizeof *s);
    return NULL;
}

void ln_table_made(ln_table *t, uint32_t rows) {
    t->made_rows = rows;
    t->made_columns = t->fields.columns;
    for (uint32_t c = 0; c < t->fields.columns; c++)
        if (t->strings[c]) ln_strings_batch(t->strings[c], t->column[c], rows);
}

int ln_table_put_bad(ln_table *t, const uint8_t *bytes, size_t len, int err) {
    const ln_value bad = {.type = LN_BYTES, .len = (uint32_t)len, .at = bytes};
    ln_buf_clear(&t->made);
    ln_pack_put(&t->made, &bad);
    if (t->made.failed) return -1;
    for (uint32_t c = 0; c < t->fields.columns; c++) t->column[c][0] = (ln_value){.type = LN_MISSING};
    t->record[0] = t->made.data;
    t->record_bytes[0] = (uint32_t)t->made.len;
    t->malformed[0] = (uint8_t)err;
    return 0;
}
