/* Fluent Forward as a source: the codec of its connections, and what these share. */
#ifndef LN_SERVER_RECEIVE_H
#define LN_SERVER_RECEIVE_H

#include "forward/forward.h"
#include "forward/seen.h"
#include "server/codec.h"

typedef struct ln_receive {
    ln_mem mem;    /* of all connections: bounded */
    size_t most;   /* bytes of it */
    ln_mem memory; /* of what follows */
    ln_forward_config config;
    ln_seen *seen;
} ln_receive;

/* What `config` points to is borrowed. `most`: bytes that all connections may hold. NULL where memory is short. */
ln_receive *ln_receive_new(const ln_forward_config *config, size_t most);
void ln_receive_delete(ln_receive *r);

extern const ln_codec ln_receive_codec;

#endif
