/* See receive.h. Several messages are moved at once, as many as make a piece; a large one is moved in pieces, and no
 * bytes are read meanwhile. So a message that has been begun is always carried through, whatever becomes of the
 * connection, unless memory runs out. */
#define _GNU_SOURCE
#include "server/receive.h"

#include "server/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 * 1024 };

typedef struct receiver {
    ln_server *server;
    const char *name;
    ln_forward *forward;
    uint64_t number; /* of the message that has been handed out last */
    uint64_t moved;  /* of the last message that is in the reader whole */
    size_t moved_bytes;
    int has_id; /* the message handed out last has an id */
    int again;  /* it is under way in another connection: this one waits for that */
    ln_seen_id id;
    ln_forward_counts told;
} receiver;

/* ---- what connections share ------------------------------------------------------------------------------------ */

/* The C library's heap, up to a bound. */
static void *resize_bounded(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
    const ln_receive *r = ctx;
    if (!new_bytes) {
        free(p);
        return NULL;
    }
    if (new_bytes > old_bytes && r->mem.used + (new_bytes - old_bytes) > r->most) return NULL;
    return realloc(p, new_bytes);
}

ln_receive *ln_receive_new(const ln_forward_config *config, size_t most) {
    uint8_t key[LN_SEEN_KEY];
    ln_receive *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->config = *config;
    r->most = most;
    ln_mem_init(&r->mem);
    ln_mem_init(&r->memory);
    r->mem.resize = resize_bounded;
    r->mem.ctx = r;
    if (!getentropy(key, sizeof key)) r->seen = ln_seen_new(&r->memory, key);
    if (r->seen) return r;
    free(r);
    return NULL;
}

void ln_receive_delete(ln_receive *r) {
    if (!r) return;
    ln_seen_delete(r->seen);
    free(r);
}

/* ---- one connection -------------------------------------------------------------------------------------------- */

static void *receive_open(ln_server *s, const char *name) {
    ln_receive *shared = s->receive;
    uint8_t noise[LN_FORWARD_RANDOM];
    receiver *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->server = s;
    r->name = name;
    if (!getentropy(noise, sizeof noise)) r->forward = ln_forward_new(&shared->mem, &shared->config, noise);
    if (r->forward) return r;
    free(r);
    return NULL;
}

static void settle(receiver *r, enum ln_seen_state state) {
    if (r->has_id) ln_seen_end(r->server->receive->seen, &r->id, state);
    r->has_id = 0;
}

static void receive_close(void *codec) {
    receiver *r = codec;
    settle(r, LN_SEEN_NOT);
    ln_forward_delete(r->forward);
    free(r);
}

static uint8_t *receive_space(void *codec, size_t want) {
    receiver *r = codec;
    return ln_forward_space(r->forward, want);
}

static void receive_commit(void *codec, size_t len) {
    receiver *r = codec;
    ln_forward_commit(r->forward, len);
}

/* ---- records --------------------------------------------------------------------------------------------------- */

/* The chunk's records count, unless it has been here before. */
static void name_chunk(receiver *r, const ln_forward_event *e) {
    ln_seen *seen = r->server->receive->seen;
    r->number = e->number;
    r->again = 0;
    if (!e->chunk) return;
    r->id = ln_seen_name(seen, e->tag, e->tag_bytes, e->chunk, e->chunk_bytes);
    switch (ln_seen_begin(seen, &r->id)) {
    case LN_SEEN_NOT: r->has_id = 1; return;
    case LN_SEEN_BEGUN: r->again = 1; break;
    case LN_SEEN_TAKEN: r->moved = r->number; break;
    }
    r->server->counters.forward_repeated++;
}

/* What is left of the message, as far as a piece goes: 0, or -1 where memory is short. */
static int move_message(receiver *r, ln_reader *reader) {
    while (r->moved < r->number && r->moved_bytes < PIECE_BYTES) {
        size_t want = ln_forward_room(r->forward), len;
        uint8_t *to;
        if (want < PIECE_BYTES - r->moved_bytes) want = PIECE_BYTES - r->moved_bytes;
        to = ln_reader_space(reader, want);
        if (!to) return -1;
        len = ln_forward_read(r->forward, to, want);
        if (ln_reader_commit(reader, len)) return -1;
        r->moved_bytes += len;
        if (!ln_forward_room(r->forward)) r->moved = r->number;
    }
    return 0;
}

