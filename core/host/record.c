/* See record.h. */
#include "host/record.h"

#include "base/pack.h"

enum { HEAD = 5, MAP32 = 0xdf, ARRAY32 = 0xdd };

static void refuse(ln_record *r, const char *why) {
    if (!r->wrong) r->wrong = why;
}

static uint64_t here(const ln_record *r) { return r->in->passed + r->in->bytes.len; }

/* A map or an array, whose count is written when it is left. */
static void open_level(ln_record *r, int is_map) {
    uint8_t *to = ln_buf_reserve(&r->in->bytes, HEAD);
    if (r->depth >= r->limits.nesting || r->depth >= LN_RECORD_DEPTH) {
        refuse(r, "the record is nested deeper than limits.nesting allows");
        return;
    }
    r->level[r->depth++] = (struct ln_record_level){.head = here(r), .is_map = is_map};
    if (!to) return;
    to[0] = is_map ? MAP32 : ARRAY32;
    r->in->bytes.len += HEAD;
}

static void close_level(ln_record *r) {
    const struct ln_record_level *l = &r->level[--r->depth];
    if (r->in->bytes.failed) return;
    (void)ln_pack_be(r->in->bytes.data + (l->head - r->in->passed), l->is_map ? MAP32 : ARRAY32, l->count, 4);
}

void ln_record_begin(ln_record *r, ln_input *in, const ln_limits *limits) {
    if (r->open) ln_record_undo(r);
    *r = (ln_record){.in = in, .limits = *limits, .open = 1};
    r->from = here(r);
    open_level(r, 1);
}

/* Whether another value may come, and its name, where it has one. */
static int announce(ln_record *r, const char *name) {
    struct ln_record_level *l = &r->level[r->depth ? r->depth - 1 : 0];
    size_t len = name ? strlen(name) : 0;
    if (!r->open) refuse(r, "no record has been begun");
    else if (!r->depth) refuse(r, "the record has been closed: a field comes behind its end");
    else if (l->is_map && !name) refuse(r, "a field of a map has no name");
    else if (!l->is_map && name) refuse(r, "a value of an array has a name");
    else if ((r->elements += 1u + (name != NULL)) > r->limits.elements)
        refuse(r, "the record has more values than limits.elements allows");
    else if (len > r->limits.record_bytes || here(r) - r->from > r->limits.record_bytes)
        refuse(r, "the record is larger than limits.record_bytes allows");
    if (r->wrong) return 0;
    l->count++;
    if (name) ln_pack_put_text(&r->in->bytes, name, len);
    return 1;
}

void ln_record_put(ln_record *r, const char *name, const ln_value *v) {
    ln_buf *b;
    uint8_t *to;
    if (!announce(r, name)) return;
    if (v->type >= LN_TEXT && v->len > r->limits.record_bytes) {
        refuse(r, "the record is larger than limits.record_bytes allows");
        return;
    }
    b = &r->in->bytes;
    to = ln_buf_reserve(b, ln_pack_room(v));
    if (to) b->len = (size_t)(ln_pack_value(to, v) - b->data);
}

void ln_record_enter(ln_record *r, const char *name, int is_map) {
    if (announce(r, name)) open_level(r, is_map);
}

void ln_record_leave(ln_record *r) {
    if (r->depth < 2) refuse(r, "nothing is open that could be closed");
    if (!r->wrong) close_level(r);
}

int ln_record_end(ln_record *r) {
    size_t from;
    if (!r->open) refuse(r, "no record has been begun");
    else if (!r->wrong && r->depth > 1) refuse(r, "a map or an array of the record is still open");
    else if (!r->wrong && here(r) - r->from > r->limits.record_bytes)
        refuse(r, "the record is larger than limits.record_bytes allows");
    if (r->wrong) {
        if (r->open) ln_record_undo(r);
        return -1;
    }
    close_level(r);
    r->open = 0;
    from = (size_t)(r->from - r->in->passed);
    return ln_input_end_record(r->in, from);
}

void ln_record_undo(ln_record *r) {
    r->open = 0;
    r->in->bytes.failed = 0;
    r->in->bytes.len = (size_t)(r->from - r->in->passed);
}
