/* The host's memory, counted: what a lunette holds, and apart from it what its Lua state holds, which has a limit. */
#ifndef LN_HOST_MEMORY_H
#define LN_HOST_MEMORY_H

#include "base/mem.h"
#include "lunette.h"

typedef struct ln_reserve ln_reserve;

typedef struct ln_memory {
    ln_mem host;          /* what the config says */
    ln_allocator counted; /* the same, for the library's objects: its ctx is this struct, which must stay in place */
    size_t used;          /* through `counted` */
    ln_mem own;           /* of buffers beside them; counts into `used` too */
    int is_heap;          /* the host has no allocator of its own */
    size_t lua_used, lua_max;
    ln_reserve *reserve; /* the present one first */
} ln_memory;

void ln_memory_init(ln_memory *m, const ln_allocator *allocator, size_t lua_max);
/* LuaJIT crashes where memory is short in lua_newstate or in code that it has compiled, and loses blocks in other
 * places: before it is entered there is a reserve, of which it is given what the host refuses, so that it goes on to
 * the end of the call, and the next one is not begun unless there is a whole reserve again. 0, or -1 where there is no
 * memory for one of so many bytes. */
int ln_memory_reserve(ln_memory *m, size_t bytes);
/* Gives it back, but for what is in use. Nothing runs, and what is deleted may still ask. */
void ln_memory_drop_reserve(ln_memory *m);
/* A lua_Alloc; its ud is the ln_memory. */
void *ln_memory_of_lua(void *ud, void *block, size_t old_bytes, size_t new_bytes);

#endif
