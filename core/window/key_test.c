/* Keys: the canonical form of every value, and the table against a plain list that knows who lives and who may rest. */
#include "window/key.h"

#include "base/test.h"
#include "base/test_random.h"
#include "base/test_values.h"

#include <math.h>

/* ---- the canonical form ---- */

#define BYTES(kind, s) \
    { .type = (kind), .len = sizeof(s) - 1, .at = (const uint8_t *)(s) }
#define FORM(s) (s), sizeof(s) - 1

typedef struct encoding {
    ln_value v;
    const char *bytes; /* NULL: no key */
    size_t len;
} encoding;

static const encoding plain[] = {
    {{.type = LN_NULL}, FORM("\xc0")},
    {{.type = LN_MISSING}, FORM("\xc0")},
    {{.type = LN_BOOL, .i = 0}, FORM("\xc2")},
    {{.type = LN_BOOL, .i = 1}, FORM("\xc3")},
    {I(1), FORM("\x01")},
    {D(1), FORM("\x01")},
    {I(0), FORM("\x00")},
    {D(0), FORM("\x00")},
    {D(-0.0), FORM("\x00")},
    {I(-1), FORM("\xff")},
    {D(-1), FORM("\xff")},
    {I(-32), FORM("\xe0")},
    {I(-33), FORM("\xd0\xdf")},
    {I(128), FORM("\xcc\x80")},
    {D(128), FORM("\xcc\x80")},
    {D(65536), FORM("\xce\x00\x01\x00\x00")},
    {I(INT64_MAX), FORM("\xcf\x7f\xff\xff\xff\xff\xff\xff\xff")},
    {I(INT64_MIN), FORM("\xd3\x80\x00\x00\x00\x00\x00\x00\x00")},
    {D(-0x1p63), FORM("\xd3\x80\x00\x00\x00\x00\x00\x00\x00")},
    {U(UINT64_C(1) << 63), FORM("\xcf\x80\x00\x00\x00\x00\x00\x00\x00")},
    {D(0x1p63), FORM("\xcf\x80\x00\x00\x00\x00\x00\x00\x00")},
    {U(UINT64_MAX), FORM("\xcf\xff\xff\xff\xff\xff\xff\xff\xff")},
    {D(0x1p64), FORM("\xcb\x43\xf0\x00\x00\x00\x00\x00\x00")},
    {D(1.5), FORM("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00")},
    {D(INFINITY), FORM("\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00")},
    {D(-INFINITY), FORM("\xcb\xff\xf0\x00\x00\x00\x00\x00\x00")},
    {D(NAN), NULL, 0},
    {BYTES(LN_TEXT, ""), FORM("\xa0")},
    {BYTES(LN_TEXT, "1"), FORM("\xa1"
                               "1")},
    {BYTES(LN_BYTES, "1"), FORM("\xc4\x01"
                                "1")},
    {BYTES(LN_MAP, "\x80"), NULL, 0},
    {BYTES(LN_EXT, "1234"), NULL, 0},
};

static const encoding arrays[] = {
    {BYTES(LN_ARRAY, "\x90"), FORM("\x90")},
    {BYTES(LN_ARRAY, "\xdc\x00\x00"), FORM("\x90")},
    {BYTES(LN_ARRAY, "\x92\x01\xa1x"), FORM("\x92\x01\xa1x")},
    /* each element in its shortest form: 1, 1.0 as floats of both widths, texts and bytes with long heads */
    {BYTES(LN_ARRAY, "\xdd\x00\x00\x00\x03\xd3\x00\x00\x00\x00\x00\x00\x00\x01\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\xca"
                     "\x3f\x80\x00\x00"),
     FORM("\x93\x01\x01\x01")},
    {BYTES(LN_ARRAY, "\x93\xdb\x00\x00\x00\x02xy\xc6\x00\x00\x00\x01z\xc0"), FORM("\x93\xa2xy\xc4\x01z\xc0")},
    {BYTES(LN_ARRAY, "\x92\xcb\x80\x00\x00\x00\x00\x00\x00\x00\xc3"), FORM("\x92\x00\xc3")},
    /* an array in an array, a map, ext, NaN, bytes that end too soon, bytes that are no msgpack */
    {BYTES(LN_ARRAY, "\x92\x01\x90"), NULL, 0},
    {BYTES(LN_ARRAY, "\x91\x80"), NULL, 0},
    {BYTES(LN_ARRAY, "\x92\x01\xd4\x05x"), NULL, 0},
    {BYTES(LN_ARRAY, "\x92\x01\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"), NULL, 0},
    {BYTES(LN_ARRAY, "\x92\x01"), NULL, 0},
    {BYTES(LN_ARRAY, "\x92\x01\xc1"), NULL, 0},
};

