/* A peer for clients and servers of others, with blocking sockets on loopback: it shows that the wire is understood,
 * and is no server.
 *
 *   forward_peer listen CONNECTIONS [SETTING...]   writes the records of so many connections, one after the other, to
 *                                                  standard output; the port is the first line of standard error
 *   forward_peer send PORT [SETTING...]            sends the msgpack values of standard input
 *
 * Settings: key=K, user=NAME:PASSWORD, tag=T, gzip, fast. 0; 1 where the connection ended in an error. */
#define _GNU_SOURCE
#include "forward/client.h"
#include "forward/forward.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 16, PATIENCE_MS = 10000 };

static ln_forward_user user;
static ln_forward_config server = {.user = &user};
static ln_forward_client_config client;

static void read_settings(char **arg) {
    for (; *arg; arg++) {
        char *value = strchr(*arg, '=');
        if (value) *value++ = '\0';
        if (strcmp(*arg, "gzip") == 0) client.gzip = 1;
        if (strcmp(*arg, "fast") == 0) client.fast = 1;
        if (!value) continue;
        if (strcmp(*arg, "tag") == 0) client.tag = value;
        if (strcmp(*arg, "key") == 0) server.shared_key = client.shared_key = value;
        if (strcmp(*arg, "user") != 0 || !strchr(value, ':')) continue;
        user.name = client.user = value;
        user.password = client.password = strchr(value, ':') + 1;
        *strchr(value, ':') = '\0';
        server.users = 1;
    }
}

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int write_all(int fd, const uint8_t *bytes, size_t len) {
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n <= 0) return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int is_readable(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, PATIENCE_MS) == 1;
}

/* ---- listen ---------------------------------------------------------------------------------------------------- */

static int send_replies(ln_forward *f, int fd) {
    size_t len;
    const uint8_t *bytes = ln_forward_replies(f, &len);
    if (write_all(fd, bytes, len)) return -1;
    ln_forward_replied(f, len);
    return 0;
}

/* All messages that are there: their records to standard output, then the acknowledgements. */
static int take_messages(ln_forward *f) {
    static uint8_t records[1 << 20];
    ln_forward_event e;
    int kind;
    while ((kind = ln_forward_next(f, &e)) == LN_FORWARD_MESSAGE || kind == LN_FORWARD_REFUSED) {
        size_t len;
        if (kind == LN_FORWARD_REFUSED) fprintf(stderr, "refused: %s\n", e.text);
        while (kind == LN_FORWARD_MESSAGE && (len = ln_forward_read(f, records, sizeof records)) != 0)
            if (write_all(1, records, len)) return LN_FORWARD_CLOSED;
        if (kind == LN_FORWARD_MESSAGE) ln_forward_accepted(f, e.number);
    }
    if (kind == LN_FORWARD_CLOSED) fprintf(stderr, "closed: %s\n", e.text);
    return kind;
}

static int serve(int fd) {
    uint8_t noise[LN_FORWARD_RANDOM];
    ln_mem mem;
    ln_forward *f;
    int kind = LN_FORWARD_MORE;
    ln_mem_init(&mem);
    randombytes_buf(noise, sizeof noise);
    f = ln_forward_new(&mem, &server, noise);
    if (!f || send_replies(f, fd)) return -1;
    while (kind == LN_FORWARD_MORE && is_readable(fd)) {
        uint8_t *to = ln_forward_space(f, PIECE);
        ssize_t n = to ? read(fd, to, PIECE) : -1;
        if (n <= 0) break;
        ln_forward_commit(f, (size_t)n);
        kind = take_messages(f);
        if (send_replies(f, fd)) break;
    }
    fprintf(stderr, "%llu records\n", (unsigned long long)ln_forward_counted(f)->records);
    ln_forward_delete(f);
    return kind == LN_FORWARD_CLOSED;
}

static int listen_for(int connections) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int status = 0, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s, (struct sockaddr *)&at, len) || listen(s, 16) || getsockname(s, (struct sockaddr *)&at, &len)) return 1;
    fprintf(stderr, "%d\n", ntohs(at.sin_port));
    for (; connections > 0 && is_readable(s); connections--) {
        int fd = accept4(s, NULL, NULL, SOCK_CLOEXEC);
        status |= fd < 0 || serve(fd) != 0;
        close(fd);
    }
    close(s);
    return status || connections;
}

/* ---- send ------------------------------------------------------------------------------------------------------ */

static int converse(ln_forward_client *c, int fd) {
    uint8_t piece[PIECE];
    while (ln_forward_client_pending(c)) {
        const uint8_t *bytes;
        size_t len;
        ssize_t n;
        while ((bytes = ln_forward_client_output(c, &len)) && len) {
            if (write_all(fd, bytes, len)) return -1;
            ln_forward_client_sent(c, len, now_us());
        }
        if (!ln_forward_client_pending(c)) break;
        n = is_readable(fd) ? read(fd, piece, sizeof piece) : -1;
        if (n <= 0 || ln_forward_client_feed(c, piece, (size_t)n)) return -1;
    }
    return 0;
}

static int send_to(int port) {
    static uint8_t values[1 << 20];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    uint8_t noise[LN_FORWARD_CLIENT_RANDOM];
    size_t len = fread(values, 1, sizeof values, stdin);
    int status = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ln_forward_client *c;
    ln_mem mem;
    ln_mem_init(&mem);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    randombytes_buf(noise, sizeof noise);
    if (ln_forward_client_new(&mem, &client, noise, &c)) return 1;
    if (ln_forward_client_add(c, values, len, now_us()) == len && !ln_forward_client_flush(c) &&
        connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
        randombytes_buf(noise, sizeof noise);
        ln_forward_client_connected(c, noise);
        status = converse(c, fd) != 0;
    }
    fprintf(stderr, "%llu acknowledged\n", (unsigned long long)ln_forward_client_counted(c)->acknowledged);
    if (status) fprintf(stderr, "failed: %s\n", ln_forward_client_error(c));
    ln_forward_client_delete(c);
    close(fd);
    return status;
}

int main(int argc, char **argv) {
    int number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (argc > 2) read_settings(argv + 3);
    if (argc > 2 && strcmp(argv[1], "listen") == 0) return listen_for(number);
    if (argc > 2 && strcmp(argv[1], "send") == 0) return send_to(number);
    fprintf(stderr, "usage: forward_peer listen CONNECTIONS | send PORT, then settings\n");
    return 2;
}
