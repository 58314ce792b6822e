/* The ledger: what is applied is there after it is opened anew; growth, ranges, generations, locks, damage. */
#define _GNU_SOURCE
#include "ledger/ledger.h"

#include "base/test.h"
#include "base/test_random.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/lunette-ledger-XXXXXX", path[256];
static char problem[LN_LEDGER_PROBLEM];
static ln_mem mem;
static ln_batch_writer batch;

static void remove_folder(void) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    rmdir(path);
}

static ln_ledger *open_it(void) {
    ln_ledger *l;
    CHECK_INT(ln_ledger_open(path, &l, problem), LN_LEDGER_OK);
    CHECK_TEXT(problem, "");
    return l;
}

static void put(const char *key, const char *value) { ln_batch_put(&batch, 0, key, strlen(key), value, strlen(value)); }

static void apply(ln_ledger *l) {
    CHECK_INT(ln_ledger_apply(l, &batch), LN_LEDGER_OK);
    ln_batch_clear(&batch);
}

static char seen[1 << 16];
static size_t seen_len;

static int show(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    const int *most = ctx;
    static int count;
    if (!seen_len) count = 0;
    seen_len += (size_t)snprintf(seen + seen_len, sizeof seen - seen_len, "%.*s=%.*s ", (int)key_bytes, key,
                                 (int)value_bytes, value);
    return most && ++count == *most ? 7 : 0;
}

static const char *all(ln_ledger *l, const char *from) {
    seen_len = 0;
    seen[0] = '\0';
    CHECK_INT(ln_ledger_scan(l, 0, from, strlen(from), show, NULL), 0);
    return seen;
}

static void keeps_what_is_applied(void) {
    int two = 2;
    ln_ledger *l = open_it();
    CHECK_TEXT(all(l, ""), "");
    put("b", "2");
    put("a", "1");
    put("c", "3");
    apply(l);
    ln_ledger_close(l);
    l = open_it();
    CHECK_TEXT(all(l, ""), "a=1 b=2 c=3 ");
    CHECK_TEXT(all(l, "ab"), "b=2 c=3 ");
    seen_len = 0;
    CHECK_INT(ln_ledger_scan(l, 0, "", 0, show, &two), 7);
    CHECK_TEXT(seen, "a=1 b=2 ");
    ln_batch_delete(&batch, 0, "b", 1);
    ln_batch_delete(&batch, 0, "nothing", 7);
    put("b", "4");
    ln_batch_put(&batch, 1, "a", 1, "of another table", 16);
    ln_batch_delete(&batch, 0, "a", 1);
    apply(l);
    CHECK_TEXT(all(l, ""), "b=4 c=3 ");
    ln_ledger_close(l);
    remove_folder();
}

/* Random changes against an array of what must be there. */
static void random_changes(void) {
    enum { KEYS = 3000 };
    static int value[KEYS];
    static char want[1 << 16];
    for (uint64_t seed = 1; seed <= 6; seed++) {
        test_random r = {seed};
        ln_ledger *l = open_it();
        memset(value, 0, sizeof value);
        for (int round = 0; round < 12; round++) {
            for (int i = 0; i < 400; i++) {
                char key[8], to[8], text[12];
                uint32_t n = (uint32_t)test_random_below(&r, KEYS), m = n + (uint32_t)test_random_below(&r, KEYS / 4);
                snprintf(key, sizeof key, "%04u", n);
                snprintf(to, sizeof to, "%04u", m);
                snprintf(text, sizeof text, "%d", i + 1);
                if (test_random_below(&r, 100) == 0) {
                    ln_batch_delete_range(&batch, 0, key, 4, to, 4);
                    for (; n < m && n < KEYS; n++) value[n] = 0;
                } else if (test_random_below(&r, 4) == 0) {
                    ln_batch_delete(&batch, 0, key, 4);
                    value[n] = 0;
                } else {
                    put(key, text);
                    value[n] = i + 1;
                }
            }
            apply(l);
            if (round % 4 == 0) {
                ln_ledger_close(l);
                l = open_it();
            }
            size_t at = 0;
            want[0] = '\0';
            for (int n = 0; n < KEYS; n++)
                if (value[n]) at += (size_t)snprintf(want + at, sizeof want - at, "%04d=%d ", n, value[n]);
            CHECK_TEXT(all(l, ""), want);
        }
        ln_ledger_close(l);
        remove_folder();
    }
}

