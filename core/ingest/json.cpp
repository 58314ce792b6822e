/* JSON by simdjson's DOM, which checks the whole line, and a walk over the DOM that writes msgpack. Nothing here
 * throws: every function of simdjson that is called returns an error code, and asks for memory with nothrow. */
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "base/pack.h"
#pragma GCC diagnostic pop
}
#include "ingest/json.h"

#include <new>

namespace dom = simdjson::dom;

enum { NESTING_MAX = 128 };

/* Where the walk stands in one open map or array. */
struct open_value {
    bool map;
    dom::object::iterator pair, pair_end;
    dom::array::iterator item, item_end;
};

struct ln_json {
    dom::parser parser;
    ln_buf again; /* a line rewritten */
    open_value open[NESTING_MAX];
};

ln_json *ln_json_new(ln_mem *mem) {
    void *at = ln_mem_new(mem, sizeof(ln_json));
    if (!at) return nullptr;
    ln_json *j = new (at) ln_json;
    ln_buf_init(&j->again, mem);
    return j;
}

void ln_json_delete(ln_json *j, ln_mem *mem) {
    if (!j) return;
    ln_buf_free(&j->again);
    j->~ln_json();
    ln_mem_free(mem, j, sizeof *j);
}

namespace {

/* ---- writing msgpack ---- */

/* What `write`, given nine free bytes, puts there; it returns the end of it. */
template <typename F> void put(ln_buf *out, F write) {
    uint8_t *to = ln_buf_reserve(out, LN_PACK_MAX);
    if (to) out->len = size_t(write(to) - out->data);
}

void put_text(ln_buf *out, std::string_view s) { ln_pack_put_text(out, s.data(), s.size()); }

/* ---- walking the DOM ---- */

class walk {
  public:
    walk(ln_json *j, const ln_limits *most, ln_buf *into)
        : limits(most), out(into), start(into->len), open(j->open), elements(most->elements) {}
    int run(dom::element root);
    bool zero = false; /* a whole zero was seen: it may have been -0 */

  private:
    const ln_limits *limits;
    ln_buf *out;
    size_t start; /* of this value in `out` */
    open_value *open;
    uint32_t elements; /* that may still come */
    uint32_t depth = 0;

