/* Where one stream of the output goes: standard output, a file, or nowhere. The sink writes from the output's own
 * memory and never waits; what it could not write stays in the output, which nobody may add to before it is written. */
#ifndef LN_CLI_SINK_H
#define LN_CLI_SINK_H

#include "lunette.h"

typedef struct ln_cli_sink {
    const char *name; /* as messages call it */
    int stream;       /* enum ln_stream */
    int fd;           /* -1: what comes is dropped */
    int terminal;
    int waits;   /* a write of more than a pipe's guaranteed room could wait */
    size_t done; /* bytes of the output's view already written */
} ln_cli_sink;

enum ln_cli_write {
    LN_WRITE_DONE,   /* the output holds nothing more of this stream */
    LN_WRITE_LATER,  /* go on when fd is writable */
    LN_WRITE_CLOSED, /* nobody reads any more */
    LN_WRITE_FAILED  /* errno tells why */
};

/* 0, or -1 with errno. An existing file is emptied. */
int ln_cli_sink_open(ln_cli_sink *s, const char *address, int stream);
enum ln_cli_write ln_cli_sink_flush(ln_cli_sink *s, ln_output *output);
/* 0, or -1 with errno: some disks tell only now. */
int ln_cli_sink_close(ln_cli_sink *s);

#endif
