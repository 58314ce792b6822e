/* Looking into an engine that runs, beside lunette_ffi.h and under its law: functions in plain C without a preprocessor
 * line, since this text is both included by C and handed to ffi.cdef. All are for the time between two batches, and
 * what they hand out is a view until the engine is told anything. All of this is since 0.1. */

/* A window that is open. Where windows of a grid share slices it is told by what has come in them. */
typedef struct ln_open_window {
    int64_t start_us, end_us;  /* INT64_MIN and INT64_MAX where there is no bound */
    uint64_t records;          /* since the last pane; 0 where the engine does not count them: windows of slices */
    int64_t first_us, last_us; /* the clock at the first and the last of these */
    uint32_t panes;            /* shown so far */
    uint8_t completed;         /* the watermark has passed its end */
    uint8_t counted;           /* `records` and the clocks are known */
    uint16_t reserved;
} ln_open_window;

typedef struct ln_open_source {
    const uint8_t *name; /* msgpack, or the 8 bytes of a stream's number */
    uint32_t len;        /* 0: all input is one source */
    uint8_t idle;
    uint8_t holds; /* the watermark waits for it */
    uint16_t reserved;
    int64_t promise_us, heard_us; /* INT64_MIN: none yet */
} ln_open_source;

/* The open windows of a key, given in msgpack, in the order of their starts: fills up to `most`; how many there are. */
uint64_t ln_engine_windows_of(ln_engine *e, const uint8_t *key, size_t len, ln_open_window *out, uint64_t most);
/* The next key that has anything open, as msgpack, from number *at on, which then is one further; NULL after the last.
 * Begin with 0. */
const uint8_t *ln_engine_key_next(const ln_engine *e, uint32_t *at, size_t *len);
/* The sources that have been heard and are not gone, by what they have promised, the least first, and then those that
 * are idle: fills up to `most`; how many there are. */
uint64_t ln_engine_sources(const ln_engine *e, ln_open_source *out, uint64_t most);
/* How far behind the watermark records were that were rejected as late. */
typedef struct ln_lateness {
    uint64_t records[10]; /* in classes, each of which ends at ten times the end of the one before; the first ends at
                             1 ms (in ticks at 1), itself included, the last nowhere */
    uint64_t sum_us;      /* of all; stays at its maximum */
} ln_lateness;

const ln_lateness *ln_engine_lateness(const ln_engine *e);
/* The clock as the windows know it; INT64_MIN: none yet. */
int64_t ln_engine_clock_us(const ln_engine *e);
