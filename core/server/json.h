/* JSON as it is written to those who watch a run: formatted pieces, and texts with all that JSON can't hold escaped. */
#ifndef LN_SERVER_JSON_H
#define LN_SERVER_JSON_H

#include "base/buf.h"

/* Appends what printf would print, up to 1 KiB of it. */
void ln_json_format(ln_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a text with its quotes; bytes that are no UTF-8 become U+FFFD. */
void ln_json_text(ln_buf *b, const char *text, size_t len);
/* Appends `"name":"text"`, behind a comma where one is due. */
void ln_json_member(ln_buf *b, const char *name, const char *text);

#endif
