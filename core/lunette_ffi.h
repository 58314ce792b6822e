/* What Lua may call: enums, structs and functions, in plain C without a preprocessor line, since this text is both
 * included by C and handed to ffi.cdef. Everything declared here is exported from liblunette-core; nothing else is.
 *
 * One law of ownership: inputs are borrowed for the call; what `new` returns is yours until `delete`; a view (a
 * pointer obtained from an object) lives until the next call on the same object, unless a comment says longer. No
 * function here is thread-safe for one object; objects that do not share anything may live on different threads. Times
 * are int64 microseconds (in ticks: counts) unless a name says otherwise. All of this is since 0.1. */

/* ---- errors ---------------------------------------------------------------------------------------------------- */

enum ln_err {
    LN_OK = 0,
    LN_ENOMEM,     /* the allocator returned NULL, or a stated limit of memory was reached */
    LN_EINVALID,   /* an argument makes no sense: a bug of the caller */
    LN_EMSGPACK,   /* bytes that are not msgpack */
    LN_ETRUNCATED, /* the input ended in the middle of a record */
    LN_EDEPTH,     /* a record nested deeper than limits.nesting */
    LN_ERECORD,    /* a record larger than limits.record_bytes */
    LN_EELEMENTS,  /* a record of more values than limits.elements */
    LN_EJSON,      /* a line that is not JSON */
    LN_EBIGINT,    /* a number out of range: a whole one beyond 64 bits could not stay exact */
    LN_EFIELDS,    /* more fields than a pipeline can have */
    LN_ECLOSED,    /* the object has failed before and takes nothing more */
    LN_ERR_COUNT
};

/* A sentence for a code, without a full stop; never NULL. */
const char *ln_strerror(int err);
/* "0.1.0" */
const char *ln_version(void);

/* ---- values ---------------------------------------------------------------------------------------------------- */

enum ln_type {
    LN_MISSING = 0, /* the record has no such field */
    LN_NULL,
    LN_BOOL,   /* i: 0 or 1 */
    LN_INT,    /* i */
    LN_UINT,   /* u, only above INT64_MAX */
    LN_DOUBLE, /* d */
    LN_TEXT,   /* at, len: the characters, not terminated */
    LN_BYTES,  /* at, len */
    LN_ARRAY,  /* at, len: the whole encoded value, its head included */
    LN_MAP,    /* at, len: likewise */
    LN_EXT     /* at, len: the payload; ext: the application's type */
};

typedef struct ln_value {
    uint8_t type; /* enum ln_type */
    int8_t ext;
    uint16_t reserved;
    uint32_t len; /* bytes */
    union {
        int64_t i;
        uint64_t u;
        double d;
        const uint8_t *at; /* borrowed: from the batch, or from whoever made the value */
    };
} ln_value;

/* ---- input: bytes to batches of records ------------------------------------------------------------------------ */

enum ln_format { LN_FORMAT_AUTO = 0, LN_FORMAT_MSGPACK, LN_FORMAT_JSON };

typedef struct ln_limits {
    uint64_t record_bytes;    /* one record, encoded; default 4 MiB */
    uint32_t nesting;         /* maps and arrays within each other, the record itself being 1; default 32 */
    uint32_t elements;        /* values in one record, names of fields included; default 65,536 */
    uint64_t state_bytes;     /* of a pipeline, asked when a key, a window or a waiting record is new: the values that
                                 open windows keep may grow past it, and what Lua keeps is not counted; default 1 GiB */
    uint64_t distinct_values; /* values held by one exact distinct of one window; default 1,000,000 */
} ln_limits;

/* Rows of one batch. Column c of row r is column[c][r]. Every row is a record; what is no map has malformed[r] set, and
 * record[r] then holds, as msgpack, what stood there (for a line that is not JSON, its text). */
typedef struct ln_batch {
    uint32_t rows;
    uint32_t columns;
    ln_value *const *column;
    const uint8_t *const *record; /* each row's encoded record */
    const uint32_t *record_bytes;
    const uint8_t *malformed; /* 0, or the ln_err that tells why (LN_EINVALID: well-formed, but no map) */
    uint64_t source;          /* the number of the stream that all rows came by; 0: there is only one */
} ln_batch;

