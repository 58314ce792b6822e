/* See check.h. Each script gets a Lua state of its own: none sees what another has left behind. */
#include "cli/check.h"

#include "cli/words.h"
#include "server/texts.h"

#include <inttypes.h>
#include <stdio.h>

void ln_cli_print_problems(lunette *host) {
    const char *text;
    for (size_t i = 0; (text = lunette_problem(host, i)); i++) fprintf(stderr, "%s\n", text);
}

/* For whoever wants to know whether they have changed. */
static void print_files(lunette *host) {
    lunette_text file;
    for (size_t i = 0; !lunette_file(host, i, &file); i++)
        printf("file %016" PRIx64 " %zu %s\n", ln_texts_hash(file.text, file.len), file.len, file.path);
}

static int check_script(const char *script, const ln_cli_options *options) {
    lunette_options o = {.size = sizeof o,
                         .params = options->params,
                         .params_count = options->params_count,
                         .traceback = options->traceback};
    lunette *host = lunette_new(NULL);
    int rc = LN_EXIT_OK;
    if (!host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    switch (lunette_check(host, script, &o)) {
    case LUNETTE_OK:
        printf("%s: ok\n", script);
        if (options->files) print_files(host);
        break;
    case LUNETTE_PROBLEMS:
        ln_cli_print_problems(host);
        rc = LN_EXIT_SCRIPT;
        break;
    default: ln_cli_say("%s: %s", script, lunette_error(host)); rc = LN_EXIT_ERROR;
    }
    lunette_delete(host);
    return rc;
}

int ln_cli_check(const ln_cli_options *options) {
    int worst = LN_EXIT_OK;
    for (size_t i = 0; i < options->words_count; i++) {
        int rc = check_script(options->words[i], options);
        if (rc > worst) worst = rc;
    }
    return worst;
}
