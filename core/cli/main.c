/* The program: finds the command and hands over. */
#include "cli/check.h"
#include "cli/convert.h"
#include "cli/ctl.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/state.h"
#include "cli/tool.h"
#include "cli/top.h"
#include "cli/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Descriptors 0, 1 and 2 that the caller has closed are opened the wrong way round: no file opened later takes their
 * place, and using them is an error as before. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) return;
    }
}

static int print_version(void) {
    printf("lunette %s\n", ln_version());
    return LN_EXIT_OK;
}

static int print_help(const ln_cli_options *o) {
    enum ln_cli_command command = LN_CLI_COMMANDS;
    if (o->words_count) {
        command = ln_cli_command_named(o->words[0]);
        if (command == LN_CLI_COMMANDS) return ln_cli_command_unknown(o->words[0]);
    }
    ln_cli_help(stdout, command);
    return LN_EXIT_OK;
}

static int obey(enum ln_cli_command command, int argc, char **argv) {
    ln_cli_options o;
    int rc = ln_cli_options_parse(&o, command, argc, argv);
    if (!rc && o.help) {
        ln_cli_help(stdout, command);
    } else if (!rc) {
        switch (command) {
        case LN_CLI_RUN: rc = ln_cli_run(&o); break;
        case LN_CLI_CHECK: rc = ln_cli_check(&o); break;
        case LN_CLI_EXPLAIN:
        case LN_CLI_PLOT:
        case LN_CLI_TEST: rc = ln_cli_tool(command, &o); break;
        case LN_CLI_CTL: rc = ln_cli_ctl(&o); break;
        case LN_CLI_TOP: rc = ln_cli_top(&o); break;
        case LN_CLI_CONVERT: rc = ln_cli_convert(&o); break;
        case LN_CLI_STATE: rc = ln_cli_state(&o); break;
        case LN_CLI_VERSION: rc = print_version(); break;
        default: rc = print_help(&o); break;
        }
    }
    ln_cli_options_free(&o);
    return rc;
}

static int dispatch(int argc, char **argv) {
    enum ln_cli_command command;
    if (argc < 2) {
        ln_cli_help(stderr, LN_CLI_COMMANDS);
        return LN_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        ln_cli_help(stdout, LN_CLI_COMMANDS);
        return LN_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) return print_version();
    command = ln_cli_command_named(argv[1]);
    if (command == LN_CLI_COMMANDS) return ln_cli_command_unknown(argv[1]);
    return obey(command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    int rc;
    occupy_standard_files();
    rc = dispatch(argc, argv);
    if (!fflush(stdout)) return rc;
    ln_cli_say("standard output: %s", strerror(errno));
    return rc ? rc : LN_EXIT_ERROR;
}
