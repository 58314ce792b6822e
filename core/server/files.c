/* Files and standard input among the sources: one stream, one file after the other. It reads straight into the reader's
 * own memory. */
#define _GNU_SOURCE
#include "server/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What follows is not read. A run whose state is kept ends here without completing anything, so that it can go on when
 * the file can be read again. */
static void stop_at(ln_server *s, const char *why) {
    ln_log_say(s->log, LN_LOG_ERROR, "%s: %s", s->input.name, why);
    s->status = 1;
    if (!s->checkpoint) {
        s->input.next = s->input.inputs_count;
        return;
    }
    s->drain_asked = 1;
    ev_async_send(s->loop, &s->stop);
}

static int is_stopped(const ln_server *s) { return s->checkpoint && s->drain_asked; }

/* Begins the next file: 1, or 0 where there is none. */
static int begin(ln_feed *st) {
    ln_server *s = st->server;
    int fresh = !s->input.next;
    ev_io_stop(s->loop, &st->readable); /* before its descriptor is closed: the next file may get the same number */
    switch (ln_input_next(&s->input)) {
    case 1:
        if (!fresh) ln_reader_speak(st->reader, s->options->host_options->in_format);
        if (s->input.fd >= 0) ev_io_set(&st->readable, s->input.fd, EV_READ);
        st->drained = s->input.pollable; /* read only what has been found readable */
        return 1;
    case 0: return 0;
    default:
        stop_at(s, strerror(errno));
        if (is_stopped(s)) s->input.next--; /* this one is to be opened again */
        st->drained = 1;
        return is_stopped(s);
    }
}

static enum ln_read files_read(ln_feed *st) {
    ln_server *s = st->server;
    enum ln_read got;
    if (s->phase != LN_RUN_SERVING || is_stopped(s)) return LN_READ_LATER;
    got = ln_input_read(&s->input, st->reader);
    st->drained = s->input.pollable;
    if (got != LN_READ_FAILED) return got;
    stop_at(s, strerror(errno));
    return is_stopped(s) ? LN_READ_LATER : got;
}

static int files_broken(ln_feed *st, const char *why) {
    ln_server *s = st->server;
    stop_at(s, why);
    st->drained = 1;
    return is_stopped(s);
}

static int files_over(ln_feed *st) {
    if (begin(st)) return 1;
    ln_input_close(&st->server->input);
    return 0;
}

static void files_closed(ln_feed *st) {
    st->server->files = NULL;
    free(st);
}

static const ln_feed_kind FILES = {
    .read = files_read, .broken = files_broken, .over = files_over, .closed = files_closed};

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    ln_turn_ready(watcher->data);
}

int ln_files_open(ln_server *s, int beside) {
    ln_feed *st = calloc(1, sizeof *st);
    if (!st) return -1;
    st->server = s;
    st->kind = &FILES;
    st->reader = lunette_reader(s->host);
    if (beside && ln_feed_open(st, s, &FILES, 0)) {
        free(st);
        return -1;
    }
    ev_init(&st->readable, on_readable);
    st->readable.data = st;
    s->files = st;
    return 0;
}

/* A run that goes on: the file in which it stood, at that place. */
static int begin_there(ln_feed *st) {
    ln_input *in = &st->server->input;
    in->next = in->resume_file;
    if (!begin(st)) return 0;
    if (!in->resume_at) return 1;
    if (lseek(in->fd, (off_t)in->resume_at, SEEK_SET) < 0) {
        stop_at(st->server, strerror(errno));
        return is_stopped(st->server);
    }
    in->read_bytes += (uint64_t)in->resume_at;
    if (!st->server->options->host_options->in_format) ln_reader_speak(st->reader, in->resume_format);
    return 1;
}

/* The first file is opened when the run begins. */
void ln_files_start(ln_server *s) {
    if (!s->files) return;
    if (!(s->input.resumes ? begin_there(s->files) : begin(s->files))) ln_turn_forget(s->files);
    else if (s->files->drained) ev_io_start(s->loop, &s->files->readable);
    else ln_turn_ready(s->files);
}

void ln_files_stop(ln_server *s) {
    if (s->files) ev_io_stop(s->loop, &s->files->readable);
}

void ln_files_close(ln_server *s) {
    ln_feed *st = s->files;
    size_t left = st ? ln_reader_pending(st->reader) : 0;
    if (!st) return;
    if (left)
        ln_log_say(s->log, LN_LOG_WARNING, "%s: interrupted: %zu bytes of an unfinished record are left out",
                   s->input.name, left);
    ev_io_stop(s->loop, &st->readable);
    ln_input_close(&s->input);
}
