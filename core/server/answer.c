/* See answer.h. Requests are read by the reader of records, within its limits; each field has its type, and one that is
 * not known is told, so that a slip of the pen does not ask for something else. */
#define _GNU_SOURCE
#include "server/answer.h"

#include "server/connection.h"
#include "server/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOWS_MOST = 500, CONNECTIONS_MOST = 10000, NESTING_MAX = 2, ELEMENTS_MAX = 32, TEXT_BYTES = 2048 };

enum field { COMMAND, PIPELINE, KEY, WINDOW, MOST, FROM, FIELDS };
static const char *const NAMES[FIELDS] = {"command", "pipeline", "key", "window", "most", "from"};

/* One request: its fields as texts, NULL where they are missing. */
typedef struct request {
    const char *field[FIELDS];
    char text[FIELDS][TEXT_BYTES];
} request;

static void refuse(ln_buf *out, const char *what) {
    ln_buf_clear(out);
    ln_json_format(out, "{");
    ln_json_member(out, "error", what);
    ln_json_format(out, "}");
}

/* ---- status ----------------------------------------------------------------------------------------------------- */

const char *ln_answer_unready(const ln_server *s) {
    if (s->stopping || s->phase > LN_RUN_SERVING) return "draining";
    if (!s->serving) return "starting";
    return ln_checkpoint_problem(s->checkpoint);
}

static void put_counters(ln_server *s, ln_buf *out) {
    const ln_counters *c = ln_server_counters(s);
    const char *name;
    uint64_t value;
    ln_json_format(out, ",\"server\":{");
    for (size_t i = 0; ln_counters_get(c, i, &name, &value); i++)
        ln_json_format(out, "%s\"%s\":%" PRIu64, i ? "," : "", name, value);
    ln_json_format(out, "}");
}

static void put_run(ln_server *s, ln_buf *out) {
    const char *unready = ln_answer_unready(s);
    ln_json_format(out, ",\"run\":{");
    ln_json_member(out, "state", unready ? unready : "serving");
    ln_json_member(out, "version", ln_version());
    ln_json_format(out, ",\"pid\":%ld,\"uptime_s\":%.3f}", (long)getpid(),
                   (double)(ln_clock_steady_us() - s->begun_us) / 1e6);
}

static void put_reload(const ln_server *s, ln_buf *out) {
    ln_reload_told told;
    ln_reload_tell(s, &told);
    ln_json_format(out, ",\"reload\":{\"done\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"under_way\":%s", told.done,
                   told.failed, told.under_way ? "true" : "false");
    ln_json_format(out, ",\"longest_hold_s\":%.6f", told.longest_hold_s);
    ln_json_member(out, "problem", told.problem);
    ln_json_format(out, "}");
}

static void put_checkpoints(const ln_server *s, ln_buf *out) {
    ln_checkpoint_told told;
    if (!s->checkpoint) return;
    ln_checkpoint_tell(s->checkpoint, &told);
    ln_json_format(out, ",\"checkpoints\":{\"done\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"age_s\":%.3f", told.done,
                   told.failed, (double)told.age_us / 1e6);
    ln_json_format(out, ",\"took_s\":%.6f,\"longest_pause_s\":%.6f,\"entries\":%" PRIu64 ",\"bytes\":%" PRIu64,
                   (double)told.took_us / 1e6, (double)told.longest_pause_us / 1e6, told.entries, told.bytes);
    ln_json_format(out, ",\"holds_input\":%s", told.held ? "true" : "false");
    ln_json_member(out, "problem", told.problem);
    ln_json_format(out, "}");
}

int ln_answer_status(ln_server *s, ln_buf *out) {
    const char *account = lunette_stats(s->host);
    if (!account) {
        refuse(out, lunette_error(s->host));
        return -1;
    }
    ln_buf_append(out, account, strlen(account) - 1);
    put_run(s, out);
    put_reload(s, out);
    put_checkpoints(s, out);
    put_counters(s, out);
    ln_json_format(out, "}");
    return 0;
}

/* ---- commands --------------------------------------------------------------------------------------------------- */

static uint64_t answer_status(ln_server *s, const request *q, ln_buf *out) {
    (void)q;
    (void)ln_answer_status(s, out);
    return 0;
}

