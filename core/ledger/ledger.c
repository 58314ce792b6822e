/* See ledger.h. Of a generation that has not become the current one, and of those before it, nothing is kept. */
#define _GNU_SOURCE
#include "ledger/ledger.h"

#include "ledger/env.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 64, LOOKS = 10 };

/* A file of this size or less is not copied, whatever it holds; nor is one that is not so many times too large. */
static const uint64_t COMPACT_MIN = UINT64_C(64) << 20;
enum { COMPACT_TIMES = 4 };

struct ln_ledger {
    char *folder;
    int folder_fd, lock_fd; /* -1: not open */
    ln_ledger_env now;
    uint64_t generation; /* of `now` */
    uint64_t latest;     /* that there ever was an attempt to make */
    int renewing;
    int unsure; /* which of two generations the disk would name after a crash: both stay */
    char error[LN_LEDGER_PROBLEM];
};

/* ---- words ----------------------------------------------------------------------------------------------------- */

static const char *reason(int err) { return mdb_strerror(err); /* which knows those of the system as well */ }

static int code_of(int err) {
    switch (err) {
    case 0: return LN_LEDGER_OK;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EAGAIN:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case EROFS:
    case EACCES:
    case EPERM:
    case MDB_MAP_FULL:
    case MDB_READERS_FULL: return LN_LEDGER_RETRY;
    default: return LN_LEDGER_LOST;
    }
}

static int note(ln_ledger *l, const char *what, int err) {
    snprintf(l->error, sizeof l->error, "%s: %s: %s", l->folder, what, reason(err));
    return code_of(err);
}

/* ---- files of the folder --------------------------------------------------------------------------------------- */

static void name_of(char name[NAME], uint64_t generation) { snprintf(name, NAME, "%" PRIu64 ".mdb", generation); }

/* NULL where memory is short. */
static char *path_of(const ln_ledger *l, uint64_t generation) {
    char name[NAME], *path;
    name_of(name, generation);
    return asprintf(&path, "%s/%s", l->folder, name) < 0 ? NULL : path;
}

static int open_generation(ln_ledger *l, uint64_t generation, int look, ln_ledger_env *env) {
    char *path = path_of(l, generation);
    int err = path ? ln_ledger_env_open(env, path, look) : ENOMEM;
    free(path);
    return err;
}

/* 0 where there is none, which is no error. */
static int read_current(const ln_ledger *l, uint64_t *generation) {
    char text[32], *end;
    int fd = openat(l->folder_fd, "current", O_RDONLY | O_CLOEXEC), err;
    ssize_t n;
    *generation = 0;
    if (fd < 0) return errno == ENOENT ? 0 : errno;
    n = read(fd, text, sizeof text - 1);
    err = n < 0 ? errno : 0;
    close(fd);
    if (err) return err;
    text[n] = '\0';
    *generation = strtoull(text, &end, 10);
    return end > text && *end == '\n' && *generation ? 0 : MDB_CORRUPTED;
}

static int write_whole(int fd, const char *text, size_t len) {
    ssize_t n = write(fd, text, len);
    if (n < 0) return errno;
    if ((size_t)n < len) return ENOSPC;
    return fsync(fd) ? errno : 0;
}

/* From here on this generation is what counts. Names reach the disk with their folder. */
static int publish(ln_ledger *l, uint64_t generation) {
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRIu64 "\n", generation), err;
    int fd = openat(l->folder_fd, "current.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    err = write_whole(fd, text, (size_t)len);
    if (close(fd) && !err) err = errno;
    if (!err && fsync(l->folder_fd)) err = errno; /* the file of the generation has its name */
    if (!err && renameat(l->folder_fd, "current.new", l->folder_fd, "current")) err = errno;
    if (err) return err;
    l->unsure = fsync(l->folder_fd) != 0;
    return l->unsure ? EIO : 0;
}

static int is_of_generation(const char *name, uint64_t *generation) {
    char *end;
    *generation = strtoull(name, &end, 10);
    return end > name && (!strcmp(end, ".mdb") || !strcmp(end, ".mdb-lock"));
}

