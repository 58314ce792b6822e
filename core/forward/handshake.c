/* HELO, PING and PONG, by SHA-512. What is read here is whole msgpack within the limits of a handshake. */
#include "forward/handshake.h"

#include "base/pack.h"

#include <sodium.h>

enum { SHA512 = crypto_hash_sha512_BYTES };
_Static_assert((int)LN_HANDSHAKE_DIGEST == 2 * SHA512, "a digest is written in hexadecimal digits");
_Static_assert((int)LN_FORWARD_RANDOM == 2 * LN_HANDSHAKE_NONCE, "the random bytes are the nonce and the salt");

static ln_value text_of(const char *text) {
    return (ln_value){.type = LN_TEXT, .len = (uint32_t)strlen(text), .at = (const uint8_t *)text};
}

static ln_value bytes_of(const uint8_t *bytes, size_t len) {
    return (ln_value){.type = LN_BYTES, .len = (uint32_t)len, .at = bytes};
}

static void digest_of(char *hex, const ln_value *part, size_t parts) {
    crypto_hash_sha512_state state;
    uint8_t hash[SHA512];
    crypto_hash_sha512_init(&state);
    for (size_t i = 0; i < parts; i++) crypto_hash_sha512_update(&state, part[i].at, part[i].len);
    crypto_hash_sha512_final(&state, hash);
    sodium_bin2hex(hex, LN_HANDSHAKE_DIGEST + 1, hash, sizeof hash);
}

static int is_digest(const ln_value *v, const char *hex) {
    return v->len == LN_HANDSHAKE_DIGEST && sodium_memcmp(v->at, hex, LN_HANDSHAKE_DIGEST) == 0;
}

static int is_short(const ln_value *v, int bytes_too) {
    return (v->type == LN_TEXT || (bytes_too && v->type == LN_BYTES)) && v->len <= LN_FORWARD_NAME;
}

static int same(const ln_value *a, const ln_value *b) {
    return a->len == b->len && (a->len == 0 || memcmp(a->at, b->at, a->len) == 0);
}

static int is(const ln_value *v, const char *text) {
    ln_value wanted = text_of(text);
    return v->type == LN_TEXT && same(v, &wanted);
}

/* The parts of an array of exactly `count`, begun by the text `name`; 0 where it is none. */
static int read_parts(ln_value *part, uint32_t count, const char *name, const uint8_t *p, size_t len) {
    const uint8_t *end = p + len;
    ln_value array;
    p = ln_value_read(p, end, 0, &array);
    if (array.type != LN_ARRAY || array.len != count) return 0;
    for (uint32_t i = 0; i < count; i++) p = ln_value_read(p, end, 1, &part[i]);
    return is(&part[0], name);
}

static void put_text(ln_buf *out, const char *text) { ln_pack_put_text(out, text, strlen(text)); }

/* ---- the receiving side ---------------------------------------------------------------------------------------- */

void ln_handshake_init(ln_handshake *h, const ln_forward_config *config, const uint8_t *random) {
    h->config = config;
    memcpy(h->nonce, random, LN_HANDSHAKE_NONCE);
    memcpy(h->auth, random + LN_HANDSHAKE_NONCE, LN_HANDSHAKE_NONCE);
}

static const char *own_host(const ln_handshake *h) { return h->config->host ? h->config->host : "lunette"; }

static const char *own_key(const ln_handshake *h) { return h->config->shared_key ? h->config->shared_key : ""; }

/* Clients take the salt for a sign that they need a user, and an empty text for the contrary. */
void ln_handshake_put_helo(const ln_handshake *h, ln_buf *out) {
    ln_value nonce = bytes_of(h->nonce, sizeof h->nonce), auth = bytes_of(h->auth, sizeof h->auth);
    ln_value none = text_of(""), yes = {.type = LN_BOOL, .i = 1};
    ln_pack_put_head(out, LN_ARRAY, 2);
    put_text(out, "HELO");
    ln_pack_put_head(out, LN_MAP, 3);
    put_text(out, "nonce");
    ln_pack_put(out, &nonce);
    put_text(out, "auth");
    ln_pack_put(out, h->config->users ? &auth : &none);
    put_text(out, "keepalive");
    ln_pack_put(out, &yes);
}

static void digest_at(char *hex, const ln_handshake *h, const ln_value *salt, const ln_value *host) {
    ln_value part[] = {*salt, *host, bytes_of(h->nonce, sizeof h->nonce), text_of(own_key(h))};
    digest_of(hex, part, 4);
}

