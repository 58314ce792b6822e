/* Records from one format to another: files or standard input to one output, piece by piece, so that memory is bounded
 * by one piece and one record. */
#ifndef LN_CONVERT_CONVERT_H
#define LN_CONVERT_CONVERT_H

#include "convert/csv.h"

#include <stdio.h>

/* The first three are those of enum ln_format. */
enum ln_convert_format { LN_CONVERT_AUTO = 0, LN_CONVERT_MSGPACK, LN_CONVERT_JSON, LN_CONVERT_CSV };

typedef struct ln_convert_options {
    int from; /* enum ln_convert_format; auto: CSV where the name ends so, else by the first byte */
    int to;   /* enum ln_format; auto: msgpack becomes JSON, CSV too, and JSON msgpack */
    ln_csv_options csv;
    FILE *out;
} ln_convert_options;

/* Converts the files in order ("-" is standard input). 0, or -1 and what is wrong, with its place; everything before
 * that has been written. */
int ln_convert(const ln_convert_options *options, const char *const *files, size_t count, char problem[512]);

#endif