typedef struct ln_reader ln_reader;

/* A reader of records; `rows_max` is the most rows of a batch (0: 1024). NULL where memory is short. */
ln_reader *ln_reader_new(int format, const ln_limits *limits, uint32_t rows_max);
void ln_reader_delete(ln_reader *r);
/* Asks for the field at `path` (names joined by dots) as a column of every later batch; returns its number, the same
 * for the same path, or -1 where there are 256 already. Where a map names a field twice the later one counts. */
int ln_reader_column(ln_reader *r, const char *path, size_t len);
/* How many fields have been asked for. */
int ln_reader_columns(const ln_reader *r);
/* Room for at least `want` more bytes at the end of the input, to be filled and then committed; NULL where memory is
 * short. May move the bytes of the last batch: call it only between batches. */
uint8_t *ln_reader_space(ln_reader *r, size_t want);
int ln_reader_commit(ln_reader *r, size_t len);
/* Copies bytes to the end of the input: space and commit in one. */
int ln_reader_push(ln_reader *r, const void *bytes, size_t len);
/* No more bytes come for this stream (a file): what is left must be whole. The reader then takes the next stream with
 * ln_reader_restart. */
void ln_reader_end(ln_reader *r);
/* Begins a new stream: offsets start at 0, the format is recognised anew unless it was stated. */
void ln_reader_restart(ln_reader *r);
/* The next batch of whole records, which lives until the next call on the reader: LN_OK with rows == 0 means that more
 * bytes are needed. After an error, which no later call undoes before a restart, every record before it has been
 * handed out. */
int ln_reader_next(ln_reader *r, const ln_batch **batch);
/* The text of the last error with its byte offset, and that offset. */
const char *ln_reader_error(const ln_reader *r);
uint64_t ln_reader_error_offset(const ln_reader *r);
/* The format in use: LN_FORMAT_AUTO before the first byte. */
int ln_reader_format(const ln_reader *r);
/* Bytes committed and not yet handed out in a batch. */
size_t ln_reader_pending(const ln_reader *r);

/* The texts of a column as numbers. */
typedef struct ln_strings {
    const int32_t *id;   /* of each row of the present batch; 0: no text, or one without a number */
    const uint32_t *row; /* of each number that is new with this batch: a row that has it. In the order of numbers, */
    uint32_t rows;       /* so many, */
    uint32_t count;      /* up to this one */
    uint32_t generation; /* as long as it stays a number means the same text; then they count from 1 again */
} ln_strings;
/* From the next batch on numbers the texts of a column, for as long as they are short and return: equal ones have the
 * same number. For a driver that keeps what it makes of each. A generation ends with the batch in which `most` numbers
 * are in use (0: 65,536). `seed` is for the hash: nobody outside should know it. The struct lives as long as the
 * reader; NULL where memory is short. */
const ln_strings *ln_reader_strings(ln_reader *r, int column, uint32_t most, uint64_t seed);

/* Finds the field at `path` in an encoded map that the reader has passed: for fields that are no column yet. */
void ln_record_get(const uint8_t *record, uint32_t len, const char *path, size_t path_len, ln_value *out);
/* Reads the value at `p`, which must be passed msgpack; returns its end. With deep == 0 the end of an array's or map's
 * head, and `len` of the value is its number of elements (pairs, for a map). */
const uint8_t *ln_value_read(const uint8_t *p, const uint8_t *end, int deep, ln_value *out);

/* ---- output: panes and rejects --------------------------------------------------------------------------------- */

typedef struct ln_output ln_output;
typedef struct ln_sink ln_sink;

