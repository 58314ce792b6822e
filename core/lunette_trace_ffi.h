/* What tracing a run takes, beside lunette_ffi.h and under its law: functions in plain C without a preprocessor line,
 * since this text is both included by C and handed to ffi.cdef. All of this is since 0.1. */

/* A third stream of an output, after those of enum ln_stream: JSON lines that tell what happened to each record, window
 * and watermark. */
enum ln_stream_traced { LN_STREAM_TRACE = 2 };

/* The output takes what traced engines tell, up to about so many bytes; what comes after that is counted and left out,
 * but for the lines at the end. Without this call it takes nothing. */
void ln_output_want_trace(ln_output *o, uint64_t bytes_max);
/* Of records and windows takes those with this key (as msgpack) alone; may be called for up to 64 of them. LN_OK, or
 * why not. */
int ln_output_trace_key(ln_output *o, const char *bytes, size_t len);
/* A line of the driver's own, without its line end, which stays whatever the limit. */
void ln_output_trace_line(ln_output *o, const char *text, size_t len);
/* The same for an event, to which the limit applies. */
void ln_output_trace_event(ln_output *o, const char *text, size_t len);
/* The panes in the output as msgpack, whatever its format; a view until the output is touched. */
const uint8_t *ln_output_packed(const ln_output *o, size_t *len);
/* From now on the engine tells all that happens inside to its sink. To be called before the first batch, of an engine
 * whose plan has no slices. LN_OK, or LN_ENOMEM. */
int ln_engine_trace(ln_engine *e);
/* The last line of an engine: its account, and what each source has promised. */
void ln_engine_trace_end(ln_engine *e);
