/* The public C interface: what lunette_ffi.h and lunette_streams_ffi.h declare, exported from liblunette-core, and, in
 * a section of its own, the Lua state for C hosts, exported from liblunette. */
#ifndef LUNETTE_H
#define LUNETTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#include "lunette_ffi.h"
#include "lunette_look_ffi.h"
#include "lunette_state_ffi.h"
#include "lunette_streams_ffi.h"
#include "lunette_tools_ffi.h"
#include "lunette_trace_ffi.h"

/* ---- a Lua state for C hosts: liblunette ------------------------------------------------------------------------
 *
 * A host of its own Lua state runs one pipeline script: open it, fill the reader, pump, take what the output holds, and
 * at the end finish. The host owns the loop, the clock and all reading and writing; the library prints nothing but what
 * a script prints (to stderr), starts no thread, handles no signal, keeps no global state and never ends the process.
 *
 * Ownership is that of lunette_ffi.h: arguments are borrowed for the call; a lunette is yours until lunette_delete;
 * every text and object it hands out is a view. Texts live until the next call on the same lunette, the reader and the
 * output until it is deleted. One lunette is used by one thread at a time; two of them share nothing. Clocks are
 * microseconds since 1970-01-01 UTC, below 2^53, and should not go back. All of this is since 0.1. */

typedef struct lunette lunette;

enum lunette_code {
    LUNETTE_OK = 0,  /* done; of a pump: the reader needs more bytes */
    LUNETTE_DRAIN,   /* take the output and clear it, then call again */
    LUNETTE_BROKEN,  /* the input can't be read on: ln_reader_error tells where; everything before has been processed */
    LUNETTE_FAILED,  /* lunette_error tells why; a lunette that failed in pump or finish is only good for deleting */
    LUNETTE_PROBLEMS /* the script is not right: lunette_problem lists what is wrong */
};

/* A value for ln.param(name) of the script. */
typedef struct lunette_param {
    const char *name;
    const char *value;
} lunette_param;

/* The text of a file. */
typedef struct lunette_text {
    const char *path;
    const char *text;
    size_t len; /* bytes */
} lunette_text;

/* Fields that are 0 stand for the defaults: `lunette_options o = {.size = sizeof o};` */
typedef struct lunette_options {
    size_t size;             /* sizeof(lunette_options), so that later versions can tell which fields there are */
    int in_format;           /* enum ln_format; 0: recognised at the first byte */
    int out_format;          /* enum ln_format; 0: that of the input */
    int rejects;             /* rejected records are encoded for LN_STREAM_REJECTS */
    int traceback;           /* errors of Lunette's own Lua code come with a traceback */
    const char *clock_field; /* the field of each record that is the processing clock; NULL: now_us is */
    const lunette_param *params;
    size_t params_count;
    int streams; /* 1: records come in several streams, opened by lunette_stream_open; -1: they do not; 0: they do where
                    the script names a source that is a socket. Each stream is then a source of the watermark, unless
                    the script names a field, and idle after 30 s of silence, unless the script says when */
    uint64_t trace_bytes; /* what happens to records, windows and watermark is told in LN_STREAM_TRACE, up to so many
                             bytes; 0: it is not */
    const char *const *trace_keys; /* of records and windows those of these keys, texts or values as JSON */
    size_t trace_keys_count;       /* 0: all */
    const lunette_text *texts;     /* what stands for files that a script is loaded from, by their paths */
    size_t texts_count;
} lunette_options;

/* How far a run has come. */
typedef struct lunette_progress {
    const char *watermark; /* as a text; "" before there is one */
    uint64_t records;      /* read */
    uint64_t windows;      /* open */
    uint64_t late;         /* records rejected as late */
} lunette_progress;

/* NULL where memory is short. */
lunette *lunette_new(void);
void lunette_delete(lunette *l);

/* Loads a script and checks its pipelines without running them: LUNETTE_OK, LUNETTE_PROBLEMS or LUNETTE_FAILED.
 * `options` may be NULL; of its fields params and traceback count. */
int lunette_check(lunette *l, const char *script, const lunette_options *options);
/* The same, and makes ready to run them, once for each lunette. */
int lunette_open(lunette *l, const char *script, const lunette_options *options);
/* Problem number i of the last check or open, as `file:line: field: what is wrong: how to mend it`; NULL after the
 * last. */
const char *lunette_problem(lunette *l, size_t i);

