/* Shared keys and passwords, read from files that others can't read: on a command line everybody would see them. */
#ifndef LN_SERVER_SECRETS_H
#define LN_SERVER_SECRETS_H

#include "forward/forward.h"
#include "server/socket.h"

typedef struct ln_secrets {
    char *shared_key;       /* NULL: none */
    ln_forward_user *users; /* in the order of the file */
    uint32_t users_count;
    char *texts[2]; /* of the two files */
    size_t bytes[2];
} ln_secrets;

/* Reads a key, which is the one line of its file, and users, each a line NAME:PASSWORD; NULL: no such file. 0, or -1
 * with a problem that names the file. To be freed in any case. */
int ln_secrets_read(ln_secrets *s, const char *key_file, const char *users_file, ln_problem *problem);
void ln_secrets_free(ln_secrets *s);

#endif