/* Whoever looks at one of the others goes on with what is open. */
static void remove_others(const ln_ledger *l) {
    int fd = l->unsure ? -1 : openat(l->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    uint64_t generation;
    if (!dir) {
        if (fd >= 0) close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        if (is_of_generation(entry->d_name, &generation) && generation != l->generation)
            (void)unlinkat(l->folder_fd, entry->d_name, 0);
    closedir(dir);
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static ln_ledger *make(const char *folder) {
    ln_ledger *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->folder_fd = l->lock_fd = -1;
    l->folder = strdup(folder);
    if (l->folder) return l;
    free(l);
    return NULL;
}

void ln_ledger_close(ln_ledger *l) {
    if (!l) return;
    ln_ledger_env_close(&l->now);
    if (l->lock_fd >= 0) close(l->lock_fd);
    if (l->folder_fd >= 0) close(l->folder_fd);
    free(l->folder);
    free(l);
}

static int refuse(ln_ledger *l, int code, char *problem, const char *format, const char *detail) {
    snprintf(problem, LN_LEDGER_PROBLEM, format, l->folder, detail);
    ln_ledger_close(l);
    return code;
}

static const char CANT_OPEN[] = "%s: can't be opened: %s",
                  DAMAGED[] = "%s: is damaged: %s; move the folder away to begin anew, or put a copy in its place";

/* LMDB's own errors, the system's apart, are about the file. */
static int refuse_for(ln_ledger *l, int err, char *problem) {
    return refuse(l, code_of(err), problem, err < 0 ? DAMAGED : CANT_OPEN, reason(err));
}

static int lock(ln_ledger *l) {
    l->lock_fd = openat(l->folder_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->lock_fd < 0) return errno;
    return flock(l->lock_fd, LOCK_EX | LOCK_NB) ? errno : 0;
}

int ln_ledger_open(const char *folder, ln_ledger **out, char problem[LN_LEDGER_PROBLEM]) {
    ln_ledger *l = make(folder);
    uint64_t current;
    int err;
    *out = NULL;
    *problem = '\0';
    if (!l) return LN_LEDGER_RETRY;
    if (mkdir(folder, 0700) && errno != EEXIST) return refuse(l, LN_LEDGER_RETRY, problem, CANT_OPEN, strerror(errno));
    l->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->folder_fd < 0) return refuse(l, LN_LEDGER_RETRY, problem, CANT_OPEN, strerror(errno));
    err = lock(l);
    if (err == EWOULDBLOCK)
        return refuse(l, LN_LEDGER_RETRY, problem,
                      "%s: is in use by another process: stop it, or name another folder%s", "");
    if (!err) err = read_current(l, &current);
    if (err) return refuse_for(l, err, problem);
    l->generation = l->latest = current;
    if (!current) l->renewing = 1;
    else err = open_generation(l, current, 0, &l->now);
    if (err) return refuse_for(l, err, problem);
    remove_others(l);
    *out = l;
    return LN_LEDGER_OK;
}

int ln_ledger_look(const char *folder, ln_ledger **out, char problem[LN_LEDGER_PROBLEM]) {
    ln_ledger *l = make(folder);
    int err = 0;
    *out = NULL;
    *problem = '\0';
    if (!l) return LN_LEDGER_RETRY;
    l->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->folder_fd < 0)
        return refuse(l, errno == ENOENT ? LN_LEDGER_ABSENT : LN_LEDGER_RETRY, problem, CANT_OPEN, strerror(errno));
    for (int i = 0; i < LOOKS; i++) { /* the current one may go while it is being opened */
        err = read_current(l, &l->generation);
        if (err || !l->generation) break;
        err = open_generation(l, l->generation, 1, &l->now);
        if (err != ENOENT) break;
    }
    if (err) return refuse_for(l, err, problem);
    if (!l->generation)
        return refuse(l, LN_LEDGER_ABSENT, problem, "%s: holds no state: nothing has been written there yet%s", "");
    *out = l;
    return LN_LEDGER_OK;
}

/* ---- changing -------------------------------------------------------------------------------------------------- */

/* `env` is the file of a generation that is ready: it becomes the current one. */
static int take_over(ln_ledger *l, ln_ledger_env *env, uint64_t generation) {
    int err = publish(l, generation);
    if (err) return err;
    ln_ledger_env_close(&l->now);
    l->now = *env;
    *env = (ln_ledger_env){0};
    l->generation = generation;
    remove_others(l);
    return 0;
}

static int apply_anew(ln_ledger *l, const ln_batch_writer *batch) {
    ln_ledger_env env = {0};
    uint64_t generation = ++l->latest;
    int err;
    remove_others(l); /* what an attempt before this one has left */
    err = open_generation(l, generation, 0, &env);
    if (!err) err = ln_ledger_env_apply(&env, batch);
    if (!err) err = take_over(l, &env, generation);
    ln_ledger_env_close(&env);
    if (!err) l->renewing = 0;
    return err;
}

/* The file as a copy without its holes. What fails of it is no harm. */
static void compact(ln_ledger *l) {
    ln_ledger_env env = {0};
    uint64_t generation = ++l->latest;
    char *path = path_of(l, generation);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int err = fd < 0 || mdb_env_copyfd2(l->now.env, fd, MDB_CP_COMPACT) || fsync(fd);
    if (fd >= 0) close(fd);
    if (!err) err = ln_ledger_env_open(&env, path, 0);
    if (!err) err = take_over(l, &env, generation);
    ln_ledger_env_close(&env);
    if (err) remove_others(l);
    free(path);
}

int ln_ledger_apply(ln_ledger *l, const ln_batch_writer *batch) {
    ln_ledger_size size;
    int err = l->renewing ? apply_anew(l, batch) : ln_ledger_env_apply(&l->now, batch);
    if (err) return note(l, "can't be written", err);
    if (!ln_ledger_env_size(&l->now, &size) && size.file_bytes > COMPACT_MIN &&
        size.file_bytes / COMPACT_TIMES > size.used_bytes)
        compact(l);
    return LN_LEDGER_OK;
}

void ln_ledger_renew(ln_ledger *l) { l->renewing = 1; }

const char *ln_ledger_error(const ln_ledger *l) { return l->error; }

/* ---- looking --------------------------------------------------------------------------------------------------- */

int ln_ledger_scan(ln_ledger *l, unsigned table, const void *from, size_t from_bytes, ln_ledger_visit *visit,
                   void *ctx) {
    MDB_val key = {.mv_size = from_bytes, .mv_data = (void *)(uintptr_t)from};
    int result, err;
    if (!l->now.env) return 0;
    err = ln_ledger_env_scan(&l->now, table, key, visit, ctx, &result);
    return err ? -note(l, "can't be read", err) : result;
}

int ln_ledger_size_get(ln_ledger *l, ln_ledger_size *out) {
    int err = 0;
    *out = (ln_ledger_size){0};
    if (l->now.env) err = ln_ledger_env_size(&l->now, out);
    out->generation = l->generation;
    return err ? note(l, "can't be read", err) : LN_LEDGER_OK;
}
