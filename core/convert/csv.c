/* See csv.h. Bytes go to libcsv a line at a time, so that the line of a row is known when it ends. A row is collected
 * whole, since its map says first how many fields there are. */
#include "convert/csv.h"

#include <csv.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 400, NAME_SHOWN = 60, STEP = 1 << 20 }; /* bytes: of a number, and of a name in a message */

typedef struct field {
    size_t at, len; /* in the row's bytes */
    int empty;      /* without quotes and without a byte: there is no value */
} field;

typedef struct row {
    char *bytes;
    size_t len, cap;
    field *field;
    size_t fields, field_cap;
} row;

struct ln_csv {
    ln_output *out;
    ln_csv_options options;
    struct csv_parser parser;
    row names, row;
    int has_names;
    uint64_t line;    /* of the bytes at hand, from 1 */
    uint64_t begun;   /* the line in which the present row began */
    size_t row_bytes; /* of the input, since then */
    int begins;       /* no byte has come yet */
    char problem[256];
};

/* RFC 4180: spaces are part of a field. */
static int is_no_space(unsigned char c) {
    (void)c;
    return 0;
}

ln_csv *ln_csv_new(ln_output *out, const ln_csv_options *options) {
    ln_csv *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->out = out;
    c->options = *options;
    c->line = c->begun = 1;
    c->begins = 1;
    if (csv_init(&c->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_EMPTY_IS_NULL)) {
        free(c);
        return NULL;
    }
    csv_set_delim(&c->parser, options->delimiter);
    csv_set_space_func(&c->parser, is_no_space);
    csv_set_blk_size(&c->parser, STEP); /* by which its memory grows: in small steps a long field would take long */
    return c;
}

void ln_csv_delete(ln_csv *c) {
    if (!c) return;
    csv_free(&c->parser);
    free(c->names.bytes);
    free(c->names.field);
    free(c->row.bytes);
    free(c->row.field);
    free(c);
}

const char *ln_csv_problem(const ln_csv *c) { return c->problem; }

/* The first problem stays. */
__attribute__((format(printf, 3, 4))) static void fail(ln_csv *c, uint64_t line, const char *format, ...) {
    char what[200];
    va_list args;
    if (*c->problem) return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(c->problem, sizeof c->problem, "line %" PRIu64 ": %s", line, what);
}

/* ---- collecting a row ------------------------------------------------------------------------------------------- */

static int reserve(void **items, size_t *cap, size_t need, size_t size) {
    size_t to = *cap ? *cap : 64;
    void *grown;
    if (need <= *cap) return 0;
    while (to < need) to *= 2;
    grown = realloc(*items, to * size);
    if (!grown) return -1;
    *items = grown;
    *cap = to;
    return 0;
}

static int add_field(row *r, const char *bytes, size_t len) {
    void *at_bytes = r->bytes, *at_fields = r->field;
    int rc = reserve(&at_bytes, &r->cap, r->len + len + 1, 1);
    r->bytes = at_bytes;
    if (!rc) rc = reserve(&at_fields, &r->field_cap, r->fields + 1, sizeof *r->field);
    r->field = at_fields;
    if (rc) return -1;
    r->field[r->fields++] = (field){.at = r->len, .len = len, .empty = !bytes};
    if (bytes) memcpy(r->bytes + r->len, bytes, len);
    r->len += len;
    r->bytes[r->len++] = '\0'; /* for strtod */
    return 0;
}

