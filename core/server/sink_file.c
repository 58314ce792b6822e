/* A sink that is standard output or a file; it writes from the output's own memory. O_NONBLOCK belongs to the open
 * file, which standard output shares with other programs: it is set only on one that we have opened anew. Where that
 * can't be had, pieces of PIPE_BUF are written whenever there is room, which a pipe then takes whole. */
#define _GNU_SOURCE
#include "server/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN_BYTES = 1024 * 1024 }; /* written in one go: bounds the time that a turn takes */

typedef struct file {
    ln_sink_end end; /* first: one is the other */
    int fd;
    int waits; /* a write of more than a pipe's guaranteed room could wait */
    ev_io room;
} file;

static file *of(ln_sink_end *s) { return (file *)(void *)s; }

static int open_standard_output(file *f) {
    char path[sizeof "/proc/self/fd/1"];
    struct stat st;
    int own;
    f->end.name = "standard output";
    f->fd = STDOUT_FILENO;
    if (fstat(f->fd, &st)) return -1;
    if ((fcntl(f->fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    if (S_ISREG(st.st_mode)) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) f->fd = own;
    else f->waits = 1;
    return 0;
}

static int has_room(const file *f) {
    struct pollfd p = {.fd = f->fd, .events = POLLOUT};
    return poll(&p, 1, 0) == 1;
}

static enum ln_write file_take(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken) {
    file *f = of(s);
    const size_t most = f->waits ? PIPE_BUF : TURN_BYTES;
    while (*taken < len) {
        size_t left = len - *taken;
        ssize_t n;
        if (*taken >= TURN_BYTES || (f->waits && !has_room(f))) return LN_WRITE_LATER;
        n = write(f->fd, bytes + *taken, left < most ? left : most);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return LN_WRITE_LATER;
        if (n < 0) return errno == EPIPE ? LN_WRITE_CLOSED : LN_WRITE_FAILED;
        *taken += (size_t)n;
        s->server->counters.bytes_sent += (uint64_t)n;
    }
    return LN_WRITE_DONE;
}

/* Being woken is all that it takes: the next turn tries again. */
static void on_room(struct ev_loop *loop, ev_io *watcher, int events) { (void)loop, (void)watcher, (void)events; }

static void file_watch(ln_sink_end *s, int wanted) {
    file *f = of(s);
    if (wanted) ev_io_start(s->server->loop, &f->room);
    else ev_io_stop(s->server->loop, &f->room);
}

static int open_path(const char *path, int more) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | more, 0666);
    if (fd < 0 || !fcntl(fd, F_SETFL, O_NONBLOCK | (more & O_APPEND))) return fd;
    close(fd);
    return -1;
}

/* What is there is not emptied: the file may not have been moved at all. */
static int file_reopen(ln_sink_end *s) {
    file *f = of(s);
    int fd = open_path(s->name, O_APPEND | O_NONBLOCK);
    if (fd < 0) return -1;
    ev_io_stop(s->server->loop, &f->room);
    close(f->fd);
    f->fd = fd;
    ev_io_set(&f->room, fd, EV_WRITE);
    return 0;
}

static int file_close(ln_sink_end *s) {
    file *f = of(s);
    int fd = f->fd;
    ev_io_stop(s->server->loop, &f->room);
    free(f);
    return fd > STDERR_FILENO ? close(fd) : 0;
}

static const ln_sink_kind STANDARD = {.take = file_take, .watch = file_watch, .close = file_close};
static const ln_sink_kind FILES = {.take = file_take, .watch = file_watch, .reopen = file_reopen, .close = file_close};

ln_sink_end *ln_sink_file(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem) {
    file *f = calloc(1, sizeof *f);
    int failed;
    if (!f) {
        ln_problem_set(problem, "%s: memory is short", name);
        return NULL;
    }
    f->end = (ln_sink_end){.kind = &FILES, .server = server, .name = name};
    if (a->kind == LUNETTE_ADDRESS_STANDARD) {
        f->end.kind = &STANDARD;
        failed = open_standard_output(f);
    } else {
        f->fd = open_path(name, server->options->append ? O_APPEND : O_TRUNC);
        failed = f->fd < 0;
    }
    if (failed) {
        ln_problem_set(problem, "%s: %s", f->end.name, strerror(errno));
        free(f);
        return NULL;
    }
    ev_io_init(&f->room, on_room, f->fd, EV_WRITE);
    f->end.terminal = isatty(f->fd);
    return &f->end;
}
