/* Panes and rejects as msgpack maps, packed straight into the output: what all panes share is written whole. */
#include "egress/encode.h"

#include "base/pack.h"
#include "base/time.h"

#include <string.h>

/* Bytes that are msgpack already: a short text with its head, and what follows it. */
#define PUT_PACKED(into, bytes) ln_buf_append(into, bytes, sizeof(bytes) - 1)

static void put_pipeline(ln_buf *into, const ln_pane_shape *shape) {
    if (!shape->pipeline) return;
    PUT_PACKED(into, "\xa8pipeline");
    ln_pack_put_text(into, shape->pipeline, shape->pipeline_len);
}

/* ---- panes: written through a pointer, into room made for the whole ---------------------------------------------- */

/* Bytes that are msgpack already. */
#define WRITE_PACKED(to, bytes) ((uint8_t *)memcpy(to, bytes, sizeof(bytes) - 1) + sizeof(bytes) - 1)

enum { FIXED = 176 }; /* more than a pane takes beside its texts and values */

static size_t room_of(const ln_pane_shape *shape, const ln_pane *pane) {
    size_t room = FIXED + shape->pipeline_len + pane->key_len + (size_t)pane->absorbed_count * LN_PACK_MAX;
    for (uint32_t i = 0; i < shape->aggregates; i++)
        room += LN_PACK_MAX + shape->aggregate[i].name_len + ln_pack_room(&pane->value[i]);
    return room;
}

/* Names and keys are short: copying them without a call saves a pane of five texts 2 ns. */
static inline uint8_t *write_bytes(uint8_t *to, const void *bytes, size_t len) {
    const uint8_t *from = bytes;
    if (len > 16) {
        memcpy(to, from, len);
    } else if (len >= 8) {
        memcpy(to, from, 8);
        memcpy(to + len - 8, from + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, from, 4);
        memcpy(to + len - 4, from + len - 4, 4);
    } else if (len) {
        to[0] = from[0];
        to[len / 2] = from[len / 2];
        to[len - 1] = from[len - 1];
    }
    return to + len;
}

static inline uint8_t *write_text(uint8_t *to, const char *text, size_t len) {
    return write_bytes(ln_pack_head(to, LN_TEXT, (uint32_t)len), text, len);
}

static uint8_t *write_time(uint8_t *to, int64_t us, int unit) {
    ln_value shown;
    ln_time_show(us, unit, &shown);
    return ln_pack_value(to, &shown);
}

/* Panes that leave together have the same bounds. */
static uint8_t *write_bounds(uint8_t *to, const ln_pane_shape *shape, const ln_pane *pane, ln_encoded_bounds *last) {
    if (!last->len || last->start_us != pane->start_us || last->end_us != pane->end_us || last->unit != shape->unit) {
        uint8_t *at = WRITE_PACKED(last->bytes, "\xa5start");
        at = write_time(at, pane->start_us, shape->unit);
        at = WRITE_PACKED(at, "\xa3"
                              "end");
        at = write_time(at, pane->end_us, shape->unit);
        last->start_us = pane->start_us;
        last->end_us = pane->end_us;
        last->unit = shape->unit;
        last->len = (uint32_t)(at - last->bytes);
    }
    memcpy(to, last->bytes, sizeof last->bytes);
    return to + last->len;
}

static uint8_t *write_timing(uint8_t *to, const ln_pane *pane) {
    to = WRITE_PACKED(to, "\xa6timing");
    switch (pane->timing) {
    case LN_EARLY:
        to = WRITE_PACKED(to, "\xa5"
                              "early\xa5"
                              "final");
        break;
    case LN_ON_TIME:
        to = WRITE_PACKED(to, "\xa7on_time\xa5"
                              "final");
        break;
    default:
        to = WRITE_PACKED(to, "\xa4late\xa5"
                              "final");
        break;
    }
    *to++ = pane->final ? 0xc3 : 0xc2;
    return pane->retract ? WRITE_PACKED(to, "\xa7retract\xc3") : to;
}

static uint8_t *write_absorbed(uint8_t *to, const ln_pane_shape *shape, const ln_pane *pane) {
    if (!pane->absorbed_count) return to;
    to = WRITE_PACKED(to, "\xa8"
                          "absorbed");
    to = ln_pack_head(to, LN_ARRAY, pane->absorbed_count);
    for (uint32_t i = 0; i < pane->absorbed_count; i++) to = write_time(to, pane->absorbed_us[i], shape->unit);
    return to;
}

static uint8_t *write_marks(uint8_t *to, const ln_pane *pane) {
    if (pane->approx)
        to = WRITE_PACKED(to, "\xa6"
                              "approx\xc3");
    if (pane->cut)
        to = WRITE_PACKED(to, "\xa3"
                              "cut\xc3");
    return to;
}

/* `from` is where the buffer's bytes begin, from which the places of folds are counted. */
static uint8_t *write_values(uint8_t *to, const uint8_t *from, const ln_pane_shape *shape, const ln_pane *pane) {
    to = WRITE_PACKED(to, "\xa5value");
    to = ln_pack_head(to, LN_MAP, shape->aggregates);
    for (uint32_t i = 0, folds = 0; i < shape->aggregates; i++) {
        to = write_text(to, shape->aggregate[i].name, shape->aggregate[i].name_len);
        if (shape->fold_at && shape->aggregate[i].kind == LN_FOLD) shape->fold_at[folds++] = (uint32_t)(to - from);
        to = ln_pack_value(to, &pane->value[i]);
    }
    return to;
}

void ln_encode_pane(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane, ln_encoded_bounds *last) {
    uint8_t *to = ln_buf_reserve(into, room_of(shape, pane));
    if (!to) return;
    to = ln_pack_head(to, LN_MAP,
                      7u + (pane->retract != 0) + (pane->absorbed_count != 0) + (shape->pipeline != NULL) +
                          (pane->approx != 0) + (pane->cut != 0));
    if (shape->pipeline) to = write_text(WRITE_PACKED(to, "\xa8pipeline"), shape->pipeline, shape->pipeline_len);
    to = write_bytes(WRITE_PACKED(to, "\xa3key"), pane->key, pane->key_len);
    to = write_bounds(to, shape, pane, last);
    to = ln_pack_uint(WRITE_PACKED(to, "\xa4pane"), pane->index);
    to = write_timing(to, pane);
    to = write_absorbed(to, shape, pane);
    to = write_marks(to, pane);
    to = write_values(to, into->data, shape, pane);
    into->len = (size_t)(to - into->data);
}

void ln_encode_reject(ln_buf *into, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                      const char *message, size_t message_len) {
    const char *name = ln_reason_name(reason);
    ln_pack_put_head(into, LN_MAP, 2u + (shape->pipeline != NULL) + (message != NULL));
    put_pipeline(into, shape);
    PUT_PACKED(into, "\xa6reason");
    ln_pack_put_text(into, name, strlen(name));
    if (message) {
        PUT_PACKED(into, "\xa7message");
        ln_pack_put_text(into, message, message_len);
    }
    PUT_PACKED(into, "\xa6record");
    ln_buf_append(into, record, record_len);
}
