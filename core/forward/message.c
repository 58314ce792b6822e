/* A message's tag, mode and options. The frame has passed all of its bytes: heads can't be short here. Nothing is taken
 * for what its sender calls it: each type is looked at. */
#include "forward/message.h"

#include "base/msgpack.h"
#include "forward/forward.h"

/* A tag must be fit for a file's name and a line of a log, since that is where others put it. */
int ln_forward_tag_is_plain(const ln_value *tag) {
    uint32_t dots = 0;
    if (!tag->len || tag->len > LN_FORWARD_TAG) return 0;
    for (uint32_t i = 0; i < tag->len; i++) {
        uint8_t c = tag->at[i];
        if (c <= ' ' || c > '~' || c == '/' || c == '\\') return 0;
        dots += c == '.';
    }
    return dots < tag->len;
}

static int is(const ln_value *v, const char *text) {
    return v->type == LN_TEXT && v->len == strlen(text) && memcmp(v->at, text, v->len) == 0;
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static const char *read_size(ln_forward_message *m, const ln_value *v) {
    (void)m; /* clients count records or bytes in it: it tells nothing that can be relied on */
    return v->type == LN_INT && v->i >= 0 ? NULL : "option size is no number from 0 up";
}

static const char *read_chunk(ln_forward_message *m, const ln_value *v) {
    if (v->type != LN_TEXT || !v->len) return "option chunk is no text";
    if (v->len > LN_FORWARD_CHUNK) return "option chunk is longer than 256 bytes";
    m->chunk = *v;
    return NULL;
}

static const char *read_compressed(ln_forward_message *m, const ln_value *v) {
    if (v->type != LN_TEXT) return "option compressed is no text";
    if (m->mode != LN_FORWARD_PACKED || is(v, "text")) return NULL;
    if (is(v, "gzip")) m->mode = LN_FORWARD_GZIP;
    else m->refused = LN_FORWARD_COMPRESSION;
    return NULL;
}

static const char *read_signal(ln_forward_message *m, const ln_value *v) {
    if (v->type != LN_INT || v->i < 0) return "option fluent_signal is no number from 0 up";
    if (v->i != 0) m->refused = LN_FORWARD_SIGNAL;
    return NULL;
}

static const struct {
    const char *name, *twice;
    const char *(*read)(ln_forward_message *m, const ln_value *v);
} options[] = {
    {"size", "option size stands twice", read_size},
    {"chunk", "option chunk stands twice", read_chunk},
    {"compressed", "option compressed stands twice", read_compressed},
    {"fluent_signal", "option fluent_signal stands twice", read_signal},
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Options that nobody here knows are free; one that is nil counts as left out. */
static const char *read_options(ln_forward_message *m, const uint8_t *p, const uint8_t *end) {
    ln_value map, name, value;
    unsigned seen = 0;
    p = ln_value_read(p, end, 0, &map);
    if (map.type == LN_NULL) return NULL;
    if (map.type != LN_MAP) return "the options are no map";
    for (uint32_t i = 0; i < map.len; i++) {
        p = ln_value_read(p, end, 1, &name);
        p = ln_value_read(p, end, 1, &value);
        for (unsigned o = 0; o < OPTIONS; o++) {
            const char *wrong;
            if (!is(&name, options[o].name)) continue;
            if (seen & 1u << o) return options[o].twice;
            seen |= 1u << o;
            wrong = value.type == LN_NULL ? NULL : options[o].read(m, &value);
            if (wrong) return wrong;
        }
    }
    return NULL;
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

/* The mode goes by the second part alone. */
static const char *read_mode(ln_forward_message *m, const ln_forward_frame *frame, const uint8_t *bytes) {
    const uint8_t *end = bytes + frame->at[2];
    ln_value v;
    ln_value_read(bytes + frame->at[1], end, 0, &v);
    m->at = bytes + frame->at[1];
    m->end = end;
    switch (v.type) {
    case LN_TEXT:
    case LN_BYTES:
        m->mode = LN_FORWARD_PACKED;
        m->at = v.at;
        return NULL;
    case LN_ARRAY: m->mode = LN_FORWARD_LIST; return NULL;
    case LN_MAP: return "the second part is a map: it must be a time or entries";
    case LN_BOOL: return "the second part is a boolean: it must be a time or entries";
    default:
        if (frame->parts < 3) return "a time without a record";
        m->mode = LN_FORWARD_ONE;
        m->end = bytes + frame->at[3];
        return NULL;
    }
}

const char *ln_forward_message_read(ln_forward_message *m, const ln_forward_frame *frame, const uint8_t *bytes) {
    const char *wrong;
    uint32_t before;
    *m = (ln_forward_message){0};
    ln_value_read(bytes + frame->at[0], bytes + frame->at[1], 0, &m->tag);
    if (is(&m->tag, "PING")) return "a PING that nobody asked for";
    if (m->tag.type != LN_TEXT) return "the tag is no text";
    wrong = read_mode(m, frame, bytes);
    if (wrong) return wrong;
    before = m->mode == LN_FORWARD_ONE ? 3 : 2;
    if (frame->parts > before + 1) return "too many parts";
    if (frame->parts == before + 1) wrong = read_options(m, bytes + frame->at[before], bytes + frame->at[before + 1]);
    if (!wrong && !ln_forward_tag_is_plain(&m->tag)) m->refused = LN_FORWARD_BAD_TAG;
    return wrong;
}
