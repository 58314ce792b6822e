/* The functions of lunette.h that begin with lunette_: each is one protected call of the Lua module lunette.host, whose
 * result becomes a code. The codes of its pump and finish are those of lunette.h. */
#include "host/host.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

static const char NO_SCRIPT[] = "no script is open";

/* ---- helpers of the bodies: they run inside ln_state_call, and may raise ----------------------------------------- */

/* For lunette.host: a text, and whether it is a sink, to a problem or nil, and whether it is a socket. */
static int judge_address(lua_State *L) {
    lunette_address a;
    int use = lua_toboolean(L, 2) ? LUNETTE_USE_SINK : LUNETTE_USE_SOURCE;
    if (lunette_address_parse(&a, luaL_checkstring(L, 1), use)) {
        lua_pushstring(L, a.problem);
    } else {
        lua_pushnil(L);
    }
    lua_pushboolean(L, a.kind >= LUNETTE_ADDRESS_UNIX);
    return 2;
}

/* The module is required once, before any script could change what `require` means. */
void ln_host_push(lua_State *L, const char *name) {
    lua_getfield(L, LUA_REGISTRYINDEX, "lunette.host");
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_getglobal(L, "require");
        lua_pushliteral(L, "lunette.host");
        lua_call(L, 1, 1);
        lua_pushcfunction(L, judge_address);
        lua_setfield(L, -2, "judge_address");
        lua_pushvalue(L, -1);
        lua_setfield(L, LUA_REGISTRYINDEX, "lunette.host");
    }
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

void ln_host_push_params(lua_State *L, const lunette_options *o) {
    lua_createtable(L, 0, (int)o->params_count);
    for (size_t i = 0; i < o->params_count; i++) {
        lua_pushstring(L, o->params[i].value);
        lua_setfield(L, -2, o->params[i].name);
    }
}

void ln_host_push_texts(lua_State *L, const lunette_options *o) {
    lua_createtable(L, 0, (int)o->texts_count);
    for (size_t i = 0; i < o->texts_count; i++) {
        lua_pushlstring(L, o->texts[i].text, o->texts[i].len);
        lua_setfield(L, -2, o->texts[i].path);
    }
}

