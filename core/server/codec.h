/* What a connection speaks, where it is not simply records one after the other: bytes in, records into a reader, and
 * replies out. A codec does no input and output of its own, so that it can be tested and fuzzed without sockets; the
 * connection reads and writes for it, and bounds what it may take. */
#ifndef LN_SERVER_CODEC_H
#define LN_SERVER_CODEC_H

#include "lunette_program.h"

typedef struct ln_server ln_server;

enum ln_moved {
    LN_MOVED_NONE,  /* there were none: more bytes are needed */
    LN_MOVED_ALL,   /* all that were in hand */
    LN_MOVED_SOME,  /* more are in hand: to be called again when these are in the engine */
    LN_MOVED_WAIT,  /* none: the peer must read its replies first */
    LN_MOVED_LATER, /* none now: to be called again in a later turn */
    LN_MOVED_CLOSED /* some or none, and the connection ends when they are in the engine: *why */
};

typedef struct ln_codec {
    /* Made for each connection, whose name outlives it; NULL where memory is short. */
    void *(*open)(ln_server *s, const char *name);
    void (*close)(void *codec);
    /* Room for bytes from the socket, only when all in hand has been moved; NULL where memory is short. Then they are
     * committed. */
    uint8_t *(*space)(void *codec, size_t want);
    void (*commit)(void *codec, size_t len);
    /* Records in hand into the reader, as msgpack, about a piece of them. */
    enum ln_moved (*move)(void *codec, ln_reader *reader, const char **why);
    /* What was moved is in the engine. */
    void (*accepted)(void *codec);
    /* What is to be written to the socket, and how much of it has been. */
    const uint8_t *(*replies)(const void *codec, size_t *len);
    void (*replied)(void *codec, size_t len);
    /* Bytes of a message that is not yet whole. */
    size_t (*pending)(const void *codec);
    /* The peer has not yet proved who it is, and must do so in the time that a record may take. */
    int (*greeting)(const void *codec);
} ln_codec;

#endif
