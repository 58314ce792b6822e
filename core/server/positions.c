/* See positions.h. That a file holds what was read of it is told by a hash of its last bytes before the place. */
#define _GNU_SOURCE
#include "server/positions.h"

#include "durable/layout.h"
#include "server/state.h"
#include "server/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK_BYTES = 4096 };

static const char *const SINKS[] = {
    [LN_STREAM_PANES] = "panes", [LN_STREAM_REJECTS] = "rejects", [LN_STREAM_TRACE] = "trace"};

/* A number that depends on the last bytes before that place; 0 where they can't be read. */
static int64_t mark_of(int fd, int64_t at) {
    char bytes[MARK_BYTES];
    size_t want = at < MARK_BYTES ? (size_t)at : MARK_BYTES;
    ssize_t got = pread(fd, bytes, want, (off_t)(at - (int64_t)want));
    return got == (ssize_t)want ? (int64_t)ln_texts_hash(bytes, want) : 0;
}

/* ---- taking ---------------------------------------------------------------------------------------------------- */

/* Where the first record begins that is not in the engine; -1: that can't be gone back to. */
static int64_t place_in_file(const ln_server *s) {
    off_t at = s->input.fd >= 0 ? lseek(s->input.fd, 0, SEEK_CUR) : 0;
    return at < 0 ? -1 : (int64_t)at - (int64_t)ln_reader_pending(s->files->reader);
}

static void take_input(ln_server *s, ln_facts *facts) {
    const ln_input *in = &s->input;
    char name[LN_FACT_NAME];
    int64_t at = -1;
    ln_facts_drop(facts, "input.");
    for (size_t i = 0; i < in->inputs_count; i++) {
        snprintf(name, sizeof name, "input.%zu", i);
        ln_facts_put_text(facts, name, in->inputs[i]);
    }
    if (in->fd >= 0 && s->files) at = place_in_file(s);
    ln_facts_put_number(facts, "input.next", (int64_t)in->next);
    if (in->fd < 0) return;
    ln_facts_put_number(facts, "input.at", at);
    if (at >= 0) ln_facts_put_number(facts, "input.mark", mark_of(in->fd, at));
    if (s->files) ln_facts_put_number(facts, LN_FACT_IN_FORMAT, ln_reader_format(s->files->reader));
}

static void take_sink(const ln_sink_end *sink, ln_facts *facts) {
    char name[LN_FACT_NAME];
    ln_mem mem;
    ln_buf unsent;
    if (!sink) return;
    snprintf(name, sizeof name, "%s.", SINKS[sink->stream]);
    ln_facts_drop(facts, name);
    snprintf(name, sizeof name, "%s.name", SINKS[sink->stream]);
    ln_facts_put_text(facts, name, sink->name);
    snprintf(name, sizeof name, "%s.at", SINKS[sink->stream]);
    if (sink->kind->position) ln_facts_put_number(facts, name, sink->kind->position((ln_sink_end *)(uintptr_t)sink));
    if (!sink->kind->unsent) return;
    ln_mem_init(&mem);
    ln_buf_init(&unsent, &mem);
    sink->kind->unsent((ln_sink_end *)(uintptr_t)sink, &unsent);
    snprintf(name, sizeof name, "%s.unsent", SINKS[sink->stream]);
    if (unsent.failed) facts->failed = 1;
    else if (unsent.len) ln_facts_put(facts, name, unsent.data, unsent.len);
    ln_buf_free(&unsent);
}

void ln_positions_take(ln_server *s, ln_facts *facts) {
    take_input(s, facts);
    take_sink(s->panes, facts);
    take_sink(s->rejects, facts);
    ln_facts_put_number(facts, LN_FACT_OUT_FORMAT, ln_output_format_used(lunette_output(s->host)));
}

/* ---- going on: input -------------------------------------------------------------------------------------------- */