static void push_options(lua_State *L, const ln_request *q) {
    const lunette_options *o = q->options;
    uint64_t seed = q->l->config.seed;
    lua_createtable(L, 0, 8);
    if (seed) {
        lua_pushnumber(L, (lua_Number)(seed >> 11));
        lua_setfield(L, -2, "seed");
    }
    lua_pushinteger(L, o->streams);
    lua_setfield(L, -2, "streams");
    lua_pushinteger(L, o->in_format);
    lua_setfield(L, -2, "in_format");
    lua_pushinteger(L, o->out_format);
    lua_setfield(L, -2, "out_format");
    lua_pushboolean(L, o->rejects);
    lua_setfield(L, -2, "rejects");
    lua_pushnumber(L, (lua_Number)o->trace_bytes);
    lua_setfield(L, -2, "trace_bytes");
    lua_createtable(L, (int)o->trace_keys_count, 0);
    for (size_t i = 0; i < o->trace_keys_count; i++) {
        lua_pushstring(L, o->trace_keys[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "trace_keys");
    if (o->clock_field) {
        lua_pushstring(L, o->clock_field);
        lua_setfield(L, -2, "clock");
    }
}

/* Keeps the text on top of the stack as the error, whatever stands there. */
static void keep_error(ln_state *s, lua_State *L) {
    if (!lua_isstring(L, -1)) {
        lua_pop(L, 1);
        lua_pushliteral(L, "lunette.host gave no reason");
    }
    ln_state_keep(s, L, LN_KEPT_ERROR);
}

/* An address travels as a number: user space ends below 2^53. */
void *ln_host_address(lua_State *L, int index) { return (void *)(uintptr_t)luaL_checknumber(L, index); }

/* ---- loading --------------------------------------------------------------------------------------------------- */

static int print_to_log(lua_State *L) {
    const lunette *l = lua_touserdata(L, lua_upvalueindex(1));
    l->config.log(l->config.log_ctx, LUNETTE_LOG_PRINT, luaL_checkstring(L, 1));
    return 0;
}

void ln_host_take_print(lua_State *L, lunette *l) {
    if (!l->config.log) return;
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "loaded");
    lua_pushlightuserdata(L, l);
    lua_pushcclosure(L, print_to_log, 1);
    lua_setfield(L, -2, "lunette.print");
    lua_pop(L, 2);
}

static int load_script(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_state *s = &q->l->state;
    ln_host_take_print(L, q->l);
    int opens = !strcmp(q->function, "open");
    lua_pushnil(L);
    ln_state_keep(s, L, LN_KEPT_PROBLEMS);
    ln_host_push(L, q->function);
    lua_pushstring(L, q->script);
    ln_host_push_params(L, q->options);
    if (opens) push_options(L, q);
    ln_host_push_texts(L, q->options);
    lua_call(L, opens ? 4 : 3, 4);
    if (lua_toboolean(L, 2)) {
        if (opens) {
            q->l->reader = ln_host_address(L, 3);
            q->l->output = ln_host_address(L, 4);
            luaL_checktype(L, 5, LUA_TTABLE);
            ln_state_keep(s, L, LN_KEPT_ADDRESSES);
        }
        return 0;
    }
    luaL_checktype(L, 3, LUA_TTABLE);
    lua_settop(L, 3);
    ln_state_keep(s, L, LN_KEPT_PROBLEMS);
    q->code = LUNETTE_PROBLEMS;
    return 0;
}

int ln_host_read_options(const lunette_options *given, lunette_options *o) {
    *o = (lunette_options)LUNETTE_OPTIONS_INIT;
    return given ? ln_host_read_sized(given, given->size, o, sizeof *o) : 0;
}

int ln_host_say(lunette *l, int code, const char *text) {
    l->said = text;
    return code;
}

int ln_host_refuse(lunette *l, const char *text) {
    if (text != l->reason) snprintf(l->reason, sizeof l->reason, "%s", text);
    return ln_host_say(l, LUNETTE_FAILED, l->reason);
}

/* LN_KEPT_ERROR holds the reason, or nothing where memory was short. */
int ln_host_run(ln_request *q, lua_CFunction body) {
    lunette *l = q->l;
    int err;
    if (l->inside)
        return ln_host_refuse(l, "called from inside of what the lunette tells: do it when its call has returned");
    l->said = NULL;
    l->inside = 1;
    err = ln_state_call(&l->state, body, q);
    l->inside = 0;
    return err == LN_OK ? q->code : LUNETTE_FAILED;
}

static int load(lunette *l, const char *function, const char *script, const lunette_options *options) {
    ln_request q = {.l = l, .function = function, .script = script, .options = options};
    l->state.traceback = options->traceback;
    ln_host_forget_problems(l);
    if ((q.code = ln_host_run(&q, load_script)) == LUNETTE_OK && l->reader) ln_state_loaded(&l->state);
    return q.code;
}

int lunette_check(lunette *l, const char *script, const lunette_options *given) {
    lunette_options options;
    if (ln_host_read_options(given, &options))
        return ln_host_refuse(l, "the options set a field that this version does not have");
    return load(l, "check", script, &options);
}

int lunette_open(lunette *l, const char *script, const lunette_options *given) {
    lunette_options options;
    if (l->reader) return ln_host_refuse(l, "a script is open already: make a new lunette for the next");
    if (ln_host_read_options(given, &options))
        return ln_host_refuse(l, "the options set a field that this version does not have");
    return load(l, "open", script, &options);
}

/* A list of arguments: { name, value } each, in order. */
static void push_args(lua_State *L, const ln_request *q) {
    lua_createtable(L, (int)q->args_count, 0);
    for (size_t i = 0; i < q->args_count; i++) {
        lua_createtable(L, 2, 0);
        lua_pushstring(L, q->args[i].name);
        lua_rawseti(L, -2, 1);
        lua_pushstring(L, q->args[i].value);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static int run_tool(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "tool");
    lua_pushstring(L, q->function);
    push_args(L, q);
    lua_call(L, 2, 2);
    q->status = (int)luaL_checkinteger(L, -2);
    ln_state_keep(&q->l->state, L, LN_KEPT_TEXT); /* or nil, which is kept as none */
    return 0;
}

int lunette_tool(lunette *l, const char *tool, const lunette_param *args, size_t count, int traceback, int *status) {
    ln_request q = {.l = l, .function = tool, .args = args, .args_count = count};
    int code;
    l->state.traceback = traceback;
    code = ln_host_run(&q, run_tool);
    *status = q.status;
    return code;
}

const char *lunette_tool_text(lunette *l) { return ln_state_text(&l->state, LN_KEPT_TEXT); }

const char *lunette_problem(lunette *l, size_t i) {
    ln_state *s = l->next && !l->reloading ? l->next : &l->state;
    return i < INT32_MAX ? ln_state_item(s, LN_KEPT_PROBLEMS, (int)i + 1) : NULL;
}

static int read_file(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "file");
    lua_pushnumber(L, (lua_Number)q->stream);
    lua_call(L, 1, 2);
    ln_state_keep(&q->l->state, L, LN_KEPT_FILE);
    ln_state_keep(&q->l->state, L, LN_KEPT_PATH);
    return 0;
}

int lunette_file(lunette *l, size_t i, lunette_text *out) {
    ln_request q = {.l = l, .stream = i + 1};
    *out = (lunette_text){0};
    if (ln_host_run(&q, read_file) != LUNETTE_OK) return -1;
    out->path = ln_state_text(&l->state, LN_KEPT_PATH);
    out->text = ln_state_bytes(&l->state, LN_KEPT_FILE, &out->len);
    return out->path && out->text ? 0 : -1;
}

const char *lunette_sink_named(lunette *l) {
    const char *text = ln_state_item(&l->state, LN_KEPT_ADDRESSES, 1);
    return text && *text ? text : NULL;
}

const char *lunette_source_named(lunette *l, size_t i) {
    return i < INT32_MAX - 1 ? ln_state_item(&l->state, LN_KEPT_ADDRESSES, (int)i + 2) : NULL;
}

ln_reader *lunette_reader(lunette *l) { return l->reader; }

ln_output *lunette_output(lunette *l) { return l->output; }

/* ---- running --------------------------------------------------------------------------------------------------- */

static int turn(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, q->function);
    lua_pushnumber(L, q->a);
    lua_pushnumber(L, q->b);
    lua_call(L, 2, 2);
    q->code = (int)luaL_checkinteger(L, 2);
    if (q->code == LUNETTE_FAILED) keep_error(&q->l->state, L);
    else q->result = lua_tonumber(L, 3);
    return 0;
}

