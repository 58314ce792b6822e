/* What tools for pipelines take (tests, explanations), beside lunette_ffi.h and under its law: structs and functions in
 * plain C without a preprocessor line, since this text is both included by C and handed to ffi.cdef. All of this is
 * since 0.1. */

/* W rises to `watermark_us`, where it is not there yet, as if every source had promised that nothing older follows.
 * Between two batches; then step until done. LN_EINVALID for a time that is out of range, and where time is the
 * clock's. */
int ln_engine_advance(ln_engine *e, int64_t watermark_us);

/* Bytes of state by the engine's own layout. What aggregates keep elsewhere (sets, sketches, lists, texts), what
 * triggers and withdrawals remember of panes, and what an allocator adds are no part of it. */
typedef struct ln_footprint {
    uint32_t key_bytes; /* a key, with room for `key_near_bytes` of its own bytes; longer ones lie elsewhere */
    uint32_t key_near_bytes;
    uint32_t window_bytes; /* a window of a key; where windows share slices: what a key has in one slice */
} ln_footprint;
void ln_engine_footprint(const ln_engine *e, ln_footprint *out);
/* Those bytes of window_bytes that aggregate i takes (in the order of their names). */
uint32_t ln_engine_aggregate_bytes(const ln_engine *e, uint32_t i);
