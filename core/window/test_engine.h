/* What a test of the whole engine stands on: batches made by hand, and a sink that makes one number of all it is
 * given. */
#ifndef LN_WINDOW_TEST_ENGINE_H
#define LN_WINDOW_TEST_ENGINE_H

#include "base/pack.h"
#include "base/test.h"
#include "base/test_random.h"
#include "window/pane.h"

#include <math.h>

enum { ROWS = 20, BATCHES = 2, COLUMNS = 5, T = 0, KEY, NUMBER, WORD, SOURCE, COMPUTED };

/* ---- the input ---- */

static ln_value cells_of[BATCHES][COLUMNS][ROWS];
static ln_value *columns[BATCHES][COLUMNS];
static const uint8_t *records[ROWS];
static uint32_t record_bytes[ROWS];
static uint8_t malformed[ROWS] = {[5] = LN_EINVALID, [6] = LN_EJSON};
static ln_batch batches[BATCHES];

/* Texts with their msgpack heads before them, as in a record. */
static inline ln_value word(test_random *r) {
    static const char *const words[] = {"\xa0", "\xa1z", "\xa3xyz", "\xd9\x28it takes forty letters to be this long!!",
                                        "\xa4next"};
    const char *text = words[test_random_below(r, 5)];
    size_t head = (uint8_t)*text == 0xd9 ? 2 : 1;
    return (ln_value){.type = LN_TEXT, .len = (uint32_t)strlen(text + head), .at = (const uint8_t *)text + head};
}

static inline ln_value number(test_random *r) {
    int64_t i = test_random_between(r, -3, 9);
    return test_random_below(r, 3) ? (ln_value){.type = LN_INT, .i = i} : (ln_value){.type = LN_DOUBLE, .d = 1.5};
}

/* Time goes on by 3 with each row, give or take. */
static inline void make_batches(void) {
    static const uint8_t record[] = {0x81, 0xa1, 'x', 0x01};
    test_random r = {1};
    for (int b = 0; b < BATCHES; b++) {
        for (int c = 0; c < COLUMNS; c++) columns[b][c] = cells_of[b][c];
        for (int row = 0; row < ROWS; row++) {
            int64_t t = 3 * (b * ROWS + row) + test_random_between(&r, -15, 15);
            records[row] = record;
            record_bytes[row] = sizeof record;
            columns[b][T][row] = (ln_value){.type = LN_INT, .i = t};
            columns[b][KEY][row] = test_random_below(&r, 4) ? word(&r) : number(&r);
            columns[b][NUMBER][row] = number(&r);
            columns[b][WORD][row] = word(&r);
            columns[b][SOURCE][row] = word(&r);
        }
        columns[b][T][9].type = LN_NULL;
        columns[b][KEY][12] = (ln_value){.type = LN_DOUBLE, .d = (double)NAN};
        batches[b] = (ln_batch){ROWS, COLUMNS, columns[b], records, record_bytes, malformed, 0};
    }
}

/* ---- the output: one number that depends on everything ---- */

typedef struct output {
    uint64_t digest, panes, withdrawals, merged, rejects, ops, questions;
} output;

static inline void mix(output *o, uint64_t x) {
    o->digest = (o->digest ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    o->digest ^= o->digest >> 29;
}

static inline void mix_bytes(output *o, const void *bytes, size_t len) {
    mix(o, len);
    for (size_t i = 0; i < len; i++) mix(o, ((const uint8_t *)bytes)[i]);
}

static inline void mix_pane(output *o, const ln_pane_shape *shape, const ln_pane *p) {
    mix_bytes(o, p->key, p->key_len);
    mix(o, (uint64_t)p->start_us);
    mix(o, (uint64_t)p->end_us);
    mix(o, p->index * 64u + p->timing * 4u + p->final * 2u + p->retract);
    for (uint32_t i = 0; i < p->absorbed_count; i++) mix(o, (uint64_t)p->absorbed_us[i]);
    for (uint32_t i = 0; i < shape->aggregates; i++) {
        const ln_value *v = &p->value[i];
        mix(o, v->type);
        mix_bytes(o, shape->aggregate[i].name, shape->aggregate[i].name_len);
        if (v->type >= LN_TEXT) mix_bytes(o, v->at, v->len);
        else if (v->type > LN_NULL) mix(o, v->u);
    }
}

static inline int take_pane(void *ctx, const ln_pane_shape *shape, const ln_pane *p) {
    output *o = ctx;
    mix_pane(o, shape, p);
    o->panes++;
    o->withdrawals += p->retract;
    o->merged += p->absorbed_count;
    return LN_OK;
}

/* A staged pane is its digest: what is staged twice shall be the same twice. */
static inline int stage_pane(void *ctx, const ln_pane_shape *shape, const ln_pane *p, ln_buf *into) {
    output own = {0};
    uint8_t *to = ln_buf_reserve(into, LN_PACK_MAX);
    (void)ctx;
    mix_pane(&own, shape, p);
    if (to) into->len = (size_t)(ln_pack_uint(to, own.digest) - into->data);
    return into->failed ? LN_ENOMEM : LN_OK;
}

static inline int take_reject(void *ctx, const ln_pane_shape *shape, int reason, const uint8_t *record,
                              uint32_t record_len, const char *message, size_t message_len) {
    output *o = ctx;
    (void)shape;
    mix(o, (uint64_t)reason);
    mix_bytes(o, record, record_len);
    mix_bytes(o, message, message_len);
    o->rejects++;
    return LN_OK;
}

static inline size_t nothing_waits(void *ctx) {
    (void)ctx;
    return 0;
}

#endif
