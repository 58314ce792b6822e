/* The msgpack scanner against msgpack-c: which bytes are a record, where it ends, what its fields hold; the same rows
 * for any split of the bytes; no more memory than the limits allow.
 *
 *   scripts/fuzz 600 scan_fuzz
 *
 * An input is four bytes of setting, then bytes: the stream itself, or a recipe for msgpack-c's packer, so that valid
 * records are common. */
#include "ingest/fuzz/dump.h"

#include <msgpack.h>

static const char *const paths[] = {"a", "b", "a.b", "a.a.a", "", "long_name_of_23_letters", "ts"};
enum { PATHS = sizeof paths / sizeof *paths, SETTING = 4 };

/* ---- the other side ---- */

/* True where every declared length is there in bytes, so that msgpack-c's allocations stay small. Written without a
 * look at the scanner; stops where the bytes end or are bad. */
static int harmless(const uint8_t *p, size_t n) {
    uint64_t owed = 1;
    while (owed-- && n) {
        uint8_t b = *p;
        uint64_t head = 1, body = 0, items = 0, width = 0;
        if (b < 0x80 || b >= 0xe0 || (b >= 0xc0 && b <= 0xc3)) body = 0;
        else if (b < 0x90) items = (b & 15u) * 2u;
        else if (b < 0xa0) items = b & 15u;
        else if (b < 0xc0) body = b & 31u;
        else if (b <= 0xc6) width = 1u << (b - 0xc4);
        else if (b <= 0xc9) width = 1u << (b - 0xc7), head = 2;
        else if (b <= 0xcb) body = b == 0xca ? 4 : 8;
        else if (b <= 0xd3) body = 1u << ((b - 0xcc) & 3);
        else if (b <= 0xd8) body = 1 + (1u << (b - 0xd4));
        else if (b <= 0xdb) width = 1u << (b - 0xd9);
        else width = 2u << ((b - 0xdc) & 1);
        if (n < head + width) return 1;
        for (uint64_t i = 0, x = 0; i < width; i++) {
            x = x << 8 | p[1 + i];
            if (b >= 0xdc) items = b >= 0xde ? 2 * x : x;
            else body = x;
        }
        head += width;
        if (body > n - head || items > n - head) return 0;
        p += head + body;
        n -= head + body;
        owed += items;
    }
    return 1;
}

static void say_object(dump *d, const msgpack_object *o) {
    uint64_t bits;
    switch (o->type) {
    case MSGPACK_OBJECT_NIL: say(d, "null ", 5); return;
    case MSGPACK_OBJECT_BOOLEAN: say_number(d, 'b', o->via.boolean); return;
    case MSGPACK_OBJECT_POSITIVE_INTEGER: say_number(d, 'u', o->via.u64); return;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER: say_number(d, 'n', (uint64_t)o->via.i64); return;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        memcpy(&bits, &o->via.f64, 8);
        say_number(d, 'd', bits);
        return;
    case MSGPACK_OBJECT_STR:
        say_number(d, 't', o->via.str.size);
        say(d, o->via.str.ptr, o->via.str.size);
        return;
    case MSGPACK_OBJECT_BIN:
        say_number(d, 'x', o->via.bin.size);
        say(d, o->via.bin.ptr, o->via.bin.size);
        return;
    case MSGPACK_OBJECT_EXT:
        say_number(d, 'e', (uint8_t)o->via.ext.type);
        say_number(d, 'x', o->via.ext.size);
        say(d, o->via.ext.ptr, o->via.ext.size);
        return;
    case MSGPACK_OBJECT_ARRAY:
        say_number(d, 'a', o->via.array.size);
        for (uint32_t i = 0; i < o->via.array.size; i++) say_object(d, &o->via.array.ptr[i]);
        return;
    case MSGPACK_OBJECT_MAP:
        say_number(d, 'm', o->via.map.size);
        for (uint32_t i = 0; i < o->via.map.size; i++) {
            say_object(d, &o->via.map.ptr[i].key);
            say_object(d, &o->via.map.ptr[i].val);
        }
        return;
    }
}

/* The field at `path`, NULL where there is none. */
static const msgpack_object *object_get(const msgpack_object *o, const char *path) {
    for (;;) {
        size_t len = strcspn(path, ".");
        const msgpack_object *found = NULL;
        if (!o || o->type != MSGPACK_OBJECT_MAP) return NULL;
        for (uint32_t i = 0; i < o->via.map.size; i++) {
            const msgpack_object *name = &o->via.map.ptr[i].key;
            if (name->type == MSGPACK_OBJECT_STR && name->via.str.size == len &&
                (len == 0 || memcmp(name->via.str.ptr, path, len) == 0))
                found = &o->via.map.ptr[i].val;
        }
        if (!path[len]) return found;
        o = found;
        path += len + 1;
    }
}

