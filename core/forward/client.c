/* The sending side: a list of chunks in the order in which they were filled, the open one apart, and a handshake. */
#include "forward/client.h"

#include "base/pack.h"
#include "forward/chunk.h"
#include "forward/handshake.h"
#include "forward/message.h"
#include "forward/queue.h"

#include <stdio.h>

enum { CHUNKS_MAX = 4096, CHUNK_BYTES_MAX = 1 << 30, TEXTS = 5 };

/* A message of the peer: an acknowledgement, a HELO or a PONG. */
static const ln_limits peer_limits = {.record_bytes = 4096, .nesting = 4, .elements = 64};

enum state { AWAY, HELO, PONG, READY, FAILED };

struct ln_forward_client {
    ln_mem *mem;
    ln_forward_client_config config; /* its texts are not used */
    ln_buf texts;                    /* what the values below point into */
    ln_value tag;
    ln_handshake_client handshake;
    uint8_t seed[LN_CHUNK_SEED];
    ln_chunk *first, **end; /* those that wait come first */
    ln_chunk *open;         /* NULL: none */
    uint64_t number;        /* chunks ever begun */
    uint32_t chunks;        /* filled */
    size_t held;            /* bytes of filled chunks */
    int state;              /* enum state */
    ln_queue in, hello;     /* from the peer, and to it before any chunk */
    ln_framer framer;
    int framing;
    char error[128];
    ln_forward_client_counts counts;
};

/* ---- life ------------------------------------------------------------------------------------------------------ */

static int take_texts(ln_forward_client *c, const ln_forward_client_config *config) {
    const char *const text[TEXTS] = {
        config->tag ? config->tag : "lunette",        config->host ? config->host : "lunette-client",
        config->shared_key ? config->shared_key : "", config->user ? config->user : "",
        config->password ? config->password : "",
    };
    ln_handshake_client *h = &c->handshake;
    ln_value *const value[TEXTS] = {&c->tag, &h->host, &h->key, &h->user, &h->password};
    const uint8_t *at;
    for (int i = 0; i < TEXTS; i++) ln_buf_append(&c->texts, text[i], strlen(text[i]) + 1);
    if (c->texts.failed) return LN_ENOMEM;
    at = c->texts.data;
    for (int i = 0; i < TEXTS; i++) {
        *value[i] = (ln_value){.type = LN_TEXT, .len = (uint32_t)strlen(text[i]), .at = at};
        at += value[i]->len + 1;
    }
    if (!ln_forward_tag_is_plain(&c->tag)) return LN_EINVALID;
    return h->host.len <= LN_FORWARD_NAME && h->user.len <= LN_FORWARD_NAME ? LN_OK : LN_EINVALID;
}

int ln_forward_client_new(ln_mem *mem, const ln_forward_client_config *config, const uint8_t *random,
                          ln_forward_client **out) {
    ln_forward_client *c = ln_mem_zero(mem, sizeof *c);
    int err;
    *out = NULL;
    if (!c) return LN_ENOMEM;
    c->mem = mem;
    c->config = *config;
    if (!c->config.chunk_bytes) c->config.chunk_bytes = 256 << 10;
    if (c->config.chunk_bytes > CHUNK_BYTES_MAX) c->config.chunk_bytes = CHUNK_BYTES_MAX;
    if (!c->config.queue_bytes) c->config.queue_bytes = 16 << 20;
    memcpy(c->seed, random, sizeof c->seed);
    c->end = &c->first;
    ln_buf_init(&c->texts, mem);
    ln_queue_init(&c->in, mem);
    ln_queue_init(&c->hello, mem);
    err = take_texts(c, config);
    if (err) ln_forward_client_delete(c);
    else *out = c;
    return err;
}

void ln_forward_client_delete(ln_forward_client *c) {
    if (!c) return;
    for (ln_chunk *chunk = c->first, *next; chunk; chunk = next) {
        next = chunk->next;
        ln_chunk_delete(chunk, c->mem);
    }
    ln_chunk_delete(c->open, c->mem);
    ln_buf_free(&c->texts);
    ln_buf_free(&c->in.buf);
    ln_buf_free(&c->hello.buf);
    ln_mem_free(c->mem, c, sizeof *c);
}

