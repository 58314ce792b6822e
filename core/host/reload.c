/* Reloads: the new script gets a Lua state of its own, and the old one hands over to it. Both run lunette.host; bytes
 * and addresses go from one to the other through here, in pieces. */
#include "host/host.h"

#include <lauxlib.h>
#include <string.h>

static const char NO_SCRIPT[] = "no script is open";

/* One call of lunette.host in one of the states. */
typedef struct call {
    lunette *l;
    const char *function;
    const char *script;
    const lunette_options *options;
    ln_state *state;
    const char *text; /* what is told, and told back: kept in LN_KEPT_TEXT of the state */
    size_t len;
    double number; /* an address, or microseconds */
    double more;
    int drains;
    int code;
} call;

static void keep_error(ln_state *s, lua_State *L) {
    if (!lua_isstring(L, -1)) {
        lua_pop(L, 1);
        lua_pushliteral(L, "lunette.host gave no reason");
    }
    ln_state_keep(s, L, LN_KEPT_ERROR);
}

/* A function of numbers: its status, and two numbers or a message. */
static int run_numbers(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, c->function);
    lua_pushnumber(L, c->number);
    lua_pushnumber(L, c->more);
    lua_call(L, 2, 3);
    c->code = (int)luaL_checkinteger(L, 2);
    if (c->code == LUNETTE_FAILED) {
        lua_settop(L, 3);
        keep_error(c->state, L);
        return 0;
    }
    c->number = lua_tonumber(L, 3);
    c->more = lua_tonumber(L, 4);
    return 0;
}

static int ask(ln_state *s, call *c) {
    c->state = s;
    return ln_state_call(s, run_numbers, c) == LN_OK ? c->code : LUNETTE_FAILED;
}

/* A function without arguments that tells a text, which may hold any byte. */
static int run_text(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, c->function);
    lua_call(L, 0, 1);
    c->text = luaL_checklstring(L, 2, &c->len);
    ln_state_keep(c->state, L, LN_KEPT_TEXT);
    return 0;
}

static int ask_text(ln_state *s, call *c) {
    c->state = s;
    return ln_state_call(s, run_text, c) == LN_OK ? LUNETTE_OK : LUNETTE_FAILED;
}

/* ---- beginning -------------------------------------------------------------------------------------------------- */

static int open_beside(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_take_print(L, c->l);
    ln_host_push(L, "open_beside");
    lua_pushstring(L, c->script);
    ln_host_push_params(L, c->options);
    lua_pushlstring(L, c->text, c->len);
    ln_host_push_texts(L, c->options);
    lua_pushboolean(L, c->drains);
    lua_call(L, 5, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    c->code = lua_toboolean(L, 2) ? LUNETTE_OK : LUNETTE_PROBLEMS;
    ln_state_keep(c->state, L, c->code == LUNETTE_OK ? LN_KEPT_ADDRESSES : LN_KEPT_PROBLEMS);
    return 0;
}

static void free_state(lunette *l, ln_state **s) {
    if (!*s) return;
    ln_state_free(*s);
    ln_mem_free(&l->memory.own, *s, sizeof **s);
    *s = NULL;
}

/* The reason that a state has kept, as that of the lunette. */
static int fail_as(lunette *l, ln_state *s) {
    const char *text = ln_state_text(s, LN_KEPT_ERROR);
    return s == &l->state ? LUNETTE_FAILED : ln_host_refuse(l, text ? text : LN_HOST_MEMORY_SHORT);
}

static int open_next(lunette *l, const char *script, const lunette_options *options) {
    call about = {.function = "about"};
    call open = {.l = l, .script = script, .options = options, .drains = l->drains};
    if (ask_text(&l->state, &about) != LUNETTE_OK) return LUNETTE_FAILED;
    l->next = ln_mem_zero(&l->memory.own, sizeof *l->next);
    if (!l->next || ln_state_init(l->next, &l->memory) != LN_OK) {
        ln_mem_free(&l->memory.own, l->next, sizeof *l->next);
        l->next = NULL;
        return ln_host_refuse(l, LN_HOST_MEMORY_SHORT);
    }
    l->next->traceback = options->traceback;
    open.text = about.text;
    open.len = about.len;
    open.state = l->next;
    if (ln_state_call(l->next, open_beside, &open) != LN_OK) return fail_as(l, l->next);
    return open.code;
}

int lunette_reload_begin(lunette *l, const char *script, const lunette_options *given, int on_change) {
    lunette_options options;
    call begin = {.function = "carry_begin"};
    int code;
    if (!l->reader) return ln_host_refuse(l, NO_SCRIPT);
    if (l->reloading) return ln_host_refuse(l, "a reload is under way: step or cancel it");
    if (ln_host_read_options(given, &options))
        return ln_host_refuse(l, "the options set a field that this version does not have");
    free_state(l, &l->next);
    l->drains = on_change == LUNETTE_CHANGE_DRAIN;
    if (l->drains && l->draining_count == LN_HOST_DRAINING)
        return ln_host_refuse(l, "pipelines of eight scripts before drain: wait until their windows have expired");
    code = open_next(l, script, &options);
    if (code == LUNETTE_PROBLEMS) return code;
    if (code == LUNETTE_OK && ask(&l->state, &begin) == LUNETTE_OK) {
        l->reloading = 1;
        return LUNETTE_OK;
    }
    free_state(l, &l->next);
    return LUNETTE_FAILED;
}

/* ---- going on --------------------------------------------------------------------------------------------------- */

void lunette_reload_cancel(lunette *l) {
    call end = {.function = "carry_end"};
    if (!l->reloading) return;
    l->reloading = 0;
    (void)ask_text(&l->state, &end);
    free_state(l, &l->next);
}

static int give_up(lunette *l, ln_state *why) {
    const char *kept = ln_state_text(why, LN_KEPT_ERROR);
    (void)ln_host_refuse(l, kept ? kept : LN_HOST_MEMORY_SHORT);
    lunette_reload_cancel(l);
    return LUNETTE_FAILED;
}

static int run_take_over(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, "take_over");
    lua_pushlstring(L, c->text, c->len);
    lua_call(L, 1, 2);
    c->code = (int)luaL_checkinteger(L, 2);
    if (c->code == LUNETTE_FAILED) keep_error(c->state, L);
    return 0;
}