    int value(dom::element e);
    int full() const;
    int pairs(open_value &top);
    int items(open_value &top);
    int enter(dom::array a);
    int enter(dom::object o);
    int count(uint64_t n);
};

/* Counts an opened map or array of n values. */
int walk::count(uint64_t n) {
    if (depth >= limits->nesting) return LN_EDEPTH;
    if (n > elements) return LN_EELEMENTS;
    elements -= uint32_t(n);
    return LN_OK;
}

/* simdjson counts up to this; a larger container is counted by hand. */
const size_t SIZE_SATURATED = 0xFFFFFF;

int walk::enter(dom::array a) {
    size_t n = a.size();
    if (n >= SIZE_SATURATED) {
        n = 0;
        for (dom::element e : a) (void)e, n++;
    }
    int err = count(n);
    if (err) return err;
    ln_pack_put_head(out, LN_ARRAY, uint32_t(n));
    open_value &top = open[depth++];
    top.map = false;
    top.item = a.begin();
    top.item_end = a.end();
    return LN_OK;
}

int walk::enter(dom::object o) {
    size_t n = o.size();
    if (n >= SIZE_SATURATED) {
        n = 0;
        for (dom::key_value_pair pair : o) (void)pair, n++;
    }
    int err = count(2 * uint64_t(n));
    if (err) return err;
    ln_pack_put_head(out, LN_MAP, uint32_t(n));
    open_value &top = open[depth++];
    top.map = true;
    top.pair = o.begin();
    top.pair_end = o.end();
    return LN_OK;
}

int walk::value(dom::element e) {
    switch (e.type()) {
    case dom::element_type::ARRAY: return enter(e.get_array().value_unsafe());
    case dom::element_type::OBJECT: return enter(e.get_object().value_unsafe());
    case dom::element_type::INT64: {
        int64_t i = e.get_int64().value_unsafe();
        zero |= i == 0;
        put(out, [i](uint8_t *to) { return ln_pack_int(to, i); });
        break;
    }
    case dom::element_type::UINT64:
        put(out, [&](uint8_t *to) { return ln_pack_uint(to, e.get_uint64().value_unsafe()); });
        break;
    case dom::element_type::DOUBLE:
        put(out, [&](uint8_t *to) { return ln_pack_double(to, e.get_double().value_unsafe()); });
        break;
    case dom::element_type::STRING: put_text(out, e.get_string().value_unsafe()); break;
    case dom::element_type::BOOL: ln_buf_byte(out, e.get_bool().value_unsafe() ? 0xc3 : 0xc2); break;
    case dom::element_type::NULL_VALUE: ln_buf_byte(out, 0xc0); break;
    }
    return LN_OK;
}

int walk::full() const {
    if (out->failed) return LN_ENOMEM;
    return out->len - start > limits->record_bytes ? LN_ERECORD : LN_OK;
}

/* Writes the rest of an open map, up to a map or array inside it, which is then the innermost. */
int walk::pairs(open_value &top) {
    dom::object::iterator pair = top.pair;
    const uint32_t here = depth;
    for (const dom::object::iterator end = top.pair_end; pair != end;) {
        put_text(out, pair.key());
        int err = value(pair.value());
        if (!err) err = full();
        if (err) return err;
        ++pair;
        if (depth == here) continue;
        top.pair = pair;
        return LN_OK;
    }
    depth--;
    return LN_OK;
}

/* The same for an array. */
int walk::items(open_value &top) {
    dom::array::iterator item = top.item;
    const uint32_t here = depth;
    for (const dom::array::iterator end = top.item_end; item != end;) {
        int err = value(*item);
        if (!err) err = full();
        if (err) return err;
        ++item;
        if (depth == here) continue;
        top.item = item;
        return LN_OK;
    }
    depth--;
    return LN_OK;
}

int walk::run(dom::element root) {
    int err = value(root);
    if (!err) err = full();
    while (!err && depth) {
        open_value &top = open[depth - 1];
        err = top.map ? pairs(top) : items(top);
    }
    return err;
}

/* ---- numbers that simdjson does not tell apart ---- */

bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* True where [p, end) is a number by JSON's grammar; *whole where it has neither fraction nor exponent. */
bool is_number(const uint8_t *p, const uint8_t *end, bool *whole) {
    const uint8_t *digits;
    *whole = true;
    if (p < end && *p == '-') p++;
    for (digits = p; p < end && is_digit(*p);) p++;
    if (p == digits || (*digits == '0' && p - digits > 1)) return false;
    if (p < end && *p == '.') {
        *whole = false;
        for (digits = ++p; p < end && is_digit(*p);) p++;
        if (p == digits) return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *whole = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        for (digits = p; p < end && is_digit(*p);) p++;
        if (p == digits) return false;
    }
    return p == end;
}

/* The end of the text that begins with the quote at `p`. */
const uint8_t *text_end(const uint8_t *p, const uint8_t *end) {
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
    return p < end ? p + 1 : end;
}

/* The end of what stands unquoted between marks and spaces. */
const uint8_t *word_end(const uint8_t *p, const uint8_t *end) {
    while (p < end && *p && !strchr("{}[]:,\" \t\r\n", *p)) p++;
    return p;
}

/* Copies the line to `again`, with what rewrite(number, its length, whole) returns in place of each number; an empty
 * text keeps it. */
template <typename F> void rewrite_numbers(const uint8_t *line, size_t len, ln_buf *again, F rewrite) {
    const uint8_t *p = line, *end = line + len, *kept = line;
    ln_buf_clear(again);
    while (p < end) {
        bool whole;
        const uint8_t *word = p;
        p = *p == '"' ? text_end(p, end) : word_end(p, end);
        if (p == word) {
            p++;
        } else if (is_number(word, p, &whole)) {
            std::string_view with = rewrite(word, size_t(p - word), whole);
            if (with.empty()) continue;
            ln_buf_append(again, kept, size_t(word - kept));
            ln_buf_append(again, with.data(), with.size());
            kept = p;
        }
    }
    ln_buf_append(again, kept, size_t(end - kept));
}

simdjson::error_code parse(ln_json *j, const uint8_t *line, size_t len, dom::element *root) {
    return j->parser.parse(line, len, false).get(*root);
}

/* Parses the line as rewritten into j->again. */
simdjson::error_code parse_again(ln_json *j, dom::element *root) {
    size_t len = j->again.len;
    uint8_t *pad = ln_buf_reserve(&j->again, LN_JSON_PAD);
    if (!pad) return simdjson::MEMALLOC;
    memset(pad, 0, LN_JSON_PAD);
    return parse(j, j->again.data, len, root);
}

/* Tells numbers out of range from numbers that are none: with a 0 for each correct number, is the line JSON? */
int blame_number(ln_json *j, const uint8_t *line, size_t len) {
    dom::element root;
    rewrite_numbers(line, len, &j->again, [](const uint8_t *, size_t, bool) { return std::string_view("0"); });
    simdjson::error_code err = parse_again(j, &root);
    if (err == simdjson::MEMALLOC) return LN_ENOMEM;
    return err ? LN_EJSON : LN_EBIGINT;
}

/* simdjson reads -0 as the whole number 0. True where the line has one: j->again then has -0.0 in its place. */
bool mend_zeros(ln_json *j, const uint8_t *line, size_t len) {
    bool mended = false;
    if (!memchr(line, '-', len)) return false;
    rewrite_numbers(line, len, &j->again, [&](const uint8_t *number, size_t number_len, bool whole) {
        if (!whole || number_len != 2 || memcmp(number, "-0", 2) != 0) return std::string_view();
        mended = true;
        return std::string_view("-0.0");
    });
    return mended;
}

int code_of(ln_json *j, simdjson::error_code err, const uint8_t *line, size_t len) {
    switch (err) {
    case simdjson::SUCCESS: return LN_OK;
    case simdjson::MEMALLOC: return LN_ENOMEM;
    case simdjson::DEPTH_ERROR: return LN_EDEPTH;
    case simdjson::CAPACITY: return LN_ERECORD;
    case simdjson::NUMBER_ERROR: return blame_number(j, line, len);
    default: return LN_EJSON;
    }
}

} // namespace

int ln_json_convert(ln_json *j, const ln_limits *limits, const uint8_t *line, size_t len, ln_buf *out) {
    size_t start = out->len;
    dom::element root;
    int err = code_of(j, parse(j, line, len, &root), line, len);
    if (err) return err;
    walk first(j, limits, out);
    err = first.run(root);
    if (!err && first.zero && mend_zeros(j, line, len)) {
        out->len = start;
        err = code_of(j, parse_again(j, &root), j->again.data, j->again.len);
        if (!err) err = walk(j, limits, out).run(root);
    }
    if (err) {
        out->len = start;
        out->failed = 0;
    }
    return err;
}
