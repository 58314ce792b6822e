/* See address.h. */
#include "cli/address.h"

#include <stddef.h>
#include <string.h>

/* Schemes that mean no file even without the two slashes. */
static const char *const SCHEMES[] = {"tcp", "udp", "unix", "null"};

enum ln_cli_address ln_cli_address_kind(const char *text) {
    size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    if (!strcmp(text, "-")) return LN_ADDRESS_STANDARD;
    if (!strcmp(text, "null:")) return LN_ADDRESS_NULL;
    if (!scheme || text[scheme] != ':') return LN_ADDRESS_PATH;
    if (!strncmp(text + scheme, "://", 3)) return LN_ADDRESS_FOREIGN;
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
        if (strlen(SCHEMES[i]) == scheme && !memcmp(SCHEMES[i], text, scheme)) return LN_ADDRESS_FOREIGN;
    }
    return LN_ADDRESS_PATH;
}
