/* See secrets.h. Memory that held a secret is overwritten before it is given back. */
#define _GNU_SOURCE
#include "server/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20, USERS_MAX = 10000 };

enum { KEY, USERS };

/* Others must not read a secret, and the group must not change it. */
static int check_mode(const char *path, int fd, ln_problem *problem) {
    struct stat st;
    if (fstat(fd, &st)) return ln_problem_set(problem, "%s: %s", path, strerror(errno));
    if (!(st.st_mode & (S_IRWXO | S_IWGRP))) return 0;
    return ln_problem_set(problem, "%s: others than its owner and group could read it, or change it: chmod 640 or 600",
                          path);
}

/* All of a file, terminated. -1 with a problem. */
static int read_file(ln_secrets *s, int which, const char *path, ln_problem *problem) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t len = 0;
    ssize_t n = 0;
    char *text;
    if (fd < 0) return ln_problem_set(problem, "%s: %s", path, strerror(errno));
    if (check_mode(path, fd, problem)) {
        close(fd);
        return -1;
    }
    text = s->texts[which] = malloc(FILE_BYTES + 1);
    s->bytes[which] = FILE_BYTES + 1;
    while (text && len < FILE_BYTES && (n = read(fd, text + len, FILE_BYTES - len)) > 0) len += (size_t)n;
    close(fd);
    if (!text) return ln_problem_set(problem, "memory is short");
    text[len] = '\0';
    if (n < 0) return ln_problem_set(problem, "%s: %s", path, strerror(errno));
    if (len == FILE_BYTES) return ln_problem_set(problem, "%s: has more than %d bytes", path, FILE_BYTES - 1);
    if (strlen(text) < len) return ln_problem_set(problem, "%s: holds a byte that is 0: write text", path);
    return 0;
}

/* Ends the line, and gives the next one. */
static char *cut_line(char *line) {
    char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
    if (end > line && end[-1] == '\r') end--;
    *end = '\0';
    return next;
}

static int read_key(ln_secrets *s, const char *path, ln_problem *problem) {
    char *text = s->texts[KEY];
    if (*cut_line(text)) return ln_problem_set(problem, "%s: a shared key is one line, and nothing after it", path);
    if (!*text) return ln_problem_set(problem, "%s: is empty: write the shared key as its one line", path);
    s->shared_key = text;
    return 0;
}

/* Reads a line as one more user: what is wrong with it, or NULL. */
static const char *read_user(ln_forward_user *users, uint32_t count, char *line) {
    char *colon = strchr(line, ':');
    if (!colon || colon == line || !colon[1]) return "write each user as a line NAME:PASSWORD";
    if (colon - line > LN_FORWARD_NAME) return "a name has at most 256 bytes";
    if (count == USERS_MAX) return "there are at most 10000 users";
    *colon = '\0';
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(users[i].name, line)) return "this user stands there twice";
    users[count] = (ln_forward_user){.name = line, .password = colon + 1};
    return NULL;
}

static int read_users(ln_secrets *s, const char *path, ln_problem *problem) {
    ln_forward_user *users = calloc(USERS_MAX, sizeof *users);
    char *line = s->texts[USERS];
    uint32_t count = 0;
    s->users = users;
    if (!users) return ln_problem_set(problem, "memory is short");
    for (uint32_t number = 1; *line; number++) {
        char *next = cut_line(line);
        const char *wrong = *line ? read_user(users, count++, line) : NULL;
        if (wrong) return ln_problem_set(problem, "%s:%u: %s", path, number, wrong);
        line = next;
    }
    s->users_count = count;
    if (!count) return ln_problem_set(problem, "%s: is empty: write each user as a line NAME:PASSWORD", path);
    return 0;
}

int ln_secrets_read(ln_secrets *s, const char *key_file, const char *users_file, ln_problem *problem) {
    *s = (ln_secrets){0};
    if (key_file && (read_file(s, KEY, key_file, problem) || read_key(s, key_file, problem))) return -1;
    if (users_file && (read_file(s, USERS, users_file, problem) || read_users(s, users_file, problem))) return -1;
    return 0;
}

void ln_secrets_free(ln_secrets *s) {
    for (int i = 0; i < 2; i++) {
        if (s->texts[i]) explicit_bzero(s->texts[i], s->bytes[i]);
        free(s->texts[i]);
    }
    free(s->users);
    *s = (ln_secrets){0};
}