/* How deep an object is, and the number of values inside it. */
static uint32_t depth_of(const msgpack_object *o, uint64_t *values) {
    uint32_t depth = 0, inner;
    if (o->type == MSGPACK_OBJECT_ARRAY) {
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            inner = depth_of(&o->via.array.ptr[i], values);
            if (inner > depth) depth = inner;
        }
        *values += o->via.array.size;
        return depth + 1;
    }
    if (o->type != MSGPACK_OBJECT_MAP) return 0;
    for (uint32_t i = 0; i < o->via.map.size; i++) {
        inner = depth_of(&o->via.map.ptr[i].key, values);
        if (inner > depth) depth = inner;
        inner = depth_of(&o->via.map.ptr[i].val, values);
        if (inner > depth) depth = inner;
    }
    *values += 2 * (uint64_t)o->via.map.size;
    return depth + 1;
}

static int is_limit(int err) { return err == LN_EDEPTH || err == LN_ERECORD || err == LN_EELEMENTS; }

/* The row that a record should give. */
static void say_record(dump *d, const msgpack_object *o, const uint8_t *bytes, size_t len) {
    say_number(d, '!', o->type == MSGPACK_OBJECT_MAP ? LN_OK : LN_EINVALID);
    for (int i = 0; i < PATHS; i++) {
        const msgpack_object *field = object_get(o, paths[i]);
        if (field) say_object(d, field);
        else say(d, "- ", 2);
    }
    say_number(d, '#', len);
    say(d, bytes, len);
    say(d, "\n", 1);
}

/* Compares the framer's word on the record at `p` with msgpack-c's, and dumps the row it should give. The framer's
 * word; *at as the framer has it. */
static int judge(const ln_limits *limits, const uint8_t *p, size_t n, uint64_t *at, dump *want) {
    ln_framer f;
    msgpack_unpacked theirs;
    size_t end = 0;
    uint64_t values = 0;
    int ours;
    ln_framer_init(&f);
    ours = ln_framer_run(&f, limits, p, n);
    *at = f.at;
    if (!harmless(p, n)) {
        REQUIRE(ours != LN_OK);
        return ours;
    }
    msgpack_unpacked_init(&theirs);
    switch (msgpack_unpack_next(&theirs, (const char *)p, n, &end)) {
    case MSGPACK_UNPACK_SUCCESS: {
        uint32_t depth = depth_of(&theirs.data, &values);
        if (ours == LN_EDEPTH) REQUIRE(depth > limits->nesting);
        else if (ours == LN_EELEMENTS) REQUIRE(values > limits->elements);
        else if (ours == LN_ERECORD) REQUIRE(end > limits->record_bytes);
        else {
            REQUIRE(ours == LN_OK && *at == end);
            REQUIRE(depth <= limits->nesting && values <= limits->elements && end <= limits->record_bytes);
            say_record(want, &theirs.data, p, end);
        }
        break;
    }
    case MSGPACK_UNPACK_PARSE_ERROR: REQUIRE(ours == LN_EMSGPACK || is_limit(ours)); break;
    case MSGPACK_UNPACK_CONTINUE: REQUIRE(ours == LN_FRAME_MORE || is_limit(ours)); break;
    default: REQUIRE(is_limit(ours)); break; /* nested deeper than msgpack-c goes */
    }
    msgpack_unpacked_destroy(&theirs);
    return ours;
}

/* ---- recipes ---- */

typedef struct recipe {
    const uint8_t *p, *end;
} recipe;

static uint8_t next_byte(recipe *r) { return r->p < r->end ? *r->p++ : 0; }

static uint64_t next_number(recipe *r, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x = x << 8 | next_byte(r);
    return x;
}

static void pack_name(msgpack_packer *pk, recipe *r) {
    static const char *const names[] = {
        "a", "b", "", "long_name_of_23_letters", "ts", "other", "a name of thirty-two characters!", "a"};
    const char *name = names[next_byte(r) & 7];
    msgpack_pack_str_with_body(pk, name, strlen(name));
}

static void pack_blob(msgpack_packer *pk, recipe *r, uint8_t op) {
    static const uint32_t lengths[] = {0, 1, 2, 4, 8, 16, 31, 32, 0, 1, 2, 4, 8,  16,  3,   5,
                                       0, 1, 2, 4, 8, 16, 3,  7,  0, 1, 2, 4, 12, 255, 256, 65536};
    static char body[65536];
    uint32_t len = lengths[next_byte(r) & 31];
    body[0] = (char)next_byte(r);
    if (op == 0) msgpack_pack_str_with_body(pk, body, len);
    else if (op == 1) msgpack_pack_bin_with_body(pk, body, len);
    else msgpack_pack_ext_with_body(pk, body, len, (int8_t)next_byte(r));
}

