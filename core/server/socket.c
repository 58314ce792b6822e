/* See socket.h. */
#define _GNU_SOURCE
#include "server/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 1024, DATAGRAM_ROOM = 4 << 20 };

int ln_problem_set(ln_problem *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->text, sizeof p->text, format, args);
    va_end(args);
    return -1;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

void ln_socket_name(const ln_peer *peer, socklen_t len, char name[LN_SOCKET_NAME]) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (peer->any.sa_family == AF_UNIX ||
        getnameinfo(&peer->any, len, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV)) {
        snprintf(name, LN_SOCKET_NAME, "a local process");
        return;
    }
    snprintf(name, LN_SOCKET_NAME, peer->any.sa_family == AF_INET6 ? "[%.250s]:%.30s" : "%.250s:%.30s", host, port);
}

int ln_socket_host(const ln_peer *peer, unsigned char host[16]) {
    memset(host, 0, 16);
    if (peer->any.sa_family == AF_INET6) {
        memcpy(host, &((const struct sockaddr_in6 *)&peer->storage)->sin6_addr, 16);
        return 1;
    }
    if (peer->any.sa_family != AF_INET) return 0;
    memcpy(host, &((const struct sockaddr_in *)&peer->storage)->sin_addr, 4);
    return 1;
}

static int is_loopback(const struct sockaddr *to) {
    if (to->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)to)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)(const void *)to)->sin_addr.s_addr) >> 24 == 127;
}

/* ---- listening ------------------------------------------------------------------------------------------------- */

/* The path fits. */
static void fill_local(const char *path, ln_peer *peer, socklen_t *len) {
    size_t bytes = strlen(path);
    memset(peer, 0, sizeof *peer);
    peer->local.sun_family = AF_UNIX;
    memcpy(peer->local.sun_path, path, bytes + 1);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes + 1);
}

/* A socket's file that nobody listens on any more was left by a process that did not end well: it goes. */
static int clear_way(const char *path, const ln_peer *peer, socklen_t len, ln_problem *problem) {
    struct stat st;
    int fd, taken;
    if (lstat(path, &st)) return 0;
    if (!S_ISSOCK(st.st_mode)) return ln_problem_set(problem, "is a file already: name another path, or remove it");
    fd = ln_socket_connect(peer, len);
    taken = fd >= 0 || errno != ECONNREFUSED;
    if (fd >= 0) close(fd);
    if (taken) return ln_problem_set(problem, "another process listens there: stop it, or name another path");
    if (unlink(path)) return ln_problem_set(problem, "can't be replaced: %s", strerror(errno));
    return 0;
}

/* `mask` is what nobody else may do. */
static int listen_at(const char *path, mode_t mask, ln_problem *problem) {
    ln_peer peer;
    socklen_t len;
    int fd, bound;
    fill_local(path, &peer, &len);
    if (clear_way(path, &peer, len, problem)) return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return ln_problem_set(problem, "%s", strerror(errno));
    mask = umask(mask);
    bound = bind(fd, &peer.any, len);
    umask(mask);
    if (bound || listen(fd, BACKLOG)) {
        ln_problem_set(problem, "can't be bound: %s", strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static int listen_local(const lunette_address *a, char name[LN_SOCKET_NAME], ln_problem *problem) {
    snprintf(name, LN_SOCKET_NAME, "unix:%s", a->host);
    return listen_at(a->host, 0117, problem); /* for its owner and group */
}

int ln_socket_listen_owner(const char *path, ln_problem *problem) {
    const size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path);
    if (!*path) return ln_problem_set(problem, "the path is missing: write unix:PATH");
    if (strlen(path) >= most) return ln_problem_set(problem, "the path of a socket has at most %zu bytes", most - 1);
    return listen_at(path, 0177, problem);
}

/* 0; -1 with a problem; 1 likewise where it may be another one later. */
static int look_up(const lunette_address *a, struct addrinfo **found, ln_problem *problem) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = a->kind == LUNETTE_ADDRESS_UDP ? SOCK_DGRAM : SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    char port[8];
    int err;
    snprintf(port, sizeof port, "%u", a->port);
    err = getaddrinfo(a->host, port, &hints, found);
    if (!err) return 0;
    ln_problem_set(problem, "the host %s can't be found: %s", a->host,
                   err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
    return err == EAI_AGAIN ? 1 : -1;
}

static int bind_one(const lunette_address *a, const struct addrinfo *at) {
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol), on = 1;
    int room = DATAGRAM_ROOM;
    if (fd < 0) return -1;
    if (at->ai_family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (a->kind == LUNETTE_ADDRESS_UDP) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        (void)setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
    } else {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (!bind(fd, at->ai_addr, at->ai_addrlen) && (a->kind == LUNETTE_ADDRESS_UDP || !listen(fd, BACKLOG))) return fd;
    on = errno;
    close(fd);
    errno = on;
    return -1;
}

static int listen_inet(const lunette_address *a, int insecure, char name[LN_SOCKET_NAME], ln_problem *problem) {
    struct addrinfo *found, *at;
    ln_peer own = {0};
    socklen_t len = sizeof own;
    char text[LN_SOCKET_NAME];
    int fd = -1;
    if (look_up(a, &found, problem)) return -1;
    for (at = found; at && fd < 0; at = at->ai_next) {
        if (!insecure && !is_loopback(at->ai_addr)) {
            ln_problem_set(problem,
                           "anybody who reaches this machine could %s there, and no key is asked for: write 127.0.0.1 "
                           "or [::1], %sor give --insecure if the network is your own",
                           a->use == LUNETTE_USE_SINK ? "read" : "write",
                           a->kind == LUNETTE_ADDRESS_FORWARD ? "or give --shared-key-file, " : "");
            break;
        }
        fd = bind_one(a, at);
        if (fd < 0) ln_problem_set(problem, "can't be bound: %s", strerror(errno));
    }
    freeaddrinfo(found);
    if (fd < 0) return -1;
    if (getsockname(fd, &own.any, &len)) own.any.sa_family = AF_UNIX;
    ln_socket_name(&own, len, text);
    snprintf(name, LN_SOCKET_NAME, "%s://%.300s", a->scheme, text);
    return fd;
}

int ln_socket_listen(const lunette_address *a, int insecure, char name[LN_SOCKET_NAME], ln_problem *problem) {
    if (a->kind == LUNETTE_ADDRESS_UNIX) return listen_local(a, name, problem);
    return listen_inet(a, insecure, name, problem);
}

/* ---- connecting ------------------------------------------------------------------------------------------------ */

int ln_socket_find(const lunette_address *a, ln_peers *peers, ln_problem *problem) {
    struct addrinfo *found;
    int failed;
    peers->count = 0;
    if (a->kind == LUNETTE_ADDRESS_UNIX) {
        fill_local(a->host, &peers->peer[0], &peers->len[0]);
        peers->count = 1;
        return 0;
    }
    failed = look_up(a, &found, problem);
    if (failed) return failed;
    for (const struct addrinfo *at = found; at && peers->count < 4; at = at->ai_next) {
        memcpy(&peers->peer[peers->count].storage, at->ai_addr, at->ai_addrlen);
        peers->len[peers->count++] = at->ai_addrlen;
    }
    freeaddrinfo(found);
    return 0;
}

int ln_socket_connect(const ln_peer *peer, socklen_t len) {
    int fd = socket(peer->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd < 0) return -1;
    if (peer->any.sa_family != AF_UNIX) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (!connect(fd, &peer->any, len) || errno == EINPROGRESS) return fd;
    on = errno;
    close(fd);
    errno = on;
    return -1;
}
