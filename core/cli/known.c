/* See known.h. A new option is a line here and a case in options.c, or none where a tool is told it by its name. */
#include "cli/known.h"

static const struct option RUN_OPTIONS[] = {
    {"in", required_argument, NULL, OPTION_IN},
    {"out", required_argument, NULL, OPTION_OUT},
    {"append", no_argument, NULL, OPTION_APPEND},
    {"rejects", required_argument, NULL, OPTION_REJECTS},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"trace-key", required_argument, NULL, OPTION_TRACE_KEY},
    {"trace-limit", required_argument, NULL, OPTION_TRACE_LIMIT},
    {"in-format", required_argument, NULL, OPTION_IN_FORMAT},
    {"out-format", required_argument, NULL, OPTION_OUT_FORMAT},
    {"clock", required_argument, NULL, OPTION_CLOCK},
    {"set", required_argument, NULL, OPTION_SET},
    {"watch", no_argument, NULL, OPTION_WATCH},
    {"on-change", required_argument, NULL, OPTION_ON_CHANGE},
    {"stats", no_argument, NULL, OPTION_STATS},
    {"jit-report", no_argument, NULL, OPTION_JIT_REPORT},
    {"progress", no_argument, NULL, OPTION_PROGRESS},
    {"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
    {"state", required_argument, NULL, OPTION_STATE},
    {"checkpoint-interval", required_argument, NULL, OPTION_CHECKPOINT_INTERVAL},
    {"control", required_argument, NULL, OPTION_CONTROL},
    {"http", required_argument, NULL, OPTION_HTTP},
    {"insecure", no_argument, NULL, OPTION_INSECURE},
    {"flush-on-exit", no_argument, NULL, OPTION_FLUSH_ON_EXIT},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"log-format", required_argument, NULL, OPTION_LOG_FORMAT},
    {"max-connections", required_argument, NULL, OPTION_CONNECTIONS},
    {"max-connections-per-host", required_argument, NULL, OPTION_CONNECTIONS_PER_HOST},
    {"record-timeout", required_argument, NULL, OPTION_RECORD_TIMEOUT},
    {"idle-timeout", required_argument, NULL, OPTION_IDLE_TIMEOUT},
    {"drain-timeout", required_argument, NULL, OPTION_DRAIN_TIMEOUT},
    {"queue-bytes", required_argument, NULL, OPTION_QUEUE_BYTES},
    {"message-bytes", required_argument, NULL, OPTION_MESSAGE_BYTES},
    {"receive-bytes", required_argument, NULL, OPTION_RECEIVE_BYTES},
    {"ack-timeout", required_argument, NULL, OPTION_ACK_TIMEOUT},
    {"shared-key-file", required_argument, NULL, OPTION_SHARED_KEY_FILE},
    {"users-file", required_argument, NULL, OPTION_USERS_FILE},
    {"sink-key-file", required_argument, NULL, OPTION_SINK_KEY_FILE},
    {"sink-user-file", required_argument, NULL, OPTION_SINK_USER_FILE},
    {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option CHECK_OPTIONS[] = {
    {"files", no_argument, NULL, OPTION_FILES},
    {"set", required_argument, NULL, OPTION_SET},
    {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option EXPLAIN_OPTIONS[] = {
    {"at", required_argument, NULL, OPTION_TOLD},
    {"record", required_argument, NULL, OPTION_TOLD},
    {"json", no_argument, NULL, OPTION_TOLD},
    {"set", required_argument, NULL, OPTION_TOLD},
    {"trace", required_argument, NULL, OPTION_TOLD},
    {"key", required_argument, NULL, OPTION_TOLD},
    {"window", required_argument, NULL, OPTION_TOLD},
    {"pipeline", required_argument, NULL, OPTION_TOLD},
    {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option PLOT_OPTIONS[] = {
    {"trace", required_argument, NULL, OPTION_TOLD}, {"out", required_argument, NULL, OPTION_TOLD},
    {"key", required_argument, NULL, OPTION_TOLD},   {"pipeline", required_argument, NULL, OPTION_TOLD},
    {"lanes", required_argument, NULL, OPTION_TOLD}, {"up", required_argument, NULL, OPTION_TOLD},
    {"title", required_argument, NULL, OPTION_TOLD}, {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},        {NULL, 0, NULL, 0},
};

static const struct option CONVERT_OPTIONS[] = {
    {"from", required_argument, NULL, OPTION_TOLD},
    {"to", required_argument, NULL, OPTION_TOLD},
    {"out", required_argument, NULL, OPTION_TOLD},
    {"text", no_argument, NULL, OPTION_TOLD},
    {"delimiter", required_argument, NULL, OPTION_TOLD},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option CTL_OPTIONS[] = {
    {"control", required_argument, NULL, OPTION_TOLD},
    {"key", required_argument, NULL, OPTION_TOLD},
    {"pipeline", required_argument, NULL, OPTION_TOLD},
    {"window", required_argument, NULL, OPTION_TOLD},
    {"most", required_argument, NULL, OPTION_TOLD},
    {"from", required_argument, NULL, OPTION_TOLD},
    {"json", no_argument, NULL, OPTION_TOLD},
    {"text", no_argument, NULL, OPTION_TOLD},
    {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option TOP_OPTIONS[] = {
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"count", required_argument, NULL, OPTION_COUNT},
    {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option STATE_OPTIONS[] = {
    {"key", required_argument, NULL, OPTION_TOLD},  {"pipeline", required_argument, NULL, OPTION_TOLD},
    {"most", required_argument, NULL, OPTION_TOLD}, {"from", required_argument, NULL, OPTION_TOLD},
    {"json", no_argument, NULL, OPTION_TOLD},       {"traceback", no_argument, NULL, OPTION_TRACEBACK},
    {"help", no_argument, NULL, OPTION_HELP},       {NULL, 0, NULL, 0},
};

static const struct option OTHER_OPTIONS[] = {{"help", no_argument, NULL, OPTION_HELP}, {NULL, 0, NULL, 0}};

const ln_cli_known_command ln_cli_known[LN_CLI_COMMANDS] = {
    [LN_CLI_RUN] = {"run", ":o:h", RUN_OPTIONS, 1, SIZE_MAX, "a script to run"},
    [LN_CLI_CHECK] = {"check", ":h", CHECK_OPTIONS, 1, SIZE_MAX, "a script to check"},
    [LN_CLI_EXPLAIN] = {"explain", ":h", EXPLAIN_OPTIONS, 0, 1, ""},
    [LN_CLI_PLOT] = {"plot", ":o:h", PLOT_OPTIONS, 0, 0, ""},
    [LN_CLI_TEST] = {"test", "", OTHER_OPTIONS, 0, SIZE_MAX, ""},
    [LN_CLI_CTL] = {"ctl", ":h", CTL_OPTIONS, 1, 1, "a command for the server"},
    [LN_CLI_TOP] = {"top", ":h", TOP_OPTIONS, 1, 1, "the control socket of a server"},
    [LN_CLI_CONVERT] = {"convert", ":o:h", CONVERT_OPTIONS, 0, SIZE_MAX, ""},
    [LN_CLI_STATE] = {"state", ":h", STATE_OPTIONS, 1, 1, "the folder of a state"},
    [LN_CLI_VERSION] = {"version", ":h", OTHER_OPTIONS, 0, 0, ""},
    [LN_CLI_HELP] = {"help", ":h", OTHER_OPTIONS, 0, 1, ""},
};