int ln_host_turn(ln_request *q) {
    ln_host_tidy(q->l);
    return ln_host_run(q, turn);
}

static int take_turn(lunette *l, const char *function, int64_t now_us, uint64_t stream) {
    ln_request q = {.l = l, .function = function, .a = (double)now_us, .b = (double)stream};
    if (!l->reader) return ln_host_refuse(l, NO_SCRIPT);
    return ln_host_turn(&q);
}

/* The same, and then those that drain move too. */
static int take_turn_all(lunette *l, const char *function, int64_t now_us, uint64_t stream) {
    int code = take_turn(l, function, now_us, stream), drained;
    if (!l->draining_count || code == LUNETTE_FAILED || code == LUNETTE_DRAIN) return code;
    drained = ln_host_drain(l, now_us);
    return drained == LUNETTE_OK ? code : drained;
}

int lunette_pump(lunette *l, int64_t now_us) { return take_turn_all(l, "pump", now_us, 0); }

int lunette_finish(lunette *l, int64_t now_us) {
    int code = l->finished ? LUNETTE_OK : take_turn(l, "finish", now_us, 0);
    l->finished = code == LUNETTE_OK;
    return l->finished ? ln_host_drain(l, now_us) : code;
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

static int open_stream(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "open_stream");
    lua_pushboolean(L, q->messages);
    if (q->source >= 0) lua_pushnumber(L, (lua_Number)q->source);
    else lua_pushnil(L);
    lua_call(L, 2, 2);
    q->stream = (uint64_t)luaL_checknumber(L, 2);
    q->stream_reader = ln_host_address(L, 3);
    return 0;
}

uint64_t lunette_stream_open(lunette *l, int messages, ln_reader **reader) {
    return ln_host_open_stream(l, messages, -1, reader);
}

uint64_t ln_host_open_stream(lunette *l, int messages, int64_t source, ln_reader **reader) {
    ln_request q = {.l = l, .messages = messages, .source = source};
    *reader = NULL;
    if (!l->reader) return (void)ln_host_refuse(l, NO_SCRIPT), 0;
    if (ln_host_run(&q, open_stream) != LUNETTE_OK) return 0;
    *reader = q.stream_reader;
    return q.stream;
}