/* Buffers encoded panes and rejects until they are taken. NULL where memory is short. */
ln_output *ln_output_new(int format);
void ln_output_delete(ln_output *o);
void ln_output_format(ln_output *o, int format);
enum ln_stream { LN_STREAM_PANES = 0, LN_STREAM_REJECTS };
/* Rejected records are only encoded where somebody wants them. */
void ln_output_want_rejects(ln_output *o, int wanted);
/* What has been encoded, in the output's format, as a view; *len is 0 when there is nothing. Taking it twice without
 * ln_output_clear gives the same bytes. */
const uint8_t *ln_output_take(ln_output *o, int stream, size_t *len);
void ln_output_clear(ln_output *o, int stream);
/* Bytes waiting in the panes. */
size_t ln_output_size(const ln_output *o);
/* LN_OK, or why the output stopped taking anything. */
int ln_output_status(const ln_output *o);

/* Building one value for the panes by hand, piece by piece (a map's pieces alternate between names and values). */
void ln_output_nil(ln_output *o);
void ln_output_bool(ln_output *o, int b);
void ln_output_int(ln_output *o, int64_t i);
void ln_output_uint(ln_output *o, uint64_t u);
void ln_output_double(ln_output *o, double d);
/* A number of Lua: an integer where it is whole, up to 2^53. */
void ln_output_number(ln_output *o, double d);
void ln_output_text(ln_output *o, const char *text, size_t len);
void ln_output_array(ln_output *o, uint32_t n);
void ln_output_map(ln_output *o, uint32_t n);
/* A value that is encoded already. */
void ln_output_raw(ln_output *o, const char *bytes, size_t len);
/* Marks where a value begins; rewind takes back everything built since. ln_output_clear drops the mark. */
void ln_output_mark(ln_output *o);
void ln_output_rewind(ln_output *o);

/* ---- plan: a pipeline, checked and in numbers ------------------------------------------------------------------ */

enum ln_window_kind { LN_WINDOW_GRID = 0, LN_WINDOW_SESSION, LN_WINDOW_GLOBAL, LN_WINDOW_ASSIGNER };
enum ln_panes_mode { LN_ACCUMULATING = 0, LN_DISCARDING, LN_RETRACTING };
enum ln_unit { LN_UNIT_S = 0, LN_UNIT_MS, LN_UNIT_US, LN_UNIT_NS, LN_UNIT_TICK, LN_UNIT_RFC3339 };
enum ln_time_kind { LN_TIME_COLUMN = 0, LN_TIME_PROCESSING };

enum ln_aggregate_kind {
    LN_COUNT = 0,
    LN_SUM,
    LN_MIN,
    LN_MAX,
    LN_AVG,
    LN_VARIANCE,
    LN_STDDEV,
    LN_FIRST,
    LN_LAST,
    LN_DISTINCT,
    LN_FOLD,
    LN_DISTINCT_APPROX,
    LN_QUANTILE,
    LN_TOP,
    LN_MIN_BY,
    LN_MAX_BY,
    LN_COLLECT,
    LN_HISTOGRAM,
    LN_RATE,
    LN_RATIO,
    LN_AGGREGATE_KINDS
};

enum ln_trigger_kind {
    LN_NEVER = 0,
    LN_EACH,
    LN_AFTER_COUNT,
    LN_EVERY,
    LN_AFTER_DELAY,
    LN_AFTER_IDLE,
    LN_WHEN,
    LN_ANY,
    LN_ALL,
    LN_SEQUENCE,
    LN_ONCE
};

/* One node of a trigger, compiled: children come before their parent, and the last node is the root. */
typedef struct ln_trigger_node {
    uint8_t kind;       /* enum ln_trigger_kind */
    uint8_t event_time; /* every: counts W, not the clock */
    uint8_t if_new;     /* every */
    uint8_t step_slot;  /* sequence: its number among the trigger's sequences */
    uint64_t children;  /* bit i: node i is a part of this one, in the order of their numbers */
    int64_t n; /* after_count: records; every, after_delay, after_idle: microseconds; when: the function's number */
} ln_trigger_node;

enum ln_trigger_limits { LN_TRIGGER_NODES = 64, LN_TRIGGER_SEQUENCES = 8 };

