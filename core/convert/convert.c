/* See convert.h. msgpack and JSON lines go through the reader that a run has, but with wider limits; a value that is no
 * map is converted too. */
#define _GNU_SOURCE
#include "convert/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536 };

static const ln_limits LIMITS = {.record_bytes = LN_CSV_RECORD_MAX, .nesting = 128, .elements = 1 << 22};

typedef struct conversion {
    const ln_convert_options *o;
    ln_output *out;
    const char *name; /* of the file */
    FILE *in;
    uint8_t *piece; /* PIECE bytes */
    size_t len;     /* of them in use */
    char *problem;
} conversion;

__attribute__((format(printf, 2, 3))) static int fail(conversion *c, const char *format, ...) {
    va_list args;
    int at = snprintf(c->problem, 512, "%.200s: ", strcmp(c->name, "-") ? c->name : "standard input");
    va_start(args, format);
    vsnprintf(c->problem + at, 512 - (size_t)at, format, args);
    va_end(args);
    return -1;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

static void choose_format(conversion *c, int from) {
    int to = c->o->to;
    if (from == LN_CONVERT_AUTO || ln_output_format_used(c->out) != LN_FORMAT_AUTO) return;
    if (to == LN_FORMAT_AUTO)
        to = from == LN_CONVERT_JSON && !isatty(fileno(c->o->out)) ? LN_FORMAT_MSGPACK : LN_FORMAT_JSON;
    ln_output_format(c->out, to);
}

static int flush(conversion *c) {
    size_t len;
    const uint8_t *bytes;
    if (!ln_output_size(c->out)) return 0;
    bytes = ln_output_take(c->out, LN_STREAM_PANES, &len);
    if (ln_output_status(c->out) != LN_OK) return fail(c, "memory is short");
    if (len && fwrite(bytes, 1, len, c->o->out) != len) return fail(c, "writing: %s", strerror(errno));
    ln_output_clear(c->out, LN_STREAM_PANES);
    return 0;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* The next piece, which is shorter than it could be where the input is slow. 1, 0 at the end, or -1. */
static int next_piece(conversion *c) {
    ssize_t n;
    do n = read(fileno(c->in), c->piece, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0) return fail(c, "%s", strerror(errno));
    c->len = (size_t)n;
    return n > 0;
}

static int convert_csv(conversion *c) {
    ln_csv *csv = ln_csv_new(c->out, &c->o->csv);
    int more, rc = 0;
    if (!csv) return fail(c, "memory is short");
    choose_format(c, LN_CONVERT_CSV);
    while (!rc && (more = next_piece(c)) != 0) {
        rc = more < 0 ? -1 : ln_csv_push(csv, c->piece, c->len);
        if (flush(c)) rc = -1;
        else if (rc && more > 0) rc = fail(c, "%s", ln_csv_problem(csv));
    }
    if (!rc && ln_csv_end(csv)) rc = flush(c) ? -1 : fail(c, "%s", ln_csv_problem(csv));
    if (!rc) rc = flush(c);
    ln_csv_delete(csv);
    return rc;
}

/* Where the lines of JSON stand: rows are lines that are not blank. */
typedef struct lines {
    uint64_t before; /* line ends in earlier pieces */
    int begun;       /* an earlier piece ended within a line that is not blank */
    uint64_t rows;   /* that the present piece has completed */
} lines;

static int is_blank(uint8_t b) { return b == ' ' || b == '\t' || b == '\r'; }

/* The number of the line that is row `row` of this piece, the first being 0. */
static uint64_t line_of(const lines *l, const conversion *c, uint64_t row) {
    uint64_t line = l->before + 1;
    int begun = l->begun;
    for (size_t i = 0; i < c->len; i++) {
        if (c->piece[i] == '\n') {
            if (begun && row-- == 0) return line;
            line++;
            begun = 0;
        } else if (!is_blank(c->piece[i])) {
            begun = 1;
        }
    }
    return line;
}

static void pass(lines *l, const conversion *c) {
    size_t from = 0;
    for (size_t i = 0; i < c->len; i++) {
        if (c->piece[i] != '\n') continue;
        l->before++;
        l->begun = 0;
        from = i + 1;
    }
    for (size_t i = from; i < c->len; i++) l->begun |= !is_blank(c->piece[i]);
    l->rows = 0;
}

static int refuse_row(conversion *c, const ln_reader *r, const lines *l, int err) {
    const char *hint = err == LN_EJSON && c->o->from == LN_CONVERT_AUTO ? "; CSV takes --from csv" : "";
    if (ln_reader_format(r) != LN_FORMAT_JSON) return fail(c, "%s", ln_strerror(err));
    return fail(c, "line %" PRIu64 ": %s%s", line_of(l, c, l->rows), ln_strerror(err), hint);
}

/* Everything that the reader holds. */
static int drain(conversion *c, ln_reader *r, lines *l) {
    const ln_batch *batch;
    for (;;) {
        int err = ln_reader_next(r, &batch);
        choose_format(c, ln_reader_format(r));
        for (uint32_t i = 0; !err && i < batch->rows; i++, l->rows++) {
            int bad = batch->malformed[i];
            if (bad && bad != LN_EINVALID) return flush(c) ? -1 : refuse_row(c, r, l, bad);
            ln_output_raw(c->out, (const char *)batch->record[i], batch->record_bytes[i]);
        }
        if (flush(c)) return -1;
        if (err) return fail(c, "%s", ln_reader_error(r));
        if (!batch->rows) return 0;
    }
}

static int convert_records(conversion *c) {
    int from = c->o->from, more, rc = 0;
    ln_reader *r = ln_reader_new(from, &LIMITS, 0);
    lines l = {0};
    if (!r) return fail(c, "memory is short");
    while (!rc && (more = next_piece(c)) != 0) {
        if (more < 0) rc = -1;
        else if (ln_reader_push(r, c->piece, c->len) != LN_OK) rc = fail(c, "memory is short");
        else rc = drain(c, r, &l);
        pass(&l, c);
    }
    if (!rc) {
        c->len = 0;
        ln_reader_end(r);
        rc = drain(c, r, &l);
    }
    ln_reader_delete(r);
    return rc;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static int is_csv(const conversion *c) {
    size_t len = strlen(c->name);
    if (c->o->from != LN_CONVERT_AUTO) return c->o->from == LN_CONVERT_CSV;
    return len > 4 && !strcmp(c->name + len - 4, ".csv");
}

static int convert_file(conversion *c) {
    int rc;
    c->in = strcmp(c->name, "-") ? fopen(c->name, "rb") : stdin;
    if (!c->in) return fail(c, "%s", strerror(errno));
    rc = is_csv(c) ? convert_csv(c) : convert_records(c);
    if (c->in != stdin) fclose(c->in);
    return rc;
}

int ln_convert(const ln_convert_options *options, const char *const *files, size_t count, char problem[512]) {
    conversion c = {.o = options, .problem = problem, .name = "-"};
    int rc = 0;
    c.out = ln_output_new(LN_FORMAT_AUTO);
    c.piece = malloc(PIECE);
    if (!c.out || !c.piece) rc = fail(&c, "memory is short");
    for (size_t i = 0; !rc && i < count; i++) {
        c.name = files[i];
        rc = convert_file(&c);
    }
    free(c.piece);
    ln_output_delete(c.out);
    return rc;
}
