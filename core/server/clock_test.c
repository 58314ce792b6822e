/* The clock by injected readings: its pace, and steps of both signs. */
#include "server/clock.h"

#include "base/test.h"
#include "base/test_random.h"

#define S INT64_C(1000000)

static void keeps_pace(void) {
    ln_clock c = {0};
    CHECK_INT(ln_clock_read(&c, 1000 * S, 5 * S), 1000 * S);
    CHECK_INT(ln_clock_read(&c, 1001 * S, 6 * S), 1001 * S);
    CHECK_INT(c.set_us, 0);
    CHECK_INT(ln_clock_read(&c, 1001 * S, 6 * S), 1001 * S);
}

static void set_forward_jumps(void) {
    ln_clock c = {0};
    ln_clock_read(&c, 1000 * S, 0);
    CHECK_INT(ln_clock_read(&c, 4601 * S, 1 * S), 4601 * S);
    CHECK_INT(c.set_us, 3600 * S);
}

/* Ten seconds back: for twenty seconds it goes at half its pace, then with the wall. */
static void set_back_goes_on_slowly(void) {
    ln_clock c = {0};
    ln_clock_read(&c, 1000 * S, 0);
    CHECK_INT(ln_clock_read(&c, 991 * S, 1 * S), 1000 * S + S / 2);
    CHECK_INT(ln_clock_read(&c, 1009 * S, 19 * S), 1009 * S + S / 2);
    CHECK_INT(ln_clock_read(&c, 1010 * S, 20 * S), 1010 * S);
    CHECK_INT(ln_clock_read(&c, 1012 * S, 22 * S), 1012 * S);
    CHECK_INT(c.set_us, -10 * S);
}

static void a_steady_clock_that_goes_back_passes_no_time(void) {
    ln_clock c = {0};
    ln_clock_read(&c, 1000 * S, 10 * S);
    CHECK_INT(ln_clock_read(&c, 990 * S, 9 * S), 1000 * S);
    CHECK_INT(ln_clock_read(&c, 990 * S, 11 * S), 1000 * S + S / 2);
}

/* Whatever is done to the wall clock: the readings do not go back, are as far from the steady clock as they say
 * they were set, and never behind the wall. */
static void random_steps(void) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        test_random r = {seed};
        ln_clock c = {0};
        int64_t steady_us = 0, apart_us = 1000000 * S, before_us = ln_clock_read(&c, apart_us, 0), first_us = before_us;
        for (int i = 0; i < 5000; i++) {
            int64_t now_us;
            steady_us += test_random_between(&r, 0, S);
            if (test_random_below(&r, 100) == 0) apart_us += test_random_between(&r, -300 * S, 300 * S);
            now_us = ln_clock_read(&c, steady_us + apart_us, steady_us);
            CHECK(now_us >= before_us);
            CHECK_INT(now_us, first_us + steady_us + c.set_us);
            before_us = now_us;
        }
        CHECK(before_us >= steady_us + apart_us);
    }
}

static const test_case cases[] = {
    {"keeps pace", keeps_pace},
    {"set forward jumps", set_forward_jumps},
    {"set back goes on slowly", set_back_goes_on_slowly},
    {"a steady clock that goes back passes no time", a_steady_clock_that_goes_back_passes_no_time},
    {"random steps", random_steps},
};
TEST_MAIN(cases)