static const char *look(ln_server *s, const char *what, const request *q) {
    lunette_param args[FIELDS];
    size_t count = 0;
    for (int i = PIPELINE; i < FIELDS; i++)
        if (q->field[i]) args[count++] = (lunette_param){NAMES[i], q->field[i]};
    return lunette_look(s->host, what, args, count);
}

static uint64_t answer_windows(ln_server *s, const request *q, ln_buf *out) {
    const char *text;
    if (q->field[MOST] && strtoull(q->field[MOST], NULL, 10) > WINDOWS_MOST) {
        refuse(out, "most: at most 500 windows at once; `next` of an answer is the `from` of the next request");
        return 0;
    }
    text = look(s, "windows", q);
    if (!text) refuse(out, lunette_error(s->host));
    else ln_buf_append(out, text, strcspn(text, "\n"));
    return 0;
}

/* Which connection a source of the watermark is. */
static uint64_t answer_connections(ln_server *s, const request *q, ln_buf *out) {
    int64_t now_us = ln_turn_heard_us(s);
    size_t count = 0;
    (void)q;
    ln_json_format(out, "[");
    for (const ln_connection *c = s->connections; c && count < CONNECTIONS_MOST; c = c->after, count++) {
        ln_json_format(out, "%s{\"source\":%" PRIu64 ",\"silent_s\":%.3f", count ? "," : "", c->stream.number,
                       (double)(now_us - c->heard_us) / 1e6);
        ln_json_member(out, "name", c->name);
        ln_json_format(out, "}");
    }
    ln_json_format(out, "]");
    return 0;
}

static uint64_t answer_why(ln_server *s, const request *q, ln_buf *out) {
    const char *text = look(s, "why", q);
    if (!text) {
        refuse(out, lunette_error(s->host));
        return 0;
    }
    ln_json_format(out, "{");
    ln_json_member(out, "text", text);
    ln_json_format(out, "}");
    return 0;
}

static uint64_t answer_drain(ln_server *s, const request *q, ln_buf *out) {
    (void)q;
    s->drain_asked = 1;
    ln_json_format(out, "{\"draining\":true}");
    return 0;
}

/* How many reloads there have been, of either end. */
static uint64_t reloads(const ln_server *s, ln_reload_told *told) {
    ln_reload_tell(s, told);
    return told->done + told->failed;
}

uint64_t ln_answer_awaited(ln_server *s, uint64_t awaited, ln_buf *out) {
    ln_reload_told told;
    char text[LN_TRIAL_PROBLEM + 64];
    int over = reloads(s, &told) >= awaited;
    if (!over && !s->stopping) return awaited;
    if (over && !*told.problem) {
        ln_json_format(out, "{\"reloaded\":true}");
        return 0;
    }
    snprintf(text, sizeof text, "the script was not reloaded, and the one that ran goes on: %s",
             over ? told.problem : "the server is draining");
    refuse(out, text);
    return 0;
}

/* Answered when the reload is over, which comes after one that is under way. */
static uint64_t ask_reload(ln_server *s, int kind, ln_buf *out) {
    ln_reload_told told;
    uint64_t awaited = reloads(s, &told) + 1;
    awaited += told.under_way != 0;
    if (!ln_reload_ask(s, kind)) return ln_answer_awaited(s, awaited, out);
    refuse(out, s->stopping  ? "the server is draining"
                : !s->reload ? "this run can't be reloaded: it reads no sockets, and has no --watch"
                             : "there is nothing to go back to: no script ran before this one");
    return 0;
}

static uint64_t answer_reload(ln_server *s, const request *q, ln_buf *out) {
    (void)q;
    return ask_reload(s, LN_RELOAD_NEW, out);
}

static uint64_t answer_rollback(ln_server *s, const request *q, ln_buf *out) {
    (void)q;
    return ask_reload(s, LN_RELOAD_BACK, out);
}