typedef struct ln_trigger {
    uint32_t count; /* 0: never */
    uint32_t sequences;
    uint64_t once; /* bit i: node i is a once */
    ln_trigger_node node[64];
} ln_trigger;

typedef struct ln_aggregate {
    int32_t kind;     /* enum ln_aggregate_kind */
    int32_t column;   /* of the frame; -1: the record itself (count and rate without a field, fold) */
    const char *name; /* borrowed for ln_engine_new only */
    size_t name_len;
    int32_t has_by;       /* min_by, max_by, and top where it adds up another field */
    int32_t by_column;    /* then that field's; a record without it is skipped */
    uint32_t n;           /* distinct_approx: bits; top: how many to show; distinct: 1 for null, and no estimate, past
                             its limit; quantile: 1 for a list; fold: bytes of a declared struct, or 0 */
    uint32_t numbers;     /* how many there are of the following */
    const double *number; /* quantile: shares; histogram: bounds, rising; borrowed for ln_engine_new only */
    uint64_t limit;  /* collect: most values; top: the capacity; fold: a number that tells its struct from others */
    double accuracy; /* quantile: the relative error */
    int64_t per_us;  /* rate */
} ln_aggregate;

/* Everything the engine must know of a pipeline. Columns are numbers of the batch's columns; those from
 * `computed_first` up are the frame's own, filled by the driver before each step. */
typedef struct ln_plan {
    const char *name; /* borrowed for ln_engine_new only */
    size_t name_len;
    int show_name; /* panes and rejects carry the pipeline's name */
    int time_kind;
    int time_column;
    int unit;
    int clock_column;  /* -1: the clock is what the host says */
    int source_column; /* -1: all input is one source */
    int mark_column;   /* -1: no punctuated promises */
    int64_t delay_us;  /* INT64_MAX: nothing is promised but by marks */
    uint32_t sources_min;
    int64_t idle_us;      /* -1: no source is ever idle */
    int advance_on_idle;  /* when all sources are idle, W goes on with the clock */
    int64_t max_ahead_us; /* -1: no bound */
    int32_t key_column[16];
    uint32_t key_columns; /* 0: no key */
    int key_composite;    /* the key is an array of the columns, also when there is one */
    int window;           /* enum ln_window_kind */
    int merging;          /* session without max, assigner with merge */
    int64_t size_us, hop_us, offset_us;
    int64_t slice_us; /* grid: windows are made of slices of this width, a divisor of size and hop; 0: cells.
                         Only where each window has exactly one pane, at its end: at_watermark without an early part,
                         no lateness, no fill, no folds; where none overlap also folds, and `when` unless retracting */
    int64_t gap_us;   /* sessions; for a merging assigner its `longest` */
    int64_t max_us;   /* sessions; -1: none */
    int64_t lateness_us;
    int panes; /* enum ln_panes_mode */
    int closing_always;
    int64_t fill;     /* 0: none */
    int at_watermark; /* trigger: early and late; else `early` alone stands for the whole */
    ln_trigger early, late;
    const ln_aggregate *aggregate; /* in the order of their names */
    uint32_t aggregates;
    int staged; /* panes pass through the driver (a fold or an emit): they are encoded for it, not for the output */
    uint32_t computed_first;
    uint32_t computed_columns;
    ln_limits limits;
    uint64_t hash_seed;
} ln_plan;

/* ---- engine ---------------------------------------------------------------------------------------------------- */

/* What becomes of a row. The driver may change LN_ROW_TAKE into one of the four states that follow it. */
enum ln_row {
    LN_ROW_TAKE = 0,
    LN_ROW_FILTERED,    /* `where` said no */
    LN_ROW_ERROR,       /* a script error in `where` or `key` */
    LN_ROW_ERROR_FIELD, /* a script error in an aggregate's function: after the key has been judged */
    LN_ROW_ERROR_TIME,  /* a script error in the time function: set before ln_engine_judge */
    LN_ROW_MALFORMED,
    LN_ROW_NO_TIME,
    LN_ROW_FUTURE
};