/* This chunk's first sending decides: 1 to go on, 0 to wait for it, -1 where it failed. */
static int await_other(receiver *r) {
    switch (ln_seen_look(r->server->receive->seen, &r->id)) {
    case LN_SEEN_BEGUN: return 0;
    case LN_SEEN_NOT: return -1;
    default:
        r->again = 0;
        r->moved = r->number;
        return 1;
    }
}

static void count_refusals(receiver *r) {
    const ln_forward_counts *c = ln_forward_counted(r->forward);
    ln_counters *all = &r->server->counters;
    all->forward_messages += c->messages - r->told.messages;
    all->forward_heartbeats += c->heartbeats - r->told.heartbeats;
    all->forward_acknowledged += c->acknowledged - r->told.acknowledged;
    all->forward_refused_signal += c->refused[LN_FORWARD_SIGNAL] - r->told.refused[LN_FORWARD_SIGNAL];
    all->forward_refused_tag += c->refused[LN_FORWARD_BAD_TAG] - r->told.refused[LN_FORWARD_BAD_TAG];
    all->forward_refused_compression += c->refused[LN_FORWARD_COMPRESSION] - r->told.refused[LN_FORWARD_COMPRESSION];
    all->forward_denied += c->refused[LN_FORWARD_DENIED] - r->told.refused[LN_FORWARD_DENIED];
    r->told = *c;
}

static enum ln_moved move(receiver *r, ln_reader *reader, const char **why) {
    const uint64_t before = r->moved;
    ln_forward_event e;
    for (;;) {
        if (r->again) {
            int way = await_other(r);
            *why = "the chunk's first sending has failed";
            if (way <= 0) return way ? LN_MOVED_CLOSED : LN_MOVED_LATER;
        }
        *why = "memory is short";
        if (move_message(r, reader)) return LN_MOVED_CLOSED;
        if (r->moved < r->number || r->moved_bytes >= PIECE_BYTES) return LN_MOVED_SOME;
        switch (ln_forward_next(r->forward, &e)) {
        case LN_FORWARD_MESSAGE:
            settle(r, LN_SEEN_TAKEN);
            name_chunk(r, &e);
            break;
        case LN_FORWARD_REFUSED:
            settle(r, LN_SEEN_TAKEN);
            ln_log_note(r->server->log, LN_LOG_WARNING, "%s: %s", r->name, e.text);
            break;
        case LN_FORWARD_CLOSED:
            settle(r, e.reason == LN_FORWARD_MEMORY ? LN_SEEN_NOT : LN_SEEN_TAKEN);
            *why = e.text;
            return LN_MOVED_CLOSED;
        case LN_FORWARD_AGAIN: settle(r, LN_SEEN_TAKEN); return r->moved > before ? LN_MOVED_SOME : LN_MOVED_LATER;
        case LN_FORWARD_WAIT: settle(r, LN_SEEN_TAKEN); return r->moved > before ? LN_MOVED_SOME : LN_MOVED_WAIT;
        default: settle(r, LN_SEEN_TAKEN); return r->moved > before ? LN_MOVED_ALL : LN_MOVED_NONE;
        }
    }
}

static enum ln_moved receive_move(void *codec, ln_reader *reader, const char **why) {
    receiver *r = codec;
    enum ln_moved moved;
    r->moved_bytes = 0;
    moved = move(r, reader, why);
    count_refusals(r);
    return moved;
}

static void receive_accepted(void *codec) {
    receiver *r = codec;
    ln_forward_accepted(r->forward, r->moved);
    count_refusals(r);
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static const uint8_t *receive_replies(const void *codec, size_t *len) {
    const receiver *r = codec;
    return ln_forward_replies(r->forward, len);
}

static void receive_replied(void *codec, size_t len) {
    receiver *r = codec;
    ln_forward_replied(r->forward, len);
}

static size_t receive_pending(const void *codec) {
    const receiver *r = codec;
    return ln_forward_pending(r->forward);
}

static int receive_greeting(const void *codec) {
    const receiver *r = codec;
    return !ln_forward_admitted(r->forward);
}

const ln_codec ln_receive_codec = {.open = receive_open,
                                   .close = receive_close,
                                   .space = receive_space,
                                   .commit = receive_commit,
                                   .move = receive_move,
                                   .accepted = receive_accepted,
                                   .replies = receive_replies,
                                   .replied = receive_replied,
                                   .pending = receive_pending,
                                   .greeting = receive_greeting};
