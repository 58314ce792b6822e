/* See options.h. getopt_long parses; what it finds wrong is told in our own words, with the nearest name there is. */
#define _GNU_SOURCE
#include "cli/options.h"

#include "cli/known.h"
#include "cli/values.h"
#include "cli/words.h"
#include "server/log.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t S = 1000000;

/* ---- names ----------------------------------------------------------------------------------------------------- */

enum ln_cli_command ln_cli_command_named(const char *name) {
    int i = 0;
    while (i < LN_CLI_COMMANDS && strcmp(ln_cli_known[i].name, name) != 0) i++;
    return (enum ln_cli_command)i;
}

int ln_cli_command_unknown(const char *name) {
    const char *known[LN_CLI_COMMANDS], *near;
    for (int i = 0; i < LN_CLI_COMMANDS; i++) known[i] = ln_cli_known[i].name;
    near = ln_cli_nearest(name, known, LN_CLI_COMMANDS);
    if (near) {
        ln_cli_say("unknown command %s: did you mean %s?", name, near);
    } else {
        ln_cli_say("unknown command %s", name);
    }
    ln_cli_say("see `lunette --help`");
    return LN_EXIT_USAGE;
}

static int point_to_help(enum ln_cli_command command) {
    ln_cli_say("see `lunette %s --help`", ln_cli_known[command].name);
    return LN_EXIT_USAGE;
}

/* ---- what getopt refuses --------------------------------------------------------------------------------------- */

static int refuse_unknown(enum ln_cli_command command, const char *given) {
    const char *known[64], *near;
    char name[64];
    size_t count = 0;
    const struct option *o = ln_cli_known[command].options;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (; o->name && count < sizeof known / sizeof *known; o++) {
        if (!strcmp(o->name, name)) {
            ln_cli_say("%s: --%s takes no value", ln_cli_known[command].name, name);
            return point_to_help(command);
        }
        known[count++] = o->name;
    }
    near = ln_cli_nearest(name, known, count);
    if (near) {
        ln_cli_say("%s: unknown option --%s: did you mean --%s?", ln_cli_known[command].name, name, near);
    } else {
        ln_cli_say("%s: unknown option --%s", ln_cli_known[command].name, name);
    }
    return point_to_help(command);
}

/* getopt leaves the letter of a short option in optopt; `given` is the argument only for a long one. */
static int refuse(enum ln_cli_command command, int code, const char *given) {
    const char letter[] = {'-', (char)optopt, '\0'};
    int is_letter = optopt > 0 && optopt < OPTION_IN;
    if (code != ':' && !is_letter) return refuse_unknown(command, given);
    ln_cli_say(code == ':' ? "%s: %s needs a value" : "%s: unknown option %s", ln_cli_known[command].name,
               is_letter ? letter : given);
    return point_to_help(command);
}

/* ---- one option ------------------------------------------------------------------------------------------------- */

static int parse_param(ln_cli_options *o, char *text) {
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        ln_cli_say("--set %s: write it as --set name=value", text);
        return LN_EXIT_USAGE;
    }
    *equals = '\0';
    o->params[o->params_count++] = (lunette_param){.name = text, .value = equals + 1};
    return 0;
}

static int take_forward_option(ln_cli_options *o, int code) {
    switch (code) {
    case OPTION_MESSAGE_BYTES: return ln_cli_parse_bytes("message-bytes", optarg, &o->message_bytes);
    case OPTION_RECEIVE_BYTES: return ln_cli_parse_bytes("receive-bytes", optarg, &o->receive_bytes);
    case OPTION_ACK_TIMEOUT: return ln_cli_parse_duration("ack-timeout", optarg, &o->ack_timeout_us);
    case OPTION_SHARED_KEY_FILE: o->shared_key_file = optarg; return 0;
    case OPTION_USERS_FILE: o->users_file = optarg; return 0;
    case OPTION_SINK_KEY_FILE: o->sink_key_file = optarg; return 0;
    default: o->sink_user_file = optarg; return 0;
    }
}