int ln_forward_client_established(const ln_forward_client *c) { return c->state == READY; }

size_t ln_forward_client_pending(const ln_forward_client *c) {
    return c->held + (c->open ? ln_chunk_bytes(c->open) : 0);
}

uint64_t ln_forward_client_values(const ln_forward_client *c) {
    uint64_t values = c->open ? c->open->entries : 0;
    for (const ln_chunk *chunk = c->first; chunk; chunk = chunk->next) values += chunk->entries;
    return values;
}

int ln_forward_client_idle(const ln_forward_client *c) { return !c->first; }

const char *ln_forward_client_error(const ln_forward_client *c) { return c->error; }

const ln_forward_client_counts *ln_forward_client_counted(const ln_forward_client *c) { return &c->counts; }

/* ---- values to chunks ------------------------------------------------------------------------------------------ */

int ln_forward_client_flush(ln_forward_client *c) {
    ln_chunk *chunk = c->open;
    int err;
    if (!chunk || !chunk->entries || c->chunks == CHUNKS_MAX) return LN_OK;
    err = ln_chunk_fill(chunk, c->mem, c->config.gzip, !c->config.fast);
    if (err) return err;
    *c->end = chunk;
    c->end = &chunk->next;
    c->open = NULL;
    c->chunks++;
    c->held += chunk->message.len;
    c->counts.chunks++;
    return LN_OK;
}

/* Adds one value; 0 where there is no room for it. A value that is larger than the whole queue goes alone. */
static int add(ln_forward_client *c, int64_t time_us, const ln_value *v, const uint8_t *value, size_t len) {
    size_t pending = ln_forward_client_pending(c);
    if (pending && pending + len + LN_CHUNK_ENTRY > c->config.queue_bytes) return 0;
    if (!c->open) c->open = ln_chunk_new(c->mem, &c->tag, c->seed, c->number++);
    if (!c->open || ln_chunk_bytes(c->open) >= c->config.chunk_bytes) return 0;
    if (ln_chunk_add(c->open, time_us, value, len, v->type == LN_MAP)) return 0;
    c->counts.values++;
    c->counts.value_bytes += len;
    if (ln_chunk_bytes(c->open) >= c->config.chunk_bytes) ln_forward_client_flush(c);
    return 1;
}

