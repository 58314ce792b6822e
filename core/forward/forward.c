/* The receiving side: a queue of input with at most one message handed out from its beginning, and a queue of replies.
 * A message stays where it is until the next one is asked for, so that its entries are read in place. */
#include "forward/forward.h"

#include "base/pack.h"
#include "forward/entries.h"
#include "forward/handshake.h"
#include "forward/queue.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    HANDSHAKE_BYTES = 2048,  /* of a PING */
    LIST_NESTING = 2,        /* levels around a record in a list of entries */
    MESSAGE_MAX = 1 << 30,   /* bytes */
    INFLATED_FREE = 1 << 20, /* bytes that may come out whatever the ratio */
    MORE_STEPS = -1,
    TOO_MANY_MARKERS = -16 /* beside what entries give */
};

static const ln_limits handshake_limits = {.record_bytes = HANDSHAKE_BYTES, .nesting = 1, .elements = 6};

/* An acknowledgement that is due once message `number` is accepted; its bytes follow. */
typedef struct due {
    uint64_t number;
    size_t bytes;
} due;

struct ln_forward {
    ln_mem *mem;
    ln_forward_config config; /* all stated */
    ln_limits limits;         /* of a message */
    ln_queue in, replies, dues;
    uint64_t offset; /* of the queue's first byte in the stream */
    ln_forward_frame frame;
    ln_handshake handshake;
    ln_forward_entries entries;
    ln_forward_entry entry;    /* the next to be read, while `reading` */
    uint64_t message_bytes;    /* of the message handed out; 0: none is */
    uint64_t number, accepted; /* messages */
    int admitted, reading;
    int checking; /* the message at the front, of which so many entries have been found good: */
    ln_forward_message message;
    uint64_t records, markers;
    int reason; /* 0: open */
    char text[192];
    ln_forward_counts counts;
};

