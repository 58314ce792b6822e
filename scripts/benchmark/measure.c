/* Runs a program and tells what it took.
 *   measure RESULT PROGRAM [ARGUMENT ...]
 * Writes one line to the file RESULT: exit status (128 + signal), CPU time of the program, wall time, both in
 * microseconds, and the most memory it held, in KiB. That memory counts from the process that is forked here: a small
 * one, so that it is the program's own. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t micros(struct timeval t) { return (int64_t)t.tv_sec * 1000000 + t.tv_usec; }

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int fail(const char *what) {
    perror(what);
    return 1;
}

int main(int argc, char **argv) {
    struct rusage used;
    int status;
    if (argc < 3) {
        fputs("usage: measure RESULT PROGRAM [ARGUMENT ...]\n", stderr);
        return 2;
    }
    int64_t start_us = now_us();
    pid_t child = fork();
    if (child < 0) return fail("measure: fork");
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (wait4(child, &status, 0, &used) < 0) return fail("measure: wait4");
    int64_t wall_us = now_us() - start_us;
    FILE *result = fopen(argv[1], "w");
    if (!result) return fail(argv[1]);
    fprintf(result, "%d %" PRId64 " %" PRId64 " %ld\n",
            WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
            micros(used.ru_utime) + micros(used.ru_stime), wall_us, used.ru_maxrss);
    return fclose(result) ? fail(argv[1]) : 0;
}