static int parse_on_change(const char *text, int *on_change) {
    *on_change = strcmp(text, "drain") ? LUNETTE_CHANGE_REFUSE : LUNETTE_CHANGE_DRAIN;
    if (!strcmp(text, "drain") || !strcmp(text, "refuse")) return 0;
    ln_cli_say("--on-change %s: write refuse or drain", text);
    return LN_EXIT_USAGE;
}

static int take_server_option(ln_cli_options *o, int code) {
    switch (code) {
    case OPTION_APPEND: o->append = 1; return 0;
    case OPTION_STATE: o->state = optarg; return 0;
    case OPTION_CHECKPOINT_INTERVAL:
        return ln_cli_parse_period("checkpoint-interval", optarg, 1000, &o->checkpoint_interval_us);
    case OPTION_CONTROL: o->control = optarg; return 0;
    case OPTION_HTTP: o->http = optarg; return 0;
    case OPTION_INSECURE: o->insecure = 1; return 0;
    case OPTION_FLUSH_ON_EXIT: o->flush_on_exit = 1; return 0;
    case OPTION_WATCH: o->watch = 1; return 0;
    case OPTION_ON_CHANGE: return parse_on_change(optarg, &o->on_change);
    case OPTION_FILES: o->files = 1; return 0;
    case OPTION_LOG_LEVEL: return ln_cli_parse_level(optarg, &o->log_level);
    case OPTION_LOG_FORMAT: return ln_cli_parse_log_format(optarg, &o->log_format);
    case OPTION_CONNECTIONS: return ln_cli_parse_count("max-connections", optarg, &o->connections_max);
    case OPTION_CONNECTIONS_PER_HOST:
        return ln_cli_parse_count("max-connections-per-host", optarg, &o->connections_per_host);
    case OPTION_RECORD_TIMEOUT: return ln_cli_parse_duration("record-timeout", optarg, &o->record_timeout_us);
    case OPTION_IDLE_TIMEOUT: return ln_cli_parse_duration("idle-timeout", optarg, &o->idle_timeout_us);
    case OPTION_DRAIN_TIMEOUT: return ln_cli_parse_duration("drain-timeout", optarg, &o->drain_timeout_us);
    case OPTION_QUEUE_BYTES: return ln_cli_parse_bytes("queue-bytes", optarg, &o->queue_bytes);
    default: return take_forward_option(o, code);
    }
}

static int take_option(ln_cli_options *o, int code) {
    switch (code) {
    case OPTION_IN:
        o->inputs[o->inputs_count++] = optarg;
        return ln_cli_check_address("--in", optarg, LUNETTE_USE_SOURCE);
    case 'o':
    case OPTION_OUT: o->out = optarg; return ln_cli_check_address("--out", optarg, LUNETTE_USE_SINK);
    case OPTION_REJECTS: o->rejects = optarg; return ln_cli_check_address("--rejects", optarg, LUNETTE_USE_SINK);
    case OPTION_TRACE: o->trace = optarg; return ln_cli_check_address("--trace", optarg, LUNETTE_USE_SINK);
    case OPTION_TRACE_KEY: o->trace_keys[o->trace_keys_count++] = optarg; return 0;
    case OPTION_TRACE_LIMIT: return ln_cli_parse_bytes("trace-limit", optarg, &o->trace_bytes);
    case OPTION_IN_FORMAT: return ln_cli_parse_format("in-format", optarg, 1, &o->in_format);
    case OPTION_OUT_FORMAT: return ln_cli_parse_format("out-format", optarg, 0, &o->out_format);
    case OPTION_CLOCK: o->clock = optarg; return 0;
    case OPTION_SET: return parse_param(o, optarg);
    case OPTION_INTERVAL: return ln_cli_parse_period("interval", optarg, 100000, &o->interval_us);
    case OPTION_COUNT: return ln_cli_parse_number("count", optarg, UINT32_MAX, &o->count);
    case OPTION_STATS: o->stats = 1; return 0;
    case OPTION_JIT_REPORT: o->jit_report = 1; return 0;
    case OPTION_PROGRESS: o->progress = LN_YES; return 0;
    case OPTION_NO_PROGRESS: o->progress = LN_NO; return 0;
    case OPTION_TRACEBACK: o->traceback = 1; return 0;
    case 'h':
    case OPTION_HELP: o->help = 1; return 0;
    default: return take_server_option(o, code);
    }
}