const char *ln_forward_reason_name(int reason) {
    static const char *const names[] = {
        [LN_FORWARD_FINE] = "fine",           [LN_FORWARD_SIGNAL] = "signal",
        [LN_FORWARD_BAD_TAG] = "tag",         [LN_FORWARD_COMPRESSION] = "compression",
        [LN_FORWARD_MALFORMED] = "malformed", [LN_FORWARD_LIMIT] = "limit",
        [LN_FORWARD_INFLATE] = "inflate",     [LN_FORWARD_DENIED] = "denied",
        [LN_FORWARD_MEMORY] = "memory",
    };
    _Static_assert(sizeof names / sizeof *names == LN_FORWARD_REASONS, "each reason has a name");
    return reason >= 0 && reason < LN_FORWARD_REASONS ? names[reason] : "unknown";
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static ln_forward_config config_stated(const ln_forward_config *config) {
    ln_forward_config c = *config;
    c.limits = ln_limits_stated(&config->limits);
    if (!c.message_bytes) c.message_bytes = 16 << 20;
    if (c.message_bytes > MESSAGE_MAX) c.message_bytes = MESSAGE_MAX;
    if (!c.elements) c.elements = 1 << 20;
    if (!c.inflated_bytes) c.inflated_bytes = 256 << 20;
    if (!c.inflated_ratio) c.inflated_ratio = 200;
    if (!c.unaccepted_max) c.unaccepted_max = 1024;
    return c;
}

static ln_limits message_limits(const ln_forward_config *c) {
    ln_limits l = {.record_bytes = c->message_bytes, .nesting = c->limits.nesting, .elements = c->elements};
    l.nesting = l.nesting > LN_NESTING_MAX - LIST_NESTING ? LN_NESTING_MAX : l.nesting + LIST_NESTING;
    return l;
}

ln_forward *ln_forward_new(ln_mem *mem, const ln_forward_config *config, const uint8_t *random) {
    ln_forward *f = ln_mem_zero(mem, sizeof *f);
    if (!f) return NULL;
    f->mem = mem;
    f->config = config_stated(config);
    f->limits = message_limits(&f->config);
    ln_queue_init(&f->in, mem);
    ln_queue_init(&f->replies, mem);
    ln_queue_init(&f->dues, mem);
    ln_forward_entries_init(&f->entries, mem, &f->config.limits);
    ln_handshake_init(&f->handshake, &f->config, random);
    f->admitted = !ln_handshake_wanted(config);
    if (!f->admitted) ln_handshake_put_helo(&f->handshake, &f->replies.buf);
    if (f->replies.buf.failed) {
        ln_forward_delete(f);
        return NULL;
    }
    return f;
}

void ln_forward_delete(ln_forward *f) {
    if (!f) return;
    ln_forward_entries_free(&f->entries);
    ln_buf_free(&f->in.buf);
    ln_buf_free(&f->replies.buf);
    ln_buf_free(&f->dues.buf);
    ln_mem_free(f->mem, f, sizeof *f);
}

uint8_t *ln_forward_space(ln_forward *f, size_t want) {
    uint8_t *to = ln_queue_space(&f->in, want);
    f->in.buf.failed = 0; /* what is there is still whole */
    return to;
}

void ln_forward_commit(ln_forward *f, size_t len) { f->in.buf.len += len; }

int ln_forward_admitted(const ln_forward *f) { return f->admitted; }

size_t ln_forward_pending(const ln_forward *f) { return ln_queue_len(&f->in) - (size_t)f->message_bytes; }

const ln_forward_counts *ln_forward_counted(const ln_forward *f) { return &f->counts; }

/* ---- the end --------------------------------------------------------------------------------------------------- */

static int close_at(ln_forward *f, int reason, uint64_t at, const char *why) {
    if (f->reason) return MORE_STEPS;
    f->reason = reason;
    f->counts.refused[reason]++;
    f->reading = 0;
    snprintf(f->text, sizeof f->text, "byte %" PRIu64 ": %s", f->offset + at, why);
    return MORE_STEPS;
}

/* Closes for what the framer found in a message, or for a piece of it in its entries. */
static int close_for(ln_forward *f, int err, uint64_t at) {
    static const struct {
        int err, reason;
        const char *why;
    } ways[] = {
        {LN_ENOMEM, LN_FORWARD_MEMORY, "out of memory"},
        {LN_EMSGPACK, LN_FORWARD_MALFORMED, "these bytes are not msgpack"},
        {LN_EINVALID, LN_FORWARD_MALFORMED, "an entry that is no array of a time and a record"},
        {TOO_MANY_MARKERS, LN_FORWARD_LIMIT, "a message has far more marks of groups than records"},
        {LN_ETRUNCATED, LN_FORWARD_MALFORMED, "the entries of the message end in the middle of one"},
        {LN_EDEPTH, LN_FORWARD_LIMIT, "a record is nested deeper than limits.nesting allows"},
        {LN_ERECORD, LN_FORWARD_LIMIT, "a record is larger than limits.record_bytes allows, or a message too large"},
        {LN_EELEMENTS, LN_FORWARD_LIMIT, "a record has more values than limits.elements allows, or a message too many"},
        {LN_INFLATE_BROKEN, LN_FORWARD_INFLATE, "the compressed entries are no whole gzip"},
        {LN_INFLATE_TOO_MUCH, LN_FORWARD_INFLATE, "the compressed entries inflate to more than is allowed"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].err == err) return close_at(f, ways[i].reason, at, ways[i].why);
    return close_at(f, LN_FORWARD_MALFORMED, at, ln_strerror(err));
}

static int close_frame(ln_forward *f, int err) {
    uint64_t at = ln_forward_frame_error_at(&f->frame);
    if (err == LN_EINVALID)
        return close_at(f, LN_FORWARD_MALFORMED, at,
                        "no message of Fluent Forward begins so (JSON, HTTP and TLS are not spoken here)");
    if (!f->admitted)
        return close_at(f, LN_FORWARD_DENIED, at, "a PING must come first: give the sender the shared key or its user");
    return close_for(f, err, at);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* Takes bytes from the beginning of the queue; what follows is a message of its own. */
static void drop(ln_forward *f, uint64_t len) {
    ln_queue_drop(&f->in, (size_t)len);
    f->offset += len;
    ln_forward_frame_init(&f->frame);
}

static int answer_ping(ln_forward *f) {
    uint64_t len = ln_forward_frame_end(&f->frame);
    size_t before = f->replies.buf.len;
    const char *wrong = ln_handshake_answer(&f->handshake, ln_queue_at(&f->in), (size_t)len, &f->replies.buf);
    if (f->replies.buf.failed) {
        f->replies.buf.len = before;
        return close_for(f, LN_ENOMEM, 0);
    }
    if (wrong) return close_at(f, LN_FORWARD_DENIED, 0, wrong);
    f->admitted = 1;
    drop(f, len);
    return MORE_STEPS;
}

static int put_due(ln_forward *f, const ln_value *chunk) {
    due d = {.number = f->number + 1};
    ln_buf *out = &f->dues.buf;
    size_t before = out->len;
    if (chunk->type == LN_MISSING) return LN_OK;
    ln_buf_append(out, &d, sizeof d);
    ln_pack_put_head(out, LN_MAP, 1);
    ln_pack_put_text(out, "ack", 3);
    ln_pack_put(out, chunk);
    if (out->failed) {
        out->len = before;
        out->failed = 0;
        return LN_ENOMEM;
    }
    d.bytes = out->len - before - sizeof d;
    memcpy(out->data + before, &d, sizeof d);
    return LN_OK;
}

static int begin_check(ln_forward *f) {
    const ln_forward_message *m = &f->message;
    uint64_t packed = (uint64_t)(m->end - m->at), most = packed * f->config.inflated_ratio + INFLATED_FREE;
    f->checking = 1;
    f->records = f->markers = 0;
    return ln_forward_entries_begin(&f->entries, m, most < f->config.inflated_bytes ? most : f->config.inflated_bytes);
}

/* Goes over all entries once, a part in each call, and counts them. LN_OK: all are good; LN_ENTRIES_END beside it: not
 * yet. */
static int check(ln_forward *f) {
    uint64_t checked = 0;
    int err = LN_OK;
    while (!err && checked < LN_FORWARD_CHECKED) {
        err = ln_forward_entries_next(&f->entries, &f->entry);
        if (err) break;
        if (f->entry.is_marker) f->markers++;
        else f->records++;
        checked += f->entry.bytes;
        if (f->markers > 2 * f->records + LN_FORWARD_MARKERS) return TOO_MANY_MARKERS;
    }
    if (!err) return LN_ENTRIES_END;
    return err == LN_ENTRIES_END ? ln_forward_entries_again(&f->entries) : err;
}

/* On to the next entry that is a record. */
static void advance(ln_forward *f) {
    int err;
    do err = ln_forward_entries_next(&f->entries, &f->entry);
    while (!err && f->entry.is_marker);
    f->reading = !err;
    if (err && err != LN_ENTRIES_END) close_for(f, err, 0);
}

static int refuse(ln_forward *f, int reason, ln_forward_event *event) {
    static const char *const why[] = {
        [LN_FORWARD_SIGNAL] = "a message of metrics or traces is left out: send logs alone",
        [LN_FORWARD_BAD_TAG] =
            "a message is left out: its tag is not 1 to 256 printable ASCII characters without slashes",
        [LN_FORWARD_COMPRESSION] = "a message is left out: gzip is the only compression known here",
    };
    f->counts.refused[reason]++;
    snprintf(f->text, sizeof f->text, "byte %" PRIu64 ": %s", f->offset, why[reason]);
    event->reason = reason;
    event->text = f->text;
    return LN_FORWARD_REFUSED;
}

static void hand_out(ln_forward *f, ln_forward_event *event) {
    const ln_forward_message *m = &f->message;
    f->message_bytes = ln_forward_frame_end(&f->frame);
    *event = (ln_forward_event){
        .text = "",
        .number = ++f->number,
        .records = f->records,
        .tag = (const char *)m->tag.at,
        .tag_bytes = m->tag.len,
        .chunk = m->chunk.type == LN_TEXT ? (const char *)m->chunk.at : NULL,
        .chunk_bytes = m->chunk.len,
    };
    f->counts.bytes += f->message_bytes;
    f->counts.messages++;
    f->counts.records += f->records;
    f->counts.markers += f->markers;
    advance(f);
}

static int take_message(ln_forward *f, ln_forward_event *event) {
    int err = LN_OK;
    if (!f->checking) {
        const char *wrong = ln_forward_message_read(&f->message, &f->frame, ln_queue_at(&f->in));
        if (wrong) return close_at(f, LN_FORWARD_MALFORMED, 0, wrong);
        if (f->message.refused) {
            f->message_bytes = ln_forward_frame_end(&f->frame);
            return refuse(f, f->message.refused, event);
        }
        err = begin_check(f);
    }
    if (!err) err = check(f);
    if (err == LN_ENTRIES_END) return LN_FORWARD_AGAIN;
    f->checking = 0;
    if (!err) err = put_due(f, &f->message.chunk);
    if (err) return close_for(f, err, 0);
    hand_out(f, event);
    return LN_FORWARD_MESSAGE;
}

static int step(ln_forward *f, ln_forward_event *event) {
    int err;
    if (ln_queue_len(&f->replies) >= LN_FORWARD_REPLIES) return LN_FORWARD_WAIT;
    if (f->number - f->accepted >= f->config.unaccepted_max) return LN_FORWARD_WAIT;
    if (!ln_queue_len(&f->in)) return LN_FORWARD_MORE;
    err = ln_forward_frame_run(&f->frame, f->admitted ? &f->limits : &handshake_limits, ln_queue_at(&f->in),
                               ln_queue_len(&f->in));
    if (err == LN_FRAME_MORE) return LN_FORWARD_MORE;
    if (err) return close_frame(f, err);
    if (f->frame.parts == 0) {
        f->counts.heartbeats++;
        drop(f, 1);
        return MORE_STEPS;
    }
    return f->admitted ? take_message(f, event) : answer_ping(f);
}

int ln_forward_next(ln_forward *f, ln_forward_event *event) {
    int kind = MORE_STEPS;
    *event = (ln_forward_event){.text = ""};
    if (f->message_bytes) {
        ln_forward_entries_end(&f->entries);
        f->reading = 0;
        drop(f, f->message_bytes);
        f->message_bytes = 0;
    }
    while (kind == MORE_STEPS && !f->reason) kind = step(f, event);
    if (kind == MORE_STEPS) {
        kind = LN_FORWARD_CLOSED;
        event->reason = f->reason;
        event->text = f->text;
    }
    event->kind = kind;
    return kind;
}

/* ---- records and replies --------------------------------------------------------------------------------------- */

size_t ln_forward_room(const ln_forward *f) { return f->reading ? f->entry.bytes : 0; }

size_t ln_forward_read(ln_forward *f, uint8_t *to, size_t room) {
    const ln_value *tag = &f->entries.message.tag;
    size_t len = 0;
    while (f->reading && f->entry.bytes <= room - len) {
        ln_forward_entry_write(&f->entry, tag->at, tag->len, to + len);
        len += f->entry.bytes;
        advance(f);
    }
    return len;
}

void ln_forward_accepted(ln_forward *f, uint64_t number) {
    /* A message of which memory was short in the middle has not come through whole. */
    if (f->reason == LN_FORWARD_MEMORY && number >= f->number && f->number) number = f->number - 1;
    while (ln_queue_len(&f->dues)) {
        const uint8_t *at = ln_queue_at(&f->dues);
        due d;
        memcpy(&d, at, sizeof d);
        if (d.number > number) break;
        if (!ln_queue_space(&f->replies, d.bytes)) {
            f->replies.buf.failed = 0;
            close_for(f, LN_ENOMEM, 0);
            break;
        }
        ln_buf_append(&f->replies.buf, at + sizeof d, d.bytes);
        ln_queue_drop(&f->dues, sizeof d + d.bytes);
        f->counts.acknowledged++;
    }
    if (number > f->accepted) f->accepted = number;
}

const uint8_t *ln_forward_replies(const ln_forward *f, size_t *len) {
    *len = ln_queue_len(&f->replies);
    return ln_queue_at(&f->replies);
}

void ln_forward_replied(ln_forward *f, size_t len) { ln_queue_drop(&f->replies, len); }
