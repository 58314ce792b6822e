/* Lunette inside of a program in C or C++: `#include <lunette.h>`, `pkg-config --cflags --libs lunette`.
 *
 * A lunette is an engine with a Lua state of its own that runs the pipelines of one script. The host pushes records,
 * steps it on its own loop, clock and memory, and takes panes:
 *
 *     lunette_config config = LUNETTE_CONFIG_INIT;
 *     lunette *l = lunette_new(&config);
 *     if (!l || lunette_open(l, "kills.lua", NULL)) ...        lunette_problem, lunette_error
 *     lunette_push(l, bytes, len);                             whenever there is something
 *     lunette_step(l, now_us, &budget);                        in each turn of the loop
 *     while ((pane = lunette_pane_next(l))) ...                or lunette_peek and lunette_consume
 *     lunette_delete(l);
 *
 * What the library never does: keep a global, start a thread, take a signal, write to a descriptor, read a clock, set a
 * locale, or end the process. (Opening reads the script, its modules, and /dev/urandom unless config.seed is given.)
 *
 * Threads: one lunette is used by one thread at a time, whichever; two of them share nothing.
 *
 * Ownership: arguments are borrowed for the call; what lunette_new returns is yours until lunette_delete. Everything
 * else is a view, good until the next call on the same lunette; where it is good for longer, that is said.
 *
 * Times are microseconds, int64_t, within 2^53 of 0. `now_us` is the processing clock, since 1970-01-01 UTC where
 * scripts compare it with times of records; it should not go back. Where a script counts time in ticks, watermark and
 * bounds are ticks.
 *
 * Failure: a call that returns a code has done all that it should (LUNETTE_OK), or says what is to be done. What a call
 * refuses (LUNETTE_FULL, LUNETTE_REFUSED) changes nothing. After LUNETTE_FAILED the lunette is closed: every later call
 * says so, and only lunette_delete is left. lunette_error has the reason of the latest. No error of Lua or of C++
 * leaves the library as a jump.
 *
 * Of the headers named *_ffi.h, which are included, hosts use enum ln_format, enum ln_stream, ln_value with enum
 * ln_type, ln_value_read, ln_stats, ln_reason_name and ln_allocator; the rest is for Lua. Structs that begin with
 * `size` may grow; so may lunette_pane, which only the library makes. Everything here is since 0.1. */
#ifndef LUNETTE_H
#define LUNETTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#include "lunette_ffi.h"
#include "lunette_host_ffi.h"
#include "lunette_look_ffi.h"
#include "lunette_state_ffi.h"
#include "lunette_streams_ffi.h"
#include "lunette_tools_ffi.h"
#include "lunette_trace_ffi.h"

typedef struct lunette lunette;

enum lunette_code {
    LUNETTE_OK = 0,   /* done; of a step: all that was pushed has been worked off */
    LUNETTE_DRAIN,    /* panes wait that must be taken first: take them, then call again */
    LUNETTE_BROKEN,   /* the bytes pushed can't be read on: lunette_error tells where. Up to the end of what had been
                         pushed they are one malformed record; what is pushed next is a new stream. Call again */
    LUNETTE_FAILED,   /* the lunette is closed: lunette_error tells why. Of lunette_check and lunette_open: it is not,
                         but nothing was opened */
    LUNETTE_PROBLEMS, /* the script is not right: lunette_problem lists what is wrong */
    LUNETTE_MORE,     /* the budget is spent: call again, in the next turn of the loop */
    LUNETTE_FULL,     /* nothing was taken, since config.input_bytes_max would be passed: step, then push again */
    LUNETTE_REFUSED   /* nothing was done: lunette_error tells what is wrong with the call */
};

/* ---- making one -------------------------------------------------------------------------------------------------- */

enum lunette_log_level { LUNETTE_LOG_PRINT = 0, LUNETTE_LOG_WARNING };

