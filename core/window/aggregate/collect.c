/* collect: the values themselves in event time, and where there are more than the limit the first of them. They are
 * encoded one after the other in the order in which they come, and put in order, with what is beyond the limit thrown
 * out, when there are twice as many. */
#include "base/assert.h"
#include "base/pack.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/kept.h"

#include <stdlib.h>

typedef struct item {
    int64_t time_us;
    uint64_t arrival;
    size_t at, len; /* in the bytes */
} item;

typedef struct list {
    uint64_t limit;
    uint64_t offered; /* values, thrown out ones included */
    item *item;
    size_t count, cap;
    size_t sorted; /* so many at the beginning are in order */
    ln_buf bytes;
} list;

typedef struct collect {
    list *list;
} collect;

static void clear(ln_tally *t, void *state) {
    collect *c = state;
    if (!c->list) return;
    ln_mem_free(t->mem, c->list->item, c->list->cap * sizeof(item));
    ln_buf_free(&c->list->bytes);
    ln_mem_free(t->mem, c->list, sizeof *c->list);
    c->list = NULL;
}

static int ensure(ln_tally *t, collect *c, uint64_t limit) {
    if (c->list) return LN_OK;
    c->list = ln_mem_zero(t->mem, sizeof *c->list);
    if (!c->list) return LN_ENOMEM;
    c->list->limit = limit;
    ln_buf_init(&c->list->bytes, t->mem);
    return LN_OK;
}

static int by_time(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? -1 : 1;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static void sort(item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (by_time(&items[i - 1], &items[i]) <= 0) continue; /* mostly they come in order */
        qsort(items, count, sizeof *items, by_time);
        return;
    }
}

/* Puts all in order and throws out what is beyond the limit. */
static int trim(ln_tally *t, list *l) {
    ln_buf bytes = {.mem = t->mem};
    size_t kept = l->count < l->limit ? l->count : l->limit, len = 0;
    sort(l->item, l->count);
    l->sorted = l->count;
    if (l->count <= l->limit) return LN_OK;
    for (size_t i = 0; i < kept; i++) len += l->item[i].len;
    LN_ASSERT(l->bytes.data); /* no value is encoded as nothing */
    if (!ln_buf_reserve(&bytes, len)) return LN_ENOMEM;
    for (size_t i = 0; i < kept; i++) {
        size_t at = bytes.len;
        ln_buf_append(&bytes, l->bytes.data + l->item[i].at, l->item[i].len);
        l->item[i].at = at;
    }
    ln_buf_free(&l->bytes);
    l->bytes = bytes;
    l->count = l->sorted = kept;
    return LN_OK;
}

/* Once the limit has been reached, what lies behind the last of those in order need not be kept at all. */
static int is_beyond(const list *l, const item *one) {
    return l->sorted >= l->limit && by_time(one, &l->item[l->limit - 1]) > 0;
}

/* Appends a value that is encoded at `bytes`, or *v where there are none. */
static int append(ln_tally *t, list *l, item one, const uint8_t *bytes, const ln_value *v) {
    size_t from;
    if (l->count >= 2 * l->limit && trim(t, l) != LN_OK) return LN_ENOMEM;
    if (ln_mem_grow(t->mem, &l->item, &l->cap, l->count + 1, sizeof one) < 0) return LN_ENOMEM;
    from = l->bytes.len;
    if (bytes) ln_buf_append(&l->bytes, bytes, one.len);
    else ln_pack_put(&l->bytes, v);
    if (l->bytes.failed) {
        l->bytes.failed = 0;
        l->bytes.len = from;
        return LN_ENOMEM;
    }
    one.at = from;
    one.len = l->bytes.len - from;
    l->sorted += l->sorted == l->count && (!l->count || by_time(&l->item[l->count - 1], &one) <= 0);
    l->item[l->count++] = one;
    return LN_OK;
}

