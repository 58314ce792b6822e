/* How what a run must not forget lies in its ledger. Four tables: facts by name, the entries of the engines' state, the
 * chunks of Fluent Forward that have been taken, the texts of the script. A change of any of it is a new format. */
#ifndef LN_DURABLE_LAYOUT_H
#define LN_DURABLE_LAYOUT_H

#include <stdint.h>

enum ln_durable_table { LN_DURABLE_FACTS = 0, LN_DURABLE_ENTRIES, LN_DURABLE_CHUNKS, LN_DURABLE_TEXTS };

enum {
    LN_DURABLE_FORMAT = 1, /* what this version writes; it reads all up to it */
    LN_DURABLE_ENTRY_KEY = 14,
    LN_DURABLE_NUMBER_KEY = 8
};

/* Names of facts, those of positions apart. */
#define LN_FACT_FORMAT "format"         /* of the whole ledger */
#define LN_FACT_VERSION "version"       /* of the program that has written it */
#define LN_FACT_EPOCH "epoch"           /* how often the run has been begun, 1 the first time */
#define LN_FACT_CUT "cut"               /* number of the checkpoint; rises by one with each */
#define LN_FACT_AT "at"                 /* when it was made: microseconds since 1970 */
#define LN_FACT_OVER "over"             /* 1: the input has ended and every window is complete */
#define LN_FACT_SCRIPT "script"         /* its path */
#define LN_FACT_CLOCK "clock"           /* the field that is the clock; missing: the wall clock is */
#define LN_FACT_STREAMS "streams"       /* 1: records come in several streams */
#define LN_FACT_IN_FORMAT "in_format"   /* enum ln_format, of what was being read */
#define LN_FACT_OUT_FORMAT "out_format" /* likewise of what has been written */
#define LN_FACT_PARAM "param.%zu"       /* of the script: name, a zero byte, value */

static inline void ln_durable_number_key(uint8_t key[LN_DURABLE_NUMBER_KEY], uint64_t number) {
    for (int i = LN_DURABLE_NUMBER_KEY; i-- > 0; number >>= 8) key[i] = (uint8_t)number;
}

/* Plans come before all else; then each part's entries by kind and number. */
static inline void ln_durable_entry_key(uint8_t key[LN_DURABLE_ENTRY_KEY], int is_plan, uint32_t part, int kind,
                                        uint64_t number) {
    key[0] = !is_plan;
    for (int i = 4; i > 0; i--, part >>= 8) key[i] = (uint8_t)part;
    key[5] = (uint8_t)kind;
    ln_durable_number_key(key + 6, number);
}

#endif
