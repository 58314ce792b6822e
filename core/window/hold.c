/* Records of sessions with a maximum that wait until W is about to reach them, so that where a session is cut does not
 * depend on the order of arrival. Each is one block of memory with copies of the values that aggregates will ask for,
 * and of the whole record where a function will. */
#include "window/state.h"

#include <string.h>

static size_t bytes_of(const ln_value *v) { return v->type >= LN_TEXT ? v->len : 0; }

static const ln_value *value_of(const ln_engine *e, uint32_t i) {
    uint32_t n = e->plan.aggregates;
    const ln_aggregate *a = &e->plan.aggregate[i < n ? i : i - n];
    return ln_rows_value(&e->rows, i < n ? a->column : a->has_by ? a->by_column : -1, e->row);
}

static ln_held *copy_row(ln_engine *e, uint32_t record_bytes) {
    uint32_t n = ln_held_values(e);
    size_t bytes = sizeof(ln_held) + n * sizeof(ln_value) + record_bytes;
    uint8_t *to;
    ln_held *h;
    for (uint32_t i = 0; i < n; i++) bytes += bytes_of(value_of(e, i));
    h = ln_mem_zero(&e->mem, bytes);
    if (!h) return NULL;
    h->bytes = bytes;
    h->record_bytes = record_bytes;
    to = (uint8_t *)(h->value + n);
    if (record_bytes) memcpy(to, e->rows.batch->record[e->row], record_bytes);
    to += record_bytes;
    for (uint32_t i = 0; i < n; i++) {
        const ln_value *v = value_of(e, i);
        h->value[i] = *v;
        if (!bytes_of(v)) continue;
        memcpy(to, v->at, v->len);
        h->value[i].at = to;
        to += v->len;
    }
    return h;
}

/* The number by which the driver knows a record that joins. */
static int number(ln_engine *e, ln_held *h) {
    h->id = ln_ids_take(&e->held_ids, &e->mem);
    if (!h->id) return -1;
    if (h->id >= LN_ROW_HELD || ln_mem_grow(&e->mem, &e->held, &e->held_cap, (size_t)h->id + 1, sizeof *e->held) < 0) {
        ln_ids_give(&e->held_ids, &e->mem, h->id);
        return -1;
    }
    e->held[h->id] = h;
    return 0;
}

/* ---- those of a key --------------------------------------------------------------------------------------------- */

static void chain(ln_held *h) {
    ln_cell_key *key = h->key;
    h->before = NULL;
    h->after = key->held;
    if (key->held) key->held->before = h;
    key->held = h;
    key->waiting++;
}

static void unchain(ln_held *h) {
    ln_cell_key *key = h->key;
    *(h->before ? &h->before->after : &key->held) = h->after;
    if (h->after) h->after->before = h->before;
    key->waiting--;
}

int ln_hold_again(ln_engine *e, ln_held *h) {
    if (ln_heap_add(&e->waiting, h->time_us, h->arrival, h) < 0) return -1;
    chain(h);
    return 0;
}

void ln_hold_forget(ln_engine *e, ln_cell_key *key) {
    while (key->waiting) {
        ln_held *h = key->held;
        ln_heap_remove(&e->waiting, h->at);
        unchain(h);
        ln_mem_free(&e->mem, h, h->bytes);
    }
}

int ln_hold(ln_engine *e, ln_cell_key *key) {
    int read = e->folds || e->early_whens || e->late_whens;
    ln_held *h = copy_row(e, read ? e->rows.batch->record_bytes[e->row] : 0);
    if (!h) return ln_engine_fail(e, LN_ENOMEM, "a waiting record");
    h->key = key;
    h->time_us = e->rows.time_us[e->row];
    h->arrival = e->arrivals;
    if (ln_hold_again(e, h) == 0) return 0;
    ln_mem_free(&e->mem, h, h->bytes);
    return ln_engine_fail(e, LN_ENOMEM, "a waiting record");
}

const ln_held *ln_hold_next(ln_engine *e, int64_t to_us) {
    ln_held *h;
    if (!e->waiting.count || ln_heap_least(&e->waiting) > to_us) return NULL;
    h = ln_heap_top(&e->waiting);
    if (number(e, h) < 0) {
        (void)ln_engine_fail(e, LN_ENOMEM, "a waiting record");
        return NULL;
    }
    ln_keys_touch(&e->keys, &h->key->key, h->key->id);
    ln_heap_remove(&e->waiting, 0);
    unchain(h);
    return h;
}

static void forget(ln_engine *e, ln_held *h) {
    e->held[h->id] = NULL;
    ln_ids_give(&e->held_ids, &e->mem, h->id);
    ln_mem_free(&e->mem, h, h->bytes);
    if (!ln_ids_live(&e->held_ids)) ln_mem_shrink(&e->mem, &e->held, &e->held_cap, 0, sizeof *e->held);
}

int ln_hold_done(ln_engine *e, const ln_held *held) {
    ln_held *h = e->held[held->id];
    if (!e->folds) {
        forget(e, h);
        return 0;
    }
    if (ln_mem_grow(&e->mem, &e->spent, &e->spent_cap, e->spent_count + 1, sizeof *e->spent) < 0)
        return ln_engine_fail(e, LN_ENOMEM, "a waiting record");
    e->spent[e->spent_count++] = h;
    return 0;
}

void ln_hold_spent(ln_engine *e) {
    for (size_t i = 0; i < e->spent_count; i++) forget(e, e->spent[i]);
    e->spent_count = 0;
    ln_mem_shrink(&e->mem, &e->spent, &e->spent_cap, 0, sizeof *e->spent);
}

void ln_hold_free(ln_engine *e) {
    while (e->waiting.count) {
        ln_held *h = ln_heap_remove(&e->waiting, 0);
        ln_mem_free(&e->mem, h, h->bytes);
    }
    for (size_t id = e->held_ids.last; id > 0; id--)
        if (id < e->held_cap && e->held[id]) ln_mem_free(&e->mem, e->held[id], e->held[id]->bytes);
    ln_heap_free(&e->waiting);
    ln_mem_free(&e->mem, e->held, e->held_cap * sizeof *e->held);
    ln_mem_free(&e->mem, e->spent, e->spent_cap * sizeof *e->spent);
    ln_ids_free(&e->held_ids, &e->mem);
}

const uint8_t *ln_engine_held(ln_engine *e, uint32_t row, size_t *len) {
    const ln_held *h = e->held[row & ~(uint32_t)LN_ROW_HELD];
    *len = h->record_bytes;
    return (const uint8_t *)(h->value + ln_held_values(e));
}
