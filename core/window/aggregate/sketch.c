/* UltraLogLog, after Ertl (2023). A hash's first bits choose a register, and the number k of the first 1 among the rest
 * has the probability 2^-k. Where a HyperLogLog keeps the greatest k, a register here keeps it with two bits more: did
 * k - 1 occur, did k - 2. For the same bytes that takes a quarter off the error. The estimate is that of greatest
 * likelihood. */
#include "window/aggregate/sketch.h"

#include "lunette.h"

#include <math.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct ln_sketch {
    uint8_t precision, dense;
    uint32_t count;  /* sparse: hashes held */
    uint64_t places; /* sparse: of the table, a power of two; 0 is an empty place */
    union {
        uint64_t hash[1]; /* [places] */
        uint8_t reg[1];   /* [2^precision]: k << 2 | (k - 1 occurred) << 1 | (k - 2 occurred); 0: none yet */
    };
};

enum { PLACES_MIN = 8 };

uint64_t ln_sketch_hash(const void *bytes, size_t len) { return XXH3_64bits(bytes, len); }

static size_t registers(uint32_t precision) { return (size_t)1 << precision; }

/* Sparse, it never takes more than it would with registers. */
static uint64_t places_max(uint32_t precision) { return registers(precision) / sizeof(uint64_t); }
uint32_t ln_sketch_exact(uint32_t precision) { return (uint32_t)(places_max(precision) / 4 * 3); }

static size_t size_of(const ln_sketch *s) {
    return offsetof(ln_sketch, reg) + (s->dense ? registers(s->precision) : s->places * sizeof(uint64_t));
}

void ln_sketch_free(ln_sketch **sketch, ln_mem *mem) {
    if (*sketch) ln_mem_free(mem, *sketch, size_of(*sketch));
    *sketch = NULL;
}

static ln_sketch *new_sparse(ln_mem *mem, uint32_t precision, uint64_t places) {
    ln_sketch *s = ln_mem_zero(mem, offsetof(ln_sketch, hash) + places * sizeof(uint64_t));
    if (!s) return NULL;
    s->precision = (uint8_t)precision;
    s->places = places;
    return s;
}

/* ---- registers -------------------------------------------------------------------------------------------------- */

/* Two registers as if one had seen all. Written in bytes without branches, so that compilers do many at once. */
static inline uint8_t join(uint8_t a, uint8_t b) {
    uint8_t high = a > b ? a : b, low = a > b ? b : a;
    uint8_t distance = (uint8_t)((high >> 2) - (low >> 2));
    uint8_t bits = distance == 0   ? (uint8_t)(low & 3)
                   : distance == 1 ? (uint8_t)(2 | (low >> 1 & 1))
                   : distance == 2 ? (uint8_t)1
                                   : (uint8_t)0;
    return (uint8_t)(high | (low < 4 ? 0 : bits));
}

static void add_dense(ln_sketch *s, uint64_t hash) {
    uint32_t p = s->precision;
    uint64_t rest = hash << p;
    uint32_t k = rest ? (uint32_t)__builtin_clzll(rest) + 1 : 65 - p;
    uint8_t *reg = &s->reg[hash >> (64 - p)];
    *reg = join(*reg, (uint8_t)(k << 2));
}

static void join_dense(uint8_t *restrict into, const uint8_t *restrict from, size_t count) {
    for (size_t i = 0; i < count; i++) into[i] = join(into[i], from[i]);
}

/* What the registers say: the logarithm of their likelihood, where each has seen a Poisson number of hashes with the
 * mean x, is -alpha x + the sum over k of beta[k] log(1 - exp(-x 2^-k)). */
typedef struct likelihood {
    double alpha, beta[64];
} likelihood;

