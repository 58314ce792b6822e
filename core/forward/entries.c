/* The entries of one message. */
#include "forward/entries.h"

void ln_forward_entries_init(ln_forward_entries *s, ln_mem *mem, const ln_limits *limits) {
    *s = (ln_forward_entries){.limits = *limits};
    ln_inflate_init(&s->inflate, mem);
    ln_buf_init(&s->lengths, mem);
}

void ln_forward_entries_end(ln_forward_entries *s) {
    ln_inflate_close(&s->inflate);
    if (s->lengths.cap > LN_ENTRIES_KEPT) ln_buf_free(&s->lengths);
}

void ln_forward_entries_free(ln_forward_entries *s) {
    ln_inflate_close(&s->inflate);
    ln_buf_free(&s->inflate.window);
    ln_buf_free(&s->lengths);
}

/* At the first entry of what lies in the message itself. */
static void rewind_plain(ln_forward_entries *s) {
    ln_value list;
    s->at = s->message.at;
    s->left = 1;
    s->next = 0;
    if (s->message.mode != LN_FORWARD_LIST) return;
    s->at = ln_value_read(s->at, s->message.end, 0, &list);
    s->left = list.len;
}

int ln_forward_entries_begin(ln_forward_entries *s, const ln_forward_message *message, uint64_t inflated) {
    s->message = *message;
    s->again = 0;
    s->known = 0;
    ln_buf_clear(&s->lengths);
    if (message->mode == LN_FORWARD_GZIP)
        return ln_inflate_begin(&s->inflate, message->at, (size_t)(message->end - message->at), inflated);
    rewind_plain(s);
    return LN_OK;
}

int ln_forward_entries_again(ln_forward_entries *s) {
    s->again = 1;
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

/* Where memory for it is short the entry is read as if it were new. */
static void remember(ln_forward_entries *s, const uint8_t *from) {
    uint32_t length = (uint32_t)(s->at - from);
    if (s->again || s->known == LN_ENTRIES_KNOWN) return;
    ln_buf_append(&s->lengths, &length, sizeof length);
    s->known += !s->lengths.failed;
}

static int next_plain(ln_forward_entries *s, ln_forward_entry *e) {
    const ln_forward_message *m = &s->message;
    const uint8_t *from = s->at;
    uint32_t length;
    int err;
    if (m->mode == LN_FORWARD_PACKED ? s->at == m->end : s->left == 0) return LN_ENTRIES_END;
    s->left--;
    if (s->again && s->next < s->known) {
        memcpy(&length, s->lengths.data + s->next++ * sizeof length, sizeof length);
        s->at += length;
        ln_forward_entry_read_again(e, m->tag.len, m->mode == LN_FORWARD_ONE, from, s->at);
        return LN_OK;
    }
    err = m->mode == LN_FORWARD_ONE ? ln_forward_entry_read_parts(e, &s->limits, m->tag.len, from, m->end)
                                    : ln_forward_entry_read(e, &s->limits, m->tag.len, from, m->end);
    if (!err) {
        s->at = e->end;
        remember(s, from);
    }
    return err == LN_FRAME_MORE ? LN_ETRUNCATED : err;
}

int ln_forward_entries_next(ln_forward_entries *s, ln_forward_entry *e) {
    return s->message.mode == LN_FORWARD_GZIP ? next_inflated(s, e) : next_plain(s, e);
}
