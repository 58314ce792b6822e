/* What a host has pushed and the engine has not yet read: pieces in the order of the calls, each bytes of a stream,
 * records, or a promise for the watermark. A reader takes them in slices, between two batches, so that more can be
 * pushed at any time. Bytes and promises together are bounded. */
#ifndef LN_HOST_INPUT_H
#define LN_HOST_INPUT_H

#include "base/buf.h"

#include <stdint.h>

enum ln_piece_kind { LN_PIECE_BYTES = 0, LN_PIECE_RECORDS, LN_PIECE_PROMISE };

typedef struct ln_piece {
    int kind;
    int64_t upto; /* where it ends, in bytes ever pushed; of a promise: the time */
} ln_piece;

typedef struct ln_input {
    ln_buf bytes; /* of all pieces; those of the first begin at `at` */
    size_t at;
    uint64_t passed; /* bytes ever pushed before bytes.data[0] */
    ln_piece *piece; /* in order: those from `first` up to `count` */
    size_t first, count, cap;
    uint64_t bytes_max;
    int reading;        /* the stream that is read: LN_PIECE_BYTES or LN_PIECE_RECORDS */
    uint64_t stream[2]; /* their numbers; 0: not yet open */
    void *reader[2];
} ln_input;

enum ln_input_result { LN_INPUT_TAKEN = 0, LN_INPUT_FULL, LN_INPUT_SHORT };

void ln_input_init(ln_input *in, ln_mem *mem, uint64_t bytes_max);
void ln_input_free(ln_input *in);
/* Bytes that have not been handed to a reader, promises counted by what they take. */
size_t ln_input_waiting(const ln_input *in);
/* Are there `more` bytes to be had? Makes room at the front where much of it has been read. */
int ln_input_has_room(ln_input *in, size_t more);
/* Appends; LN_INPUT_FULL or LN_INPUT_SHORT (of memory), and then nothing was. */
int ln_input_push(ln_input *in, const void *bytes, size_t len);
/* The bytes that were appended behind `from` (a length of in->bytes) become a record; they go where it is not taken. */
int ln_input_end_record(ln_input *in, size_t from);
int ln_input_promise(ln_input *in, int64_t watermark_us);
/* The first piece; NULL where nothing waits. */
const ln_piece *ln_input_first(const ln_input *in);
/* The next slice of the first piece, at most `most` bytes. To be passed when it has been read. */
const uint8_t *ln_input_slice(const ln_input *in, size_t most, size_t *len);
/* Of the first piece so many bytes are done with, or it is a promise that is; one without bytes left goes. */
void ln_input_pass(ln_input *in, size_t len);
/* The first piece goes where it is of that kind: its stream is broken. */
void ln_input_drop(ln_input *in, int kind);

#endif
