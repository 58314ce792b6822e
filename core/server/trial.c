/* See trial.h. The process is this very program with the command `check`. */
#define _GNU_SOURCE
#include "server/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const double LOOK_S = 0.02, LONGEST_S = 10;
enum { CPU_S = 3, MEMORY_BYTES = 1 << 30 };

static void say(ln_trial *t, const char *what) { snprintf(t->problem, sizeof t->problem, "%s: %s", t->script, what); }

static void close_stream(ln_trial *t, ln_trial_stream *s) {
    if (s->fd < 0) return;
    ev_io_stop(t->loop, &s->readable);
    close(s->fd);
    s->fd = -1;
}

static void stop(ln_trial *t) {
    close_stream(t, &t->out);
    close_stream(t, &t->err);
    ev_timer_stop(t->loop, &t->timer);
    t->pid = 0;
}

/* Reads what there is: what cannot be kept is dropped. 1 where there may be more. */
static int listen_on(ln_trial *t, ln_trial_stream *s) {
    char unread[4096];
    size_t room = sizeof s->text - 1 - s->len;
    ssize_t got = s->fd < 0 ? 0 : read(s->fd, room ? s->text + s->len : unread, room ? room : sizeof unread);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got <= 0) {
        close_stream(t, s);
        return 0;
    }
    if (room) s->len += (size_t)got;
    s->text[s->len] = '\0';
    return 1;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_trial *t = watcher->data;
    (void)loop, (void)events;
    (void)listen_on(t, watcher == &t->out.readable ? &t->out : &t->err);
}

/* ---- what it said ------------------------------------------------------------------------------------------------ */

/* Lines `file HASH LENGTH PATH`. */
static int take_files(ln_trial *t) {
    char *line, *rest = t->out.text;
    while ((line = strsep(&rest, "\n"))) {
        static const char FILE_LINE[] = "file ";
        uint64_t hash;
        size_t len;
        const char *why;
        char *at;
        if (strncmp(line, FILE_LINE, sizeof FILE_LINE - 1) != 0) continue;
        hash = strtoull(line + sizeof FILE_LINE - 1, &at, 16);
        len = strtoull(at, &at, 10);
        if (*at++ != ' ') continue;
        if (!ln_texts_read(&t->texts, at, hash, len, &why)) continue;
        snprintf(t->problem, sizeof t->problem, "%s: %s", at, why);
        return -1;
    }
    if (t->texts.count) return 0;
    say(t, "the check has named no file");
    return -1;
}

/* What is wrong, in the words of the check; where it was ended, why. */
static void take_problem(ln_trial *t, int status) {
    size_t len = t->err.len;
    while (len && t->err.text[len - 1] == '\n') len--;
    if (t->killed) {
        say(t, "loading it takes too long: it was ended after 10 s");
    } else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
        say(t,
            "loading it takes too long: it was ended after 3 s of processor time; look for a loop that does not end");
    } else if (WIFSIGNALED(status)) {
        snprintf(t->problem, sizeof t->problem, "%s: loading it ended with signal %d", t->script, WTERMSIG(status));
    } else if (len) {
        if (len >= sizeof t->problem) len = sizeof t->problem - 1;
        memcpy(t->problem, t->err.text, len);
        t->problem[len] = '\0';
    } else {
        snprintf(t->problem, sizeof t->problem, "%s: the check ended with status %d", t->script, WEXITSTATUS(status));
    }
}

