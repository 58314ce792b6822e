/* See stop.h. A program that starts others (timeout, a shell) often sends the same signal to the process and to its
 * group: what comes within a quarter of a second of the first is taken for its echo. The handler is installed even
 * where the caller ignored the signal, as shells do for SIGINT of a command in the background: whoever sends it to this
 * process means it. It lets system calls be interrupted, so that none holds up the stop. */
#define _GNU_SOURCE
#include "server/stop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

enum { ECHO_MS = 250 };

/* A signal handler has no argument for these. */
static struct {
    struct ev_loop *loop;
    ev_async *wake;
    volatile sig_atomic_t asked;
    struct timespec first;
} stop;

static void on_signal(int signal_number) {
    int saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stop.asked) {
        stop.asked = 1;
        stop.first = now;
        ev_async_send(stop.loop, stop.wake);
    } else if ((now.tv_sec - stop.first.tv_sec) * 1000 + (now.tv_nsec - stop.first.tv_nsec) / 1000000 > ECHO_MS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    errno = saved;
}

static void set_handler(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void ln_stop_catch(struct ev_loop *loop, ev_async *wake) {
    stop.loop = loop;
    stop.wake = wake;
    set_handler(on_signal);
}

void ln_stop_release(void) {
    if (!stop.asked) set_handler(SIG_DFL);
}

int ln_stop_asked(void) { return stop.asked; }
