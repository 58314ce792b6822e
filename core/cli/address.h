/* Where data comes from or goes, as the command line names it: a path, `-`, or a URL. */
#ifndef LN_CLI_ADDRESS_H
#define LN_CLI_ADDRESS_H

enum ln_cli_address {
    LN_ADDRESS_PATH,
    LN_ADDRESS_STANDARD, /* "-" */
    LN_ADDRESS_NULL,     /* "null:": reads as empty, swallows what is written */
    LN_ADDRESS_FOREIGN   /* a URL of a kind that this version does not know; a path with a colon is written ./a:b */
};

enum ln_cli_address ln_cli_address_kind(const char *text);

#endif
