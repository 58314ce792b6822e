/* Values in tables of tests, as initialisers. */
#ifndef LN_BASE_TEST_VALUES_H
#define LN_BASE_TEST_VALUES_H

#include "lunette.h"

#define I(n) \
    { .type = LN_INT, .i = (n) }
#define U(n) \
    { .type = LN_UINT, .u = (n) }
#define D(x) \
    { .type = LN_DOUBLE, .d = (x) }

#endif
