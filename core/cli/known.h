/* The commands with their options, as getopt_long takes them. */
#ifndef LN_CLI_KNOWN_H
#define LN_CLI_KNOWN_H

#include "cli/options.h"

#include <getopt.h>

/* What an option is told by, above all letters. */
enum ln_cli_option {
    OPTION_IN = 256,
    OPTION_OUT,
    OPTION_REJECTS,
    OPTION_TRACE,
    OPTION_TRACE_KEY,
    OPTION_TRACE_LIMIT,
    OPTION_IN_FORMAT,
    OPTION_OUT_FORMAT,
    OPTION_CLOCK,
    OPTION_SET,
    OPTION_STATS,
    OPTION_JIT_REPORT,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
    OPTION_TRACEBACK,
    OPTION_INSECURE,
    OPTION_FLUSH_ON_EXIT,
    OPTION_LOG_LEVEL,
    OPTION_LOG_FORMAT,
    OPTION_CONNECTIONS,
    OPTION_CONNECTIONS_PER_HOST,
    OPTION_RECORD_TIMEOUT,
    OPTION_IDLE_TIMEOUT,
    OPTION_DRAIN_TIMEOUT,
    OPTION_QUEUE_BYTES,
    OPTION_MESSAGE_BYTES,
    OPTION_RECEIVE_BYTES,
    OPTION_ACK_TIMEOUT,
    OPTION_SHARED_KEY_FILE,
    OPTION_USERS_FILE,
    OPTION_SINK_KEY_FILE,
    OPTION_SINK_USER_FILE,
    OPTION_WATCH,
    OPTION_ON_CHANGE,
    OPTION_FILES,
    OPTION_APPEND,
    OPTION_STATE,
    OPTION_CHECKPOINT_INTERVAL,
    OPTION_CONTROL,
    OPTION_HTTP,
    OPTION_INTERVAL,
    OPTION_COUNT,
    OPTION_HELP,
    OPTION_TOLD /* told by its name to the tool that is the command */
};

typedef struct ln_cli_known_command {
    const char *name;
    const char *letters; /* the colon in front makes getopt tell a missing value from an unknown option */
    const struct option *options;
    size_t words_min, words_max;
    const char *missing; /* said when there are too few words */
} ln_cli_known_command;

extern const ln_cli_known_command ln_cli_known[LN_CLI_COMMANDS];

#endif
