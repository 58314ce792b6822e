/* What the files of this room share: a lunette from inside, and the ways into its Lua states, where each call is one of
 * the module lunette.host: protected, its result a code. */
#ifndef LN_HOST_HOST_H
#define LN_HOST_HOST_H

#include "host/input.h"
#include "host/memory.h"
#include "host/panes.h"
#include "host/record.h"
#include "host/state.h"
#include "lunette_program.h"

enum { LN_HOST_DRAINING = 8 };
#define LN_HOST_MEMORY_SHORT "memory is short"
enum { LN_HOST_STREAMS = 3 }; /* of an output */

/* How much is done between two looks at the clock, as the last pieces of work have shown. */
typedef struct ln_pace {
    uint32_t rows, work;
    int64_t longest_us; /* of late: so long may the next one take */
    int set;            /* the Lua side has been told: */
    uint32_t told_rows, told_work;
} ln_pace;

struct lunette {
    ln_memory memory;
    lunette_config config;
    ln_state state;
    ln_reader *reader; /* both belong to the Lua side */
    ln_output *output;
    int next_notice; /* in the kept list; 0: ask for a new list */
    const char
        *said; /* the reason of the latest failure where it is a text of our own; NULL: it is kept by the state */
    char reason[512]; /* such a text, where it is not constant */
    int inside;       /* a call is under way: what the host is told may not call back */
    int closed;       /* failed for good */

    ln_input input;
    ln_record record;
    ln_pace pace;
    int stepped; /* the Lua side knows that steps are short */
    int broken;  /* the stream that is read is: the text is in `trouble` */
    char trouble[256];
    int ended; /* 1: lunette_end has been called, 2: all has been read, 3: and every window is complete */
    int64_t due_us;

    ln_panes panes;
    size_t taken[LN_HOST_STREAMS]; /* bytes of each stream that are done with, and still there */
    int peeked;                    /* panes are taken as bytes, and some wait */

    /* Of reloads. */
    ln_state *next;    /* that of the new script, also after it was refused: it holds the problems; NULL: none */
    int reloading;     /* its engines take over what those of `state` hold */
    ln_state *retired; /* that of the script before, freed little by little; NULL: none */
    int drains;        /* the reload lets pipelines drain that have changed too much */
    ln_state *draining[LN_HOST_DRAINING]; /* states of scripts before, some pipelines of which still have windows */
    int draining_count;
    int finished; /* what runs is; only those that drain may not be */
};

/* One call of lunette.host, and what came of it. */
typedef struct ln_request {
    lunette *l;
    const char *function;
    const char *script;
    const lunette_options *options;
    double a, b; /* what the function is told, where it takes numbers */
    double result;
    uint64_t stream;
    int messages;
    int64_t source; /* -1: its own */
    ln_reader *stream_reader;
    const lunette_param *args;
    size_t args_count;
    int status;
    int code;
    lunette_progress progress;
} ln_request;

/* Runs a body with the request as its argument; LUNETTE_FAILED where it raised. */
int ln_host_run(ln_request *q, lua_CFunction body);
/* Calls a function of lunette.host with two numbers, which returns a code and one more. */
int ln_host_turn(ln_request *q);

/* For bodies: they run inside ln_state_call, and may raise. The first pushes that function of lunette.host. */
void ln_host_push(lua_State *L, const char *name);
void ln_host_push_params(lua_State *L, const lunette_options *o);
void ln_host_push_texts(lua_State *L, const lunette_options *o);
/* What scripts print in that state goes to the host's log, where it has one. */
void ln_host_take_print(lua_State *L, lunette *l);
/* An address travels as a number: user space ends below 2^53. */
void *ln_host_address(lua_State *L, int index);

/* The caller's struct as far as both sides know it, over the defaults in `to`: -1 where it sets a field that this
 * version does not have. */
int ln_host_read_sized(const void *given, size_t given_size, void *to, size_t size);
/* The same of options, which may be NULL. */
int ln_host_read_options(const lunette_options *given, lunette_options *o);
/* The reason is this text, which is constant or lies in the lunette; returns `code`. */
int ln_host_say(lunette *l, int code, const char *text);
/* LUNETTE_FAILED, with a copy of that text as the error. */
int ln_host_refuse(lunette *l, const char *text);
/* As lunette_stream_open; `source` is the number by which the watermark tells the stream apart, or -1. */
uint64_t ln_host_open_stream(lunette *l, int messages, int64_t source, ln_reader **reader);

/* Moves what drains to the watermarks of what runs: LUNETTE_OK, LUNETTE_DRAIN or LUNETTE_FAILED. */
int ln_host_drain(lunette *l, int64_t now_us);
/* Frees some of what a reload has left behind. */
void ln_host_tidy(lunette *l);
/* The problems of a reload that was refused are of no use any more. */
void ln_host_forget_problems(lunette *l);
/* Frees all that reloads keep. */
void ln_host_reload_free(lunette *l);

#endif