/* A user who is not known costs the same as one who is. */
static int user_is_known(const ln_handshake *h, const ln_value *name, const ln_value *digest) {
    const ln_forward_config *c = h->config;
    const char *password = "";
    int known = 0, right;
    char hex[LN_HANDSHAKE_DIGEST + 1];
    for (uint32_t i = 0; i < c->users; i++) {
        if (!is(name, c->user[i].name)) continue;
        password = c->user[i].password;
        known = 1;
    }
    digest_of(hex, (ln_value[]){bytes_of(h->auth, sizeof h->auth), *name, text_of(password)}, 3);
    right = is_digest(digest, hex);
    return known & right;
}

static const char *judge(const ln_handshake *h, const ln_value *part) {
    char hex[LN_HANDSHAKE_DIGEST + 1];
    for (int i = 1; i < 6; i++)
        if (!is_short(&part[i], i == 2)) return "a part of the PING is no short text";
    digest_at(hex, h, &part[2], &part[1]);
    if (!is_digest(&part[3], hex)) return "shared key mismatch";
    if (h->config->users && !user_is_known(h, &part[4], &part[5])) return "username/password mismatch";
    return NULL;
}

const char *ln_handshake_answer(const ln_handshake *h, const uint8_t *ping, size_t len, ln_buf *out) {
    ln_value part[6], admitted = {.type = LN_BOOL}, host = text_of(own_host(h));
    char hex[LN_HANDSHAKE_DIGEST + 1] = "";
    const char *reason = "a PING must come first";
    if (read_parts(part, 6, "PING", ping, len)) reason = judge(h, part);
    admitted.i = !reason;
    if (!reason) digest_at(hex, h, &part[2], &host);
    ln_pack_put_head(out, LN_ARRAY, 5);
    put_text(out, "PONG");
    ln_pack_put(out, &admitted);
    put_text(out, reason ? reason : "");
    put_text(out, reason ? "" : own_host(h));
    put_text(out, hex);
    return reason;
}

/* ---- the sending side ------------------------------------------------------------------------------------------ */

void ln_handshake_salt(ln_handshake_client *h, const uint8_t *random) {
    sodium_bin2hex(h->salt, sizeof h->salt, random, LN_HANDSHAKE_NONCE);
}

static const char *read_helo(ln_handshake_client *h, ln_value *auth, const uint8_t *helo, size_t len) {
    ln_value part[2], nonce;
    if (!read_parts(part, 2, "HELO", helo, len) || part[1].type != LN_MAP) return "the peer does not begin with HELO";
    ln_record_get(part[1].at, part[1].len, "nonce", 5, &nonce);
    ln_record_get(part[1].at, part[1].len, "auth", 4, auth);
    if (!is_short(&nonce, 1)) return "the nonce of the HELO is no short text";
    if (auth->type == LN_MISSING || auth->type == LN_NULL) *auth = text_of("");
    if (!is_short(auth, 1)) return "the salt for passwords in the HELO is no short text";
    memcpy(h->nonce, nonce.at, nonce.len);
    h->nonce_bytes = nonce.len;
    return NULL;
}

static void digest_to(char *hex, const ln_handshake_client *h, const ln_value *host) {
    ln_value part[] = {text_of(h->salt), *host, bytes_of(h->nonce, h->nonce_bytes), h->key};
    digest_of(hex, part, 4);
}

const char *ln_handshake_greet(ln_handshake_client *h, const uint8_t *helo, size_t len, ln_buf *out) {
    char hex[LN_HANDSHAKE_DIGEST + 1];
    ln_value auth, none = text_of("");
    const char *wrong = read_helo(h, &auth, helo, len);
    if (wrong) return wrong;
    digest_to(hex, h, &h->host);
    ln_pack_put_head(out, LN_ARRAY, 6);
    put_text(out, "PING");
    ln_pack_put(out, &h->host);
    put_text(out, h->salt);
    put_text(out, hex);
    digest_of(hex, (ln_value[]){auth, h->user, h->password}, 3);
    ln_pack_put(out, auth.len ? &h->user : &none);
    put_text(out, auth.len ? hex : "");
    return NULL;
}

const char *ln_handshake_judge(const ln_handshake_client *h, const uint8_t *pong, size_t len) {
    char hex[LN_HANDSHAKE_DIGEST + 1];
    ln_value part[5];
    if (!read_parts(part, 5, "PONG", pong, len)) return "the peer does not answer the PING with a PONG";
    if (part[1].type != LN_BOOL || !is_short(&part[2], 0) || !is_short(&part[3], 0) || !is_short(&part[4], 0))
        return "a part of the PONG has the wrong type";
    if (!part[1].i) return "the peer refuses the shared key, the user or the password";
    if (same(&part[3], &h->host)) return "the peer has the same host name as this side: give one of them another";
    digest_to(hex, h, &part[3]);
    return is_digest(&part[4], hex) ? NULL : "the peer does not know the shared key";
}