static void survey(const ln_sketch *s, likelihood *l) {
    uint32_t often[4][256] = {{0}}, last = 65 - s->precision; /* four, so that equal neighbours do not wait */
    *l = (likelihood){0};
    for (size_t i = 0; i < registers(s->precision); i++) often[i & 3][s->reg[i]]++;
    for (uint32_t r = 0; r < 256; r++) {
        uint32_t k = r >> 2;
        double n = (double)often[0][r] + often[1][r] + often[2][r] + often[3][r];
        if (r == 0) l->alpha = n;
        if (r == 0 || n == 0) continue;
        l->beta[k < last ? k : last - 1] += n; /* the last is as likely as the one before */
        if (k < last) l->alpha += ldexp(n, -(int)k);
        for (uint32_t d = 1; d <= 2 && d < k; d++) {
            if (r >> (2 - d) & 1) l->beta[k - d] += n;
            else l->alpha += ldexp(n, -(int)(k - d));
        }
    }
}

/* The x of greatest likelihood: the zero of f(x) = sum of beta[k] 2^-k / (exp(x 2^-k) - 1) - alpha. f falls and is
 * convex, so Newton's steps from below come ever nearer and never beyond. */
static double solve(const likelihood *l) {
    double beta = 0, weight = 0, x;
    int least = 64, most = 0;
    for (int k = 1; k < 64; k++) {
        if (l->beta[k] == 0) continue;
        if (least == 64) least = k;
        most = k;
        beta += l->beta[k];
        weight += ldexp(l->beta[k], -k);
    }
    x = beta / (l->alpha + weight / 2); /* since 1 / (exp(y) - 1) > 1 / y - 1/2 */
    for (int step = 0; step < 64; step++) {
        double f = -l->alpha, slope = 0, grown = expm1(ldexp(x, -most)), next;
        for (int k = most; k >= least && grown < 1e100; k--) {
            double share = ldexp(1, -k);
            f += l->beta[k] * share / grown;
            slope += l->beta[k] * share * share * (grown + 1) / (grown * grown);
            grown *= grown + 2; /* exp(2 y) - 1 of exp(y) - 1 */
        }
        next = x + f / slope;
        if (!(next > x * (1 + 1e-12))) break;
        x = next;
    }
    return x;
}

/* The likelihood's first-order bias, relative, is this over the number of registers. */
static const double BIAS = 0.48147;
static const double COUNT_MAX = 0x1p62;

double ln_sketch_estimate(const ln_sketch *s) {
    likelihood l;
    double m, estimate;
    if (!s || !s->dense) return s ? s->count : 0;
    m = (double)registers(s->precision);
    survey(s, &l);
    if (l.alpha == 0) return COUNT_MAX; /* all full */
    estimate = m * solve(&l) / (1 + BIAS / m);
    return estimate < COUNT_MAX ? estimate : COUNT_MAX;
}

/* ---- hashes ----------------------------------------------------------------------------------------------------- */

/* Where the hash stands, or the empty place where it would. */
static uint64_t *place_of(ln_sketch *s, uint64_t hash) {
    uint64_t i = hash & (s->places - 1);
    while (s->hash[i] && s->hash[i] != hash) i = (i + 1) & (s->places - 1);
    return &s->hash[i];
}

static int make_dense(ln_sketch **sketch, ln_mem *mem) {
    ln_sketch *old = *sketch, *s;
    size_t bytes = offsetof(ln_sketch, reg) + registers(old->precision);
    s = ln_mem_zero(mem, bytes);
    if (!s) return LN_ENOMEM;
    s->precision = old->precision;
    s->dense = 1;
    for (uint64_t i = 0; i < old->places; i++)
        if (old->hash[i]) add_dense(s, old->hash[i]);
    ln_sketch_free(sketch, mem);
    *sketch = s;
    return LN_OK;
}

static int widen(ln_sketch **sketch, ln_mem *mem) {
    ln_sketch *old = *sketch, *s = new_sparse(mem, old->precision, 2 * old->places);
    if (!s) return LN_ENOMEM;
    s->count = old->count;
    for (uint64_t i = 0; i < old->places; i++)
        if (old->hash[i]) *place_of(s, old->hash[i]) = old->hash[i];
    ln_sketch_free(sketch, mem);
    *sketch = s;
    return LN_OK;
}

