/* The thread of a ledger: each batch is told once, and whoever deletes it waits for the last one. */
#define _GNU_SOURCE
#include "ledger/writer.h"

#include "base/test.h"

#include <dirent.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t woken;

static void wake(void *ctx) {
    CHECK(ctx == &woken);
    sem_post(&woken);
}

static int last_value(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    (void)key, (void)key_bytes;
    CHECK_INT(value_bytes, sizeof(int));
    memcpy(ctx, value, sizeof(int));
    return 0;
}

static void applies_one_after_the_other(void) {
    char folder[] = P_tmpdir "/lunette-writer-XXXXXX", problem[LN_LEDGER_PROBLEM];
    ln_ledger *l;
    ln_ledger_writer *w;
    ln_batch_writer batch;
    ln_mem mem;
    int code, last = LN_LEDGER_TOLD;
    DIR *dir;
    struct dirent *entry;
    if (!CHECK(mkdtemp(folder))) return;
    ln_mem_init(&mem);
    ln_batch_init(&batch, &mem);
    CHECK_INT(ln_ledger_open(folder, &l, problem), LN_LEDGER_OK);
    w = ln_ledger_writer_new(l, wake, &woken);
    if (!CHECK(w)) return;
    CHECK_INT(ln_ledger_writer_busy(w, &code), 0);
    CHECK_INT(code, LN_LEDGER_TOLD);
    for (int i = 0; i <= 20; i++) {
        ln_batch_clear(&batch);
        ln_batch_put(&batch, 0, "n", 1, &i, sizeof i);
        ln_ledger_writer_begin(w, &batch, NULL, NULL);
        if (i == 20) break;
        while (sem_wait(&woken)) {}
        CHECK_INT(ln_ledger_writer_busy(w, &code), 0);
        CHECK_INT(code, LN_LEDGER_OK);
        CHECK_INT(ln_ledger_scan(l, 0, "", 0, last_value, &last), 0);
        CHECK_INT(last, i);
    }
    ln_ledger_writer_wait(w);
    CHECK_INT(ln_ledger_writer_busy(w, &code), 0);
    CHECK_INT(code, LN_LEDGER_OK);
    CHECK_INT(ln_ledger_writer_busy(w, &code), 0);
    CHECK_INT(code, LN_LEDGER_TOLD);
    ln_ledger_writer_begin(w, &batch, NULL, NULL);
    ln_ledger_writer_delete(w);
    CHECK_INT(ln_ledger_scan(l, 0, "", 0, last_value, &last), 0);
    CHECK_INT(last, 20);
    ln_ledger_close(l);
    ln_batch_free(&batch);
    dir = opendir(folder);
    while (dir && (entry = readdir(dir))) (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    rmdir(folder);
}

static const test_case cases[] = {{"applies one after the other", applies_one_after_the_other}};

int main(void) {
    sem_init(&woken, 0, 0);
    return test_run(cases, 1);
}
