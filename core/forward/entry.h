/* One entry of a message: a time and a record, and the record as it goes on, with `$time` and `$tag` behind its own
 * pairs. What stands in a record's place and is no map goes on as it is: the pipeline rejects it. */
#ifndef LN_FORWARD_ENTRY_H
#define LN_FORWARD_ENTRY_H

#include "ingest/scan.h"

typedef struct ln_forward_entry {
    int is_map;
    int is_marker;      /* the beginning or the end of a group of records */
    uint32_t pairs;     /* of the record */
    const uint8_t *at;  /* the pairs; of what is no map, all of it */
    const uint8_t *end; /* of the entry: the record stands last */
    uint8_t stamp[16];  /* the time, as a msgpack timestamp or nil */
    uint32_t stamp_bytes;
    size_t bytes; /* as written by ln_forward_entry_write */
} ln_forward_entry;

/* The limits are those of the record as it goes on, with a tag of `tag_bytes`. LN_OK; LN_FRAME_MORE: more bytes are
 * needed; LN_EINVALID: this is no entry; or what the framer found. */
int ln_forward_entry_read(ln_forward_entry *e, const ln_limits *limits, uint32_t tag_bytes, const uint8_t *p,
                          const uint8_t *end);
/* The same where time and record stand without an array around them. */
int ln_forward_entry_read_parts(ln_forward_entry *e, const ln_limits *limits, uint32_t tag_bytes, const uint8_t *p,
                                const uint8_t *end);
/* The same for an entry that has been read before, or its parts: its end is known. */
void ln_forward_entry_read_again(ln_forward_entry *e, uint32_t tag_bytes, int parts, const uint8_t *p,
                                 const uint8_t *end);
/* Writes e->bytes bytes. */
void ln_forward_entry_write(const ln_forward_entry *e, const void *tag, uint32_t tag_bytes, uint8_t *to);

#endif
