/* A record's time and a pipeline's unit. */
#include "base/time.h"

#include "base/instant.h"
#include "base/msgpack.h"
#include "base/rfc3339.h"

#include <math.h>

/* Nanoseconds, which are finer, are handled apart. */
const int64_t ln_time_unit_us[] = {
    [LN_UNIT_S] = 1000000, [LN_UNIT_MS] = 1000, [LN_UNIT_US] = 1,
    [LN_UNIT_NS] = 0,      [LN_UNIT_TICK] = 1,  [LN_UNIT_RFC3339] = 1000,
};

static int finite_us(__int128 us, int64_t *out) {
    if (us < LN_TIME_MIN || us > LN_TIME_MAX) return -1;
    *out = (int64_t)us;
    return 0;
}

static int read_whole(__int128 n, int unit, int64_t *us) {
    if (unit == LN_UNIT_NS) return finite_us(n < 0 ? -((-n + 999) / 1000) : n / 1000, us);
    return finite_us(n * ln_time_unit_us[unit], us);
}

int ln_time_whole_slow(int64_t n, int unit, int64_t *us) { return read_whole(n, unit, us); }

/* The fraction is scaled apart from the whole: rounding their product could move it to the next microsecond. */
static int read_double(double d, int unit, int64_t *us) {
    double whole = trunc(d);
    if (unit == LN_UNIT_NS) {
        d = round(d / 1000.0);
        if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0)) return -1;
        return finite_us((__int128)d, us);
    }
    if (!(whole > -9223372036854775808.0 && whole < 9223372036854775808.0)) return -1;
    return finite_us(
        (__int128)whole * ln_time_unit_us[unit] + (__int128)round((d - whole) * (double)ln_time_unit_us[unit]), us);
}

static int from_seconds(int64_t s, uint32_t ns, int unit, int64_t *us) {
    if (ns > 999999999 || unit == LN_UNIT_TICK) return -1;
    return finite_us((__int128)s * 1000000 + ns / 1000, us);
}

static int read_ext(const ln_value *v, int unit, int64_t *us) {
    if (v->ext == 0 && v->len == 8) return from_seconds(ln_be32(v->at), ln_be32(v->at + 4), unit, us);
    if (v->ext != -1) return -1;
    if (v->len == 4) return from_seconds(ln_be32(v->at), 0, unit, us);
    if (v->len == 8) {
        uint64_t both = ln_be64(v->at);
        return from_seconds((int64_t)(both & 0x3ffffffff), (uint32_t)(both >> 34), unit, us);
    }
    if (v->len == 12) return from_seconds((int64_t)ln_be64(v->at + 4), ln_be32(v->at), unit, us);
    return -1;
}

int ln_time_read(const ln_value *v, int unit, int64_t *us) {
    switch (v->type) {
    case LN_INT: return read_whole(v->i, unit, us);
    case LN_UINT: return read_whole(v->u, unit, us);
    case LN_DOUBLE: return read_double(v->d, unit, us);
    case LN_EXT: return read_ext(v, unit, us);
    case LN_TEXT:
        if (unit != LN_UNIT_RFC3339) return -1;
        return ln_rfc3339_read((const char *)v->at, v->len, us);
    default: return -1;
    }
}

void ln_time_show(int64_t us, int unit, ln_value *out) {
    *out = (ln_value){.type = LN_INT, .i = us};
    if (us == LN_PAST || us == LN_FUTURE) {
        out->type = LN_NULL;
    } else if (unit == LN_UNIT_NS) {
        if (__builtin_mul_overflow(us, 1000, &out->i)) *out = (ln_value){.type = LN_DOUBLE, .d = (double)us * 1000.0};
    } else if (us % ln_time_unit_us[unit] == 0) {
        out->i = us / ln_time_unit_us[unit];
    } else {
        *out = (ln_value){.type = LN_DOUBLE, .d = (double)us / (double)ln_time_unit_us[unit]};
    }
}

double ln_time_number(int64_t us, int unit) {
    if (unit == LN_UNIT_NS) return (double)us * 1000.0;
    return (double)us / (double)ln_time_unit_us[unit];
}
