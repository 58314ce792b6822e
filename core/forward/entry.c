/* Entries. Their bytes are not checked before: heads and lengths go no further than `end`. */
#include "forward/entry.h"

#include "base/assert.h"
#include "base/instant.h"
#include "base/msgpack.h"
#include "base/pack.h"
#include "base/time.h"

enum {
    ADDED_VALUES = 4,         /* `$time` and `$tag` with their names */
    METADATA_BYTES = 1 << 16, /* of one entry */
    SECONDS_BITS = 34         /* of the eight-byte timestamp */
};

/* ---- time ------------------------------------------------------------------------------------------------------ */

static uint8_t *put_stamp(uint8_t *to, int64_t s, uint32_t ns) {
    uint64_t big = __builtin_bswap64((uint64_t)s);
    if (s >= 0 && s < INT64_C(1) << SECONDS_BITS) {
        *to++ = 0xd7;
        return ln_pack_be(to, 0xff, (uint64_t)ns << SECONDS_BITS | (uint64_t)s, 8);
    }
    *to++ = 0xc7;
    *to++ = 12;
    to = ln_pack_be(to, 0xff, ns, 4);
    memcpy(to, &big, 8);
    return to + 8;
}

/* A time of the protocol: whole seconds, seconds as a double, an event time, or a msgpack timestamp. Anything else, and
 * what is out of range, is no time: nil. */
static void set_stamp(ln_forward_entry *e, const ln_value *time) {
    uint8_t *to = e->stamp;
    int64_t us;
    if (ln_time_read(time, LN_UNIT_S, &us) < 0) {
        *to++ = 0xc0;
    } else if (time->type == LN_INT) {
        to = put_stamp(to, time->i, 0);
    } else if (time->type == LN_EXT && time->ext == 0) {
        to = put_stamp(to, ln_be32(time->at), ln_be32(time->at + 4));
    } else {
        to = put_stamp(to, ln_floor_div(us, 1000000), (uint32_t)ln_floor_mod(us, 1000000) * 1000);
    }
    e->stamp_bytes = (uint32_t)(to - e->stamp);
}

/* A head, and the payload where it has one. */
static int read_flat(ln_value *v, const uint8_t **p, const uint8_t *end) {
    int head = ln_msgpack_head(*p, end, v, p);
    if (head == LN_HEAD_SHORT) return LN_FRAME_MORE;
    if (head == LN_HEAD_BAD) return LN_EMSGPACK;
    if (v->type == LN_TEXT || v->type == LN_BYTES || v->type == LN_EXT) {
        if (v->len > METADATA_BYTES) return LN_ERECORD;
        if (v->len > (size_t)(end - *p)) return LN_FRAME_MORE;
        *p += v->len;
    }
    return LN_OK;
}

/* Passes one value; only where the fast way gives up does the framer tell why. */
static int pass(const ln_limits *limits, const uint8_t **p, const uint8_t *end, uint32_t *elements) {
    const uint8_t *after = ln_scan_pass(limits, *p, end, elements);
    ln_framer f;
    int err;
    if (after) {
        *p = after;
        return LN_OK;
    }
    ln_framer_init(&f);
    err = ln_framer_run(&f, limits, *p, (size_t)(end - *p));
    LN_ASSERT(err != LN_OK);
    return err;
}

/* Fluent Bit puts metadata beside the time, and marks groups of records by the seconds -1 and -2. */
static int read_metadata(ln_forward_entry *e, const ln_limits *limits, ln_value *time, const uint8_t **p,
                         const uint8_t *end) {
    ln_limits small = *limits;
    uint32_t elements;
    int err = read_flat(time, p, end);
    if (err) return err;
    if (time->type == LN_ARRAY || time->type == LN_MAP) return LN_EINVALID;
    if (*p < end && !ln_scan_is_map(**p) && **p != 0xc0) return LN_EINVALID;
    if (small.record_bytes > METADATA_BYTES) small.record_bytes = METADATA_BYTES;
    err = pass(&small, p, end, &elements);
    if (err) return err;
    e->is_marker = time->type == LN_EXT && time->ext == 0 && time->len == 8 && ln_be32(time->at) >= 0xfffffffe;
    return LN_OK;
}

/* Most entries have an event time and no metadata. */
static int read_event_time(ln_forward_entry *e, const uint8_t **p, const uint8_t *end) {
    static const uint8_t head[] = {0xd7, 0};
    uint32_t ns;
    if (end - *p < 10 || memcmp(*p, head, sizeof head) != 0) return 0;
    ns = ln_be32(*p + 6);
    if (ns > 999999999) return 0;
    e->stamp_bytes = (uint32_t)(put_stamp(e->stamp, ln_be32(*p + 2), ns) - e->stamp);
    *p += 10;
    return 1;
}