/* libcsv calls this at the end of a field; NULL is one that is empty and not in quotes. */
static void on_field(void *bytes, size_t len, void *ctx) {
    ln_csv *c = ctx;
    if (*c->problem) return;
    if (c->row.fields == LN_CSV_FIELDS_MAX) {
        fail(c, c->line, "more than %d fields", LN_CSV_FIELDS_MAX);
    } else if (add_field(&c->row, bytes, len)) {
        fail(c, c->line, "memory is short");
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const char *text_of(const row *r, size_t i) { return r->bytes + r->field[i].at; }

typedef struct named {
    const char *bytes;
    size_t len, index;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->bytes, y->bytes, len);
    if (order) return order;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Names must be there, and each once. */
static void check_names(ln_csv *c) {
    const row *r = &c->names;
    named *sorted = calloc(r->fields, sizeof *sorted);
    if (!sorted) {
        fail(c, c->line, "memory is short");
        return;
    }
    for (size_t i = 0; i < r->fields; i++) {
        if (!r->field[i].len) fail(c, c->begun, "field %zu has no name: the first line names the fields", i + 1);
        sorted[i] = (named){text_of(r, i), r->field[i].len, i};
    }
    qsort(sorted, r->fields, sizeof *sorted, by_name);
    for (size_t i = 1; i < r->fields; i++) {
        const named *a = &sorted[i - 1], *b = &sorted[i];
        if (a->len != b->len || memcmp(a->bytes, b->bytes, a->len) != 0) continue;
        fail(c, c->begun, "fields %zu and %zu are both named %.*s", a->index + 1, b->index + 1,
             (int)(a->len < NAME_SHOWN ? a->len : NAME_SHOWN), a->bytes);
    }
    free(sorted);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static const char *digits(const char *s) {
    const char *from = s;
    while (isdigit((unsigned char)*s)) s++;
    return s > from ? s : NULL;
}

/* A number as JSON writes it: 1 where it is whole, 2 where it has a fraction or an exponent, 0 where it is none. What
 * begins with a zero, such as 007, is a name and no number. */
static int kind_of_number(const char *s, size_t len) {
    const char *end = s + len;
    int kind = 1;
    if (*s == '-') s++;
    if (*s == '0') s++;
    else if (!(s = digits(s))) return 0;
    if (*s == '.') {
        kind = 2;
        if (!(s = digits(s + 1))) return 0;
    }
    if (*s == 'e' || *s == 'E') {
        kind = 2;
        s++;
        if (*s == '+' || *s == '-') s++;
        if (!(s = digits(s))) return 0;
    }
    return s == end ? kind : 0;
}

/* Puts a number out; 0 where it is none, or could not stay exact. */
static int put_number(ln_output *o, const char *s, size_t len) {
    int kind;
    if (len > NUMBER_MAX || (*s != '-' && !isdigit((unsigned char)*s))) return 0;
    kind = kind_of_number(s, len);
    errno = 0;
    if (kind == 1) {
        if (*s == '-') {
            long long i = strtoll(s, NULL, 10);
            if (!errno && i) ln_output_int(o, i);
            return !errno && i; /* -0 has no whole number */
        }
        unsigned long long u = strtoull(s, NULL, 10);
        if (!errno) ln_output_uint(o, u);
        return !errno;
    }
    if (kind == 2) {
        double d = strtod(s, NULL);
        if (!isfinite(d)) return 0;
        ln_output_double(o, d);
        return 1;
    }
    return 0;
}

static void put_row(const ln_csv *c) {
    const row *r = &c->row, *names = &c->names;
    uint32_t present = 0;
    for (size_t i = 0; i < r->fields; i++) present += !r->field[i].empty;
    ln_output_map(c->out, present);
    for (size_t i = 0; i < r->fields; i++) {
        const char *text = text_of(r, i);
        size_t len = r->field[i].len;
        if (r->field[i].empty) continue;
        ln_output_text(c->out, text_of(names, i), names->field[i].len);
        if (c->options.texts || !put_number(c->out, text, len)) ln_output_text(c->out, text, len);
    }
}

/* libcsv calls this at the end of a row. */
static void on_row(int end, void *ctx) {
    ln_csv *c = ctx;
    (void)end;
    if (*c->problem) return;
    if (!c->has_names) {
        c->names = c->row;
        c->row = (row){0};
        c->has_names = 1;
        check_names(c);
    } else if (c->row.fields != c->names.fields) {
        fail(c, c->begun, "%zu %s, where the first line names %zu", c->row.fields,
             c->row.fields == 1 ? "field" : "fields", c->names.fields);
    } else {
        put_row(c);
        if (ln_output_status(c->out) != LN_OK) fail(c, c->line, "memory is short");
    }
    c->row.len = c->row.fields = 0;
    c->row_bytes = 0;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static int told(const ln_csv *c) { return *c->problem ? -1 : 0; }

static void fail_parse(ln_csv *c, int err) {
    if (err == CSV_EPARSE) {
        fail(c, c->line,
             "a quote in the middle of a field, or something behind its closing quote: put the whole field "
             "in quotes, and write a quote in it twice");
    } else {
        fail(c, c->line, "memory is short");
    }
}

/* A piece that ends with a line, or with what there is. */
static int push_piece(ln_csv *c, const uint8_t *bytes, size_t len) {
    if (!c->row_bytes) c->begun = c->line;
    c->row_bytes += len;
    if (c->row_bytes > LN_CSV_RECORD_MAX) fail(c, c->begun, "a record of more than %d bytes", LN_CSV_RECORD_MAX);
    if (*c->problem) return -1;
    if (csv_parse(&c->parser, bytes, len, on_field, on_row, c) != len) fail_parse(c, csv_error(&c->parser));
    if (len && bytes[len - 1] == '\n') {
        c->line++;
        if (!c->row.fields && !c->parser.quoted) c->row_bytes = 0; /* an empty line is none */
    }
    return told(c);
}

int ln_csv_push(ln_csv *c, const uint8_t *bytes, size_t len) {
    if (c->begins && len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        bytes += 3;
        len -= 3;
    }
    if (len) c->begins = 0;
    while (len) {
        const uint8_t *stop = memchr(bytes, '\n', len);
        size_t piece = stop ? (size_t)(stop - bytes) + 1 : len;
        if (push_piece(c, bytes, piece)) return -1;
        bytes += piece;
        len -= piece;
    }
    return told(c);
}

int ln_csv_end(ln_csv *c) {
    if (*c->problem) return -1;
    if (csv_fini(&c->parser, on_field, on_row, c)) {
        if (csv_error(&c->parser) == CSV_EPARSE) fail(c, c->begun, "a field in quotes that does not end");
        else fail_parse(c, csv_error(&c->parser));
    } else if (!c->has_names) {
        fail(c, 1, "there is none: the first line names the fields");
    }
    return told(c);
}
