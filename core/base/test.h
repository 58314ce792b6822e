/* What C tests share: checks that print the place and go on, a table of tests, and an allocator that counts its peak
 * and fails on demand. A test program is one source; it exits with 1 where a check failed. */
#ifndef LN_BASE_TEST_H
#define LN_BASE_TEST_H

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *test_name = "";
static int test_failures;

static inline int test_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, test_name, what);
    test_failures++;
    return 0;
}

static inline int test_int(const char *file, int line, const char *what, int64_t got, int64_t want) {
    char text[512];
    if (got == want) return 1;
    snprintf(text, sizeof text, "%.300s is %" PRId64 ", not %" PRId64, what, got, want);
    return test_fail(file, line, text);
}

/* No text is the empty text. */
static inline int test_text(const char *file, int line, const char *what, const char *got, const char *want) {
    if (!got) got = "";
    if (strcmp(got, want) == 0) return 1;
    test_fail(file, line, what);
    fprintf(stderr, "  got:  %s\n  want: %s\n", got, want);
    return 0;
}

/* Each gives 1 where all is well. */
#define CHECK(cond) ((cond) ? 1 : test_fail(__FILE__, __LINE__, #cond))
#define CHECK_INT(got, want) test_int(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(want))
#define CHECK_TEXT(got, want) test_text(__FILE__, __LINE__, #got, got, want)

/* Puts bytes at `at`; where they end. */
static inline size_t test_put(void *to, size_t at, const void *bytes, size_t len) {
    if (len) memcpy((char *)to + at, bytes, len);
    return at + len;
}

typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

static inline int test_run(const test_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        test_name = cases[i].name;
        cases[i].run();
    }
    if (test_failures) fprintf(stderr, "%d checks failed\n", test_failures);
    return test_failures != 0;
}

#define TEST_MAIN(cases) \
    int main(void) { return test_run((cases), sizeof(cases) / sizeof *(cases)); }

/* A heap that knows the most it ever held, refuses to hold more than `most` bytes, and fails call number `fail_at`
 * (from 1) and all later ones. */
typedef struct test_mem {
    ln_mem mem;
    size_t held, peak, most; /* bytes */
    uint64_t calls, fail_at; /* 0: never */
} test_mem;

static inline void *test_mem_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
    test_mem *t = ctx;
    void *q;
    if (new_bytes == 0) {
        t->held -= old_bytes;
        free(p);
        return NULL;
    }
    t->calls++;
    if (t->fail_at && t->calls >= t->fail_at) return NULL;
    if (t->held - old_bytes + new_bytes > t->most) return NULL;
    q = malloc(new_bytes); /* never in place: pointers kept too long are found */
    if (!q) return NULL;
    if (p) memcpy(q, p, old_bytes < new_bytes ? old_bytes : new_bytes);
    free(p);
    /* Both blocks were alive. */
    if (t->held + new_bytes > t->peak) t->peak = t->held + new_bytes;
    t->held = t->held - old_bytes + new_bytes;
    return q;
}

static inline ln_mem *test_mem_init(test_mem *t, size_t most) {
    *t = (test_mem){.most = most};
    ln_mem_init(&t->mem);
    t->mem.resize = test_mem_resize;
    t->mem.ctx = t;
    return &t->mem;
}

#endif
