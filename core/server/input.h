/* Files and standard input, one after the other. They know how to be read and say why they could not; nothing is
 * printed here, and nothing waits, but for opening a file on a slow disk. */
#ifndef LN_SERVER_INPUT_H
#define LN_SERVER_INPUT_H

#include "lunette_program.h"

typedef struct ln_input {
    const char *const *inputs;
    size_t inputs_count;
    size_t next;      /* the input that ln_input_next opens */
    const char *name; /* of the present stream, as messages call it */
    int fd;           /* of the present stream; -1: it is empty */
    int pollable;     /* reading is allowed only when the loop has found fd readable */
    int files_only;   /* every input is a regular file: total_bytes is known */
    uint64_t total_bytes, read_bytes;
    int resumes; /* a run goes on: in input `resume_file`, past so many bytes, in that format */
    size_t resume_file;
    int64_t resume_at;
    int resume_format;
} ln_input;

enum ln_read {
    LN_READ_BYTES, /* the reader has got some */
    LN_READ_LATER, /* nothing now */
    LN_READ_END,   /* the stream is over */
    LN_READ_FAILED /* errno tells why */
};

/* Looks at every input before anything runs. 0, or -1 with errno, and `name` the input that can't be read. */
int ln_input_init(ln_input *s, const char *const *inputs, size_t count);
/* Begins the next stream: 1, 0 when there is none, -1 with errno. */
int ln_input_next(ln_input *s);
/* One piece of the present stream into the reader. */
enum ln_read ln_input_read(ln_input *s, ln_reader *reader);
void ln_input_close(ln_input *s);

#endif
