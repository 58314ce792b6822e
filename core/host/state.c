/* See state.h. A module is compiled when it is first required; its chunk is named after its file, so that a traceback
 * reads `lunette/driver.lua:12:`. */
#define _GNU_SOURCE
#include "host/state.h"

#include "host/modules.h"
#include "lunette.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------------------------- */

/* lunette.driver is lunette/driver.lua; a package's own name, without a dot, is its init.lua. */
static void push_chunk_name(lua_State *L, const char *module) {
    luaL_gsub(L, module, ".", "/");
    lua_pushfstring(L, strchr(module, '.') ? "=%s.lua" : "=%s/init.lua", lua_tostring(L, -1));
    lua_remove(L, -2);
}

static int load_module(lua_State *L) {
    const ln_module *m = lua_touserdata(L, lua_upvalueindex(1));
    push_chunk_name(L, m->name);
    if (luaL_loadbuffer(L, m->source, m->len, lua_tostring(L, -1))) return lua_error(L);
    lua_pushstring(L, m->name);
    lua_call(L, 1, 1);
    return 1;
}

static void preload_modules(lua_State *L) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (size_t i = 0; i < ln_modules_count; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&ln_modules[i]);
        lua_pushcclosure(L, load_module, 1);
        lua_setfield(L, -2, ln_modules[i].name);
    }
    lua_pop(L, 2);
}

/* The library is found by a function of it, so that Lua binds to the copy that this process runs, wherever it lies. */
static void publish_core_path(lua_State *L) {
    Dl_info info;
    char whole[PATH_MAX];
    if (!dladdr((void *)(uintptr_t)ln_version, &info) || !info.dli_fname) return;
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "loaded");
    lua_pushstring(L, realpath(info.dli_fname, whole) ? whole : info.dli_fname);
    lua_setfield(L, -2, "lunette.core_path");
    lua_pop(L, 2);
}

static void publish_allocator(lua_State *L, ln_memory *memory) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "loaded");
    lua_pushlightuserdata(L, &memory->counted);
    lua_setfield(L, -2, "lunette.allocator");
    lua_pop(L, 2);
}

/* What furnishes a state. */
typedef struct furniture {
    ln_state *state;
    ln_memory *memory;
} furniture;

static int furnish(lua_State *L) {
    const furniture *f = lua_touserdata(L, 1);
    ln_state *s = f->state;
    luaL_openlibs(L);
    lua_getglobal(L, "require"); /* while there is a reserve */
    lua_pushliteral(L, "ffi");
    lua_call(L, 1, 0);
    preload_modules(L);
    publish_core_path(L);
    publish_allocator(L, f->memory);
    s->kept = lua_newthread(L);
    lua_setfield(L, LUA_REGISTRYINDEX, "lunette.kept");
    luaL_checkstack(s->kept, LN_KEPT_END + LUA_MINSTACK, "kept values");
    lua_settop(s->kept, LN_KEPT_END);
    return 0;
}

/* Bytes: more than making a state, loading our modules and a script of some size takes; and than a call does that works
 * on a batch. */
enum { RESERVE_LOADING = 4 << 20, RESERVE_RUNNING = 256 << 10 };

/* LuaJIT's own allocator is the fastest; it serves where nobody asks for another or for a limit. */
static lua_State *new_lua(ln_memory *memory) {
    if (memory->lua_max == SIZE_MAX && memory->is_heap) return luaL_newstate();
    return ln_memory_reserve(memory, RESERVE_LOADING) ? NULL : lua_newstate(ln_memory_of_lua, memory);
}

/* NULL where LuaJIT's own allocator serves. */
static ln_memory *memory_of(const ln_state *s) {
    void *memory;
    return lua_getallocf(s->lua, &memory) == ln_memory_of_lua ? memory : NULL;
}

/* Is there memory for a call, whatever the host's allocator says meanwhile? */
static int reserve(const ln_state *s) {
    ln_memory *memory = memory_of(s);
    return memory ? ln_memory_reserve(memory, s->loaded ? RESERVE_RUNNING : RESERVE_LOADING) : 0;
}

