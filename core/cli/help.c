/* See help.h. Each text says what the command is for, shows it at work, and only then lists the options. */
#include "cli/help.h"

/* clang-format off */
static const char *const TEXTS[LN_CLI_COMMANDS + 1] = {
    [LN_CLI_COMMANDS] =
        "Lunette: windows over endless streams, programmed in Lua.\n"
        "\n"
        "  lunette run SCRIPT [FILE...]   run a pipeline over files or standard input\n"
        "  lunette check SCRIPT...        say what is wrong with a script, without running it\n"
        "  lunette version                print the version\n"
        "  lunette help [COMMAND]         the same as lunette COMMAND --help\n"
        "\n"
        "For a start, write this to count.lua:\n"
        "\n"
        "  local ln = require \"lunette\"\n"
        "  return ln.pipeline {\n"
        "    time      = { field = \"ts\", unit = \"ms\" },\n"
        "    window    = ln.tumbling \"1m\",\n"
        "    aggregate = { n = ln.count() },\n"
        "  }\n"
        "\n"
        "and feed it two records:\n"
        "\n"
        "  printf '{\"ts\":1000}\\n{\"ts\":2000}\\n' | lunette run count.lua\n"
        "\n"
        "One line comes out: the minute that starts at 0, with n = 2.\n",

    [LN_CLI_RUN] =
        "lunette run [OPTION...] SCRIPT [FILE...]\n"
        "\n"
        "Reads records, runs the pipelines of SCRIPT over them and writes the panes of their windows. Several files\n"
        "are one stream, one after the other; without any, and for -, standard input is read. Records are JSON lines\n"
        "or a stream of msgpack maps; the first byte tells which. Data leaves on standard output, words on standard\n"
        "error.\n"
        "\n"
        "  lunette run visits.lua visits.jsonl > panes.jsonl\n"
        "  tail -f events.jsonl | lunette run spend.lua --rejects bad.jsonl --stats\n"
        "\n"
        "Input\n"
        "  --in FILE             read FILE, like a FILE at the end; may be repeated, and comes before those\n"
        "  --in-format FORMAT    auto (the default), msgpack or json\n"
        "  --clock FIELD         the processing clock is this field of each record, in the pipeline's unit, so that a\n"
        "                        recorded stream gives the same panes every time; otherwise it is the wall clock\n"
        "Output\n"
        "  -o, --out FILE        write the panes to FILE; - is standard output, null: drops them\n"
        "  --out-format FORMAT   msgpack or json; otherwise that of the input, and JSON lines on a terminal\n"
        "  --rejects FILE        write rejected records to FILE, each with the reason, in the format of the panes;\n"
        "                        otherwise they are only counted\n"
        "Script\n"
        "  --set NAME=VALUE      the value of ln.param(\"NAME\", default) in the script; may be repeated\n"
        "  --traceback           with an error inside of Lunette, show where it arose\n"
        "Words\n"
        "  --stats               at the end, the account of all records as one JSON line on standard error\n"
        "  --jit-report          at the end, what of the script LuaJIT could not compile, by place and reason\n"
        "  --progress            show how far the run has come; the default for files when standard error is a\n"
        "                        terminal\n"
        "  --no-progress         do not\n"
        "  -h, --help            this text\n"
        "\n"
        "At the end of the input every window is completed. So it is after an interrupt (SIGINT, SIGTERM): reading\n"
        "stops, what has been read is worked off; a second one stops at once.\n"
        "\n"
        "Exit status: 0; 1 the input broke off or something could not be read or written; 2 a wrong command line;\n"
        "78 a script that is not right.\n",

    [LN_CLI_CHECK] =
        "lunette check [OPTION...] SCRIPT...\n"
        "\n"
        "Loads each script and checks its pipelines, without reading any record. All problems are listed, one a line:\n"
        "where it is, what is wrong, how to mend it.\n"
        "\n"
        "  lunette check spend.lua\n"
        "\n"
        "  --set NAME=VALUE      the value of ln.param(\"NAME\", default) in the script; may be repeated\n"
        "  --traceback           with an error inside of Lunette, show where it arose\n"
        "  -h, --help            this text\n"
        "\n"
        "Exit status: 0 all scripts are right (`SCRIPT: ok` on standard output); 78 at least one is not; 2 a wrong\n"
        "command line.\n",

    [LN_CLI_VERSION] =
        "lunette version\n"
        "\n"
        "Prints the version of the program, which is also that of its libraries.\n"
        "\n"
        "  lunette version\n"
        "\n"
        "  -h, --help            this text\n",

    [LN_CLI_HELP] =
        "lunette help [COMMAND]\n"
        "\n"
        "Explains a command, or without one the program.\n"
        "\n"
        "  lunette help run\n"
        "\n"
        "  -h, --help            this text\n",
};
/* clang-format on */

void ln_cli_help(FILE *to, enum ln_cli_command command) { fputs(TEXTS[command], to); }