static int offer(ln_tally *t, list *l, item one, const uint8_t *bytes, const ln_value *v) {
    if (!is_beyond(l, &one) && append(t, l, one, bytes, v) != LN_OK) return LN_ENOMEM;
    l->offered++;
    return LN_OK;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    collect *c = state;
    if (ensure(t, c, t->spec->limit) != LN_OK) return LN_ENOMEM;
    return offer(t, c->list, (item){.time_us = t->time_us, .arrival = t->arrival}, NULL, v);
}

static int take(ln_tally *t, void *into, const void *from) {
    const list *b = ((const collect *)from)->list;
    collect *a = into;
    uint64_t offered;
    if (!b) return LN_OK;
    if (ensure(t, a, b->limit) != LN_OK) return LN_ENOMEM;
    offered = a->list->offered + b->offered;
    for (size_t i = 0; i < b->count; i++)
        if (offer(t, a->list, b->item[i], b->bytes.data + b->item[i].at, NULL) != LN_OK) return LN_ENOMEM;
    a->list->offered = offered;
    return LN_OK;
}

/* The items in order, the first up to the limit, in memory of `out`: NULL where that is short. */
static item *in_order(const list *l, ln_mem *mem, size_t *count) {
    item *items = ln_mem_new(mem, (l->count + 1) * sizeof *items);
    if (!items) return NULL;
    memcpy(items, l->item, l->count * sizeof *items);
    sort(items, l->count);
    *count = l->count < l->limit ? l->count : l->limit;
    return items;
}

static int show(ln_tally *t, const void *state, ln_value *out) {
    const list *l = ((const collect *)state)->list;
    size_t from = t->shown.len, count = 0;
    item *items = NULL;
    if (l && !(items = in_order(l, t->mem, &count))) return LN_ENOMEM;
    if (l && l->offered > l->limit) t->marks |= LN_MARK_CUT;
    ln_pack_put_head(&t->shown, LN_ARRAY, (uint32_t)count);
    for (size_t i = 0; i < count; i++) ln_buf_append(&t->shown, l->bytes.data + items[i].at, items[i].len);
    if (l) ln_mem_free(t->mem, items, (l->count + 1) * sizeof *items);
    return ln_aggregate_shown(t, LN_ARRAY, from, out);
}

static void save(const void *state, ln_buf *out) {
    const list *l = ((const collect *)state)->list;
    size_t count;
    item *items = in_order(l, out->mem, &count);
    if (!items) {
        out->failed = 1;
        return;
    }
    ln_save_uint(out, l->limit);
    ln_save_uint(out, l->offered);
    ln_save_uint(out, count);
    for (size_t i = 0; i < count; i++) {
        ln_save_int(out, items[i].time_us);
        ln_save_uint(out, items[i].arrival);
        ln_save_bytes(out, l->bytes.data + items[i].at, items[i].len);
    }
    ln_mem_free(out->mem, items, (l->count + 1) * sizeof *items);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    collect *c = state;
    uint64_t limit = ln_saved_uint(saved), offered = ln_saved_uint(saved), count = ln_saved_uint(saved);
    if (saved->bad || limit != t->spec->limit || count == 0 || count != (offered < limit ? offered : limit))
        return LN_EINVALID;
    if (ensure(t, c, limit) != LN_OK) return LN_ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        item one = {.time_us = ln_saved_int(saved)};
        const uint8_t *bytes;
        one.arrival = ln_saved_uint(saved);
        bytes = ln_saved_bytes(saved, &one.len);
        if (!bytes || one.len == 0 || ln_kept_end(bytes, bytes + one.len) != bytes + one.len) return LN_EINVALID;
        if (i && by_time(&c->list->item[i - 1], &one) > 0) return LN_EINVALID;
        if (offer(t, c->list, one, bytes, NULL) != LN_OK) return LN_ENOMEM;
    }
    c->list->offered = offered;
    return LN_OK;
}

const ln_aggregate_ops ln_collect_ops = {.size = sizeof(collect),
                                         .align = 8,
                                         .add = add,
                                         .take = take,
                                         .show = show,
                                         .clear = clear,
                                         .save = save,
                                         .load = load};
