/* A sink that is standard output or a file; it writes from the output's own memory. O_NONBLOCK belongs to the open
 * file, which standard output shares with other programs: it is set only on one that we have opened anew. Where that
 * can't be had, pieces of PIPE_BUF are written whenever there is room, which a pipe then takes whole. */
#define _GNU_SOURCE
#include "server/positions.h"
#include "server/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN_BYTES = 1024 * 1024 }; /* written in one go: bounds the time that a turn takes */

static const double AGAIN_S = 1; /* after a full disk */
static const char STANDARD_OUTPUT[] = "standard output";

typedef struct file {
    ln_sink_end end; /* first: one is the other */
    int fd;
    int waits; /* a write of more than a pipe's guaranteed room could wait */
    int full;  /* the disk is, and will be tried again */
    ev_io room;
    ev_timer again;
} file;

static file *of(ln_sink_end *s) { return (file *)(void *)s; }

static int open_standard_output(file *f) {
    char path[sizeof "/proc/self/fd/1"];
    struct stat st;
    int own;
    f->end.name = STANDARD_OUTPUT;
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

/* A run whose state is on a disk waits until there is room: whatever it could do else would lose time, and no more. */
static int waits_for_room(file *f) {
    ln_sink_end *s = &f->end;
    if (!s->server->checkpoint || (errno != ENOSPC && errno != EDQUOT)) return 0;
    if (!f->full)
        ln_log_say(s->server->log, LN_LOG_ERROR, "%s: %s; no input is taken meanwhile", s->name, strerror(errno));
    f->full = 1;
    return 1;
}

static void has_found_room(file *f) {
    if (!f->full) return;
    f->full = 0;
    ln_log_say(f->end.server->log, LN_LOG_INFO, "%s: there is room again", f->end.name);
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
        if (n < 0 && waits_for_room(f)) return LN_WRITE_LATER;
        if (n < 0) return errno == EPIPE ? LN_WRITE_CLOSED : LN_WRITE_FAILED;
        has_found_room(f);
        *taken += (size_t)n;
        s->server->counters.bytes_sent += (uint64_t)n;
    }
    return LN_WRITE_DONE;
}

/* Being woken is all that it takes: the next turn tries again. */
static void on_room(struct ev_loop *loop, ev_io *watcher, int events) { (void)loop, (void)watcher, (void)events; }

static void on_again(struct ev_loop *loop, ev_timer *watcher, int events) { (void)loop, (void)watcher, (void)events; }

static void file_watch(ln_sink_end *s, int wanted) {
    file *f = of(s);
    if (wanted && !f->full) ev_io_start(s->server->loop, &f->room);
    else ev_io_stop(s->server->loop, &f->room);
    if (wanted && f->full) ev_timer_start(s->server->loop, &f->again);
    else ev_timer_stop(s->server->loop, &f->again);
}

static int64_t file_position(ln_sink_end *s) {
    const file *f = of(s);
    struct stat st;
    if (fstat(f->fd, &st) || !S_ISREG(st.st_mode)) return -1;
    return lseek(f->fd, 0, SEEK_CUR);
}

static int file_sync_fd(ln_sink_end *s) { return file_position(s) < 0 ? -1 : of(s)->fd; }

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
    ev_timer_stop(s->server->loop, &f->again);
    free(f);
    return fd > STDERR_FILENO ? close(fd) : 0;
}

static const ln_sink_kind STANDARD = {
    .take = file_take, .watch = file_watch, .position = file_position, .sync_fd = file_sync_fd, .close = file_close};
static const ln_sink_kind FILES = {.take = file_take,
                                   .watch = file_watch,
                                   .position = file_position,
                                   .sync_fd = file_sync_fd,
                                   .reopen = file_reopen,
                                   .close = file_close};

/* Takes what was put out since the last checkpoint off the file again, which is put out anew; 0, or -1 with a
 * problem. */
static int cut(const file *f, int64_t at, ln_problem *problem) {
    struct stat st;
    if (fstat(f->fd, &st) || !S_ISREG(st.st_mode))
        return ln_problem_set(problem, "%s: was a file when the state was saved: write to it again", f->end.name);
    if (st.st_size < at)
        return ln_problem_set(problem,
                              "%s: held %" PRId64 " bytes when the state was saved, and holds %" PRId64
                              " now: put the file back%s, or name another --state folder",
                              f->end.name, at, (int64_t)st.st_size,
                              f->fd == STDOUT_FILENO ? ", and use >> for it" : "");
    if (!ftruncate(f->fd, (off_t)at)) return 0;
    return ln_problem_set(problem, "%s: can't be cut back: %s", f->end.name, strerror(errno));
}

static int open_file(file *f, const lunette_address *a, int64_t at) {
    if (a->kind == LUNETTE_ADDRESS_STANDARD) {
        f->end.kind = &STANDARD;
        return open_standard_output(f);
    }
    f->fd = open_path(f->end.name, f->end.server->options->append || at >= 0 ? O_APPEND : O_TRUNC);
    return f->fd < 0;
}

ln_sink_end *ln_sink_file(ln_server *server, const char *name, const lunette_address *a, int stream,
                          ln_problem *problem) {
    const char *known_as = a->kind == LUNETTE_ADDRESS_STANDARD ? STANDARD_OUTPUT : name;
    int64_t at = ln_positions_cut(server->options->facts, stream, known_as);
    file *f = calloc(1, sizeof *f);
    int failed;
    if (!f) {
        ln_problem_set(problem, "%s: memory is short", name);
        return NULL;
    }
    f->end = (ln_sink_end){.kind = &FILES, .server = server, .name = name};
    failed = open_file(f, a, at);
    if (failed) ln_problem_set(problem, "%s: %s", f->end.name, strerror(errno));
    else if (at >= 0) failed = cut(f, at, problem);
    if (failed) {
        if (f->fd > STDERR_FILENO) close(f->fd);
        free(f);
        return NULL;
    }
    if (at >= 0 || fcntl(f->fd, F_GETFL) & O_APPEND) (void)lseek(f->fd, 0, SEEK_END); /* where it writes */
    ev_io_init(&f->room, on_room, f->fd, EV_WRITE);
    ev_timer_init(&f->again, on_again, AGAIN_S, 0);
    f->end.terminal = isatty(f->fd);
    return &f->end;
}