static void pack_scalar(msgpack_packer *pk, recipe *r, uint8_t op) {
    uint64_t bits;
    double d;
    switch (op) {
    case 0: msgpack_pack_nil(pk); break;
    case 1: msgpack_pack_true(pk); break;
    case 2: msgpack_pack_int64(pk, (int8_t)next_byte(r)); break;
    case 3: msgpack_pack_int64(pk, (int64_t)next_number(r, 4) - INT32_MAX); break;
    case 4: msgpack_pack_int64(pk, (int64_t)next_number(r, 8)); break;
    case 5: msgpack_pack_uint64(pk, next_number(r, 8)); break;
    case 6: msgpack_pack_float(pk, (float)next_byte(r) / 4); break;
    default:
        bits = next_number(r, 8);
        memcpy(&d, &bits, 8);
        msgpack_pack_double(pk, d);
        break;
    }
}

/* One value; deep ones follow the recipe as long as it lasts. */
static void pack(msgpack_packer *pk, recipe *r, int depth) {
    uint8_t op = next_byte(r), n = op >> 4;
    switch (op & 15) {
    case 8:
    case 9:
    case 10:
        msgpack_pack_map(pk, depth ? n : 0);
        for (int i = 0; i < n && depth; i++) {
            if (next_byte(r) % 8) pack_name(pk, r);
            else pack(pk, r, depth - 1);
            pack(pk, r, depth - 1);
        }
        break;
    case 11:
        msgpack_pack_array(pk, depth ? n : 0);
        for (int i = 0; i < n && depth; i++) pack(pk, r, depth - 1);
        break;
    case 12:
    case 13:
    case 14: pack_blob(pk, r, (op & 15) - 12); break;
    default: pack_scalar(pk, r, op & 7); break;
    }
}

static void cook(recipe *r, msgpack_sbuffer *out) {
    msgpack_packer pk;
    msgpack_packer_init(&pk, out, msgpack_sbuffer_write);
    while (r->p < r->end && out->size < 1 << 18) pack(&pk, r, 12);
}

/* ---- the target ---- */

static void check(const uint8_t *setting, const uint8_t *data, size_t len, const uint8_t *cuts, size_t count) {
    ln_limits limits = {.nesting = 1 + (setting[1] & 31) % 31,
                        .elements = 1u << (setting[1] >> 5) << (setting[2] & 7),
                        .record_bytes = 8u << (setting[2] >> 3) % 20};
    uint32_t rows = 1 + (setting[0] >> 1 & 3);
    test_mem t;
    dump want = {0}, whole = {0}, split = {0};
    uint64_t at = 0, offset = 0;
    int err = LN_OK;
    ln_reader *r = ln_reader_new_with(test_mem_init(&t, SIZE_MAX / 4), LN_FORMAT_MSGPACK, &limits, rows);
    REQUIRE(r);
    for (int i = 0; i < PATHS; i++) REQUIRE(ln_reader_column(r, paths[i], strlen(paths[i])) == i);
    while (offset < len && err == LN_OK) {
        err = judge(&limits, data + offset, len - offset, &at, &want);
        if (err == LN_OK) offset += at;
    }
    if (err == LN_FRAME_MORE) err = LN_ETRUNCATED;
    else if (err) offset += at;
    say_number(&want, 'E', (uint64_t)err);
    say_number(&want, '@', err ? offset : 0);

    run_reader(r, data, len, cuts, count, &split);
    REQUIRE(t.peak <= memory_bound(&limits, count ? 256 : len, rows, PATHS, 0));
    run_reader(r, data, len, NULL, 0, &whole);
    REQUIRE(same(&whole, &split));
    whole.len = whole.len < want.len ? whole.len : want.len; /* without the error's text */
    REQUIRE(same(&want, &whole));
    ln_reader_delete(r);
    REQUIRE(t.held == 0);
    free(want.text);
    free(whole.text);
    free(split.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    const uint8_t *setting = data;
    msgpack_sbuffer cooked;
    recipe r;
    size_t cuts;
    if (len < SETTING) return 0;
    data += SETTING;
    len -= SETTING;
    cuts = setting[3] % 16 < len ? setting[3] % 16 : len;
    if (!(setting[0] & 1)) {
        check(setting, data, len, data + len - cuts, cuts);
        return 0;
    }
    msgpack_sbuffer_init(&cooked);
    r = (recipe){data, data + len};
    cook(&r, &cooked);
    /* A byte of it may be wrong. */
    if (setting[0] & 0x80 && cooked.size)
        cooked.data[setting[3] * 7 % cooked.size] ^= (char)(1 << (setting[0] >> 4 & 7));
    check(setting, (const uint8_t *)cooked.data, cooked.size, data + len - cuts, cuts);
    msgpack_sbuffer_destroy(&cooked);
    return 0;
}