/* What concerns the tool that is the command; a letter stands for --out there. */
static void tell(ln_cli_options *o, const struct option *known) {
    o->told[o->told_count++] = (lunette_param){.name = known ? known->name : "out", .value = optarg ? optarg : ""};
}

/* Everything is the tool's to understand, but for --help. */
static int tell_all(ln_cli_options *o, char **words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) o->help = 1;
        o->told[o->told_count++] = (lunette_param){.name = "word", .value = words[i]};
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static int take_words(ln_cli_options *o, enum ln_cli_command command, char **words, size_t count) {
    if (count < ln_cli_known[command].words_min) {
        ln_cli_say("%s: %s is missing", ln_cli_known[command].name, ln_cli_known[command].missing);
        return point_to_help(command);
    }
    if (count > ln_cli_known[command].words_max) {
        ln_cli_say("%s: %s is one too many", ln_cli_known[command].name, words[ln_cli_known[command].words_max]);
        return point_to_help(command);
    }
    for (size_t i = 0; i < count; i++) {
        if (i && command == LN_CLI_RUN) {
            int rc = ln_cli_check_address("run", words[i], LUNETTE_USE_SOURCE);
            if (rc) return rc;
            o->inputs[o->inputs_count++] = words[i];
        } else if (command == LN_CLI_EXPLAIN) {
            o->told[o->told_count++] = (lunette_param){.name = "word", .value = words[i]};
        } else {
            o->words[o->words_count++] = words[i];
        }
    }
    return 0;
}

int ln_cli_options_parse(ln_cli_options *o, enum ln_cli_command command, int argc, char **argv) {
    const struct option *known = ln_cli_known[command].options;
    int code, index = 0, rc = 0;
    size_t most = (size_t)argc + 1;
    *o = (ln_cli_options){.log_level = LN_LOG_INFO,
                          .connections_max = 1024,
                          .connections_per_host = 256,
                          .record_timeout_us = 30 * S,
                          .idle_timeout_us = 3600 * S,
                          .drain_timeout_us = 20 * S,
                          .ack_timeout_us = 60 * S,
                          .checkpoint_interval_us = 5 * S,
                          .queue_bytes = 1 << 20,
                          .message_bytes = 16 << 20,
                          .receive_bytes = 256 << 20,
                          .trace_bytes = 64 << 20,
                          .interval_us = S};
    o->params = calloc(most, sizeof *o->params);
    o->words = calloc(most, sizeof *o->words);
    o->inputs = calloc(most, sizeof *o->inputs);
    o->trace_keys = calloc(most, sizeof *o->trace_keys);
    o->told = calloc(most, sizeof *o->told);
    if (!o->params || !o->words || !o->inputs || !o->trace_keys || !o->told) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    if (command == LN_CLI_TEST) return tell_all(o, argv + 1, (size_t)argc - 1);
    opterr = 0;
    optind = 1;
    while ((code = getopt_long(argc, argv, ln_cli_known[command].letters, known, &index)) != -1) {
        if (code == ':' || code == '?') return refuse(command, code, argv[optind - 1]);
        if (code == OPTION_TOLD) tell(o, &known[index]);
        else if (code == 'o' && command != LN_CLI_RUN) tell(o, NULL);
        else rc = take_option(o, code);
        if (rc) return rc;
        if (code == 'h' || code == OPTION_HELP) return 0;
    }
    return take_words(o, command, argv + optind, (size_t)(argc - optind));
}

void ln_cli_options_free(ln_cli_options *o) {
    free(o->params);
    free(o->words);
    free(o->inputs);
    free(o->trace_keys);
    free(o->told);
    *o = (ln_cli_options){0};
}
