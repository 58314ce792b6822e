/* The command line, parsed. Texts are views of argv. */
#ifndef LN_CLI_OPTIONS_H
#define LN_CLI_OPTIONS_H

#include "lunette_program.h"
#include "server/options.h"

enum ln_cli_command {
    LN_CLI_RUN = 0,
    LN_CLI_CHECK,
    LN_CLI_EXPLAIN,
    LN_CLI_PLOT,
    LN_CLI_TEST,
    LN_CLI_CTL,
    LN_CLI_TOP,
    LN_CLI_CONVERT,
    LN_CLI_STATE,
    LN_CLI_VERSION,
    LN_CLI_HELP,
    LN_CLI_COMMANDS
};
enum ln_cli_exit { LN_EXIT_OK = 0, LN_EXIT_ERROR = 1, LN_EXIT_USAGE = 2, LN_EXIT_SCRIPT = 78 };

typedef struct ln_cli_options {
    int help;                  /* --help was among them: nothing else counts */
    int in_format, out_format; /* enum ln_format */
    int stats, jit_report, traceback;
    int progress; /* enum ln_choice */
    int insecure, flush_on_exit;
    int watch, on_change;      /* enum lunette_on_change */
    int files;                 /* check: print them too */
    int log_level, log_format; /* of server/log.h */
    uint32_t connections_max, connections_per_host;
    int64_t record_timeout_us, idle_timeout_us, drain_timeout_us, ack_timeout_us; /* 0: none */
    size_t queue_bytes, message_bytes, receive_bytes;
    const char *shared_key_file, *users_file, *sink_key_file, *sink_user_file; /* NULL: none */
    const char *out;     /* an address; NULL: as the script says */
    const char *rejects; /* NULL: none wanted */
    const char *trace;   /* likewise */
    const char **trace_keys;
    size_t trace_keys_count;
    size_t trace_bytes;
    int append;
    const char *state; /* a folder; NULL: none */
    int64_t checkpoint_interval_us;
    const char *control; /* an address; NULL: no control socket */
    const char *http;    /* HOST:PORT; NULL: no metrics */
    const char *clock;   /* NULL: the wall clock */
    lunette_param *params;
    size_t params_count;
    int64_t interval_us; /* top */
    uint64_t count;      /* top: so many reports; 0: without end */
    lunette_param *told; /* to a tool */
    size_t told_count;
    const char **words; /* what is no option, and for run no FILE: scripts, the command to explain */
    size_t words_count;
    const char **inputs; /* run: every --in, then every FILE; none: as the script says */
    size_t inputs_count;
} ln_cli_options;

/* The command of that name; LN_CLI_COMMANDS where there is none. */
enum ln_cli_command ln_cli_command_named(const char *name);
/* Says that there is no such command. */
int ln_cli_command_unknown(const char *name);

/* Parses what follows the command's name; argv[0] is that name. 0, or an exit code after saying what is wrong. The
 * options are freed in any case. */
int ln_cli_options_parse(ln_cli_options *o, enum ln_cli_command command, int argc, char **argv);
void ln_cli_options_free(ln_cli_options *o);

#endif
