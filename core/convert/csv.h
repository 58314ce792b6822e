/* CSV (RFC 4180) to records: the first line names the fields, every other one is a map. libcsv parses; what is added
 * here are names, numbers, limits, and the place of whatever is wrong. Memory is bounded by one record and the
 * names. */
#ifndef LN_CONVERT_CSV_H
#define LN_CONVERT_CSV_H

#include "lunette.h"

enum { LN_CSV_RECORD_MAX = 64 << 20, LN_CSV_FIELDS_MAX = 65536 };

typedef struct ln_csv_options {
    int texts;               /* every value stays a text; else what is a number of JSON becomes one */
    unsigned char delimiter; /* between two fields */
} ln_csv_options;

typedef struct ln_csv ln_csv;

/* Records go into the panes of `out`. NULL where memory is short. */
ln_csv *ln_csv_new(ln_output *out, const ln_csv_options *options);
void ln_csv_delete(ln_csv *c);
/* 0, or -1 and a problem; after that it takes nothing more. Records before it have been put out. */
int ln_csv_push(ln_csv *c, const uint8_t *bytes, size_t len);
/* The end of the file: what is left must be whole. */
int ln_csv_end(ln_csv *c);
/* "line 7: what is wrong: how to mend it" */
const char *ln_csv_problem(const ln_csv *c);

#endif
