/* The fast face of JSON: one line as most are, {"name":value,...} with short plain texts, whole numbers, decimals of
 * few digits and the three words. It knows no errors and decides nothing by itself: every line that it accepts becomes
 * the bytes that ln_json_convert makes of it, and every other goes there. */
#ifndef LN_INGEST_FLAT_H
#define LN_INGEST_FLAT_H

#include <stddef.h>
#include <stdint.h>

enum {
    LN_FLAT_PAD = 16,     /* bytes behind the input that must be readable, and begin with a 0 */
    LN_FLAT_ROOM = 4096,  /* bytes of msgpack: more than that is not for here */
    LN_FLAT_ROOM_MIN = 64 /* bytes of room below which no line is accepted */
};

/* Converts the line at `p`, its end of line included, into the room at `to`, of which nothing beyond `stop` is written.
 * The end of the msgpack; *fields: its pairs, *next: the byte behind the line, *len: the line's bytes without its end.
 * NULL where the line is not for here, or not whole. */
uint8_t *ln_flat_convert(const uint8_t *p, uint8_t *to, const uint8_t *stop, uint32_t *fields, size_t *len,
                         const uint8_t **next);

#endif
