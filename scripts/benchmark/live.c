/* Tells what the state of a pipeline takes while its windows are open: the account after the last record, before
 * anything is completed, as `--stats` prints it.
 *   live SCRIPT FILE [NAME=VALUE ...] */
#include "lunette_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18, PARAMS_MAX = 8 };

static int complain(lunette *l) {
    const char *problem = lunette_problem(l, 0);
    fprintf(stderr, "live: %s\n", problem ? problem : lunette_error(l));
    return 1;
}

/* Works on what the reader holds; what comes out is dropped. */
static int pump(lunette *l) {
    int code;
    do {
        code = lunette_pump(l, 0);
        ln_output_clear(lunette_output(l), LN_STREAM_PANES);
    } while (code == LUNETTE_DRAIN);
    return code;
}

static int feed(lunette *l, FILE *file) {
    for (;;) {
        uint8_t *room = ln_reader_space(lunette_reader(l), PIECE);
        size_t len = room ? fread(room, 1, PIECE, file) : 0;
        if (!len) return room && !ferror(file) ? LUNETTE_OK : LUNETTE_FAILED;
        ln_reader_commit(lunette_reader(l), len);
        int code = pump(l);
        if (code != LUNETTE_OK) return code;
    }
}

int main(int argc, char **argv) {
    lunette_param params[PARAMS_MAX];
    lunette_options options = {.size = sizeof options, .params = params};
    FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
    lunette *l = lunette_new(NULL);
    if (!file || !l || argc - 3 > PARAMS_MAX) {
        fputs("usage: live SCRIPT FILE [NAME=VALUE ...]\n", stderr);
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) return 2;
        *value++ = '\0';
        params[options.params_count++] = (lunette_param){.name = argv[i], .value = value};
    }
    if (lunette_open(l, argv[1], &options) != LUNETTE_OK || feed(l, file) != LUNETTE_OK) return complain(l);
    puts(lunette_stats(l));
    lunette_delete(l);
    fclose(file);
    return 0;
}