int lunette_stream_pump(lunette *l, uint64_t stream, int64_t now_us) {
    return take_turn_all(l, "pump_stream", now_us, stream);
}

int lunette_stream_close(lunette *l, uint64_t stream, int64_t now_us) {
    return take_turn(l, "close_stream", now_us, stream);
}

/* Tells one number, which may be of no use to the function. */
static int tell(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, q->function);
    lua_pushnumber(L, q->a);
    lua_call(L, 1, 0);
    return 0;
}

static int tell_number(lunette *l, const char *function, int64_t number) {
    ln_request q = {.l = l, .function = function, .a = (double)number};
    return l->reader ? ln_host_run(&q, tell) : ln_host_refuse(l, NO_SCRIPT);
}

int lunette_clock_set(lunette *l, int64_t by_us) { return tell_number(l, "clock_set", by_us); }

int lunette_unheard(lunette *l, int64_t by_us) { return tell_number(l, "unheard", by_us); }

int lunette_conclude(lunette *l) { return tell_number(l, "conclude", 0); }

/* ---- looking --------------------------------------------------------------------------------------------------- */

static int read_text(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, q->function);
    lua_call(L, 0, 1);
    luaL_checkstring(L, 2);
    ln_state_keep(&q->l->state, L, LN_KEPT_TEXT);
    return 0;
}

static const char *text_of(lunette *l, const char *function) {
    ln_request q = {.l = l, .function = function};
    return ln_host_run(&q, read_text) == LUNETTE_OK ? ln_state_text(&l->state, LN_KEPT_TEXT) : NULL;
}

static int look(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "look");
    lua_pushstring(L, q->function);
    push_args(L, q);
    lua_call(L, 2, 2);
    if (!lua_toboolean(L, -2)) return lua_error(L); /* the reason is on top */
    lua_pop(L, 1);
    luaL_checkstring(L, -1);
    ln_state_keep(&q->l->state, L, LN_KEPT_TEXT);
    return 0;
}

const char *lunette_look(lunette *l, const char *what, const lunette_param *args, size_t count) {
    ln_request q = {.l = l, .function = what, .args = args, .args_count = count};
    if (!l->reader) return (void)ln_host_refuse(l, NO_SCRIPT), NULL;
    return ln_host_run(&q, look) == LUNETTE_OK ? ln_state_text(&l->state, LN_KEPT_TEXT) : NULL;
}

const char *lunette_stats(lunette *l) { return text_of(l, "stats"); }

const char *lunette_explain(lunette *l) { return text_of(l, "explain"); }

const char *lunette_jit_report(lunette *l) { return text_of(l, "jit_report"); }

static int read_progress(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "progress");
    lua_call(L, 0, 4);
    q->progress.windows = (uint64_t)luaL_checknumber(L, 3);
    q->progress.late = (uint64_t)luaL_checknumber(L, 4);
    q->progress.records = (uint64_t)luaL_checknumber(L, 5);
    lua_settop(L, 2);
    ln_state_keep(&q->l->state, L, LN_KEPT_TEXT);
    return 0;
}

int lunette_progress_get(lunette *l, lunette_progress *out) {
    ln_request q = {.l = l};
    const char *watermark;
    if (ln_host_run(&q, read_progress) != LUNETTE_OK) return LUNETTE_FAILED;
    *out = q.progress;
    watermark = ln_state_text(&l->state, LN_KEPT_TEXT);
    out->watermark = watermark ? watermark : "";
    return LUNETTE_OK;
}

static int read_notices(lua_State *L) {
    ln_request *q = lua_touserdata(L, 1);
    ln_host_push(L, "notices");
    lua_call(L, 0, 1);
    ln_state_keep(&q->l->state, L, LN_KEPT_NOTICES);
    return 0;
}

const char *lunette_notice(lunette *l) {
    ln_request q = {.l = l};
    const char *text;
    if (!l->next_notice && ln_host_run(&q, read_notices) != LUNETTE_OK) return NULL;
    text = ln_state_item(&l->state, LN_KEPT_NOTICES, ++l->next_notice);
    if (!text) l->next_notice = 0;
    return text;
}

const char *lunette_error(lunette *l) {
    const char *text = l->said ? l->said : ln_state_text(&l->state, LN_KEPT_ERROR);
    return text ? text : LN_HOST_MEMORY_SHORT;
}
