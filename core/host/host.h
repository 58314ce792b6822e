/* What the files of this room share: a lunette from inside, and the ways into its Lua states. */
#ifndef LN_HOST_HOST_H
#define LN_HOST_HOST_H

#include "host/state.h"
#include "lunette.h"

#define LN_HOST_MEMORY_SHORT "memory is short"

struct lunette {
    ln_state state;
    ln_reader *reader; /* both belong to the Lua side */
    ln_output *output;
    int next_notice; /* in the kept list; 0: ask for a new list */
    /* Of reloads. */
    ln_state *next;    /* that of the new script, also after it was refused: it holds the problems; NULL: none */
    int reloading;     /* its engines take over what those of `state` hold */
    ln_state *retired; /* that of the script before, freed little by little; NULL: none */
};

/* For bodies: they run inside ln_state_call, and may raise. The first pushes that function of lunette.host. */
void ln_host_push(lua_State *L, const char *name);
void ln_host_push_params(lua_State *L, const lunette_options *o);
void ln_host_push_texts(lua_State *L, const lunette_options *o);
/* An address travels as a number: user space ends below 2^53. */
void *ln_host_address(lua_State *L, int index);

/* The caller's options as far as both sides know them: -1 where it sets a field that this version does not have. */
int ln_host_read_options(const lunette_options *given, lunette_options *o);
/* LUNETTE_FAILED, with that text as the error. */
int ln_host_refuse(lunette *l, const char *text);

/* Frees some of what a reload has left behind. */
void ln_host_tidy(lunette *l);
/* Frees all that reloads keep. */
void ln_host_reload_free(lunette *l);

#endif
