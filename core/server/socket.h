/* Sockets of addresses: opened, named, and judged. Nothing here waits, but for the look-up of a name when an address is
 * first opened. Failures leave one line that says what to do. */
#ifndef LN_SERVER_SOCKET_H
#define LN_SERVER_SOCKET_H

#include "lunette_program.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { LN_SOCKET_NAME = 320 };

typedef struct ln_problem {
    char text[512];
} ln_problem;

/* Writes the text, and returns -1. */
int ln_problem_set(ln_problem *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef union ln_peer {
    struct sockaddr any;
    struct sockaddr_storage storage;
    struct sockaddr_un local;
} ln_peer;

typedef struct ln_peers {
    ln_peer peer[4];
    socklen_t len[4];
    size_t count;
} ln_peers;

/* A socket that listens (or, for udp, is bound) at the address, without waiting; its name as bound in `name`. Past this
 * machine it is refused unless `insecure`. -1 with a problem. */
int ln_socket_listen(const lunette_address *a, int insecure, char name[LN_SOCKET_NAME], ln_problem *problem);
/* Likewise at a path, for the owner of this process alone. */
int ln_socket_listen_owner(const char *path, ln_problem *problem);
/* Looks up where to connect to, all addresses of a name up to a few, waiting for the answer: 0; -1 with a problem; 1
 * likewise where the name servers could not tell for now. */
int ln_socket_find(const lunette_address *a, ln_peers *peers, ln_problem *problem);
/* A socket that is connecting there, without waiting; -1 with errno. */
int ln_socket_connect(const ln_peer *peer, socklen_t len);
/* "127.0.0.1:7000", "[::1]:7000", "a local process". */
void ln_socket_name(const ln_peer *peer, socklen_t len, char name[LN_SOCKET_NAME]);
/* The host of a peer alone, to count its connections by: 16 bytes; 0 where it has none. */
int ln_socket_host(const ln_peer *peer, unsigned char host[16]);

#endif