void ln_state_loaded(ln_state *s) {
    s->loaded = 1;
    (void)reserve(s); /* the smaller one, or the next call says that there is none */
}

int ln_state_init(ln_state *s, ln_memory *memory) {
    furniture f = {s, memory};
    int failed;
    *s = (ln_state){.lua = new_lua(memory)};
    failed = !s->lua || lua_cpcall(s->lua, furnish, &f);
    if (!failed) return LN_OK;
    ln_state_free(s);
    return LN_ENOMEM;
}

void ln_state_free(ln_state *s) {
    ln_memory *memory = s->lua ? memory_of(s) : NULL;
    if (s->lua) lua_close(s->lua);
    if (memory) ln_memory_drop_reserve(memory);
    *s = (ln_state){0};
}

/* ---- calling --------------------------------------------------------------------------------------------------- */

typedef struct guarded {
    ln_state *state;
    lua_CFunction body;
    void *arg;
    int status; /* of lua_pcall */
} guarded;

static int explain(lua_State *L) {
    const ln_state *s = lua_touserdata(L, lua_upvalueindex(1));
    const char *text = lua_tostring(L, 1);
    if (!text) text = lua_pushfstring(L, "an error that is no text but a %s", luaL_typename(L, 1));
    if (s->traceback) {
        luaL_traceback(L, L, text, 1);
    } else {
        lua_pushstring(L, text);
    }
    return 1;
}

static int enter(lua_State *L) {
    guarded *g = lua_touserdata(L, 1);
    lua_pushlightuserdata(L, g->state);
    lua_pushcclosure(L, explain, 1);
    lua_pushcfunction(L, g->body);
    lua_pushlightuserdata(L, g->arg);
    g->status = lua_pcall(L, 1, 0, 2);
    if (g->status) ln_state_keep(g->state, L, LN_KEPT_ERROR);
    return 0;
}

static int collect(lua_State *L) {
    lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}

/* Does the state hold more than it may, garbage apart? The next call would find no reserve. */
static int is_over(ln_state *s) {
    const ln_memory *memory = memory_of(s);
    if (!memory || memory->lua_used <= memory->lua_max) return 0;
    return lua_cpcall(s->lua, collect, NULL) || memory->lua_used > memory->lua_max;
}

int ln_state_call(ln_state *s, lua_CFunction body, void *arg) {
    guarded g = {.state = s, .body = body, .arg = arg};
    int outer = reserve(s) || lua_cpcall(s->lua, enter, &g);
    lua_settop(s->lua, 0);
    outer |= is_over(s);
    if (!outer && !g.status) return LN_OK;
    if (outer) {
        lua_pushnil(s->kept);
        lua_replace(s->kept, LN_KEPT_ERROR);
    }
    return outer || g.status == LUA_ERRMEM ? LN_ENOMEM : LN_EINVALID;
}

void ln_state_keep(ln_state *s, lua_State *from, int slot) {
    lua_xmove(from, s->kept, 1);
    lua_replace(s->kept, slot);
}

const char *ln_state_text(ln_state *s, int slot) {
    return lua_type(s->kept, slot) == LUA_TSTRING ? lua_tostring(s->kept, slot) : NULL;
}

const char *ln_state_bytes(ln_state *s, int slot, size_t *len) {
    const char *text = ln_state_text(s, slot);
    *len = text ? lua_objlen(s->kept, slot) : 0;
    return text;
}

const char *ln_state_item(ln_state *s, int slot, int i) {
    const char *text = NULL;
    if (lua_type(s->kept, slot) != LUA_TTABLE) return NULL;
    lua_rawgeti(s->kept, slot, i);
    if (lua_type(s->kept, -1) == LUA_TSTRING) text = lua_tostring(s->kept, -1); /* the list still holds it */
    lua_pop(s->kept, 1);
    return text;
}
