/* Asks the control socket of a server: a line there, a line back. */
#ifndef LN_CLI_ASK_H
#define LN_CLI_ASK_H

#include <stddef.h>

typedef struct ln_ask {
    const char *path; /* of the socket, with or without unix: */
    int fd;           /* -1: not connected */
    int patience_ms;  /* for an answer */
    char problem[256];
    volatile const int *stopped; /* waiting ends where this is set; NULL: nothing ends it */
} ln_ask;

/* A line that has come; grows, and is to be freed. */
typedef struct ln_ask_line {
    char *text;
    size_t cap;
} ln_ask_line;

void ln_ask_init(ln_ask *a, const char *path);
/* Sends the request, which ends with its line end, and takes the answer's line without: 0, or -1 with a problem. */
int ln_ask_line_of(ln_ask *a, const char *request, ln_ask_line *answer);
/* Waits until the server has closed the connection. */
void ln_ask_wait_for_end(ln_ask *a);
void ln_ask_close(ln_ask *a);

#endif
