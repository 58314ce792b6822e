/* The summary of a top. */
#include "window/aggregate/heavy.h"

#include "lunette.h"
#include "window/aggregate/set.h"

#include <math.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void ln_heavy_init(ln_heavy *h, ln_mem *mem, size_t capacity, uint64_t seed) {
    *h = (ln_heavy){.capacity = capacity, .seed = seed, .bytes.mem = mem};
}

void ln_heavy_free(ln_heavy *h) {
    ln_mem_free(h->bytes.mem, h->item, h->cap * sizeof *h->item);
    ln_mem_free(h->bytes.mem, h->place, h->places * sizeof *h->place);
    ln_buf_free(&h->bytes);
    ln_heavy_init(h, h->bytes.mem, h->capacity, h->seed);
}

static const uint8_t *bytes_of(const ln_heavy *h, const ln_heavy_item *i) { return h->bytes.data + i->at; }

static uint32_t tag_of(const ln_heavy *h, const uint8_t *bytes, size_t len) {
    return (uint32_t)XXH3_64bits_withSeed(bytes, len, h->seed);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static ln_heavy_item *find(const ln_heavy *h, uint32_t tag, const uint8_t *bytes, size_t len) {
    if (!h->places) return NULL;
    for (size_t p = tag & (h->places - 1); h->place[p]; p = (p + 1) & (h->places - 1)) {
        ln_heavy_item *i = &h->item[h->place[p] - 1];
        if (i->tag == tag && i->len == len && memcmp(bytes_of(h, i), bytes, len) == 0) return i;
    }
    return NULL;
}

static void fill_places(ln_heavy *h) {
    memset(h->place, 0, h->places * sizeof *h->place);
    for (size_t i = 0; i < h->count; i++) {
        size_t p = h->item[i].tag & (h->places - 1);
        while (h->place[p]) p = (p + 1) & (h->places - 1);
        h->place[p] = (uint32_t)i + 1;
    }
}

static int reserve(ln_heavy *h, size_t count) {
    size_t places = h->places ? h->places : 8;
    uint32_t *place;
    if (ln_mem_grow(h->bytes.mem, &h->item, &h->cap, count, sizeof *h->item) < 0) return LN_ENOMEM;
    while (places < 2 * count) places *= 2;
    if (places == h->places) return LN_OK;
    place = ln_mem_new(h->bytes.mem, places * sizeof *place);
    if (!place) return LN_ENOMEM;
    ln_mem_free(h->bytes.mem, h->place, h->places * sizeof *place);
    h->place = place;
    h->places = places;
    fill_places(h);
    return LN_OK;
}

static ln_heavy_item *insert(ln_heavy *h, uint32_t tag, const uint8_t *bytes, size_t len) {
    size_t at = h->bytes.len, p;
    if (at + len > UINT32_MAX || reserve(h, h->count + 1) != LN_OK) return NULL;
    ln_buf_append(&h->bytes, bytes, len);
    if (h->bytes.failed) {
        h->bytes.failed = 0; /* nothing was appended: it is as it was */
        return NULL;
    }
    for (p = tag & (h->places - 1); h->place[p]; p = (p + 1) & (h->places - 1)) {}
    h->item[h->count] = (ln_heavy_item){.tag = tag, .at = (uint32_t)at, .len = (uint32_t)len};
    h->place[p] = (uint32_t)++h->count;
    return &h->item[h->count - 1];
}

static int compare_bytes(const ln_heavy *h, const ln_heavy_item *a, const ln_heavy_item *b) {
    int by = memcmp(bytes_of(h, a), bytes_of(h, b), a->len < b->len ? a->len : b->len);
    return by ? by : (a->len > b->len) - (a->len < b->len);
}

/* The order of items: by falling weight, then by their bytes. */
static int is_before(const ln_heavy *h, const ln_heavy_item *a, const ln_heavy_item *b) {
    return a->weight != b->weight ? a->weight > b->weight : compare_bytes(h, a, b) < 0;
}

/* ---- letting go ------------------------------------------------------------------------------------------------- */

static void swap(ln_heavy_item *a, ln_heavy_item *b) {
    ln_heavy_item t = *a;
    *a = *b;
    *b = t;
}

/* Moves the first `keep` of some items to the front, and the next one behind them. The pivots follow from the tags,
 * which nobody outside knows. */
static void select_first(const ln_heavy *h, ln_heavy_item *item, size_t count, size_t keep,
                         int (*compare)(const ln_heavy *, const ln_heavy_item *, const ln_heavy_item *)) {
    size_t from = 0, end = count;
    while (end - from > 1) {
        ln_heavy_item pivot = item[from + item[(from + end) / 2].tag % (end - from)];
        size_t i = from, before = from, after = end; /* before, equal, not seen yet, after */
        while (i < after) {
            int by = compare(h, &item[i], &pivot);
            if (by < 0) swap(&item[i++], &item[before++]);
            else if (by > 0) swap(&item[i], &item[--after]);
            else i++;
        }
        if (keep < before) end = before;
        else if (keep >= after) from = after;
        else return;
    }
}

static int compare_weight(const ln_heavy *h, const ln_heavy_item *a, const ln_heavy_item *b) {
    (void)h;
    return (a->weight < b->weight) - (a->weight > b->weight);
}

/* Half of the capacity stays, or less: the heaviest item that has to go is the most that is lost of any. What weighs no
 * more goes with it, unless hardly any would stay: then some that weigh as much do, so that a top shows some names. */
static int let_go(ln_heavy *h) {
    size_t half = h->capacity / 2, least = h->capacity / 16, kept = 0, equal = 0;
    ln_buf bytes = {.mem = h->bytes.mem};
    if (!ln_buf_reserve(&bytes, h->bytes.len)) return LN_ENOMEM;
    select_first(h, h->item, h->count, half, compare_weight);
    h->lost = h->item[half].weight;
    for (size_t i = 0; i < half; i++)
        if (h->item[i].weight > h->lost) swap(&h->item[i], &h->item[kept++]);
    if (kept < least) {
        for (size_t i = kept; i < h->count; i++)
            if (h->item[i].weight == h->lost) swap(&h->item[i], &h->item[kept + equal++]);
        select_first(h, h->item + kept, equal, least - kept, compare_bytes);
        kept = kept + equal < least ? kept + equal : least;
    }
    h->count = kept;
    for (size_t i = 0; i < kept; i++) {
        size_t at = bytes.len;
        ln_buf_append(&bytes, bytes_of(h, &h->item[i]), h->item[i].len);
        h->item[i].at = (uint32_t)at;
    }
    ln_buf_free(&h->bytes);
    h->bytes = bytes;
    fill_places(h);
    return LN_OK;
}

int ln_heavy_add(ln_heavy *h, const uint8_t *bytes, size_t len, double weight) {
    uint32_t tag = tag_of(h, bytes, len);
    ln_heavy_item *i = find(h, tag, bytes, len);
    if (i) {
        i->weight += weight;
        return LN_OK;
    }
    if (h->count >= h->capacity) { /* one more would be too many: it goes, or makes others go */
        if (let_go(h) != LN_OK) return LN_ENOMEM;
    }
    i = insert(h, tag, bytes, len);
    if (!i) return LN_ENOMEM;
    i->weight = h->lost + weight;
    i->error = h->lost;
    return LN_OK;
}

/* What both hold adds up. What one alone holds may have been lost by the other. */
int ln_heavy_take(ln_heavy *h, const ln_heavy *from) {
    size_t before = h->count;
    if (h->bytes.len + from->bytes.len > UINT32_MAX || reserve(h, h->count + from->count) != LN_OK) return LN_ENOMEM;
    if (!ln_buf_reserve(&h->bytes, from->bytes.len)) {
        h->bytes.failed = 0;
        return LN_ENOMEM;
    }
    for (size_t k = 0; k < from->count; k++) {
        const ln_heavy_item *b = &from->item[k];
        uint32_t tag = tag_of(h, bytes_of(from, b), b->len);
        ln_heavy_item *a = find(h, tag, bytes_of(from, b), b->len);
        double missing = a ? 0 : h->lost;
        if (!a) a = insert(h, tag, bytes_of(from, b), b->len); /* there is room */
        a->weight += b->weight + missing;
        a->error += b->error + missing;
        a->seen = 1;
    }
    for (size_t i = 0; i < h->count; i++) {
        if (i < before && !h->item[i].seen) {
            h->item[i].weight += from->lost;
            h->item[i].error += from->lost;
        }
        h->item[i].seen = 0;
    }
    h->lost += from->lost;
    return h->count > h->capacity ? let_go(h) : LN_OK;
}

/* ---- what it holds ---------------------------------------------------------------------------------------------- */

size_t ln_heavy_first(const ln_heavy *h, const ln_heavy_item **into, size_t most) {
    size_t n = 0;
    for (size_t i = 0; i < h->count; i++) {
        const ln_heavy_item *one = &h->item[i];
        size_t low = 0, high = n;
        if (n == most && (!most || is_before(h, into[n - 1], one))) continue;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (is_before(h, into[middle], one)) low = middle + 1;
            else high = middle;
        }
        n += n < most;
        memmove(into + low + 1, into + low, (n - low - 1) * sizeof *into);
        into[low] = one;
    }
    return n;
}

