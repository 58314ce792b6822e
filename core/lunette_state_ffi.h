/* What an engine holds, as bytes: saved entry by entry while the engine goes on, and loaded into another one, whose
 * plan may differ. Beside lunette_ffi.h and under its law: functions in plain C without a preprocessor line, since this
 * text is both included by C and handed to ffi.cdef. All of this is since 0.1.
 *
 * A whole is one plan, the rest, and an entry for each key and each extent. Keys have numbers that stay theirs as long
 * as they are known, and are given again later: they are as dense as keys are many, so that a store ordered by them is
 * written from its beginning to its end. Extents (what expired sessions leave behind) have rising numbers.
 *
 * Saving goes in rounds. A round is begun by a cut, between two batches: it yields what has changed since the cut
 * before, as it is at the cut, however long it takes and whatever the engine does meanwhile. The first one yields
 * everything. Saved this way, the newest entry of each number of all rounds is the state at the last cut. */

enum ln_entry_kind {
    LN_ENTRY_NONE = 0,
    LN_ENTRY_PLAN,
    LN_ENTRY_KEY,    /* a key with its windows, its waiting records, its rows */
    LN_ENTRY_EXTENT, /* one that has gone stands for all with lower numbers, too */
    LN_ENTRY_REST    /* watermark, sources, clock, counters */
};

/* What folds in Lua and kept panes stand under, in the order in which the entry holds them. */
typedef struct ln_entry {
    int kind;
    uint64_t number;
    const uint8_t *bytes; /* NULL where it has gone; a view until the next call on the engine */
    size_t len;
    const uint32_t *slots; /* of folds, one for each window of the key; 0 where the plan has none */
    uint32_t slots_count;
    const uint32_t *handles; /* of kept panes */
    uint32_t handles_count;
} ln_entry;

/* How a save is made. */
enum ln_saving_mode {
    LN_SAVE_CUT =
        0,        /* as told above. Not for an engine whose folds or kept panes live in Lua: there all of a round must
                        be saved before the engine goes on */
    LN_SAVE_CHASE /* entries are as they are when they are saved: only when a whole round has been saved without a
                        step of the engine in between do they fit together. What changes meanwhile costs nothing */
};

/* Begins to save, with a first round ahead: LN_OK or LN_ENOMEM. */
int ln_engine_save(ln_engine *e, int mode);
/* Saves no more; what has changed is no longer noted. */
void ln_engine_save_end(ln_engine *e);
/* The plan's entry: the same for the whole life of an engine. */
int ln_engine_save_plan(ln_engine *e, ln_entry *out);
/* Begins a round, between two batches and after all entries of the round before: LN_OK or LN_ENOMEM. The first one has
 * been begun by ln_engine_save. */
int ln_engine_save_cut(ln_engine *e);
/* The next entry of the round, LN_ENTRY_NONE after the last: LN_OK, or LN_ENOMEM, after which a save must begin
 * anew. */
int ln_engine_save_next(ln_engine *e, ln_entry *out);
/* The rest as it is now: at the cut. */
int ln_engine_save_rest(ln_engine *e, ln_entry *out);
/* How many entries the next round would have at least. */
size_t ln_engine_save_changed(const ln_engine *e);

/* Begins to load into an engine that has never had a batch, from the entry of a plan: LN_OK, LN_ENOMEM, or LN_EINVALID,
 * where ln_engine_error tells why. `exact`: each number comes once, and the order of what leaves is that of the engine
 * that was saved; else entries may come again, and of panes of several keys at one time the order is free. */
int ln_engine_load(ln_engine *e, const uint8_t *plan, size_t len, int exact);
/* One entry, which may have gone. Of a key `out` has slots and handles in the order of the one that was saved. LN_OK,
 * LN_ENOMEM or LN_EINVALID. After a failure the engine is only good for deleting. */
int ln_engine_load_entry(ln_engine *e, int kind, uint64_t number, const uint8_t *bytes, size_t len, ln_entry *out);
/* All has been loaded; then step until done: windows whose time has passed by the new plan expire. `forget_sources`:
 * those that were known promise no longer. */
int ln_engine_load_end(ln_engine *e, int forget_sources);
/* How many windows are open, cells and not slices: where any are, the engine that goes on must have cells. */
size_t ln_engine_cells(const ln_engine *e);
/* W is there now at least, and the clock there (LN_PAST, the least there is: where it was), without a record: for an
 * engine that takes no more of them. Between two batches; then step until done. */
int ln_engine_move(ln_engine *e, int64_t to_us, int64_t now_us);
/* Frees some of what an engine holds that will only be deleted, as many keys or windows as told, so that deleting it at
 * once does not take long: 1 when nothing is left that would. */
int ln_engine_dispose(ln_engine *e, uint32_t keys);

/* Entries one after the other, with what a driver has to say beside each: bytes that can be taken apart anywhere. */
typedef struct ln_bytes ln_bytes;
ln_bytes *ln_bytes_new(void);
void ln_bytes_delete(ln_bytes *b);
void ln_bytes_clear(ln_bytes *b);
/* What it holds, as a view until it is changed; NULL where memory was short. */
const uint8_t *ln_bytes_data(const ln_bytes *b, size_t *len);
int ln_bytes_push(ln_bytes *b, const uint8_t *bytes, size_t len);
/* Takes so many bytes off its beginning. */
void ln_bytes_drop(ln_bytes *b, size_t len);
void ln_bytes_write(ln_bytes *b, uint32_t part, const ln_entry *e, const char *beside, size_t beside_len);

typedef struct ln_read_entry {
    int kind;
    uint32_t part;
    uint64_t number;
    const uint8_t *bytes; /* NULL: it has gone */
    size_t len;
    const uint8_t *beside;
    size_t beside_len;
} ln_read_entry;
/* The entry at the beginning of these bytes: how many it takes; 0 where it is not there as a whole; -1 where they are
 * broken. Views into the bytes. */
int64_t ln_bytes_read(const uint8_t *bytes, size_t len, ln_read_entry *out);

/* The reader gets the columns and the limits of `from`, which gets its own, and may then be deleted. Between two
 * batches; readers beside `r` must follow it before the next one. */
void ln_reader_adopt(ln_reader *r, ln_reader *from);
void ln_reader_follow(ln_reader *beside, ln_reader *first);