static const struct {
    const char *name;
    uint64_t (*answer)(ln_server *s, const request *q, ln_buf *out);
    unsigned fields; /* bit i: field i has a meaning */
} COMMANDS[] = {
    {"status", answer_status, 0},
    {"windows", answer_windows, 1 << PIPELINE | 1 << KEY | 1 << MOST | 1 << FROM},
    {"connections", answer_connections, 0},
    {"why", answer_why, 1 << PIPELINE | 1 << KEY | 1 << WINDOW},
    {"reload", answer_reload, 0},
    {"rollback", answer_rollback, 0},
    {"drain", answer_drain, 0},
};

/* ---- requests --------------------------------------------------------------------------------------------------- */

ln_reader *ln_answer_reader(void) {
    const ln_limits limits = {.record_bytes = LN_REQUEST_BYTES, .nesting = NESTING_MAX, .elements = ELEMENTS_MAX};
    ln_reader *r = ln_reader_new(LN_FORMAT_JSON, &limits, 1);
    for (int i = 0; r && i < FIELDS; i++) {
        if (ln_reader_column(r, NAMES[i], strlen(NAMES[i])) == i) continue;
        ln_reader_delete(r);
        return NULL;
    }
    return r;
}

/* 0, or -1 where the field has another type. */
static int read_field(request *q, int i, const ln_value *v) {
    switch (v->type) {
    case LN_MISSING: return 0;
    case LN_TEXT:
        if (v->len >= TEXT_BYTES || memchr(v->at, '\0', v->len)) return -1;
        memcpy(q->text[i], v->at, v->len);
        q->text[i][v->len] = '\0';
        break;
    case LN_INT: snprintf(q->text[i], TEXT_BYTES, "%" PRId64, v->i); break;
    default: return -1;
    }
    q->field[i] = q->text[i];
    return 0;
}

/* How many fields a record has; its head has been checked. */
static uint32_t fields_of(const uint8_t *record) {
    if ((*record & 0xf0) == 0x80) return *record & 0x0f;
    return (uint32_t)record[1] << 8 | record[2];
}

static int read_fields(request *q, const ln_batch *batch, ln_buf *out) {
    char what[128];
    uint32_t known = 0;
    for (int i = 0; i < FIELDS; i++) {
        const ln_value *v = &batch->column[i][0];
        known += v->type != LN_MISSING;
        if (!read_field(q, i, v)) continue;
        snprintf(what, sizeof what, "%s: write it as a text of less than %d characters, or a whole number", NAMES[i],
                 TEXT_BYTES);
        refuse(out, what);
        return -1;
    }
    if (known == fields_of(batch->record[0])) return 0;
    refuse(out, "a field that is not known, or given twice: there is command, pipeline, key, window, most and from");
    return -1;
}

/* The one record of the line; NULL where it is none. What it points to lives until the reader is asked for the next. */
static const ln_batch *read_line(ln_reader *r, const char *line, size_t len) {
    const ln_batch *batch;
    if (ln_reader_push(r, line, len) || ln_reader_push(r, "\n", 1) || ln_reader_next(r, &batch)) return NULL;
    return batch->rows == 1 && !batch->malformed[0] ? batch : NULL;
}

static uint64_t obey(ln_server *s, const request *q, ln_buf *out) {
    for (size_t i = 0; q->field[COMMAND] && i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strcmp(q->field[COMMAND], COMMANDS[i].name) != 0) continue;
        for (int f = PIPELINE; f < FIELDS; f++) {
            char what[96];
            if (!q->field[f] || COMMANDS[i].fields >> f & 1) continue;
            snprintf(what, sizeof what, "%s: the command %s has no such field", NAMES[f], COMMANDS[i].name);
            refuse(out, what);
            return 0;
        }
        return COMMANDS[i].answer(s, q, out);
    }
    refuse(out, "command: write one of status, windows, connections, why, reload, rollback and drain");
    return 0;
}

uint64_t ln_answer(ln_server *s, ln_reader *requests, const char *line, size_t len, ln_buf *out) {
    const ln_batch *batch = read_line(requests, line, len);
    request q = {0};
    uint64_t awaited = 0;
    if (!batch) refuse(out, "a request is one JSON object, such as {\"command\":\"status\"}");
    else if (!read_fields(&q, batch, out)) awaited = obey(s, &q, out);
    while (!ln_reader_next(requests, &batch) && batch->rows) {}
    if (out->failed) refuse(out, "memory is short");
    return awaited;
}
