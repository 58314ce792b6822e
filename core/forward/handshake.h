/* The handshake by which both sides prove that they know the shared key, and a user proves that he knows his password,
 * without sending either. Each side hashes what the other one made up for this connection, so that nothing can be
 * played again. Digests are compared in constant time. */
#ifndef LN_FORWARD_HANDSHAKE_H
#define LN_FORWARD_HANDSHAKE_H

#include "base/buf.h"
#include "forward/forward.h"

enum { LN_HANDSHAKE_NONCE = 16, LN_HANDSHAKE_DIGEST = 128 /* hexadecimal digits */ };

/* What the receiving side made up. */
typedef struct ln_handshake {
    const ln_forward_config *config;
    uint8_t nonce[LN_HANDSHAKE_NONCE];
    uint8_t auth[LN_HANDSHAKE_NONCE]; /* salt of passwords */
} ln_handshake;

/* What the sending side knows. Texts are its own. */
typedef struct ln_handshake_client {
    ln_value host, key, user, password;
    char salt[2 * LN_HANDSHAKE_NONCE + 1];
    uint8_t nonce[LN_FORWARD_NAME];
    uint32_t nonce_bytes;
} ln_handshake_client;

static inline int ln_handshake_wanted(const ln_forward_config *c) { return c->shared_key || c->users; }

void ln_handshake_init(ln_handshake *h, const ln_forward_config *config, const uint8_t *random);
void ln_handshake_put_helo(const ln_handshake *h, ln_buf *out);
/* Judges a whole PING and appends the PONG. NULL: the client is admitted; else why not, in words. */
const char *ln_handshake_answer(const ln_handshake *h, const uint8_t *ping, size_t len, ln_buf *out);

void ln_handshake_salt(ln_handshake_client *h, const uint8_t *random);
/* Reads a whole HELO and appends the PING. NULL, or what is wrong with the HELO. */
const char *ln_handshake_greet(ln_handshake_client *h, const uint8_t *helo, size_t len, ln_buf *out);
/* Judges a whole PONG: NULL, or why the connection is no good, in words that hold nothing of the peer's. */
const char *ln_handshake_judge(const ln_handshake_client *h, const uint8_t *pong, size_t len);

#endif
