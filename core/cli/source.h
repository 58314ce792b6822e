/* What a run reads: its inputs, one after the other, as one sequence of streams. The source knows how to read and says
 * why it could not; it prints nothing and never waits, but for opening a file on a slow disk. */
#ifndef LN_CLI_SOURCE_H
#define LN_CLI_SOURCE_H

#include "lunette.h"

typedef struct ln_cli_source {
    const char *const *inputs;
    size_t inputs_count;
    size_t next;      /* the input that ln_cli_source_next opens */
    const char *name; /* of the present stream, as messages call it */
    int fd;           /* of the present stream; -1: it is empty */
    int pollable;     /* reading is allowed only when the loop has found fd readable */
    int files_only;   /* every input is a regular file: total_bytes is known */
    uint64_t total_bytes, read_bytes;
} ln_cli_source;

enum ln_cli_read {
    LN_READ_BYTES, /* the reader has got some */
    LN_READ_LATER, /* nothing now */
    LN_READ_END,   /* the stream is over */
    LN_READ_FAILED /* errno tells why */
};

/* Looks at every input before anything runs. 0, or -1 with errno, and `name` the input that can't be read. */
int ln_cli_source_init(ln_cli_source *s, const char *const *inputs, size_t count);
/* Begins the next stream: 1, 0 when there is none, -1 with errno. */
int ln_cli_source_next(ln_cli_source *s);
/* One piece of the present stream into the reader. */
enum ln_cli_read ln_cli_source_read(ln_cli_source *s, ln_reader *reader);
void ln_cli_source_close(ln_cli_source *s);

#endif