static int run_keep(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, "keep");
    lua_pushlstring(L, c->text, c->len);
    lua_pushnumber(L, c->number);
    lua_call(L, 2, 1);
    c->code = lua_toboolean(L, 2);
    return 0;
}

/* The old state is kept for what drains of it, or is freed little by little. */
static void part_with(lunette *l, ln_state *old, call *concerned) {
    concerned->number = (double)(uintptr_t)l->output;
    concerned->code = 0;
    if (l->drains && ln_state_call(old, run_keep, concerned) == LN_OK && concerned->code) {
        l->draining[l->draining_count++] = old;
        return;
    }
    free_state(l, &l->retired);
    l->retired = old;
}

/* The new state has all that the old one held: it is the lunette's from here on. */
static int switch_over(lunette *l) {
    call hand = {.function = "hand_over"}, take = {.state = l->next}, concerned = {.function = "concerned"};
    ln_state *old;
    if (l->drains && ask_text(l->next, &concerned) != LUNETTE_OK) return give_up(l, l->next);
    if (ask_text(&l->state, &hand) != LUNETTE_OK) return give_up(l, &l->state);
    take.text = hand.text;
    take.len = hand.len;
    l->reloading = 0;
    take.code = ln_state_call(l->next, run_take_over, &take) == LN_OK ? take.code : LUNETTE_FAILED;
    old = ln_mem_new(&l->memory.own, sizeof *old);
    if (old) *old = l->state;
    else ln_state_free(&l->state);
    if (old) part_with(l, old, &concerned);
    l->state = *l->next;
    ln_state_loaded(&l->state);
    ln_mem_free(&l->memory.own, l->next, sizeof *l->next);
    l->next = NULL;
    l->next_notice = 0;
    l->stepped = l->pace.set = 0;
    return take.code == LUNETTE_FAILED ? LUNETTE_FAILED : LUNETTE_OK;
}

int lunette_reload_step(lunette *l, int64_t now_us, int64_t budget_us) {
    call out = {.function = "carry_out", .number = (double)budget_us}, in = {.function = "carry_in"};
    call done = {.function = "carry_done"};
    int code;
    (void)now_us;
    if (!l->reloading) return ln_host_refuse(l, "no reload has been begun");
    if (l->retired) { /* what the reload before has left goes first: freed at once it would hold records up */
        ln_host_tidy(l);
        return LUNETTE_DRAIN;
    }
    code = ask(&l->state, &out);
    if (code == LUNETTE_FAILED) return give_up(l, &l->state);
    in.number = out.number;
    in.more = out.more;
    if (out.more > 0 && ask(l->next, &in) == LUNETTE_FAILED) return give_up(l, l->next);
    if (code != LUNETTE_OK) return LUNETTE_DRAIN;
    if (ask(l->next, &done) == LUNETTE_FAILED) return give_up(l, l->next);
    return switch_over(l);
}

