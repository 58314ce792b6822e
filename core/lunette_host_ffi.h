/* What hosts take that step in small pieces and bring their own memory, beside lunette_ffi.h and under its law: structs
 * and functions in plain C without a preprocessor line, since this text is both included by C and handed to ffi.cdef.
 * All of this is since 0.1. */

/* Where memory comes from: like realloc, with the size of the old block. new_bytes == 0 frees and returns NULL; else
 * NULL means that memory is short, and the old block stays as it is. Blocks are aligned as malloc's are. It must not
 * call back into what it serves. */
typedef struct ln_allocator {
    void *(*resize)(void *ctx, void *block, size_t old_bytes, size_t new_bytes);
    void *ctx;
} ln_allocator;

/* The same as those of lunette_ffi.h, with memory from `allocator` (NULL: the heap of the C library), which must
 * outlive what they make; the struct is copied. Readers beside a reader use its allocator. */
ln_reader *ln_reader_new_in(const ln_allocator *allocator, int format, const ln_limits *limits, uint32_t rows_max);
ln_output *ln_output_new_in(const ln_allocator *allocator, int format);
ln_engine *ln_engine_new_in(const ln_allocator *allocator, const ln_plan *plan, const ln_sink *sink);

/* The most rows of later batches of the reader and all beside it: at least 1, at most its rows_max. */
void ln_reader_rows(ln_reader *r, uint32_t rows);
/* A step ends after about so many windows, keys and panes (0: 2,048), and when so many bytes of output wait (0: 256
 * KiB). What leaves does not depend on it. */
void ln_engine_pace(ln_engine *e, uint32_t work, size_t waiting_bytes);
/* The clock from which on a move of it may do something, if nothing comes: a trigger by the clock, a silence, windows
 * that complete since time passes. Never late, but it may be early. Between two batches; INT64_MAX: never. */
int64_t ln_engine_due(const ln_engine *e);
/* The first `len` bytes of the packed panes have been read by ln_output_packed: they are no part of what is taken
 * later. */
void ln_output_skip(ln_output *o, size_t len);
