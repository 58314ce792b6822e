/* Our own reading of msgpack, bounded and without recursion, with two faces that agree on every input: the framer finds
 * the end of a record across any split of the bytes and says what is wrong with it; the projector goes once over a
 * record in hand, passes all of it and fills the columns of one row. The projector is tried first; where it gives up,
 * for whatever reason, the framer tells why.
 *
 * Invariant: the projector accepts a record if and only if the framer does, with the same end; what the framer says
 * depends on the bytes of the record alone, not on how they came.
 *
 * The limits: the record is nesting 1 where it is a map or an array. Elements are all values inside the record, names
 * of fields included, without the record itself. A length that is declared counts at once: a record fails at the first
 * head after which it could not end within limits, before anything more is read. */
#ifndef LN_INGEST_SCAN_H
#define LN_INGEST_SCAN_H

#include "ingest/fields.h"
#include "lunette.h"

enum {
    LN_NESTING_MAX = 128,
    LN_SCAN_PAD = 64 /* bytes that the projector may read beyond the end of what it is given; their content is free */
};

/* The limits of one record with what is not stated, or NULL, at its default, and none beyond what can be held. */
ln_limits ln_limits_stated(const ln_limits *limits);

/* True for the first byte of a map. */
static inline int ln_scan_is_map(uint8_t b) { return (b & 0xf0) == 0x80 || b == 0xde || b == 0xdf; }

/* A record of which some bytes have been seen. */
typedef struct ln_framer {
    uint64_t at;       /* bytes passed; in the middle of a long text it can lie ahead of what is in hand */
    uint64_t owed;     /* values still to come */
    uint64_t elements; /* values declared so far */
    uint32_t depth;
    uint32_t left[LN_NESTING_MAX]; /* values still to come in each open map or array */
} ln_framer;

enum { LN_FRAME_MORE = -1 };

/* At the beginning of a record. */
void ln_framer_init(ln_framer *f);
/* Reads on in the record that begins at `record`, of which `len` bytes are in hand, those of earlier calls included.
 * LN_OK: the record is whole and f->at bytes long. LN_FRAME_MORE: it goes on. LN_EMSGPACK, LN_EDEPTH, LN_EELEMENTS or
 * LN_ERECORD: it is bad, at the value whose first byte is number f->at of the record. Limits must be stated. */
int ln_framer_run(ln_framer *f, const ln_limits *limits, const uint8_t *record, size_t len);

/* Passes the record at `p`, sets column[c][row] for each field c, and *malformed to LN_OK or, where the record is no
 * map, LN_EINVALID. The record's end; NULL where it is not whole or is bad: the row is then garbage. LN_SCAN_PAD bytes
 * beyond `end` must be readable. */
const uint8_t *ln_scan_project(const ln_fields *fields, const ln_limits *limits, const uint8_t *p, const uint8_t *end,
                               ln_value *const *column, uint32_t row, uint8_t *malformed);

/* Passes the value at `p` and counts the values in it: its end; NULL where it is not whole or is bad, by the same
 * rules. Nothing beyond `end` is read. */
const uint8_t *ln_scan_pass(const ln_limits *limits, const uint8_t *p, const uint8_t *end, uint32_t *elements);

#endif