/* ---- what drains ------------------------------------------------------------------------------------------------ */

enum { DRAINED = 5 }; /* of lunette.host: no window is left */

static int run_drain(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, "drain");
    lua_pushlstring(L, c->text, c->len);
    lua_pushnumber(L, c->number);
    lua_call(L, 2, 2);
    c->code = (int)luaL_checkinteger(L, 2);
    if (c->code == LUNETTE_FAILED) keep_error(c->state, L);
    return 0;
}

int ln_host_drain(lunette *l, int64_t now_us) {
    call marks = {.function = "marks"};
    int code = LUNETTE_OK;
    if (!l->draining_count) return LUNETTE_OK;
    if (ask_text(&l->state, &marks) != LUNETTE_OK) return LUNETTE_FAILED;
    for (int i = l->draining_count; i-- > 0;) {
        call c = {.state = l->draining[i], .text = marks.text, .len = marks.len, .number = (double)now_us};
        if (ln_state_call(l->draining[i], run_drain, &c) != LN_OK || c.code == LUNETTE_FAILED)
            return fail_as(l, l->draining[i]);
        if (c.code == LUNETTE_DRAIN) code = LUNETTE_DRAIN;
        if (c.code != DRAINED) continue;
        free_state(l, &l->draining[i]);
        l->draining[i] = l->draining[--l->draining_count];
    }
    return code;
}

int lunette_draining(const lunette *l) { return l->draining_count; }

/* ---- what is left behind ---------------------------------------------------------------------------------------- */

static int run_dispose(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, "dispose");
    lua_call(L, 0, 1);
    c->code = lua_toboolean(L, 2);
    return 0;
}

void ln_host_tidy(lunette *l) {
    call c = {.state = l->retired};
    if (!l->retired) return;
    if (ln_state_call(l->retired, run_dispose, &c) == LN_OK && !c.code) return;
    free_state(l, &l->retired);
}

void ln_host_forget_problems(lunette *l) {
    if (!l->reloading) free_state(l, &l->next);
}

void ln_host_reload_free(lunette *l) {
    lunette_reload_cancel(l);
    free_state(l, &l->next);
    free_state(l, &l->retired);
    while (l->draining_count) free_state(l, &l->draining[--l->draining_count]);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------ */

int lunette_checkpoint(lunette *l, int changes, int64_t budget_us, lunette_write write, void *ctx) {
    call out = {.function = "checkpoint", .number = changes != 0, .more = (double)budget_us};
    int code;
    if (!l->reader) return ln_host_refuse(l, NO_SCRIPT);
    if (l->reloading) return ln_host_refuse(l, "a reload is under way: step or cancel it");
    if (l->draining_count) return ln_host_refuse(l, "a script before drains: wait until its windows have expired");
    code = ask(&l->state, &out);
    if (code == LUNETTE_FAILED || out.more <= 0) return code;
    if (write(ctx, (const void *)(uintptr_t)out.number, (size_t)out.more) == 0) return code;
    lunette_checkpoint_end(l);
    return ln_host_refuse(l, "the checkpoint could not be written");
}

void lunette_checkpoint_end(lunette *l) {
    call end = {.function = "checkpoint_end"};
    if (l->reader) (void)ask_text(&l->state, &end);
}

int lunette_restore(lunette *l, const void *bytes, size_t len) {
    call in = {.function = "restore", .number = (double)(uintptr_t)bytes, .more = (double)len};
    return l->reader ? ask(&l->state, &in) : ln_host_refuse(l, NO_SCRIPT);
}

static int restore_problems(lua_State *L) {
    call *c = lua_touserdata(L, 1);
    ln_host_push(L, "restore_problems");
    lua_call(L, 0, 1);
    c->code = lua_objlen(L, 2) ? LUNETTE_PROBLEMS : LUNETTE_OK;
    ln_state_keep(c->state, L, LN_KEPT_PROBLEMS);
    return 0;
}

int lunette_restore_end(lunette *l) {
    call end = {.function = "restore_end"}, problems = {.state = &l->state};
    if (!l->reader) return ln_host_refuse(l, NO_SCRIPT);
    if (ln_state_call(&l->state, restore_problems, &problems) != LN_OK) return LUNETTE_FAILED;
    return problems.code == LUNETTE_OK ? ask(&l->state, &end) : problems.code;
}
