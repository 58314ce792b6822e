/* See clock.h. */
#define _GNU_SOURCE
#include "server/clock.h"

#include <time.h>

static int64_t read_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t ln_clock_wall_us(void) { return read_us(CLOCK_REALTIME); }
int64_t ln_clock_steady_us(void) { return read_us(CLOCK_MONOTONIC); }

int64_t ln_clock_read(ln_clock *c, int64_t wall_us, int64_t steady_us) {
    int64_t passed_us = steady_us > c->steady_us ? steady_us - c->steady_us : 0;
    int64_t straight_us = c->now_us + passed_us, now_us = wall_us;
    if (!c->begun) {
        *c = (ln_clock){.begun = 1, .now_us = wall_us, .steady_us = steady_us};
        return wall_us;
    }
    if (wall_us < straight_us - passed_us / 2) now_us = straight_us - passed_us / 2;
    c->set_us += now_us - straight_us;
    c->now_us = now_us;
    c->steady_us += passed_us;
    return now_us;
}
