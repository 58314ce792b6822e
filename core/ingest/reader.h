/* The inside of a reader: one buffer of input, from which batches of rows are made. Bytes before `start` have been
 * handed out; msgpack records are rows where they lie, JSON lines are first turned into msgpack in `made`. Readers of
 * one set make their batches in one table, so that each holds little beside its own unfinished record.
 *
 * Invariant: what a reader hands out (rows, errors, offsets) depends on the bytes of its stream alone, not on how they
 * were split; only where one batch ends and the next begins does. It keeps no more than one unfinished record or line
 * beyond what its owner put in before asking for batches: about limits.record_bytes and one read. */
#ifndef LN_INGEST_READER_H
#define LN_INGEST_READER_H

#include "ingest/scan.h"
#include "ingest/table.h"

enum {
    LN_READER_PAD = 64,       /* bytes behind the input that can be read and are 0 */
    LN_READER_MADE = 1 << 20, /* bytes of msgpack made from JSON that end a batch */
    LN_READER_EXCERPT = 256   /* bytes of a line that is too long, shown in its row */
};
_Static_assert((int)LN_READER_PAD >= (int)LN_SCAN_PAD, "the pad serves the projector");
_Static_assert((int)LN_READER_PAD >= (int)LN_JSON_PAD, "the pad serves JSON");
_Static_assert((int)LN_SCAN_PAD >= (int)LN_STRINGS_READ, "the pad serves what numbers texts");

struct ln_reader {
    ln_mem heap;
    ln_mem *mem;
    ln_table *table;
    int borrows;      /* the table is that of another reader */
    uint64_t source;  /* of every batch */
    ln_limits limits; /* all stated */
    int format_stated, format;

    uint8_t *in;
    size_t in_bytes;   /* allocated, the pad included */
    size_t start, end; /* of the bytes not yet handed out */
    uint64_t offset;   /* of in[start] in the stream */
    int ended, begun;  /* begun: the format is known */
    int err;           /* sticky: what the next call returns */

    ln_framer framer;
    int framing; /* the record at `start` is unfinished, and known to the framer */

    size_t searched; /* bytes from `start` without a line's end */
    int dropping;    /* in a line that was too long */
    uint32_t wild;   /* lines that are not taken for flat */

    ln_batch batch;

    uint64_t error_offset; /* the value that is bad or passes a limit; of what is not whole, the record's first byte */
    char error[192];
};

/* As ln_reader_new, with memory from `mem`, which must outlive the reader. */
ln_reader *ln_reader_new_with(ln_mem *mem, int format, const ln_limits *limits, uint32_t rows_max);

/* Bytes from `in` go: they are part of a row now, or of none. */
static inline void ln_reader_consume(ln_reader *r, size_t len) {
    r->start += len;
    r->offset += len;
}

/* Rows from JSON lines; their number. LN_ENOMEM in r->err where memory was short. */
uint32_t ln_lines_next(ln_reader *r);

#endif