static int count_entry(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    (void)key, (void)key_bytes, (void)value;
    *(uint64_t *)ctx += value_bytes;
    return 0;
}

static void put_many(uint32_t from, uint32_t count, size_t bytes) {
    uint8_t *value = calloc(1, bytes);
    for (uint32_t i = from; i < from + count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08x", i);
        ln_batch_put(&batch, 2, key, 8, value, bytes);
    }
    free(value);
}

/* The map begins with 64 MiB, and the file shrinks again when what it holds does. */
static void grows_and_shrinks(void) {
    ln_ledger *l = open_it();
    ln_ledger_size size;
    uint64_t bytes = 0;
    put_many(0, 150000, 1000);
    apply(l);
    CHECK_INT(ln_ledger_scan(l, 2, "", 0, count_entry, &bytes), 0);
    CHECK_INT(bytes, 150000000);
    CHECK_INT(ln_ledger_size_get(l, &size), LN_LEDGER_OK);
    CHECK(size.used_bytes > 150000000 && size.file_bytes >= size.used_bytes && size.generation == 1);
    ln_batch_delete_range(&batch, 2, "00000010", 8, "~", 1);
    apply(l);
    CHECK_INT(ln_ledger_size_get(l, &size), LN_LEDGER_OK);
    CHECK_INT(size.generation, 2);
    CHECK(size.file_bytes < 1 << 20);
    bytes = 0;
    CHECK_INT(ln_ledger_scan(l, 2, "", 0, count_entry, &bytes), 0);
    CHECK_INT(bytes, 16000);
    put_many(0, 1, 10);
    apply(l);
    ln_ledger_close(l);
    remove_folder();
}

static void another_generation(void) {
    ln_ledger *l = open_it(), *looker, *second;
    put("a", "1");
    put("b", "2");
    apply(l);
    CHECK_INT(ln_ledger_look(path, &looker, problem), LN_LEDGER_OK);
    CHECK_TEXT(all(looker, ""), "a=1 b=2 ");
    ln_ledger_renew(l);
    put("a", "3");
    apply(l);
    CHECK_TEXT(all(l, ""), "a=3 ");
    CHECK_TEXT(all(looker, ""), "a=1 b=2 "); /* goes on with what it has open */
    ln_ledger_close(looker);
    CHECK_INT(ln_ledger_look(path, &looker, problem), LN_LEDGER_OK);
    CHECK_TEXT(all(looker, ""), "a=3 ");
    put("c", "5");
    apply(l);
    CHECK_TEXT(all(looker, ""), "a=3 c=5 ");
    ln_ledger_close(looker);
    CHECK_INT(ln_ledger_open(path, &second, problem), LN_LEDGER_RETRY);
    CHECK(strstr(problem, "is in use by another process"));
    ln_ledger_close(l);
    remove_folder();
}

static int pipe_fd[2];

static int stand_still(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    (void)ctx, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    if (write(pipe_fd[1], "x", 1) == 1) pause();
    return 1;
}

/* A process that stops in the middle of looking keeps one state of the file, and not all that come after it. */
static void a_looker_that_stands_still(void) {
    ln_ledger *l = open_it(), *looker;
    ln_ledger_size size;
    char ready;
    pid_t child;
    put_many(0, 1000, 1000);
    apply(l);
    CHECK(!pipe(pipe_fd));
    child = fork();
    if (!child) {
        if (ln_ledger_look(path, &looker, problem) == LN_LEDGER_OK)
            (void)ln_ledger_scan(looker, 2, "", 0, stand_still, NULL);
        _exit(1);
    }
    CHECK_INT(read(pipe_fd[0], &ready, 1), 1);
    for (int i = 0; i < 150; i++) {
        put_many(0, 1000, 1000);
        apply(l);
    }
    CHECK_INT(ln_ledger_size_get(l, &size), LN_LEDGER_OK);
    CHECK(size.file_bytes < (uint64_t)80 << 20);
    CHECK(size.generation > 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    ln_ledger_close(l);
    remove_folder();
}

/* A write that is cut short is an I/O error, as far as anybody can tell. What was there stays, and a new generation
 * goes on. */
static void a_broken_write(void) {
    struct rlimit old, small = {.rlim_cur = 1 << 20};
    ln_ledger *l = open_it();
    ln_ledger_size size;
    put("a", "1");
    apply(l);
    CHECK(!getrlimit(RLIMIT_FSIZE, &old));
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!setrlimit(RLIMIT_FSIZE, &small));
    put("a", "2");
    put_many(0, 10000, 1000);
    CHECK_INT(ln_ledger_apply(l, &batch), LN_LEDGER_LOST);
    CHECK(strstr(ln_ledger_error(l), "Input/output error"));
    ln_ledger_renew(l);
    CHECK_INT(ln_ledger_apply(l, &batch), LN_LEDGER_LOST);
    CHECK_TEXT(all(l, ""), "a=1 ");
    CHECK(!setrlimit(RLIMIT_FSIZE, &old));
    apply(l);
    CHECK_TEXT(all(l, ""), "a=2 ");
    ln_ledger_close(l);
    l = open_it();
    CHECK_TEXT(all(l, ""), "a=2 ");
    CHECK_INT(ln_ledger_size_get(l, &size), LN_LEDGER_OK);
    CHECK_INT(size.generation, 3);
    ln_ledger_close(l);
    remove_folder();
}

