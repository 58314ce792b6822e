/* Records one after the other: the reader does it all. */
#include "server/codec.h"

static int stateless;

static void *raw_open(void) { return &stateless; }

static int raw_take(void *codec, const uint8_t *bytes, size_t len, ln_reader *reader, const char **why) {
    int err = ln_reader_push(reader, bytes, len);
    (void)codec;
    *why = ln_strerror(err);
    return err ? -1 : 0;
}

static size_t raw_pending(const void *codec) {
    (void)codec;
    return 0;
}

static void raw_close(void *codec) { (void)codec; }

const ln_codec ln_codec_raw = {.open = raw_open, .take = raw_take, .pending = raw_pending, .close = raw_close};
