/* Assertions: a broken one is a bug of Lunette, never bad input. LN_ASSERT is for cheap checks and always on;
 * LN_DASSERT is compiled only where NDEBUG is not defined. One condition each. */
#ifndef LN_BASE_ASSERT_H
#define LN_BASE_ASSERT_H

_Noreturn void ln_panic(const char *file, int line, const char *condition);

#define LN_ASSERT(cond) ((cond) ? (void)0 : ln_panic(__FILE__, __LINE__, #cond))
#ifdef NDEBUG
#define LN_DASSERT(cond) ((void)0)
#else
#define LN_DASSERT(cond) LN_ASSERT(cond)
#endif

#define LN_LIKELY(x) __builtin_expect(!!(x), 1)

#endif