static void conclude(ln_trial *t, int status) {
    while (listen_on(t, &t->out)) {}
    while (listen_on(t, &t->err)) {}
    stop(t);
    if (WIFEXITED(status) && !WEXITSTATUS(status)) (void)take_files(t);
    else take_problem(t, status);
    if (*t->problem) ln_texts_free(&t->texts);
    t->done(t);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* Has it ended? Its streams may have ended before, or be held open by others. */
static void on_timer(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_trial *t = watcher->data;
    int status;
    pid_t pid = waitpid(t->pid, &status, WNOHANG);
    (void)events;
    if (pid == t->pid) {
        conclude(t, status);
    } else if (pid < 0) {
        stop(t);
        say(t, "the process of the check is lost");
        t->done(t);
    } else if (!t->killed && ev_now(loop) - t->begun_s > LONGEST_S) {
        t->killed = 1;
        kill(t->pid, SIGKILL);
    }
}

void ln_trial_init(ln_trial *t) {
    ev_timer_init(&t->timer, on_timer, LOOK_S, LOOK_S);
    ev_init(&t->out.readable, on_readable);
    ev_init(&t->err.readable, on_readable);
    t->timer.data = t->out.readable.data = t->err.readable.data = t;
    t->out.fd = t->err.fd = -1;
    t->pid = 0;
}

/* The arguments, in one block; NULL where memory is short. */
static char **arguments(const char *script, const lunette_param *params, size_t count) {
    static const char *const fixed[] = {"lunette", "check", "--files"};
    size_t n = sizeof fixed / sizeof *fixed, bytes = 0;
    char **argv, *at;
    for (size_t i = 0; i < count; i++) bytes += strlen(params[i].name) + strlen(params[i].value) + 2;
    argv = malloc((n + 2 * count + 3) * sizeof *argv + bytes);
    if (!argv) return NULL;
    at = (char *)(argv + n + 2 * count + 3);
    for (size_t i = 0; i < n; i++) argv[i] = (char *)(uintptr_t)fixed[i];
    for (size_t i = 0; i < count; i++) {
        argv[n++] = (char *)(uintptr_t) "--set";
        argv[n++] = at;
        at += sprintf(at, "%s=%s", params[i].name, params[i].value) + 1;
    }
    argv[n++] = (char *)(uintptr_t) "--";
    argv[n++] = (char *)(uintptr_t)script;
    argv[n] = NULL;
    return argv;
}

static int spawn(ln_trial *t, char **argv, int out, int err) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, defaults;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed) return failed;
    failed = posix_spawnattr_init(&how);
    if (!failed) {
        sigemptyset(&none);
        sigfillset(&defaults);
        (void)posix_spawnattr_setsigmask(&how, &none);
        (void)posix_spawnattr_setsigdefault(&how, &defaults);
        (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!failed) failed = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (!failed) failed = posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
        if (!failed) failed = posix_spawn(&t->pid, "/proc/self/exe", &files, &how, argv, environ);
        (void)posix_spawnattr_destroy(&how);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* It has just begun: what it takes before these hold is little. */
static void limit(pid_t pid) {
    const struct rlimit cpu = {CPU_S, CPU_S}, memory = {MEMORY_BYTES, MEMORY_BYTES}, core = {0, 0};
    (void)prlimit(pid, RLIMIT_CPU, &cpu, NULL);
#ifndef __SANITIZE_ADDRESS__ /* which asks for addresses without end */
    (void)prlimit(pid, RLIMIT_AS, &memory, NULL);
#endif
    (void)memory;
    (void)prlimit(pid, RLIMIT_CORE, &core, NULL);
}

static void listen_to(ln_trial *t, ln_trial_stream *s, int fd) {
    s->fd = fd;
    s->len = 0;
    s->text[0] = '\0';
    ev_io_set(&s->readable, fd, EV_READ);
    ev_io_start(t->loop, &s->readable);
}

int ln_trial_begin(ln_trial *t, const char *script, const lunette_param *params, size_t params_count) {
    int out[2] = {-1, -1}, err[2] = {-1, -1}, failed = 0;
    char **argv = arguments(script, params, params_count);
    t->script = script;
    t->problem[0] = '\0';
    t->killed = 0;
    ln_texts_free(&t->texts);
    if (!argv || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) failed = argv ? errno : ENOMEM;
    if (!failed) failed = spawn(t, argv, out[1], err[1]);
    free(argv);
    if (out[1] >= 0) close(out[1]);
    if (err[1] >= 0) close(err[1]);
    if (failed) {
        if (out[0] >= 0) close(out[0]);
        if (err[0] >= 0) close(err[0]);
        t->pid = 0;
        snprintf(t->problem, sizeof t->problem, "%s: no process can be had to check it: %s", script, strerror(failed));
        return -1;
    }
    limit(t->pid);
    (void)fcntl(out[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(err[0], F_SETFL, O_NONBLOCK);
    listen_to(t, &t->out, out[0]);
    listen_to(t, &t->err, err[0]);
    t->begun_s = ev_now(t->loop);
    ev_timer_set(&t->timer, LOOK_S, LOOK_S);
    ev_timer_start(t->loop, &t->timer);
    return 0;
}

void ln_trial_cancel(ln_trial *t) {
    pid_t pid = t->pid;
    if (pid) {
        stop(t);
        kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
    ln_texts_free(&t->texts);
}