/* What the host brings, for the life of a lunette. Always begin with LUNETTE_CONFIG_INIT, which is all defaults. */
typedef struct lunette_config {
    size_t size; /* sizeof(lunette_config) as the host knows it */
    /* All memory comes from here, but for what LuaJIT maps for compiled code (512 KiB at most), what simdjson holds
     * while lines of JSON are read (in all some 15 times the longest line), and what the C library takes to load a
     * library or read a file. Without a function: realloc and free. Called on the thread that uses the lunette. */
    ln_allocator allocator;
    /* A clock that never goes back, in microseconds from anywhere, cheap to read: what budgets are measured by. NULL:
     * no budget in microseconds can be given. */
    int64_t (*clock_us)(void *ctx);
    void *clock_ctx;
    /* Is told what scripts print, and of each error of a script once, from inside of lunette_check, open and step; from
     * there no function of the lunette may be called (LUNETTE_REFUSED). The text is borrowed. NULL: what is printed
     * goes to stderr, errors wait for lunette_notice. */
    void (*log)(void *ctx, int level, const char *text);
    void *log_ctx;
    uint64_t lua_bytes_max;    /* of the Lua state: scripts, texts, folds in Lua. A call that leaves more there, garbage
                                  apart, closes the lunette; within the call it may be a quarter and 4 MiB more. A
                                  single call that takes even more is refused it, which code that LuaJIT has compiled
                                  can't bear: it may end the process, as scripts can in other ways. Default 256 MiB */
    uint64_t input_bytes_max;  /* pushed and not yet read; default 1 MiB */
    uint64_t output_bytes_max; /* panes and rejects, as msgpack, past which a step ends; default 1 MiB */
    uint64_t seed;             /* for hashes, which nobody who sends keys should know; 0: from the system */
} lunette_config;