typedef int (*encode)(ln_buf *out, const ln_value *v);

/* Encodes behind bytes that are there already; want == NULL: refused. */
static void encodes(encode run, const ln_value *v, const char *want, size_t len) {
    ln_mem mem;
    ln_buf out;
    ln_mem_init(&mem);
    ln_buf_init(&out, &mem);
    ln_buf_append(&out, "ab", 2);
    CHECK_INT(run(&out, v), want ? 0 : -1);
    if (!CHECK_INT(out.len, 2 + len) || !CHECK(!want || memcmp(out.data + 2, want, len) == 0)) {
        fprintf(stderr, "  for a value of type %d:", v->type);
        for (size_t i = 2; i < out.len; i++) fprintf(stderr, " %02x", out.data[i]);
        fprintf(stderr, "\n");
    }
    CHECK(memcmp(out.data, "ab", 2) == 0);
    ln_buf_free(&out);
}

static void canonical_forms(void) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        encodes(ln_key_encode, &plain[i].v, plain[i].bytes, plain[i].len);
        encodes(ln_key_encode_plain, &plain[i].v, plain[i].bytes, plain[i].len);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        encodes(ln_key_encode, &arrays[i].v, arrays[i].bytes, arrays[i].len);
        encodes(ln_key_encode_plain, &arrays[i].v, NULL, 0);
    }
}

/* ---- the table ---- */

enum { NAMES = 400, STEPS = 20000 };
enum { GONE = 0, RESTS, LIVES };

static struct {
    uint32_t id;
    int life;
} state[NAMES];
static size_t live, resting;

/* Some are longer than a key has room for in itself. */
static size_t name_of(int i, uint8_t *name) {
    return (size_t)snprintf((char *)name, 40, "key %d%s", i * i, i % 3 ? "" : " with a rather long name");
}

/* With `weak` all keys fall on few places, some of them the table's last. */
static uint32_t hash_of(const ln_keys *k, int i, int weak) {
    uint8_t name[40];
    size_t len = name_of(i, name);
    return weak ? UINT32_MAX - (uint32_t)i % 3 : ln_keys_hash(k, name, len);
}

static size_t guesses, guessed;

static uint32_t find(const ln_keys *k, int i, int weak) {
    uint8_t name[40];
    size_t len = name_of(i, name);
    uint32_t hash = hash_of(k, i, weak), likely = ln_keys_likely(k, hash), id = ln_keys_find(k, hash, name, len);
    CHECK_INT(ln_keys_find_likely(k, likely, hash, name, len), id);
    if (id == LN_KEY_NONE || weak) return id;
    guesses++;
    guessed += likely == id;
    return id;
}

/* Of those that rested, some may be gone: which ones is the table's business, how many is not. */
static void see_who_has_gone(const ln_keys *k, int weak) {
    resting = 0;
    for (int i = 0; i < NAMES; i++) {
        if (state[i].life != RESTS) continue;
        if (find(k, i, weak) == LN_KEY_NONE) state[i].life = GONE;
        else resting++;
    }
}

static void use(ln_keys *k, int i, int weak) {
    uint8_t name[40];
    size_t len = name_of(i, name);
    if (state[i].life == GONE) {
        const ln_key *key;
        state[i].id = ln_keys_add(k, hash_of(k, i, weak), name, len);
        if (!CHECK(state[i].id != LN_KEY_NONE)) return;
        key = ln_keys_at(k, state[i].id);
        CHECK_INT(key->len, len);
        CHECK(memcmp(ln_key_bytes(key), name, len) == 0);
    } else {
        CHECK_INT(find(k, i, weak), state[i].id);
        ln_keys_wake(k, ln_keys_at(k, state[i].id)); /* nothing, for one that does not rest */
    }
    live += state[i].life != LIVES;
    resting -= state[i].life == RESTS;
    state[i].life = LIVES;
}

static void rest(ln_keys *k, int i, int weak) {
    size_t most;
    live--;
    most = LN_KEYS_REST * live;
    resting = resting + 1 < most ? resting + 1 : most;
    ln_keys_rest(k, ln_keys_at(k, state[i].id));
    state[i].life = RESTS;
    CHECK_INT(k->resting, resting);
    see_who_has_gone(k, weak);
    CHECK_INT(k->resting, resting);
}

