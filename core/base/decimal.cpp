/* Doubles as text. C++ for std::to_chars, which C has no counterpart of. */
#include "base/decimal.h"

#include <charconv>
#include <cstring>

extern "C" size_t ln_decimal_write(double d, char *text) {
    size_t len = static_cast<size_t>(std::to_chars(text, text + LN_DECIMAL_MAX - 2, d).ptr - text);
    if (std::memchr(text, '.', len) || std::memchr(text, 'e', len)) return len;
    text[len] = '.';
    text[len + 1] = '0';
    return len + 2;
}
