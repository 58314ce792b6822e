/* The queue of a sink: whole panes in, bytes out, and what a broken connection leaves. */
#define _GNU_SOURCE
#include "server/queue.h"

#include "base/test.h"
#include "base/test_random.h"
#include "lunette.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void takes_whole_panes(void) {
    ln_queue q = {.most = 10, .format = LN_FORMAT_JSON};
    CHECK_INT(ln_queue_put(&q, (const uint8_t *)"abc\ndef\nghi\n", 12), 8);
    CHECK_INT(ln_queue_put(&q, (const uint8_t *)"ghi\n", 4), 0);
    CHECK_INT(ln_queue_panes(&q), 2);
    ln_queue_free(&q);
    q = (ln_queue){.most = 2, .format = LN_FORMAT_JSON};
    CHECK_INT(ln_queue_put(&q, (const uint8_t *)"abc\ndef\n", 8), 4); /* one that is larger, by itself */
    CHECK_INT(ln_queue_put(&q, (const uint8_t *)"d\n", 2), 0);
    ln_queue_free(&q);
    q = (ln_queue){.most = 5, .format = LN_FORMAT_MSGPACK};
    CHECK_INT(ln_queue_put(&q, (const uint8_t *)"\x81\xa1\n\x01\x81\xa1\n\x02", 8), 4);
    CHECK_INT(ln_panes_count((const uint8_t *)"\x81\xa1\n\x01\x81\xa1\n\x02", 8, LN_FORMAT_MSGPACK), 2);
    ln_queue_free(&q);
}

static size_t read_some(int fd, char *to, size_t at, size_t most) {
    ssize_t n = recv(fd, to + at, most, MSG_DONTWAIT);
    return n > 0 ? at + (size_t)n : at;
}

/* Numbers one a line through a socket that is read slowly; the connection breaks now and then. Each reader gets whole
 * lines but for its last one, and begins with the line that the one before it was cut in. */
static void random_breaks(void) {
    static char got[1 << 16];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        test_random r = {seed};
        ln_queue q = {.most = 300, .format = LN_FORMAT_JSON};
        uint64_t sent = 0, last = 0, breaks = 0;
        size_t at = 0;
        int pair[2] = {-1, -1}, put = 0;
        for (int step = 0; step < 3000; step++) {
            char line[16];
            int small = 2048, len = snprintf(line, sizeof line, "%d\n", put);
            if (pair[0] < 0) {
                CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
                (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
                at = 0;
            }
            put += ln_queue_put(&q, (const uint8_t *)line, (size_t)len) > 0;
            CHECK(ln_queue_pending(&q) <= 300);
            CHECK_INT(ln_queue_send(&q, pair[0], &sent), 0);
            if (test_random_below(&r, 3) == 0 && at < sizeof got - 100)
                at = read_some(pair[1], got, at, test_random_below(&r, 90));
            if (test_random_below(&r, 400) && at < sizeof got - 100) continue;
            for (size_t next; at < sizeof got - 100 && (next = read_some(pair[1], got, at, 50)) > at;) at = next;
            close(pair[0]);
            close(pair[1]);
            pair[0] = -1;
            ln_queue_rewind(&q);
            breaks++;
            got[at] = '\0';
            for (char *p = got, *end; (end = strchr(p, '\n')); p = end + 1) {
                uint64_t n = strtoull(p, NULL, 10);
                if (p > got) CHECK_INT(n, last + 1);
                else CHECK(breaks == 1 || n > last);
                last = n;
            }
        }
        CHECK(breaks > 1 && last > 100);
        if (pair[0] >= 0) close(pair[0]), close(pair[1]);
        ln_queue_free(&q);
    }
}

static const test_case cases[] = {
    {"takes whole panes", takes_whole_panes},
    {"random breaks", random_breaks},
};
TEST_MAIN(cases)