static int is_same(const ln_keys *k, int weak) {
    size_t walked = 0;
    int ok = 1;
    for (int i = 0; i < NAMES && ok; i++) {
        if (state[i].life == GONE) ok = CHECK(find(k, i, weak) == LN_KEY_NONE);
        else
            ok = CHECK_INT(find(k, i, weak), state[i].id) &&
                 CHECK_INT(ln_keys_at(k, state[i].id)->resting, state[i].life == RESTS);
    }
    for (uint32_t id = 0; (id = ln_keys_next(k, id)) != LN_KEY_NONE; id++) walked++;
    return ok && CHECK_INT(walked, live + resting) && CHECK_INT(ln_keys_count(k), walked) &&
           CHECK_INT(ln_keys_live(k), live);
}

static void begin(ln_keys *k, test_mem *t, uint64_t seed) {
    ln_keys_init(k, test_mem_init(t, SIZE_MAX / 2), sizeof(ln_key), seed);
    memset(state, 0, sizeof state);
    live = resting = 0;
}

static void random_steps(void) {
    for (uint64_t run = 0; run < 6; run++) {
        test_random r = {run};
        test_mem t;
        ln_keys k;
        int weak = run % 3 == 2, names = run < 3 ? NAMES : 12;
        begin(&k, &t, run);
        for (int i = 0; i < STEPS; i++) {
            int name = (int)test_random_below(&r, (uint32_t)names);
            int most = test_random_below(&r, 8) < (i / 2000 % 2 ? 2u : 6u); /* tides: the table widens and narrows */
            if (most) use(&k, name, weak);
            else if (state[name].life == LIVES) rest(&k, name, weak);
            if (test_random_below(&r, 3000) == 0) {
                ln_keys_trim(&k);
                see_who_has_gone(&k, weak);
                CHECK_INT(resting, 0);
            }
            if (i % (weak ? 64 : 16) == 0 && !is_same(&k, weak)) break;
        }
        is_same(&k, weak);
        for (int i = 0; i < names; i++)
            if (state[i].life == LIVES) rest(&k, i, weak);
        is_same(&k, weak);
        CHECK_INT(ln_keys_count(&k), 0); /* the last to go takes all with it */
        use(&k, 1, weak);
        ln_keys_free(&k);
        CHECK_INT(t.held, 0);
        CHECK_INT(t.mem.used, 0);
    }
    CHECK(guesses > STEPS && guessed * 100 > guesses * 85); /* in a table of 16 slots some lie far from their places */
}

static void memory_runs_out(void) {
    test_mem t;
    ln_keys k;
    uint64_t refused = 0;
    begin(&k, &t, 1);
    for (int i = 0; i < NAMES; i++) {
        uint8_t name[40];
        size_t len = name_of(i, name), had = ln_keys_count(&k);
        for (uint64_t n = 1; n <= 3 && state[i].life == GONE; n++) {
            t.fail_at = t.calls + n;
            state[i].id = ln_keys_add(&k, hash_of(&k, i, 0), name, len);
            t.fail_at = 0;
            if (state[i].id != LN_KEY_NONE) {
                state[i].life = LIVES;
                live++;
                break;
            }
            refused++;
            CHECK_INT(ln_keys_count(&k), had);
            CHECK(find(&k, i, 0) == LN_KEY_NONE);
        }
        if (state[i].life == GONE) use(&k, i, 0);
    }
    CHECK(refused > NAMES / 3);
    is_same(&k, 0);
    t.fail_at = 1; /* becoming fewer needs none */
    for (int i = 0; i < NAMES; i++) rest(&k, i, 0);
    is_same(&k, 0);
    CHECK_INT(ln_keys_count(&k), 0);
    ln_keys_free(&k);
    CHECK_INT(t.held, 0);
}

/* Comparing without a call is comparing. */
static void same_bytes(void) {
    uint8_t a[40], b[40];
    for (size_t len = 0; len <= sizeof a; len++) {
        memset(a, 7, sizeof a);
        memcpy(b, a, sizeof b);
        CHECK(ln_key_same(a, b, len));
        for (size_t i = 0; i < sizeof a; i++) {
            b[i] ^= 1;
            CHECK_INT(ln_key_same(a, b, len), i >= len);
            b[i] ^= 1;
        }
    }
}

static const test_case cases[] = {
    {"canonical forms", canonical_forms},
    {"random steps", random_steps},
    {"memory runs out", memory_runs_out},
    {"the same bytes", same_bytes},
};
TEST_MAIN(cases)
