/* The texts of error codes, one for each, and the end of a process with a bug. */
#include "base/assert.h"
#include "lunette.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const texts[] = {
    [LN_OK] = "no error",
    [LN_ENOMEM] = "out of memory",
    [LN_EINVALID] = "not a map",
    [LN_EMSGPACK] = "these bytes are not msgpack",
    [LN_ETRUNCATED] = "the input ends in the middle of a record",
    [LN_EDEPTH] = "a record is nested deeper than limits.nesting allows",
    [LN_ERECORD] = "a record is larger than limits.record_bytes allows",
    [LN_EELEMENTS] = "a record has more values than limits.elements allows",
    [LN_EJSON] = "this line is not JSON",
    [LN_EBIGINT] = "a number is out of range: whole ones have 64 bits",
    [LN_EFIELDS] = "more than 256 fields are read",
    [LN_ECLOSED] = "closed after an error",
};
_Static_assert(sizeof texts / sizeof *texts == LN_ERR_COUNT, "each error has a text");

const char *ln_strerror(int err) { return err >= 0 && err < LN_ERR_COUNT ? texts[err] : "an unknown error"; }

const char *ln_version(void) { return LUNETTE_VERSION; }

void ln_panic(const char *file, int line, const char *condition) {
    fprintf(stderr, "lunette: %s:%d: broken assertion: %s; please report this\n", file, line, condition);
    abort();
}