/* Runs a tool of the library that works on files, and prints what it has to say: "explain" tells a script, or with
 * "plot" reads a trace, "test" runs specs. Each argument is an option of the program's command of that name,
 * or a "word" of it. LUNETTE_OK with the exit status that the program would have, or LUNETTE_FAILED. */
int lunette_tool(lunette *l, const char *tool, const lunette_param *args, size_t count, int traceback, int *status);
/* What the last tool left to be shown: "top" makes lines of two answers of a control socket. NULL where it left
 * none. */
const char *lunette_tool_text(lunette *l);

/* Looks into what runs, between two calls: "windows" gives the open windows, sources and watermark of each pipeline as
 * a line of JSON, "why" says in words why a window has shown nothing yet. Arguments: pipeline, key, and for why window,
 * for windows most. A view, NULL on failure, with lunette_error. */
const char *lunette_look(lunette *l, const char *what, const lunette_param *args, size_t count);

/* File number i that the last check or open has read, the script first and then modules beside it: 0, or -1 behind the
 * last, or where memory is short. */
int lunette_file(lunette *l, size_t i, lunette_text *out);

/* Where the script says that its panes go: an address, NULL where it says nothing; and where its records come from: the
 * i-th address, NULL after the last. All can be parsed by lunette_address_parse. */
const char *lunette_sink_named(lunette *l);
const char *lunette_source_named(lunette *l, size_t i);

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
 * refused, with the field and both values; LUNETTE_FAILED: lunette_error tells why. With LUNETTE_CHANGE_DRAIN a pipeline
 * that has changed too much is not refused: the old one keeps its open windows until they expire, and takes no more
 * records, while the new one begins. */
int lunette_reload_begin(lunette *l, const char *script, const lunette_options *options, int on_change);
/* Carries the state over for about so long; to be called between two pumps, which go on meanwhile. LUNETTE_DRAIN: not
 * done yet: take the output, and call again, after any other call; LUNETTE_OK: the new script has taken over;
 * LUNETTE_FAILED: it can't be, lunette_error tells why, and the old one goes on. A budget should have 1,000 us at least:
 * the state is carried over faster than records change it. The last step takes about 4 ms more than its budget at the
 * most, where records do not come faster than that. */
int lunette_reload_step(lunette *l, int64_t now_us, int64_t budget_us);
/* Gives a reload up that is under way; nothing where there is none. */
void lunette_reload_cancel(lunette *l);

/* Where bytes go in and panes come out; NULL before lunette_open. Fill the reader only after a pump that returned
 * LUNETTE_OK; take and clear each of the output's streams after every call. */
ln_reader *lunette_reader(lunette *l);
ln_output *lunette_output(lunette *l);

/* Works on what the reader holds: LUNETTE_OK, LUNETTE_DRAIN, LUNETTE_BROKEN or LUNETTE_FAILED. With nothing in the
 * reader it moves the clock. */
int lunette_pump(lunette *l, int64_t now_us);
/* The input has ended: completes every window. LUNETTE_OK, LUNETTE_DRAIN or LUNETTE_FAILED. */
int lunette_finish(lunette *l, int64_t now_us);

/* Opens one more stream of records, such as a connection, beside the first: its number, or 0 on failure, and its
 * reader, which lives until it is closed. Where `messages` is set the reader is restarted for each message (a
 * datagram), and what is broken in one is a malformed record. Only one call is under way at a time: when one has
 * returned LUNETTE_DRAIN, no reader is filled before it has been called again and returned something else. */
uint64_t lunette_stream_open(lunette *l, int messages, ln_reader **reader);
/* Works on what that reader holds. As lunette_pump, but the clock moves with records only. */
int lunette_stream_pump(lunette *l, uint64_t stream, int64_t now_us);
/* The stream has ended, and has been pumped: it holds back the watermark no longer. LUNETTE_OK, LUNETTE_DRAIN or
 * LUNETTE_FAILED. */
int lunette_stream_close(lunette *l, uint64_t stream, int64_t now_us);

/* The clock of the later calls is set forward by so much (below 0: it goes on more slowly): delays and silences do not
 * count that time. LUNETTE_OK or LUNETTE_FAILED. */
int lunette_clock_set(lunette *l, int64_t by_us);
/* For so long no stream was read: it is no silence of theirs. */
int lunette_unheard(lunette *l, int64_t by_us);
/* A run ends that completes nothing more: what lunette_finish would tell of rejects is told by lunette_notice. */
int lunette_conclude(lunette *l);