/* ---- saved ------------------------------------------------------------------------------------------------------ */

/* An item beside the bytes that it is sorted by. */
typedef struct sorted {
    const uint8_t *bytes;
    const ln_heavy_item *item;
} sorted;

static int by_bytes(const void *a, const void *b) {
    const sorted *x = a, *y = b;
    int by = memcmp(x->bytes, y->bytes, x->item->len < y->item->len ? x->item->len : y->item->len);
    return by ? by : (x->item->len > y->item->len) - (x->item->len < y->item->len);
}

void ln_heavy_save(const ln_heavy *h, ln_buf *out) {
    sorted *list = ln_mem_new(out->mem, (h->count + 1) * sizeof *list);
    if (!list) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < h->count; i++) list[i] = (sorted){bytes_of(h, &h->item[i]), &h->item[i]};
    qsort(list, h->count, sizeof *list, by_bytes);
    ln_save_uint(out, h->capacity);
    ln_save_double(out, h->lost);
    ln_save_uint(out, h->count);
    for (size_t i = 0; i < h->count; i++) {
        ln_save_bytes(out, list[i].bytes, list[i].item->len);
        ln_save_double(out, list[i].item->weight);
        ln_save_double(out, list[i].item->error);
    }
    ln_mem_free(out->mem, list, (h->count + 1) * sizeof *list);
}

static int is_weight(double x) { return x >= 0 && x <= 0x1p1000; }

int ln_heavy_load(ln_heavy *h, ln_saved *saved) {
    uint64_t capacity = ln_saved_uint(saved), count;
    h->lost = ln_saved_double(saved);
    count = ln_saved_uint(saved);
    if (capacity != h->capacity || count > capacity || !is_weight(h->lost)) return LN_EINVALID;
    for (uint64_t i = 0; i < count; i++) {
        size_t len;
        const uint8_t *bytes = ln_saved_bytes(saved, &len);
        double weight = ln_saved_double(saved), error = ln_saved_double(saved);
        ln_heavy_item *one;
        if (saved->bad || ln_set_value_end(bytes, bytes + len) != bytes + len || !is_weight(weight)) return LN_EINVALID;
        if (!(weight > 0 && weight >= h->lost && error >= 0 && error <= h->lost)) return LN_EINVALID;
        one = insert(h, tag_of(h, bytes, len), bytes, len);
        if (!one) return LN_ENOMEM;
        one->weight = weight;
        one->error = error;
        if (i && compare_bytes(h, one - 1, one) >= 0) return LN_EINVALID;
    }
    return LN_OK;
}
