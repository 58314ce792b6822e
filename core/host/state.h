/* The Lua state of a host: making it, and calling into it. No error of Lua leaves these functions as a jump: every call
 * is protected, and a failure is a code and a text. What is handed out as a view is kept in the slots of a second
 * stack, where reading it can't fail. */
#ifndef LN_HOST_STATE_H
#define LN_HOST_STATE_H

#include "host/memory.h"

#include <lua.h>

enum ln_state_slot {
    LN_KEPT_ERROR = 1, /* a text */
    LN_KEPT_TEXT,      /* a text */
    LN_KEPT_PROBLEMS,  /* a list of texts */
    LN_KEPT_NOTICES,   /* a list of texts */
    LN_KEPT_ADDRESSES, /* a list of texts */
    LN_KEPT_PATH,      /* a text: of a file, */
    LN_KEPT_FILE,      /* and what is in it */
    LN_KEPT_END
};

typedef struct ln_state {
    lua_State *lua;
    lua_State *kept; /* the stack with the slots */
    int traceback;   /* error texts come with one */
    int loaded;      /* calls take less memory than those that load modules and a script */
} ln_state;

/* Makes a state with the standard libraries, the compiled-in modules in package.preload, and in package.loaded the path
 * of the loaded liblunette-core ("lunette.core_path") and the allocator for its objects ("lunette.allocator"). `memory`
 * must outlive the state. LN_OK or LN_ENOMEM. */
int ln_state_init(ln_state *s, ln_memory *memory);
void ln_state_free(ln_state *s);
/* The script is loaded. */
void ln_state_loaded(ln_state *s);

/* Calls `body` with `arg` as its light userdata. LN_OK, LN_ENOMEM where memory was short, LN_EINVALID after any other
 * error; the text is then kept in LN_KEPT_ERROR, or nothing where there was no memory for it. */
int ln_state_call(ln_state *s, lua_CFunction body, void *arg);

/* For bodies: keeps the value on top of the stack, and pops it. */
void ln_state_keep(ln_state *s, lua_State *from, int slot);
/* A kept text; NULL where there is none. */
const char *ln_state_text(ln_state *s, int slot);
/* The same with its length in bytes. */
const char *ln_state_bytes(ln_state *s, int slot, size_t *len);
/* Item i (from 1) of a kept list; NULL where there is none. */
const char *ln_state_item(ln_state *s, int slot, int i);

#endif
