/* The host's memory, counted: what a lunette holds, and apart from it what its Lua state holds, which has a limit. */
#ifndef LN_HOST_MEMORY_H
#define LN_HOST_MEMORY_H

#include "base/mem.h"
#include "lunette.h"

typedef struct ln_memory {
    ln_mem host;          /* what the config says */
    ln_allocator counted; /* the same, for the library's objects: its ctx is this struct, which must stay in place */
    size_t used;          /* through `counted` */
    ln_mem own;           /* of buffers beside them; counts into `used` too */
    int is_heap;          /* the host has no allocator of its own */
    size_t lua_used, lua_max;
    uint8_t *reserve; /* while a Lua state is made, and after it as long as blocks lie there; else NULL */
    size_t reserve_used, reserve_blocks;
    int making;
} ln_memory;

void ln_memory_init(ln_memory *m, const ln_allocator *allocator, size_t lua_max);
/* LuaJIT crashes where memory is short in lua_newstate, and loses a block where it is while its FFI is opened:
 * meanwhile it is given a reserve, so that what it asks for can't fail. 0, or -1 where there is no memory for one. */
int ln_memory_begin_lua(ln_memory *m);
void ln_memory_made_lua(ln_memory *m);
/* A lua_Alloc; its ud is the ln_memory. */
void *ln_memory_of_lua(void *ud, void *block, size_t old_bytes, size_t new_bytes);

#endif