enum ln_reason {
    LN_REASON_MALFORMED = 0,
    LN_REASON_NO_TIME,
    LN_REASON_FUTURE,
    LN_REASON_LATE,
    LN_REASON_NO_WINDOW,
    LN_REASON_BAD_KEY,
    LN_REASON_SCRIPT_ERROR,
    LN_REASON_LIMIT,
    LN_REASONS
};
const char *ln_reason_name(int reason);

/* The rows of the present batch as one pipeline sees them. */
typedef struct ln_frame {
    uint32_t rows;
    uint8_t *row;           /* enum ln_row of each row */
    const int64_t *time_us; /* of each row; set by ln_engine_judge */
    ln_value **computed;    /* computed[c][r]: column computed_first + c of row r, for the driver to fill */
} ln_frame;

/* Work for the driver, in order. */
enum ln_op_kind {
    LN_OP_ADD = 0,  /* folds: take row b into the accumulators of slot a */
    LN_OP_MERGE,    /* folds: take the accumulators of slot b into those of slot a; b is empty then */
    LN_OP_CLEAR,    /* folds: slot a starts anew */
    LN_OP_PANE,     /* a staged pane, its folds from slot a; kept under handle b unless that is 0 */
    LN_OP_WITHDRAW, /* the pane kept under handle a leaves again, as a withdrawal; the handle is then free */
    LN_OP_FORGET    /* handle a is free */
};
/* A row from here up is a record of an earlier batch: see ln_engine_held. */
enum ln_row_held { LN_ROW_HELD = 0x40000000 };
typedef struct ln_op {
    int32_t kind;
    int32_t a;
    int32_t b;
    int32_t at; /* of a pane: the first of its places, see ln_engine_places */
} ln_op;

/* A predicate's question: is function `when` true for row `row` just added to this window? */
typedef struct ln_question {
    int32_t row;
    int32_t slot;       /* of the folds */
    uint32_t pane;      /* the index that the next pane will have */
    uint32_t ops;       /* operations that wait to be run: before a fold's value is read, or when they are many */
    uint32_t count;     /* how many functions are asked; 0 where there is no question */
    uint8_t when[64];   /* their numbers */
    uint8_t answer[64]; /* to be filled: 0 or 1 */
} ln_question;

enum ln_step {
    LN_STEP_DONE = 0, /* the batch (or the finish) is worked off; run the operations, if any */
    LN_STEP_MORE,     /* run the operations, drain the output, let the host's loop turn, step again */
    LN_STEP_ASK,      /* answer the question, step again */
    LN_STEP_FAILED    /* ln_engine_error tells why; the engine takes nothing more */
};

typedef struct ln_stats {
    uint64_t read, aggregated, filtered, rejected[8];
    uint64_t panes[3]; /* by timing: early, on_time, late */
    uint64_t withdrawals;
    uint64_t refusals_late;    /* windows that refused a record which another window took */
    uint64_t values_skipped;   /* values that an aggregate could not take */
    uint64_t distinct_over;    /* windows whose exact distinct passed its limit and is an estimate since */
    uint64_t distinct_refused; /* the same, and null since, where the plan wants that */
    uint64_t windows, keys;    /* alive now; where windows share slices, one window is counted for each key */
    uint64_t windows_opened;   /* ever; where windows share slices, those that were completed */
    uint64_t state_bytes;
    int64_t watermark_us; /* INT64_MIN: none yet */
} ln_stats;

typedef struct ln_engine ln_engine;

/* NULL where memory is short. `plan` is copied; the sink must outlive the engine. */
ln_engine *ln_engine_new(const ln_plan *plan, const ln_sink *sink);
void ln_engine_delete(ln_engine *e);
/* The sink that encodes into an output. */
const ln_sink *ln_output_sink(ln_output *o);

/* Begins a batch, which must live until the step that ends it; the batch before, clock move or finish must be worked
 * off (else the process is aborted: a bug of the caller). LN_ECLOSED after a failure. Fills the frame's `row` with
 * what is known before any time is: LN_ROW_MALFORMED or LN_ROW_TAKE. `now_us` is the clock, unless the plan has a
 * clock column. */
