/* Doubles as text. C++ for std::to_chars, which C has no counterpart of. */
#include "base/decimal.h"

#include <charconv>

const char ln_decimal_pairs[200] = {
#define TEN(tens) \
    tens, '0', tens, '1', tens, '2', tens, '3', tens, '4', tens, '5', tens, '6', tens, '7', tens, '8', tens, '9'
    TEN('0'), TEN('1'), TEN('2'), TEN('3'), TEN('4'), TEN('5'), TEN('6'), TEN('7'), TEN('8'), TEN('9'),
#undef TEN
};

const uint64_t ln_decimal_power[20] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    10000000000000000000U,
};

extern "C" size_t ln_decimal_write_any(double d, char *text) {
    size_t len = static_cast<size_t>(std::to_chars(text, text + LN_DECIMAL_MAX - 2, d).ptr - text);
    if (memchr(text, '.', len) || memchr(text, 'e', len)) return len;
    text[len] = '.';
    text[len + 1] = '0';
    return len + 2;
}
