/* The Lua modules of Lunette, compiled in as source text, so that the library needs no file to run. The table is
 * generated from the lists in lua/CMakeLists.txt. */
#ifndef LN_HOST_MODULES_H
#define LN_HOST_MODULES_H

#include <stddef.h>

typedef struct ln_module {
    const char *name;   /* as `require` knows it */
    const char *source; /* not terminated: may hold any byte */
    size_t len;
} ln_module;

extern const ln_module ln_modules[];
extern const size_t ln_modules_count;

#endif
