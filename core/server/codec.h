/* What a connection speaks, where it is not simply records one after the other: bytes in, records into a reader. A
 * codec does no input and output of its own, so that it can be tested and fuzzed without sockets; the connection reads
 * for it and bounds what it may take. */
#ifndef LN_SERVER_CODEC_H
#define LN_SERVER_CODEC_H

#include "lunette.h"

typedef struct ln_codec {
    /* Made for each connection; NULL where memory is short. */
    void *(*open)(void);
    /* What has been received: its records go into the reader. 0, or -1 with *why, after which the connection ends. */
    int (*take)(void *codec, const uint8_t *bytes, size_t len, ln_reader *reader, const char **why);
    /* Bytes of a message that is not yet whole, those in the reader left out. */
    size_t (*pending)(const void *codec);
    void (*close)(void *codec);
} ln_codec;

#endif