/* ---- checkpoints: the state of what runs as bytes, and going on from there ---------------------------------------- */

/* Takes bytes that lunette_checkpoint has written; 0, or anything else to give it up. */
typedef int lunette_write(void *ctx, const void *bytes, size_t len);

/* Writes the state: all that lunette_reload_step would carry over, as it is when the first call begins, in calls of about
 * budget_us each, between which everything may go on. (Pipelines with folds that do not declare their state, and those
 * that keep panes for an emit, are written in the first call.) Where `changes` is set what is written is only what has
 * changed since the last checkpoint that was finished that way; the first is a whole, and from then on changes are
 * noted, which costs a little, until a reload: a checkpoint that has plans in it is a whole. What is written are entries for ln_bytes_read: of all entries with one part, kind and
 * number the newest counts. LUNETTE_DRAIN: not done yet, take the output and call again; LUNETTE_OK: it is whole;
 * LUNETTE_FAILED: also where `write` gave up. */
int lunette_checkpoint(lunette *l, int changes, int64_t budget_us, lunette_write *write, void *ctx);
/* Gives up what is under way, and notes changes no longer. */
void lunette_checkpoint_end(lunette *l);
/* The bytes of a whole checkpoint, in pieces of any size, after lunette_open and before anything else. With changes the
 * plans come first, then the entries of each part in the order of their kinds and numbers. LUNETTE_OK or
 * LUNETTE_FAILED. */
int lunette_restore(lunette *l, const void *bytes, size_t len);
/* All bytes have come: the run goes on from there. The script may be another one, by the rules of a reload.
 * LUNETTE_PROBLEMS: lunette_problem lists what has changed too much. LUNETTE_OK, LUNETTE_DRAIN, or LUNETTE_FAILED; unless
 * it is LUNETTE_OK or LUNETTE_DRAIN, the lunette is only good for deleting. */
int lunette_restore_end(lunette *l);

/* ---- addresses: where records come from and panes go ------------------------------------------------------------ */

enum lunette_address_kind {
    LUNETTE_ADDRESS_PATH = 0, /* a file; one with a colon in its name may have to be written ./a:b */
    LUNETTE_ADDRESS_STANDARD, /* "-" */
    LUNETTE_ADDRESS_NULL,     /* "null:": reads as empty, swallows what is written */
    LUNETTE_ADDRESS_UNIX,     /* unix:PATH */
    LUNETTE_ADDRESS_TCP,      /* tcp://HOST:PORT */
    LUNETTE_ADDRESS_UDP,      /* udp://HOST:PORT, sources alone */
    LUNETTE_ADDRESS_FORWARD   /* forward://HOST:PORT, Fluent Forward */
};
enum lunette_address_use { LUNETTE_USE_SOURCE = 0, LUNETTE_USE_SINK };

typedef struct lunette_address {
    int kind;           /* enum lunette_address_kind */
    int use;            /* enum lunette_address_use */
    int listen;         /* a sink that serves subscribers: ?listen */
    uint16_t port;      /* 0: any that is free */
    int gzip;           /* of a forward sink: ?gzip */
    int unit;           /* likewise ?unit=: of numbers in the field `time`; default milliseconds */
    const char *scheme; /* "tcp", "udp", "forward", "unix" or "" */
    char host[256];     /* without brackets; for unix: the path of the socket */
    char tag[128];      /* likewise ?tag=TAG; "" where it has none */
    char time[128];     /* likewise ?time=FIELD */
    char problem[256];  /* what is wrong, and how to mend it; "" where nothing is */
} lunette_address;

/* Reads an address, without looking anything up: 0, or -1 with a problem. */
int lunette_address_parse(lunette_address *a, const char *text, int use);

/* ---- the account of a run ---------------------------------------------------------------------------------------- */

/* The account of the run as one line of JSON, without a newline; NULL on failure. */
const char *lunette_stats(lunette *l);
/* What LuaJIT could not compile so far, for a person to read: lines, without a newline after the last; NULL on
 * failure. */
const char *lunette_jit_report(lunette *l);
int lunette_progress_get(lunette *l, lunette_progress *out);
/* The next thing that a person should know of, such as an error in a script's function, as one line; NULL when there is
 * none. */
const char *lunette_notice(lunette *l);
/* Why the latest of the calls that failed did; never NULL. */
const char *lunette_error(lunette *l);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
