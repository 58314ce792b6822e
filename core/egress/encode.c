/* Panes and rejects as msgpack maps, packed by msgpack-c. */
#include "egress/encode.h"

#include "window/time.h"

#include <string.h>

static int write_buf(void *into, const char *bytes, size_t len) {
    ln_buf_append(into, bytes, len);
    return ((ln_buf *)into)->failed ? -1 : 0;
}

msgpack_packer ln_packer(ln_buf *into) {
    msgpack_packer pk;
    msgpack_packer_init(&pk, into, write_buf);
    return pk;
}

void ln_encode_text(msgpack_packer *pk, const char *text, size_t len) { msgpack_pack_str_with_body(pk, text, len); }

static void put_name(msgpack_packer *pk, const char *name) { ln_encode_text(pk, name, strlen(name)); }

static void put_bool(msgpack_packer *pk, int b) {
    if (b) msgpack_pack_true(pk);
    else msgpack_pack_false(pk);
}

static void put_value(ln_buf *into, msgpack_packer *pk, const ln_value *v) {
    switch (v->type) {
    case LN_BOOL: put_bool(pk, v->i != 0); return;
    case LN_INT: msgpack_pack_int64(pk, v->i); return;
    case LN_UINT: msgpack_pack_uint64(pk, v->u); return;
    case LN_DOUBLE: msgpack_pack_double(pk, v->d); return;
    case LN_TEXT: msgpack_pack_str_with_body(pk, v->at, v->len); return;
    case LN_BYTES: msgpack_pack_bin_with_body(pk, v->at, v->len); return;
    case LN_EXT: msgpack_pack_ext_with_body(pk, v->at, v->len, v->ext); return;
    case LN_ARRAY: case LN_MAP: ln_buf_append(into, v->at, v->len); return; /* encoded already */
    default: msgpack_pack_nil(pk); return;
    }
}

static void put_time(ln_buf *into, msgpack_packer *pk, int64_t us, int unit) {
    ln_value shown;
    ln_time_show(us, unit, &shown);
    put_value(into, pk, &shown);
}

static void put_values(ln_buf *into, msgpack_packer *pk, const ln_pane_shape *shape, const ln_pane *pane) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->aggregates; i++) n += pane->value[i].type != LN_MISSING;
    msgpack_pack_map(pk, n);
    for (uint32_t i = 0; i < shape->aggregates; i++) {
        if (pane->value[i].type == LN_MISSING) continue;
        ln_encode_text(pk, shape->aggregate[i].name, shape->aggregate[i].name_len);
        put_value(into, pk, &pane->value[i]);
    }
}

static void put_pipeline(msgpack_packer *pk, const ln_pane_shape *shape) {
    if (!shape->pipeline) return;
    put_name(pk, "pipeline");
    ln_encode_text(pk, shape->pipeline, shape->pipeline_len);
}

/* Bytes that are msgpack already. */
#define PUT_PACKED(into, bytes) ln_buf_append(into, bytes, sizeof(bytes) - 1)

/* From `timing` to `value`: the same few runs of bytes in every pane, written whole. */
static void put_timing(ln_buf *into, const ln_pane *pane) {
    switch (pane->timing) {
    case LN_EARLY: PUT_PACKED(into, "\xa6timing\xa5" "early\xa5" "final"); break;
    case LN_ON_TIME: PUT_PACKED(into, "\xa6timing\xa7on_time\xa5" "final"); break;
    default: PUT_PACKED(into, "\xa6timing\xa4late\xa5" "final"); break;
    }
    ln_buf_byte(into, pane->final ? 0xc3 : 0xc2);
    if (pane->retract) PUT_PACKED(into, "\xa7retract\xc3");
}

void ln_encode_pane(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane) {
    msgpack_packer pk = ln_packer(into);
    msgpack_pack_map(&pk, 7u + (pane->retract != 0) + (pane->absorbed_count != 0) + (shape->pipeline != NULL));
    put_pipeline(&pk, shape);
    PUT_PACKED(into, "\xa3key");
    ln_buf_append(into, pane->key, pane->key_len);
    PUT_PACKED(into, "\xa5start");
    put_time(into, &pk, pane->start_us, shape->unit);
    PUT_PACKED(into, "\xa3" "end");
    put_time(into, &pk, pane->end_us, shape->unit);
    PUT_PACKED(into, "\xa4pane");
    msgpack_pack_uint32(&pk, pane->index);
    put_timing(into, pane);
    if (pane->absorbed_count) {
        put_name(&pk, "absorbed");
        msgpack_pack_array(&pk, pane->absorbed_count);
        for (uint32_t i = 0; i < pane->absorbed_count; i++) put_time(into, &pk, pane->absorbed_us[i], shape->unit);
    }
    PUT_PACKED(into, "\xa5value");
    put_values(into, &pk, shape, pane);
}

void ln_encode_reject(ln_buf *into, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                      const char *message, size_t message_len) {
    msgpack_packer pk = ln_packer(into);
    msgpack_pack_map(&pk, 2u + (shape->pipeline != NULL) + (message != NULL));
    put_pipeline(&pk, shape);
    put_name(&pk, "reason");
    put_name(&pk, ln_reason_name(reason));
    if (message) {
        put_name(&pk, "message");
        ln_encode_text(&pk, message, message_len);
    }
    put_name(&pk, "record");
    ln_buf_append(into, record, record_len);
}