/* On a disk of 4 MiB, which only the child sees. */
static int in_full_disk(void) {
    ln_ledger *l;
    char file[300];
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return 77;
    if (mkdir(path, 0700) || mount("none", path, "tmpfs", 0, "size=4m")) return 77;
    snprintf(file, sizeof file, "%s/state", path);
    memcpy(path, file, sizeof path - 1);
    l = open_it();
    put("a", "1");
    apply(l);
    put("a", "2");
    put_many(0, 10000, 1000);
    CHECK_INT(ln_ledger_apply(l, &batch), LN_LEDGER_RETRY);
    CHECK(strstr(ln_ledger_error(l), "No space left on device"));
    CHECK_TEXT(all(l, ""), "a=1 ");
    ln_batch_clear(&batch);
    put("a", "3");
    apply(l);
    CHECK_TEXT(all(l, ""), "a=3 ");
    ln_ledger_close(l);
    return test_failures != 0;
}

static void a_full_disk(void) {
    int status = 0;
    pid_t child = fork();
    if (!child) _exit(in_full_disk());
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) puts("skipped: a full disk: a small one can't be mounted here");
    else CHECK_INT(WEXITSTATUS(status), 0);
    rmdir(path);
}

static void write_file(const char *name, const char *text) {
    char file[512];
    FILE *f;
    snprintf(file, sizeof file, "%s/%s", path, name);
    f = fopen(file, "w");
    if (!CHECK(f)) return;
    fputs(text, f);
    fclose(f);
}

static void refuses(int code, const char *words) {
    ln_ledger *l;
    CHECK_INT(ln_ledger_open(path, &l, problem), code);
    if (!strstr(problem, words)) CHECK_TEXT(problem, words);
    CHECK(!l);
}

static void tells_what_is_wrong(void) {
    static char noise[1 << 14];
    ln_ledger *l;
    CHECK_INT(ln_ledger_look(path, &l, problem), LN_LEDGER_ABSENT);
    l = open_it();
    CHECK_INT(ln_ledger_look(path, &(ln_ledger *){NULL}, problem), LN_LEDGER_ABSENT);
    CHECK(strstr(problem, "holds no state"));
    put("a", "1");
    apply(l);
    ln_ledger_close(l);
    write_file("current", "seven\n");
    refuses(LN_LEDGER_LOST, "is damaged");
    write_file("current", "7\n");
    memset(noise, '#', sizeof noise - 1);
    write_file("7.mdb", noise);
    refuses(LN_LEDGER_LOST, "move the folder away to begin anew");
    remove_folder();
}

static const test_case cases[] = {
    {"keeps what is applied", keeps_what_is_applied},
    {"random changes", random_changes},
    {"grows and shrinks", grows_and_shrinks},
    {"another generation", another_generation},
    {"a looker that stands still", a_looker_that_stands_still},
    {"a broken write", a_broken_write},
    {"a full disk", a_full_disk},
    {"tells what is wrong", tells_what_is_wrong},
};

int main(void) {
    int failed;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/state", folder);
    ln_mem_init(&mem);
    ln_batch_init(&batch, &mem);
    failed = test_run(cases, sizeof cases / sizeof *cases);
    ln_batch_free(&batch);
    rmdir(folder);
    return failed;
}