size_t ln_forward_client_add(ln_forward_client *c, const uint8_t *bytes, size_t len, int64_t time_us) {
    const uint8_t *p = bytes, *end = bytes + len;
    /* One that was full when memory or places for it were short. */
    if (c->open && ln_chunk_bytes(c->open) >= c->config.chunk_bytes) ln_forward_client_flush(c);
    while (p < end) {
        ln_value v;
        const uint8_t *next = ln_value_read(p, end, 1, &v);
        if (v.type == LN_MISSING || !add(c, time_us, &v, p, (size_t)(next - p))) break;
        p = next;
    }
    return (size_t)(p - bytes);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

void ln_forward_client_connected(ln_forward_client *c, const uint8_t *random) {
    ln_forward_client_disconnected(c);
    c->error[0] = '\0';
    ln_handshake_salt(&c->handshake, random);
    c->state = c->config.shared_key || c->config.user ? HELO : READY;
}

/* What was on its way has to go again, on the next connection. */
void ln_forward_client_disconnected(ln_forward_client *c) {
    for (ln_chunk *chunk = c->first; chunk; chunk = chunk->next) {
        if (chunk->state == LN_CHUNK_WAITING || chunk->sent) c->counts.repeated++;
        chunk->state = LN_CHUNK_FILLED;
        chunk->sent = 0;
    }
    ln_queue_drop(&c->in, ln_queue_len(&c->in));
    ln_queue_drop(&c->hello, ln_queue_len(&c->hello));
    c->framing = 0;
    c->state = AWAY;
}

static void remove_chunk(ln_forward_client *c, ln_chunk **link) {
    ln_chunk *chunk = *link;
    *link = chunk->next;
    if (c->end == &chunk->next) c->end = link;
    c->chunks--;
    c->held -= chunk->message.len;
    ln_chunk_delete(chunk, c->mem);
}

/* The first chunk that has not been sent. */
static ln_chunk **outgoing(ln_forward_client *c) {
    ln_chunk **link = &c->first;
    while (*link && (*link)->state == LN_CHUNK_WAITING) link = &(*link)->next;
    return link;
}

const uint8_t *ln_forward_client_output(ln_forward_client *c, size_t *len) {
    const ln_chunk *chunk;
    *len = ln_queue_len(&c->hello);
    if (*len || c->state != READY) return ln_queue_at(&c->hello);
    chunk = *outgoing(c);
    if (!chunk) return NULL;
    *len = chunk->message.len - chunk->sent;
    return chunk->message.data + chunk->sent;
}

void ln_forward_client_sent(ln_forward_client *c, size_t len, int64_t now_us) {
    ln_chunk **link, *chunk;
    if (ln_queue_len(&c->hello)) {
        ln_queue_drop(&c->hello, len);
        return;
    }
    link = outgoing(c);
    chunk = *link;
    if (!chunk) return;
    chunk->sent += len;
    if (chunk->sent < chunk->message.len) return;
    c->counts.sent++;
    chunk->state = LN_CHUNK_WAITING;
    chunk->sent_us = now_us;
    if (c->config.fast) remove_chunk(c, link);
}

int64_t ln_forward_client_waits_since(const ln_forward_client *c) {
    return c->first && c->first->state == LN_CHUNK_WAITING ? c->first->sent_us : INT64_MAX;
}

/* ---- the peer's messages --------------------------------------------------------------------------------------- */

static int fail(ln_forward_client *c, const char *why) {
    snprintf(c->error, sizeof c->error, "%s", why);
    c->state = FAILED;
    return LN_EINVALID;
}

static void acknowledge(ln_forward_client *c, const ln_value *id) {
    for (ln_chunk **link = &c->first; *link && (*link)->state == LN_CHUNK_WAITING; link = &(*link)->next) {
        if (id->len != LN_CHUNK_ID || memcmp(id->at, (*link)->id, LN_CHUNK_ID) != 0) continue;
        remove_chunk(c, link);
        c->counts.acknowledged++;
        return;
    }
    c->counts.strange++;
}

static int take_message(ln_forward_client *c, const uint8_t *p, size_t len) {
    const char *wrong;
    ln_value id;
    switch (c->state) {
    case HELO:
        wrong = ln_handshake_greet(&c->handshake, p, len, &c->hello.buf);
        if (wrong) return fail(c, wrong);
        if (c->hello.buf.failed) return fail(c, "out of memory");
        c->state = PONG;
        return LN_OK;
    case PONG:
        wrong = ln_handshake_judge(&c->handshake, p, len);
        if (wrong) return fail(c, wrong);
        c->state = READY;
        return LN_OK;
    default:
        if (*p == 0x92) return fail(c, "the peer asks for a handshake: give this side the shared key");
        ln_record_get(p, (uint32_t)len, "ack", 3, &id);
        if (id.type != LN_TEXT) return fail(c, "the peer sent something that is no acknowledgement");
        acknowledge(c, &id);
        return LN_OK;
    }
}

int ln_forward_client_feed(ln_forward_client *c, const uint8_t *bytes, size_t len) {
    int err = LN_OK;
    if (c->state == FAILED || c->state == AWAY) return LN_ECLOSED;
    if (!len) return LN_OK;
    if (!ln_queue_space(&c->in, len)) return fail(c, "out of memory");
    ln_buf_append(&c->in.buf, bytes, len);
    while (!err && ln_queue_len(&c->in)) {
        if (!c->framing) ln_framer_init(&c->framer);
        err = ln_framer_run(&c->framer, &peer_limits, ln_queue_at(&c->in), ln_queue_len(&c->in));
        c->framing = err == LN_FRAME_MORE;
        if (c->framing) return LN_OK;
        if (err) return fail(c, "the peer's message is no msgpack, or too large");
        err = take_message(c, ln_queue_at(&c->in), (size_t)c->framer.at);
        ln_queue_drop(&c->in, (size_t)c->framer.at);
    }
    return err;
}
