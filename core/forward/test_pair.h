/* A client and a receiving side joined without sockets, for the tests that need both. */
#ifndef LN_FORWARD_TEST_PAIR_H
#define LN_FORWARD_TEST_PAIR_H

#include "forward/client.h"
#include "forward/test_forward.h"

typedef struct pair {
    test_mem mem;
    ln_forward_client *c;
    wire w;
} pair;

static inline void pair_open(pair *p, const ln_forward_client_config *client, const ln_forward_config *server) {
    test_mem_init(&p->mem, 1 << 30);
    CHECK_INT(ln_forward_client_new(&p->mem.mem, client, test_noise, &p->c), LN_OK);
    if (!p->c) abort();
    wire_open(&p->w, server);
}

static inline void pair_close(pair *p) {
    wire_close(&p->w);
    ln_forward_client_delete(p->c);
    CHECK_INT(p->mem.held, 0);
}

/* Carries up to `most` bytes each way; the bytes carried. */
static inline size_t pair_carry(pair *p, size_t most) {
    size_t len, carried;
    const uint8_t *bytes = ln_forward_client_output(p->c, &len);
    if (len > most) len = most;
    carried = len;
    if (len) {
        wire_feed(&p->w, bytes, len);
        ln_forward_client_sent(p->c, len, 0);
    }
    bytes = ln_forward_replies(p->w.f, &len);
    if (len > most) len = most;
    if (len) {
        ln_forward_client_feed(p->c, bytes, len);
        ln_forward_replied(p->w.f, len);
    }
    return carried + len;
}

static inline void pair_settle(pair *p, size_t most) {
    for (int i = 0; i < 100000 && pair_carry(p, most); i++)
        ;
}

#endif
