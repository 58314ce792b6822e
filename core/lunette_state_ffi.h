/* What it takes to carry the state of a pipeline over, beside lunette_ffi.h and under its law: functions in plain C
 * without a preprocessor line, since this text is both included by C and handed to ffi.cdef. All of this is since
 * 0.1. */

/* The whole state of an engine between two batches, as bytes: windows and what they hold, keys, triggers, promises of
 * sources, the watermark, the clock, the account. Left out are the accumulators of folds in Lua and panes that the
 * driver keeps: they go by the numbers of slots and handles, which stay the same. A view until the next call on the
 * engine; NULL where memory is short. */
const uint8_t *ln_engine_save(ln_engine *e, size_t *len);
/* Makes a new engine, to which nothing has been done, go on from there. Its plan may be another one: aggregates are
 * matched by their names, of which those that are not in the bytes start empty, and triggers by kind and place, of
 * which those that do not match start fresh; windows, keys and the kinds of aggregates that share a name must be the
 * same. LN_OK, and then step until done; LN_ENOMEM; LN_EINVALID for bytes that no engine has written or that do not fit
 * the plan: the engine is then only good for deleting. */
int ln_engine_load(ln_engine *e, const uint8_t *bytes, size_t len);
