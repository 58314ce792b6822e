/* Values of options: each function reads one, and says what is wrong with one that it can't read. 0, or LN_EXIT_USAGE.
 * `option` is the option's name without dashes. */
#ifndef LN_CLI_VALUES_H
#define LN_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

int ln_cli_read_format(const char *option, const char *text, int auto_known, int *format);
int ln_cli_check_address(const char *what, const char *text, int use);
int ln_cli_read_number(const char *option, const char *text, uint64_t most, uint64_t *number);
/* "500ms", "20s", "5m", "1h"; "0" is none. */
int ln_cli_read_duration(const char *option, const char *text, int64_t *us);
int ln_cli_read_interval(const char *text, int64_t *us);
int ln_cli_read_count(const char *option, const char *text, uint32_t *count);
int ln_cli_read_bytes(const char *option, const char *text, size_t *bytes);
int ln_cli_read_level(const char *text, int *level);
int ln_cli_read_log_format(const char *text, int *format);

#endif
