/* The entries of one message. */
#include "forward/entries.h"

void ln_forward_entries_init(ln_forward_entries *s, ln_mem *mem, const ln_limits *limits) {
    *s = (ln_forward_entries){.limits = *limits};
    ln_inflate_init(&s->inflate, mem);
}

void ln_forward_entries_end(ln_forward_entries *s) { ln_inflate_close(&s->inflate); }

void ln_forward_entries_free(ln_forward_entries *s) {
    ln_inflate_close(&s->inflate);
    ln_buf_free(&s->inflate.window);
}

/* At the first entry of what lies in the message itself. */
static void rewind_plain(ln_forward_entries *s) {
    ln_value list;
    s->at = s->message.at;
    s->left = 1;
    if (s->message.mode != LN_FORWARD_LIST) return;
    s->at = ln_value_read(s->at, s->message.end, 0, &list);
    s->left = list.len;
}

int ln_forward_entries_begin(ln_forward_entries *s, const ln_forward_message *message, uint64_t inflated) {
    s->message = *message;
    if (message->mode == LN_FORWARD_GZIP)
        return ln_inflate_begin(&s->inflate, message->at, (size_t)(message->end - message->at), inflated);
    rewind_plain(s);
    return LN_OK;
}

int ln_forward_entries_again(ln_forward_entries *s) {
    if (s->message.mode == LN_FORWARD_GZIP) return ln_inflate_again(&s->inflate);
    rewind_plain(s);
    return LN_OK;
}

static int next_inflated(ln_forward_entries *s, ln_forward_entry *e) {
    ln_inflate *x = &s->inflate;
    for (;;) {
        const uint8_t *in = x->window.data;
        int err = LN_FRAME_MORE;
        if (x->start < x->window.len)
            err = ln_forward_entry_read(e, &s->limits, s->message.tag.len, in + x->start, in + x->window.len);
        if (!err) x->start = (size_t)(e->end - in);
        if (err != LN_FRAME_MORE) return err;
        if (x->ended) return x->start < x->window.len ? LN_ETRUNCATED : LN_ENTRIES_END;
        err = ln_inflate_more(x);
        if (err) return err;
    }
}

static int next_plain(ln_forward_entries *s, ln_forward_entry *e) {
    const ln_forward_message *m = &s->message;
    int err;
    if (m->mode == LN_FORWARD_PACKED ? s->at == m->end : s->left == 0) return LN_ENTRIES_END;
    s->left--;
    err = m->mode == LN_FORWARD_ONE ? ln_forward_entry_read_parts(e, &s->limits, m->tag.len, s->at, m->end)
                                    : ln_forward_entry_read(e, &s->limits, m->tag.len, s->at, m->end);
    if (!err) s->at = e->end;
    return err == LN_FRAME_MORE ? LN_ETRUNCATED : err;
}

int ln_forward_entries_next(ln_forward_entries *s, ln_forward_entry *e) {
    return s->message.mode == LN_FORWARD_GZIP ? next_inflated(s, e) : next_plain(s, e);
}