#define LUNETTE_CONFIG_INIT \
    { sizeof(lunette_config), {NULL, NULL}, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* A value for ln.param(name) of the script. */
typedef struct lunette_param {
    const char *name;
    const char *value;
} lunette_param;

/* The text of a file, or what stands for one. */
typedef struct lunette_text {
    const char *path;
    const char *text;
    size_t len; /* bytes */
} lunette_text;

/* How a script is run. Always begin with LUNETTE_OPTIONS_INIT, which is all defaults. */
typedef struct lunette_options {
    size_t size;             /* sizeof(lunette_options) as the host knows it */
    int in_format;           /* enum ln_format; 0: recognised at the first byte */
    int out_format;          /* enum ln_format; 0: that of the input */
    int rejects;             /* rejected records are encoded for LN_STREAM_REJECTS, to be taken as panes are */
    int traceback;           /* errors of Lunette's own Lua code come with a traceback */
    const char *clock_field; /* the field of each record that is the processing clock; NULL: now_us is */
    const lunette_param *params;
    size_t params_count;
    int streams; /* 1: records come in several streams, opened by lunette_stream_open of lunette_program.h; -1: they do
                    not; 0: they do where the script names a source that is a socket. Each stream is then a source of
                    the watermark, unless the script names a field, and idle after 30 s of silence, unless the script
                    says when */
    uint64_t trace_bytes; /* what happens to records, windows and watermark is told in LN_STREAM_TRACE, up to so many
                             bytes; 0: it is not */
    const char *const *trace_keys; /* of records and windows those of these keys, texts or values as JSON */
    size_t trace_keys_count;       /* 0: all */
    const lunette_text *texts;     /* what stands for files that a script is loaded from, by their paths */
    size_t texts_count;
} lunette_options;

#define LUNETTE_OPTIONS_INIT \
    { sizeof(lunette_options), 0, 0, 0, 0, NULL, NULL, 0, -1, 0, NULL, 0, NULL, 0 }

/* `config` may be NULL: all defaults, but for the Lua state, which has no limit. NULL where memory is short, or where
 * the config sets a field that this version does not have. */
lunette *lunette_new(const lunette_config *config);
/* Gives everything back, at any time: also in the middle of a step that is to be gone on with, or of panes. */
void lunette_delete(lunette *l);

/* Checks the script in that file (or in the text that options.texts has for that path, and likewise for its modules)
 * without running its pipelines: LUNETTE_OK, LUNETTE_PROBLEMS or LUNETTE_FAILED. `options` may be NULL:
 * LUNETTE_OPTIONS_INIT; of its fields params and traceback count. */
int lunette_check(lunette *l, const char *script, const lunette_options *options);
/* The same, and makes ready to run them, once for each lunette. */
int lunette_open(lunette *l, const char *script, const lunette_options *options);
/* Problem number i (from 0) of the last check or open, as `file:line: field: what is wrong: how to mend it`; NULL after
 * the last. */
const char *lunette_problem(lunette *l, size_t i);

/* ---- what goes in ------------------------------------------------------------------------------------------------
 *
 * Everything is copied, nothing blocks, and nothing is worked on before the next step. What comes by the three ways is
 * taken in the order of the calls. */

/* The next bytes of a stream of records, msgpack or JSON lines, split anywhere: LUNETTE_OK, LUNETTE_FULL, or
 * LUNETTE_REFUSED where it is more than config.input_bytes_max at once, memory is short, or the input has ended. */
int lunette_push(lunette *l, const void *bytes, size_t len);

/* One record, built field by field: begin, set fields, end. Nothing needs to be checked before the end, which takes the
 * whole record or nothing: LUNETTE_OK, LUNETTE_FULL, or LUNETTE_REFUSED, also where the record is larger than the
 * script's limits, or the calls made no record. A begin forgets a record that was not ended; between begin and end
 * nothing may be pushed. In an array the name is NULL. */
void lunette_record_begin(lunette *l);
void lunette_record_null(lunette *l, const char *name);
void lunette_record_bool(lunette *l, const char *name, int b);
void lunette_record_int(lunette *l, const char *name, int64_t i);
void lunette_record_uint(lunette *l, const char *name, uint64_t u);
void lunette_record_double(lunette *l, const char *name, double d);
void lunette_record_text(lunette *l, const char *name, const char *text, size_t len);
void lunette_record_bytes(lunette *l, const char *name, const void *bytes, size_t len);
/* Opens a map or an array, which takes the values up to the matching close. */
void lunette_record_map(lunette *l, const char *name);
void lunette_record_array(lunette *l, const char *name);
void lunette_record_close(lunette *l);
int lunette_record_end(lunette *l);

/* The host promises that nothing older than that time follows, whatever the script says of delays: the watermark of
 * each pipeline rises to it behind all that has been pushed so far. LUNETTE_OK; LUNETTE_FULL; LUNETTE_REFUSED for a
 * time out of range. Where time is the clock's (time = "processing") it does nothing. */
int lunette_advance(lunette *l, int64_t watermark_us);
/* The input ends behind all that has been pushed so far: then every window is completed. LUNETTE_OK, or
 * LUNETTE_REFUSED. */
int lunette_end(lunette *l);
/* Bytes that wait to be read. */
size_t lunette_waiting(const lunette *l);

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* What a step may use up; 0: no bound. Both bounds may be given. */
typedef struct lunette_budget {
    int64_t us;       /* by config.clock_us; passed by the time of one small piece of work at most, about a tenth of it.
                         Not below 50 */
    uint64_t records; /* exactly */
} lunette_budget;

/* Works on what has been pushed, moves the clock to `now_us`, and fires what is due, until all is done (LUNETTE_OK),
 * the budget is spent (LUNETTE_MORE), panes fill config.output_bytes_max (LUNETTE_DRAIN), or LUNETTE_BROKEN,
 * LUNETTE_REFUSED, LUNETTE_FAILED. It goes on next time where it stopped, also in the middle of a firing; what leaves
 * does not depend on budgets. `budget` may be NULL: no bound. */
int lunette_step(lunette *l, int64_t now_us, const lunette_budget *budget);
/* The now_us at which the next step has something to do even if nothing is pushed: the clock of the last step or before
 * it where that was not done, INT64_MAX where nothing will. It may be somewhat early, never late. */
int64_t lunette_due(const lunette *l);

/* ---- reload: another script goes on in the place of the one that runs -------------------------------------------
 *
 * The lunette, its reader, its output and its open streams stay the same objects; no record is lost, repeated or put in
 * another order. Windows, watermark, pane numbers and counters go on, triggers keep the state of parts that are of the
 * same kind in the same place, and pipelines of a list are matched by their names. What may not change: a pipeline's
 * time, key, window, panes, and aggregates that there were; new ones start empty. */

enum lunette_on_change { LUNETTE_CHANGE_REFUSE = 0, LUNETTE_CHANGE_DRAIN };

/* Loads `script` in a Lua state of its own, checks it and compares it with what runs, which goes on untouched whatever
 * is wrong. Of the options, which may be NULL, params and traceback count. LUNETTE_OK: ready, go on with
 * lunette_reload_step; LUNETTE_PROBLEMS: lunette_problem lists what is wrong with the script, or the changes that are
 * refused, with the field and both values; LUNETTE_FAILED: lunette_error tells why. With LUNETTE_CHANGE_DRAIN a
 * pipeline that has changed too much is not refused: the old one keeps its open windows until they expire, and takes no
 * more records, while the new one begins. */
int lunette_reload_begin(lunette *l, const char *script, const lunette_options *options, int on_change);
/* Carries the state over for about so long; to be called between two pumps, which go on meanwhile. LUNETTE_DRAIN: not
 * done yet: take the output, and call again, after any other call; LUNETTE_OK: the new script has taken over;
 * LUNETTE_FAILED: it can't be, lunette_error tells why, and the old one goes on. A budget should have 1,000 us at
 * least: the state is carried over faster than records change it. The last step takes about 4 ms more than its budget
 * at the most, where records do not come faster than that. */
int lunette_reload_step(lunette *l, int64_t now_us, int64_t budget_us);
/* Gives a reload up that is under way; nothing where there is none. */
void lunette_reload_cancel(lunette *l);

/* ---- checkpoints: the state of what runs as bytes, and going on from there --------------------------------------- */

/* Takes bytes that lunette_checkpoint has written; 0, or anything else to give it up. */
typedef int (*lunette_write)(void *ctx, const void *bytes, size_t len);

/* Writes the state: all that lunette_reload_step would carry over, as it is when the first call begins, in calls of
 * about budget_us each, between which everything may go on. (Pipelines with folds that do not declare their state, and
 * those that keep panes for an emit, are written in the first call.) Where `changes` is set what is written is only
 * what has changed since the last checkpoint that was finished that way; the first is a whole, and from then on changes
 * are noted, which costs a little, until a reload: a checkpoint that has plans in it is a whole. What is written are
 * entries for ln_bytes_read: of all entries with one part, kind and number the newest counts. LUNETTE_DRAIN: not done
 * yet, take the output and call again; LUNETTE_OK: it is whole; LUNETTE_FAILED: also where `write` gave up. */
int lunette_checkpoint(lunette *l, int changes, int64_t budget_us, lunette_write write, void *ctx);
/* Gives up what is under way, and notes changes no longer. */
void lunette_checkpoint_end(lunette *l);
/* The bytes of a whole checkpoint, in pieces of any size, after lunette_open and before anything else. With changes the
 * plans come first, then the entries of each part in the order of their kinds and numbers. LUNETTE_OK or
 * LUNETTE_FAILED. */
int lunette_restore(lunette *l, const void *bytes, size_t len);
/* All bytes have come: the run goes on from there. The script may be another one, by the rules of a reload.
 * LUNETTE_PROBLEMS: lunette_problem lists what has changed too much. LUNETTE_OK, LUNETTE_DRAIN, or LUNETTE_FAILED;
 * unless it is LUNETTE_OK or LUNETTE_DRAIN, the lunette is only good for deleting. */
int lunette_restore_end(lunette *l);

/* ---- what comes out ----------------------------------------------------------------------------------------------
 *
 * Panes wait until they are taken, whole, either as bytes or one by one. */

/* All that waits in LN_STREAM_PANES, LN_STREAM_REJECTS or LN_STREAM_TRACE, in the output's format; *len is 0, and the
 * result may be NULL, where nothing does or memory is short. The view is good until the next step or consume. */
const void *lunette_peek(lunette *l, int stream, size_t *len);
/* The first `len` bytes of it are done with, where less than all was peeked at or written. */
void lunette_consume(lunette *l, int stream, size_t len);

typedef struct lunette_field {
    const char *name; /* not terminated */
    size_t name_len;
    ln_value value; /* of arrays and maps (ln.top, ln.collect, ...) the encoded bytes: walk them with ln_value_read */
} lunette_field;

enum lunette_timing { LUNETTE_EARLY = 0, LUNETTE_ON_TIME, LUNETTE_LATE };

/* A pane. What `emit` of the script has made of it may lack any of this: a value is then LN_MISSING, a number 0. */
typedef struct lunette_pane {
    ln_value pipeline;           /* LN_TEXT where the script has several */
    ln_value key;                /* with its type; LN_ARRAY for several fields, LN_NULL for none */
    ln_value start, end;         /* in the pipeline's unit; LN_NULL where the window has no bounds */
    uint64_t index;              /* 0, 1, 2 ... of the window's panes */
    int timing;                  /* enum lunette_timing */
    int final;                   /* no pane of the window follows */
    int retract;                 /* the pane with this index is withdrawn */
    int approx, cut;             /* an exact distinct has become an estimate; a collect has left values out */
    ln_value absorbed;           /* LN_ARRAY of starts whose panes now belong to this window, or LN_MISSING */
    const lunette_field *values; /* the aggregates, in the order of their names */
    size_t values_count;
    ln_value whole; /* the pane as it is encoded; LN_MAP unless `emit` made something else */
} lunette_pane;

/* The next pane that waits, which is then taken; NULL where none does, or where panes have been peeked at and not all
 * consumed. The view is good until the next call of this or of step. */
const lunette_pane *lunette_pane_next(lunette *l);
/* The aggregate of that name; LN_MISSING where there is none. */
ln_value lunette_pane_value(const lunette_pane *pane, const char *name);

/* ---- words and numbers ------------------------------------------------------------------------------------------- */

/* The account of pipeline i (from 0): LUNETTE_OK, or LUNETTE_REFUSED where there is none. `bytes` is sizeof *out. */
int lunette_counts(lunette *l, size_t i, ln_stats *out, size_t bytes);

typedef struct lunette_usage {
    size_t size;                        /* to be set to sizeof(lunette_usage) */
    uint64_t memory_bytes;              /* from the allocator, the Lua state apart */
    uint64_t lua_bytes;                 /* the Lua state */
    uint64_t input_bytes, output_bytes; /* of the former what waits to be read and to be taken */
} lunette_usage;
/* What is used now; LUNETTE_OK. */
int lunette_usage_get(lunette *l, lunette_usage *out);

/* The account of the whole as one line of JSON, without a newline; NULL on failure. */
const char *lunette_stats(lunette *l);
/* What the open pipelines do, in words: lines, without a newline after the last; NULL on failure. */
const char *lunette_explain(lunette *l);
/* The next thing that a person should know of, such as an error in a script's function, as one line; NULL when there is
 * none, or config.log is told. Each is told once. */
const char *lunette_notice(lunette *l);
/* Why the latest call that did not return LUNETTE_OK did not; never NULL. */
const char *lunette_error(lunette *l);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
