/* See sink.h. O_NONBLOCK belongs to the open file, which standard output shares with other programs: it is set only on
 * one that we have opened anew. Where that can't be had, pieces of PIPE_BUF are written whenever there is room, which a
 * pipe then takes whole. */
#define _GNU_SOURCE
#include "cli/sink.h"

#include "cli/address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN_BYTES = 1024 * 1024 }; /* written in one go: bounds the time that a turn takes */

static int open_standard_output(ln_cli_sink *s) {
    char path[sizeof "/proc/self/fd/1"];
    struct stat st;
    int own;
    s->name = "standard output";
    s->fd = STDOUT_FILENO;
    if (fstat(s->fd, &st)) return -1;
    if ((fcntl(s->fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    if (S_ISREG(st.st_mode)) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        s->fd = own;
    } else {
        s->waits = 1;
    }
    return 0;
}

int ln_cli_sink_open(ln_cli_sink *s, const char *address, int stream) {
    int rc = 0;
    *s = (ln_cli_sink){.name = address, .stream = stream, .fd = -1};
    switch (ln_cli_address_kind(address)) {
    case LN_ADDRESS_NULL: return 0;
    case LN_ADDRESS_STANDARD: rc = open_standard_output(s); break;
    default:
        s->fd = open(address, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        rc = s->fd < 0 || fcntl(s->fd, F_SETFL, O_NONBLOCK) ? -1 : 0;
    }
    if (rc) return rc;
    s->terminal = isatty(s->fd);
    return 0;
}

static int has_room(const ln_cli_sink *s) {
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};
    return poll(&p, 1, 0) == 1;
}

enum ln_cli_write ln_cli_sink_flush(ln_cli_sink *s, ln_output *output) {
    const size_t most = s->waits ? PIPE_BUF : TURN_BYTES;
    size_t len, written = 0;
    const uint8_t *bytes = ln_output_take(output, s->stream, &len);
    if (!len && ln_output_status(output) != LN_OK) {
        errno = ENOMEM;
        return LN_WRITE_FAILED;
    }
    while (s->fd >= 0 && s->done < len) {
        ssize_t n;
        if (written >= TURN_BYTES || (s->waits && !has_room(s))) return LN_WRITE_LATER;
        n = write(s->fd, bytes + s->done, len - s->done < most ? len - s->done : most);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return LN_WRITE_LATER;
        if (n < 0) return errno == EPIPE ? LN_WRITE_CLOSED : LN_WRITE_FAILED;
        s->done += (size_t)n;
        written += (size_t)n;
    }
    s->done = 0;
    if (len) ln_output_clear(output, s->stream);
    return LN_WRITE_DONE;
}

int ln_cli_sink_close(ln_cli_sink *s) {
    int fd = s->fd;
    s->fd = -1;
    return fd > STDERR_FILENO ? close(fd) : 0;
}
