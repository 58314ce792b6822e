/* Values of options: each function returns 0 with the value, or says what is wrong, with what would be right, and
 * returns an exit code. `option` is the option's name without its dashes. */
#ifndef LN_CLI_VALUES_H
#define LN_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

int ln_cli_parse_format(const char *option, const char *text, int auto_known, int *format);
/* `what` stands before the text as it is told. */
int ln_cli_check_address(const char *what, const char *text, int use);
int ln_cli_parse_number(const char *option, const char *text, uint64_t most, uint64_t *number);
int ln_cli_parse_duration(const char *option, const char *text, int64_t *us);
/* One that is at least so long: a multiple of a millisecond. */
int ln_cli_parse_period(const char *option, const char *text, int64_t least_us, int64_t *us);
int ln_cli_parse_count(const char *option, const char *text, uint32_t *count);
int ln_cli_parse_bytes(const char *option, const char *text, size_t *bytes);
int ln_cli_parse_level(const char *text, int *level);
int ln_cli_parse_log_format(const char *text, int *format);

#endif