int ln_engine_begin(ln_engine *e, const ln_batch *batch, int64_t now_us);
/* The frame of the present batch; lives as long as the batch. */
ln_frame *ln_engine_frame(ln_engine *e);
/* Reads clock and time of every row: LN_ROW_NO_TIME, LN_ROW_FUTURE. To be called once for each batch, before the first
 * step; a computed time column must be filled before. */
int ln_engine_judge(ln_engine *e);
/* The driver has filled a computed column: whole doubles up to 2^53 become integers, which they stand for in Lua. What
 * its texts point to must live until the batch ends. */
void ln_engine_computed(ln_engine *e, uint32_t column);
/* A copy of a text, or of an encoded array, in the frame's own memory, until the batch ends: for computed columns. */
int ln_engine_text(ln_engine *e, uint32_t column, uint32_t row, int type, const char *bytes, size_t len);
/* Assigners: one more window of a row, in the pipeline's unit; rows in rising order. LN_EINVALID, and no window, where
 * start < stop does not hold, a bound is out of range, or a merging assigner's window is longer than it said. */
int ln_engine_window(ln_engine *e, uint32_t row, double start, double stop);
/* The message of a row's script error, shown with its reject. */
int ln_engine_message(ln_engine *e, uint32_t row, const char *text, size_t len);
/* A time in a unit (enum ln_unit) as a number of Lua. */
double ln_time_number(int64_t us, int unit);
/* Works on the batch, up to its row `until` and no further (UINT32_MAX: to its end): enum ln_step. Several engines that
 * share a batch and an output are stepped row by row, so that what they write does not depend on where batches end. */
int ln_engine_step(ln_engine *e, uint32_t until);
/* Moves the clock without a record, between two batches; then step until done. */
int ln_engine_clock(ln_engine *e, int64_t now_us);
/* The input has ended: W becomes plus infinity. Then step until done. */
int ln_engine_finish(ln_engine *e);

/* Operations since the last call, in order; handed out once, and a view until the next step. What is not fetched
 * waits. */
const ln_op *ln_engine_ops(ln_engine *e, size_t *count);
/* The panes staged for those operations, one msgpack map after the other, folds as null; a view until the next step. */
const uint8_t *ln_engine_staged(ln_engine *e, size_t *len);
/* Offsets in those bytes; for each pane where it begins, the null of each of its folds, and where it ends. */
const int32_t *ln_engine_places(ln_engine *e);
/* The bytes of a record that had to wait for W, named by an operation or a question; a view until the next step. */
const uint8_t *ln_engine_held(ln_engine *e, uint32_t row, size_t *len);
/* The structs of a fold that declares its state, by slot, zeros where a slot is new; NULL where none is in use. They
 * are the driver's to change as it works off operations, and stay where they are until the next step. */
void *ln_engine_fold(ln_engine *e, uint32_t aggregate);
/* The present question; the struct stays where it is, and has meaning between LN_STEP_ASK and the next step. */
ln_question *ln_engine_question(ln_engine *e);
/* Of the window in question: aggregate i with the record in (in the order of their names; a fold is missing), its start
 * (0) or end (1) in the pipeline's unit, and its key as msgpack. Views until the next call of these or step; missing,
 * or NULL, where there is no question. */
const ln_value *ln_engine_question_value(ln_engine *e, uint32_t i);
const ln_value *ln_engine_question_bound(ln_engine *e, int end);
const uint8_t *ln_engine_question_key(ln_engine *e, size_t *len);

void ln_engine_stats(const ln_engine *e, ln_stats *out);
const char *ln_engine_error(const ln_engine *e);
/* For tests: every row goes its way by itself, step by step, and nothing is worked out for several at once; a step ends
 * after `work_max` windows (0: as otherwise). What leaves is the same. */
void ln_engine_plain(ln_engine *e, uint32_t work_max);
/* Walks every structure of the engine and checks its invariants: NULL, or what is wrong. For tests; slow. */
const char *ln_engine_verify(const ln_engine *e);
