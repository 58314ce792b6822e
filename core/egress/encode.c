/* Panes and rejects as msgpack maps, packed straight into the output: what all panes share is written whole. */
#include "egress/encode.h"

#include "base/pack.h"
#include "base/time.h"

#include <string.h>

/* Bytes that are msgpack already: a short text with its head, and what follows it. */
#define PUT_PACKED(into, bytes) ln_buf_append(into, bytes, sizeof(bytes) - 1)

static void put_time(ln_buf *into, int64_t us, int unit) {
    ln_value shown;
    ln_time_show(us, unit, &shown);
    ln_pack_put(into, &shown);
}

static void put_int(ln_buf *into, int64_t i) { ln_pack_put(into, &(ln_value){.type = LN_INT, .i = i}); }

static void put_pipeline(ln_buf *into, const ln_pane_shape *shape) {
    if (!shape->pipeline) return;
    PUT_PACKED(into, "\xa8pipeline");
    ln_pack_put_text(into, shape->pipeline, shape->pipeline_len);
}

static void put_timing(ln_buf *into, const ln_pane *pane) {
    switch (pane->timing) {
    case LN_EARLY:
        PUT_PACKED(into, "\xa6timing\xa5"
                         "early\xa5"
                         "final");
        break;
    case LN_ON_TIME:
        PUT_PACKED(into, "\xa6timing\xa7on_time\xa5"
                         "final");
        break;
    default:
        PUT_PACKED(into, "\xa6timing\xa4late\xa5"
                         "final");
        break;
    }
    ln_buf_byte(into, pane->final ? 0xc3 : 0xc2);
    if (pane->retract) PUT_PACKED(into, "\xa7retract\xc3");
}

static void put_absorbed(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane) {
    if (!pane->absorbed_count) return;
    PUT_PACKED(into, "\xa8"
                     "absorbed");
    ln_pack_put_head(into, LN_ARRAY, pane->absorbed_count);
    for (uint32_t i = 0; i < pane->absorbed_count; i++) put_time(into, pane->absorbed_us[i], shape->unit);
}

static void put_values(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane) {
    PUT_PACKED(into, "\xa5value");
    ln_pack_put_head(into, LN_MAP, shape->aggregates);
    for (uint32_t i = 0, folds = 0; i < shape->aggregates; i++) {
        ln_pack_put_text(into, shape->aggregate[i].name, shape->aggregate[i].name_len);
        if (shape->fold_at && shape->aggregate[i].kind == LN_FOLD) shape->fold_at[folds++] = (uint32_t)into->len;
        ln_pack_put(into, &pane->value[i]);
    }
}

void ln_encode_pane(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane) {
    ln_pack_put_head(into, LN_MAP, 7u + (pane->retract != 0) + (pane->absorbed_count != 0) + (shape->pipeline != NULL));
    put_pipeline(into, shape);
    PUT_PACKED(into, "\xa3key");
    ln_buf_append(into, pane->key, pane->key_len);
    PUT_PACKED(into, "\xa5start");
    put_time(into, pane->start_us, shape->unit);
    PUT_PACKED(into, "\xa3"
                     "end");
    put_time(into, pane->end_us, shape->unit);
    PUT_PACKED(into, "\xa4pane");
    put_int(into, pane->index);
    put_timing(into, pane);
    put_absorbed(into, shape, pane);
    put_values(into, shape, pane);
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
