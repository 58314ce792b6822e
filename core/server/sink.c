/* What all sinks share, and the one that drops what comes. */
#include "server/sink.h"

#include "server/positions.h"
#include "server/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum ln_write null_take(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken) {
    (void)s, (void)bytes;
    *taken = len;
    return LN_WRITE_DONE;
}

static int null_close(ln_sink_end *s) {
    free(s);
    return 0;
}

static const ln_sink_kind NOTHING = {.take = null_take, .close = null_close};

ln_sink_end *ln_sink_null(ln_server *server) {
    ln_sink_end *s = calloc(1, sizeof *s);
    if (s) *s = (ln_sink_end){.kind = &NOTHING, .server = server, .name = "null:"};
    return s;
}

ln_sink_end *ln_sink_open(ln_server *server, const char *name, int stream, ln_problem *problem) {
    lunette_address a;
    ln_sink_end *s;
    if (lunette_address_parse(&a, name, LUNETTE_USE_SINK)) {
        ln_problem_set(problem, "%s: %s", name, a.problem);
        return NULL;
    }
    switch (a.kind) {
    case LUNETTE_ADDRESS_NULL: s = ln_sink_null(server); break;
    case LUNETTE_ADDRESS_PATH:
    case LUNETTE_ADDRESS_STANDARD: s = ln_sink_file(server, name, &a, stream, problem); break;
    case LUNETTE_ADDRESS_FORWARD: s = ln_sink_forward(server, name, &a, problem); break;
    default: s = (a.listen ? ln_sink_listen : ln_sink_connect)(server, name, &a, problem); break;
    }
    if (!s) return NULL;
    s->stream = stream;
    if (!server->options->facts || !ln_positions_resume_sink(s, server->options->facts, problem)) return s;
    (void)s->kind->close(s);
    return NULL;
}

static void reopen(ln_sink_end *s) {
    ln_log *log = s->server->log;
    s->reopens = 0;
    if (s->kind->reopen(s)) ln_log_say(log, LN_LOG_ERROR, "%s: can't be opened again: %s", s->name, strerror(errno));
    else ln_log_say(log, LN_LOG_INFO, "%s was opened again", s->name);
}

void ln_sink_ask_to_reopen(ln_sink_end *s) {
    s->reopens = s->kind->reopen != NULL;
    if (s->reopens && !s->done) reopen(s);
}

enum ln_write ln_sink_flush(ln_sink_end *s, ln_output *output) {
    size_t len, taken = 0;
    const uint8_t *bytes = ln_output_take(output, s->stream, &len);
    enum ln_write done = LN_WRITE_DONE;
    if (!len && ln_output_status(output) != LN_OK) {
        errno = ENOMEM;
        return LN_WRITE_FAILED;
    }
    if (!len) return LN_WRITE_DONE;
    if (s->done < len) done = s->kind->take(s, bytes + s->done, len - s->done, &taken);
    s->done += taken;
    if (s->done < len) return done;
    s->done = 0;
    ln_output_clear(output, s->stream);
    if (s->reopens) reopen(s);
    return LN_WRITE_DONE;
}

void ln_sink_watch(ln_sink_end *s, int wanted) {
    if (s->kind->watch) s->kind->watch(s, wanted);
}

size_t ln_sink_pending(const ln_sink_end *s) { return s->kind->pending ? s->kind->pending(s) : 0; }

int ln_sink_close(ln_sink_end *s) { return s->kind->close(s); }
