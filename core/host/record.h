/* A record that a host builds field by field, straight behind what it has pushed. What is wrong with it is remembered
 * and told at the end, when its bytes become part of the input or go. */
#ifndef LN_HOST_RECORD_H
#define LN_HOST_RECORD_H

#include "host/input.h"
#include "lunette.h"

enum { LN_RECORD_DEPTH = 64 };

typedef struct ln_record {
    ln_input *in;
    ln_limits limits;
    int open;          /* begun, and not ended */
    const char *wrong; /* the first thing that is; NULL: nothing is */
    uint64_t from;     /* where it begins, in bytes ever pushed; so is `head` */
    uint32_t elements; /* so far */
    uint32_t depth;    /* maps and arrays that are open, the record itself included */
    struct ln_record_level {
        uint64_t head; /* five bytes, of which the last four are its count */
        uint32_t count;
        int is_map;
    } level[LN_RECORD_DEPTH];
} ln_record;

void ln_record_begin(ln_record *r, ln_input *in, const ln_limits *limits);
/* One value: a scalar, a text or bytes. */
void ln_record_put(ln_record *r, const char *name, const ln_value *v);
void ln_record_enter(ln_record *r, const char *name, int is_map);
void ln_record_leave(ln_record *r);
/* enum ln_input_result; or -1 where r->wrong tells what is wrong. */
int ln_record_end(ln_record *r);
/* Forgets a record that is open. */
void ln_record_undo(ln_record *r);

#endif
