/* What the program takes of the library beside lunette.h, and may change with it from version to version: it reads
 * straight into the engine's memory, from many streams at once, and writes panes out of it, knows addresses and runs
 * tools. A host that has records in its own memory pushes and steps (lunette.h), on the same object but not on one that
 * is pumped. All of this is since 0.1. */
#ifndef LUNETTE_PROGRAM_H
#define LUNETTE_PROGRAM_H

#include "lunette.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How far a run has come. */
typedef struct lunette_progress {
    const char *watermark; /* as a text; "" before there is one */
    uint64_t records;      /* read */
    uint64_t windows;      /* open */
    uint64_t late;         /* records rejected as late */
} lunette_progress;

/* Runs a tool of the library that works on files, and prints what it has to say: "explain" and "plot" read a trace.
 * Each argument is an option of the program's command of that name. LUNETTE_OK with the exit status that the program
 * would have, or LUNETTE_FAILED. */
int lunette_tool(lunette *l, const char *tool, const lunette_param *args, size_t count, int traceback, int *status);
/* What the last tool left to be shown: "top" makes lines of two answers of a control socket. NULL where it left
 * none. */
const char *lunette_tool_text(lunette *l);

/* Looks into what runs, between two calls: "windows" gives the open windows, sources and watermark of each pipeline as
 * a line of JSON, "why" says in words why a window has shown nothing yet, "metrics" gives the account of all pipelines
 * in the text format of Prometheus. Arguments: pipeline, key, and for why window, for windows most. A view, NULL on
 * failure, with lunette_error. */
const char *lunette_look(lunette *l, const char *what, const lunette_param *args, size_t count);

/* File number i that the last check or open has read, the script first and then modules beside it: 0, or -1 behind the
 * last, or where memory is short. */
int lunette_file(lunette *l, size_t i, lunette_text *out);

/* Where the script says that its panes go: an address, NULL where it says nothing; and where its records come from: the
 * i-th address, NULL after the last. All can be parsed by lunette_address_parse. */
const char *lunette_sink_named(lunette *l);
const char *lunette_source_named(lunette *l, size_t i);

/* ---- a run ------------------------------------------------------------------------------------------------------ */

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
/* How many scripts before this one have pipelines that keep their windows until they expire, as a reload that drains
 * leaves behind. No checkpoint can be made meanwhile. */
int lunette_draining(const lunette *l);
/* A run ends that completes nothing more: what lunette_finish would tell of rejects is told by lunette_notice. */
int lunette_conclude(lunette *l);

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

/* ---- words about a run ------------------------------------------------------------------------------------------ */

/* What LuaJIT could not compile so far, for a person to read: lines, without a newline after the last; NULL on
 * failure. */
const char *lunette_jit_report(lunette *l);
int lunette_progress_get(lunette *l, lunette_progress *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
