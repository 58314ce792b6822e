/* See json.h. */
#include "server/json.h"

#include <stdarg.h>
#include <stdio.h>

enum { PIECE_BYTES = 1024 };

static void append(ln_buf *b, const char *format, va_list args) {
    char piece[PIECE_BYTES];
    int len = vsnprintf(piece, sizeof piece, format, args);
    if (len > 0) ln_buf_append(b, piece, (size_t)len < sizeof piece ? (size_t)len : sizeof piece - 1);
}

void ln_json_format(ln_buf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    append(b, format, args);
    va_end(args);
}

/* The length of the character of UTF-8 that begins there; 0 where none does. */
static size_t character(const unsigned char *at, size_t left) {
    size_t len = *at < 0x80 ? 1 : *at >= 0xc2 && *at < 0xe0 ? 2 : *at >= 0xe0 && *at < 0xf0 ? 3 : 4;
    if ((*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || len > left) return 0;
    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (len == 3 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0))) return 0;
    if (len == 4 && ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))) return 0;
    return len;
}

void ln_json_text(ln_buf *b, const char *text, size_t len) {
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    ln_buf_byte(b, '"');
    while (at < end) {
        size_t n = character(at, (size_t)(end - at));
        if (!n) ln_buf_append(b, "\xef\xbf\xbd", 3);
        else if (*at == '"' || *at == '\\') ln_json_format(b, "\\%c", *at);
        else if (*at == '\n') ln_buf_append(b, "\\n", 2);
        else if (*at < 0x20 || *at == 0x7f) ln_json_format(b, "\\u%04x", *at);
        else ln_buf_append(b, at, n);
        at += n ? n : 1;
    }
    ln_buf_byte(b, '"');
}

void ln_json_member(ln_buf *b, const char *name, const char *text) {
    if (b->len && b->data[b->len - 1] != '{' && b->data[b->len - 1] != '[') ln_buf_byte(b, ',');
    ln_json_format(b, "\"%s\":", name);
    ln_json_text(b, text, strlen(text));
}