static int read_time(ln_forward_entry *e, const ln_limits *limits, const uint8_t **p, const uint8_t *end) {
    ln_value time;
    if (read_event_time(e, p, end)) return LN_OK;
    int err = read_flat(&time, p, end);
    if (!err && time.type == LN_MAP) err = LN_EINVALID;
    if (!err && time.type == LN_ARRAY) err = time.len == 2 ? read_metadata(e, limits, &time, p, end) : LN_EINVALID;
    if (!err) set_stamp(e, &time);
    return err;
}

/* ---- record ---------------------------------------------------------------------------------------------------- */

static size_t head_bytes(int type, uint32_t n) {
    uint8_t head[LN_PACK_MAX];
    return (size_t)(ln_pack_head(head, type, n) - head);
}

/* What is known of a record from its ends. */
static void measure_record(ln_forward_entry *e, uint32_t tag_bytes, const uint8_t *p, const uint8_t *end) {
    ln_value head;
    e->at = p;
    e->end = end;
    e->is_map = ln_scan_is_map(*p);
    if (e->is_map) {
        ln_msgpack_head(p, end, &head, &e->at);
        e->pairs = head.len;
    }
    e->bytes = (size_t)(e->end - e->at);
    if (!e->is_map) return;
    e->bytes += head_bytes(LN_MAP, e->pairs + 2) + sizeof "$time" + e->stamp_bytes;
    e->bytes += sizeof "$tag" + head_bytes(LN_TEXT, tag_bytes) + tag_bytes;
}

static int read_record(ln_forward_entry *e, const ln_limits *limits, uint32_t tag_bytes, const uint8_t *p,
                       const uint8_t *end) {
    const uint8_t *next = p;
    uint32_t elements;
    int err = pass(limits, &next, end, &elements);
    if (err) return err;
    measure_record(e, tag_bytes, p, next);
    if (!e->is_map) return LN_OK;
    if (e->bytes > limits->record_bytes) return LN_ERECORD;
    return (uint64_t)elements + ADDED_VALUES > limits->elements ? LN_EELEMENTS : LN_OK;
}

int ln_forward_entry_read_parts(ln_forward_entry *e, const ln_limits *limits, uint32_t tag_bytes, const uint8_t *p,
                                const uint8_t *end) {
    int err;
    e->is_marker = 0;
    err = read_time(e, limits, &p, end);
    return err ? err : read_record(e, limits, tag_bytes, p, end);
}

/* The array around time and record. */
static int enter(const uint8_t **p, const uint8_t *end) {
    ln_value pair;
    int err;
    if (*p < end && **p == 0x92) {
        ++*p;
        return LN_OK;
    }
    err = read_flat(&pair, p, end);
    if (err) return err;
    return pair.type != LN_ARRAY || pair.len != 2 ? LN_EINVALID : LN_OK;
}

int ln_forward_entry_read(ln_forward_entry *e, const ln_limits *limits, uint32_t tag_bytes, const uint8_t *p,
                          const uint8_t *end) {
    int err = enter(&p, end);
    return err ? err : ln_forward_entry_read_parts(e, limits, tag_bytes, p, end);
}

void ln_forward_entry_read_again(ln_forward_entry *e, uint32_t tag_bytes, int parts, const uint8_t *p,
                                 const uint8_t *end) {
    static const ln_limits any = {.record_bytes = 1 << 30, .nesting = LN_NESTING_MAX, .elements = INT32_MAX};
    int err = parts ? LN_OK : enter(&p, end);
    e->is_marker = 0;
    if (!err) err = read_time(e, &any, &p, end);
    LN_ASSERT(err == LN_OK);
    measure_record(e, tag_bytes, p, end);
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t len) {
    memcpy(to, bytes, len);
    return to + len;
}

void ln_forward_entry_write(const ln_forward_entry *e, const void *tag, uint32_t tag_bytes, uint8_t *to) {
    if (e->is_map) to = ln_pack_head(to, LN_MAP, e->pairs + 2);
    to = put(to, e->at, (size_t)(e->end - e->at));
    if (!e->is_map) return;
    to = put(to, "\xa5$time", 6);
    to = put(to, e->stamp, e->stamp_bytes);
    to = put(to, "\xa4$tag", 5);
    to = ln_pack_head(to, LN_TEXT, tag_bytes);
    put(to, tag, tag_bytes);
}