static int check_names(const ln_input *in, const ln_facts *facts, ln_problem *problem) {
    char name[LN_FACT_NAME];
    for (size_t i = 0;; i++) {
        const ln_fact *was;
        snprintf(name, sizeof name, "input.%zu", i);
        was = ln_facts_get(facts, name);
        if (!was) return 0;
        if (i >= in->inputs_count)
            return ln_problem_set(problem,
                                  "%s: was an input when the state was saved, and is none now: name the same "
                                  "inputs in the same order (new ones may follow)",
                                  (const char *)was->bytes);
        if (strcmp((const char *)was->bytes, in->inputs[i]) != 0)
            return ln_problem_set(problem,
                                  "%s: was %s when the state was saved: name the same inputs in the same order (new "
                                  "ones may follow)",
                                  in->inputs[i], (const char *)was->bytes);
    }
}

static int check_file(const ln_input *in, const ln_facts *facts, int64_t at, ln_problem *problem) {
    const char *name = in->inputs[in->resume_file];
    int standard = !strcmp(name, "-"), fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    int rc = 0;
    if (fd < 0 || fstat(fd, &st)) rc = ln_problem_set(problem, "%s: %s", name, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = ln_problem_set(problem,
                            "%s: was a file when the state was saved, and %" PRId64 " bytes of it had been "
                            "read: give it as a file again",
                            name, at);
    else if (st.st_size < at || mark_of(fd, at) != ln_facts_number(facts, "input.mark", 0))
        rc = ln_problem_set(problem,
                            "%s: does not begin with the %" PRId64 " bytes that had been read of it when the "
                            "state was saved: put that file back, or name another --state folder",
                            name, at);
    if (fd >= 0 && !standard) close(fd);
    return rc;
}

int ln_positions_resume_input(ln_server *s, const ln_facts *facts, ln_problem *problem) {
    ln_input *in = &s->input;
    int64_t next = ln_facts_number(facts, "input.next", 0), at = ln_facts_number(facts, "input.at", -1);
    int open = ln_facts_get(facts, "input.at") != NULL;
    if (check_names(in, facts, problem)) return -1;
    if (next < open || (uint64_t)next > in->inputs_count)
        return ln_problem_set(problem, "the state's position in the input is broken");
    in->resume_file = (size_t)next - (size_t)open;
    in->resume_at = at < 0 ? 0 : at;
    in->resume_format = (int)ln_facts_number(facts, LN_FACT_IN_FORMAT, 0);
    in->resumes = next > 0;
    return in->resumes && open && at >= 0 ? check_file(in, facts, at, problem) : 0;
}

/* ---- going on: output ------------------------------------------------------------------------------------------- */

static const ln_fact *fact_of(const ln_facts *facts, int stream, const char *what) {
    char name[LN_FACT_NAME];
    snprintf(name, sizeof name, "%s.%s", SINKS[stream], what);
    return ln_facts_get(facts, name);
}

/* Another sink begins as one that is new does. */
static int is_same(const ln_facts *facts, int stream, const char *name) {
    const ln_fact *was = fact_of(facts, stream, "name");
    return was && !strcmp((const char *)was->bytes, name);
}

int64_t ln_positions_cut(const ln_facts *facts, int stream, const char *name) {
    const ln_fact *at = facts && is_same(facts, stream, name) ? fact_of(facts, stream, "at") : NULL;
    return at ? strtoll((const char *)at->bytes, NULL, 10) : -1;
}

int ln_positions_resume_sink(ln_sink_end *sink, const ln_facts *facts, ln_problem *problem) {
    const ln_fact *unsent = fact_of(facts, sink->stream, "unsent");
    if (!unsent || !is_same(facts, sink->stream, sink->name) || !sink->kind->send_again) return 0;
    if (!sink->kind->send_again(sink, unsent->bytes, unsent->len)) return 0;
    return ln_problem_set(problem, "%s: memory is short for what had not been sent", sink->name);
}
