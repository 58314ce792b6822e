/* What input in several streams takes, beside lunette_ffi.h and under its law: functions in plain C without a
 * preprocessor line, since this text is both included by C and handed to ffi.cdef. All of this is since 0.1. */

/* One more reader, for a stream of its own beside that of `first`, with the format, the limits and the columns of
 * `first`, also those asked for later. Its batches carry `source`. All readers of such a set make their batches in one
 * place: a batch lives until the next call of ln_reader_next on any of them. To be deleted before `first`; NULL where
 * memory is short. */
ln_reader *ln_reader_beside(ln_reader *first, uint64_t source);
/* After an error: what is left of the input as one malformed row, once; later, and before any error, no rows. For
 * streams that are one message each (a datagram), where nothing else is lost with it. */
int ln_reader_rest(ln_reader *r, const ln_batch **batch);
/* The reader's stream is in this format, whatever its first byte looks like; before anything has come. */
void ln_reader_speak(ln_reader *r, int format);
/* The limits that records of the reader must keep to. */
const ln_limits *ln_reader_limits(const ln_reader *r);
/* Gives back the room that is not in use: for a stream that is silent. The last batch is gone. */
void ln_reader_trim(ln_reader *r);

/* The stream of that number has ended, and others go on: where streams are sources, it is one no longer. Between two
 * batches; then step until done. */
int ln_engine_close(ln_engine *e, uint64_t source);
/* The host's clock is about to jump by so much, forward or (as it must not go back) by going on more slowly: that time
 * does not pass for delays and silences, only for the multiples of a period, processing time and max_ahead. Between two
 * batches. */
void ln_engine_clock_set(ln_engine *e, int64_t by_us);
/* For so long nobody read what sources sent: it counts as no silence of theirs. Between two batches. */
void ln_engine_unheard(ln_engine *e, int64_t by_us);

/* A step ends with LN_STEP_MORE after so many windows or keys (0: 2,048): for a host that looks at a clock in between.
 * What leaves is the same. */
void ln_engine_work(ln_engine *e, uint32_t work_max);

/* The format of the output: LN_FORMAT_AUTO where it has not been told. */
int ln_output_format_used(const ln_output *o);