int ln_sketch_add(ln_sketch **sketch, ln_mem *mem, uint32_t precision, uint64_t hash) {
    hash += !hash; /* 0 is no hash: one pair in 2^64 more */
    if (!*sketch && !(*sketch = new_sparse(mem, precision, PLACES_MIN))) return LN_ENOMEM;
    while (!(*sketch)->dense) {
        ln_sketch *s = *sketch;
        uint64_t *place = place_of(s, hash);
        if (*place) return LN_OK;
        if (s->count < s->places / 4 * 3) {
            *place = hash;
            s->count++;
            return LN_OK;
        }
        if ((s->places < places_max(precision) ? widen : make_dense)(sketch, mem) != LN_OK) return LN_ENOMEM;
    }
    add_dense(*sketch, hash);
    return LN_OK;
}

int ln_sketch_take(ln_sketch **sketch, ln_mem *mem, const ln_sketch *from) {
    int err = LN_OK;
    if (!from) return LN_OK;
    if (from->dense) {
        if (!*sketch && !(*sketch = new_sparse(mem, from->precision, PLACES_MIN))) return LN_ENOMEM;
        if (!(*sketch)->dense && make_dense(sketch, mem) != LN_OK) return LN_ENOMEM;
        join_dense((*sketch)->reg, from->reg, registers(from->precision));
        return LN_OK;
    }
    for (uint64_t i = 0; i < from->places && err == LN_OK; i++)
        if (from->hash[i]) err = ln_sketch_add(sketch, mem, from->precision, from->hash[i]);
    return err;
}

/* ---- saved ------------------------------------------------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, sizeof(uint64_t)); }

/* The hashes in rising order, the first bits first. */
static void save_sparse(const ln_sketch *s, ln_buf *out) {
    size_t begin;
    ln_save_uint(out, s->count);
    begin = out->len;
    for (uint64_t i = 0; i < s->places; i++) {
        uint64_t big = __builtin_bswap64(s->hash[i]);
        if (big) ln_buf_append(out, &big, sizeof big);
    }
    if (!out->failed) qsort(out->data + begin, s->count, sizeof(uint64_t), by_bytes);
}

void ln_sketch_save(const ln_sketch *s, ln_buf *out) {
    ln_buf_byte(out, s->precision);
    ln_buf_byte(out, s->dense);
    if (s->dense) ln_buf_append(out, s->reg, registers(s->precision));
    else save_sparse(s, out);
}

static int is_register(uint8_t r, uint32_t precision) {
    uint32_t k = r >> 2;
    if (k > 65 - precision) return 0;
    return k == 0 ? r == 0 : k == 1 ? (r & 3) == 0 : k == 2 ? (r & 1) == 0 : 1;
}

static int load_dense(ln_sketch **sketch, ln_mem *mem, uint32_t precision, ln_saved *saved) {
    const uint8_t *reg = ln_saved_run(saved, registers(precision));
    if (!reg) return LN_EINVALID;
    for (size_t i = 0; i < registers(precision); i++)
        if (!is_register(reg[i], precision)) return LN_EINVALID;
    *sketch = new_sparse(mem, precision, PLACES_MIN);
    if (!*sketch || make_dense(sketch, mem) != LN_OK) return LN_ENOMEM;
    memcpy((*sketch)->reg, reg, registers(precision));
    return LN_OK;
}

int ln_sketch_load(ln_sketch **sketch, ln_mem *mem, uint32_t precision, ln_saved *saved) {
    const uint8_t *head = ln_saved_run(saved, 2);
    uint64_t count, before = 0;
    int err = LN_OK;
    if (!head || head[0] != precision || head[1] > 1) return LN_EINVALID;
    if (head[1]) return load_dense(sketch, mem, precision, saved);
    count = ln_saved_uint(saved);
    if (count > ln_sketch_exact(precision)) return LN_EINVALID;
    for (uint64_t i = 0; i < count && err == LN_OK; i++) {
        const uint8_t *bytes = ln_saved_run(saved, sizeof(uint64_t));
        uint64_t hash;
        if (!bytes) return LN_EINVALID;
        memcpy(&hash, bytes, sizeof hash);
        hash = __builtin_bswap64(hash);
        if (hash <= before) return LN_EINVALID;
        before = hash;
        err = ln_sketch_add(sketch, mem, precision, hash);
    }
    return err;
}
