/* See ask.h. Connects when it is first asked, and again after a failure. */
#define _GNU_SOURCE
#include "cli/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MAX = 16 << 20, PATIENCE_MS = 3000 };

void ln_ask_init(ln_ask *a, const char *path) {
    *a = (ln_ask){.path = strncmp(path, "unix:", 5) ? path : path + 5, .fd = -1, .patience_ms = PATIENCE_MS};
}

void ln_ask_close(ln_ask *a) {
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
}

static int fail(ln_ask *a, const char *what) {
    snprintf(a->problem, sizeof a->problem, "%s: %s", a->path, what);
    ln_ask_close(a);
    return -1;
}

static int open_socket(ln_ask *a) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (a->fd >= 0) return 0;
    if (strlen(a->path) >= sizeof at.sun_path) return fail(a, "the path of a socket is shorter");
    memcpy(at.sun_path, a->path, strlen(a->path) + 1);
    a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (a->fd < 0 || connect(a->fd, (struct sockaddr *)&at, sizeof at)) return fail(a, strerror(errno));
    return 0;
}

static int read_line(ln_ask *a, ln_ask_line *answer) {
    size_t len = 0;
    for (;;) {
        struct pollfd p = {.fd = a->fd, .events = POLLIN};
        char *end;
        ssize_t n;
        if (answer->cap - len < 2) {
            size_t cap = answer->cap ? 2 * answer->cap : 64 * 1024;
            char *more = cap > ANSWER_MAX ? NULL : realloc(answer->text, cap);
            if (!more) return fail(a, "its answer is too long");
            answer->text = more;
            answer->cap = cap;
        }
        if (poll(&p, 1, a->patience_ms) <= 0)
            return fail(a, a->stopped && *a->stopped ? "interrupted" : "no answer in time");
        n = read(a->fd, answer->text + len, answer->cap - len - 1);
        if (n < 0) return fail(a, strerror(errno));
        if (n == 0) return fail(a, "the server has closed the connection");
        len += (size_t)n;
        answer->text[len] = '\0';
        end = memchr(answer->text, '\n', len);
        if (!end) continue;
        *end = '\0';
        return 0;
    }
}

int ln_ask_line_of(ln_ask *a, const char *request, ln_ask_line *answer) {
    size_t len = strlen(request);
    a->problem[0] = '\0';
    if (open_socket(a)) return -1;
    if (send(a->fd, request, len, MSG_NOSIGNAL) != (ssize_t)len && errno != EPIPE) return fail(a, strerror(errno));
    return read_line(a, answer); /* also of a server that has refused the connection: it has said why */
}

void ln_ask_wait_for_end(ln_ask *a) {
    char byte;
    while (a->fd >= 0 && read(a->fd, &byte, 1) > 0) {}
}
