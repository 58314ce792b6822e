/* See convert.h. */
#define _GNU_SOURCE
#include "cli/convert.h"

#include "cli/words.h"
#include "convert/convert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int see_help(void) {
    ln_cli_say("see `lunette convert --help`");
    return LN_EXIT_USAGE;
}

static int read_format(const char *option, const char *text, int most, int *format) {
    static const char *const NAMES[] = {[LN_CONVERT_AUTO] = "auto",
                                        [LN_CONVERT_MSGPACK] = "msgpack",
                                        [LN_CONVERT_JSON] = "json",
                                        [LN_CONVERT_CSV] = "csv"};
    for (*format = most == LN_CONVERT_CSV ? LN_CONVERT_AUTO : LN_CONVERT_MSGPACK; *format <= most; ++*format)
        if (!strcmp(text, NAMES[*format])) return 0;
    ln_cli_say("convert: --%s %s: the formats are %s", option, text,
               most == LN_CONVERT_CSV ? "auto, msgpack, json and csv" : "msgpack and json");
    return see_help();
}

static int read_delimiter(const char *text, unsigned char *delimiter) {
    if (!strcmp(text, "tab")) text = "\t";
    *delimiter = (unsigned char)*text;
    if (*text && !text[1] && !strchr("\"\r\n", *text)) return 0;
    ln_cli_say("convert: --delimiter %s: write one character, or tab", text);
    return see_help();
}

static int read_told(const ln_cli_options *o, ln_convert_options *c, const char **out) {
    int rc = 0;
    for (size_t i = 0; i < o->told_count && !rc; i++) {
        const char *name = o->told[i].name, *value = o->told[i].value;
        if (!strcmp(name, "from")) rc = read_format(name, value, LN_CONVERT_CSV, &c->from);
        else if (!strcmp(name, "to")) rc = read_format(name, value, LN_CONVERT_JSON, &c->to);
        else if (!strcmp(name, "delimiter")) rc = read_delimiter(value, &c->csv.delimiter);
        else if (!strcmp(name, "text")) c->csv.texts = 1;
        else *out = value;
    }
    return rc;
}

/* The output must be no input: it would be emptied before it is read. */
static int check_out(const char *out, const char *const *files, size_t count) {
    struct stat a, b;
    if (stat(out, &a) || !S_ISREG(a.st_mode)) return 0;
    for (size_t i = 0; i < count; i++) {
        if (stat(files[i], &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) continue;
        ln_cli_say("convert: --out %s: it is an input too, and would be emptied before it is read", out);
        return LN_EXIT_USAGE;
    }
    return 0;
}

static int convert(ln_convert_options *c, const char *out, const char *const *files, size_t count) {
    char problem[512];
    int rc = LN_EXIT_OK;
    c->out = strcmp(out, "-") ? fopen(out, "wb") : stdout;
    if (!c->out) {
        ln_cli_say("convert: %s: %s", out, strerror(errno));
        return LN_EXIT_ERROR;
    }
    if (ln_convert(c, files, count, problem)) {
        ln_cli_say("convert: %s", problem);
        rc = LN_EXIT_ERROR;
    }
    if (c->out == stdout) return rc; /* main flushes it, and says what goes wrong */
    if (fclose(c->out) && !rc) {
        ln_cli_say("convert: %s: %s", out, strerror(errno));
        rc = LN_EXIT_ERROR;
    }
    return rc;
}

int ln_cli_convert(const ln_cli_options *o) {
    static const char *const standard[] = {"-"};
    ln_convert_options c = {.csv = {.delimiter = ','}};
    const char *const *files = o->words_count ? o->words : standard, *out = "-";
    size_t count = o->words_count ? o->words_count : 1;
    int rc = read_told(o, &c, &out);
    if (!rc) rc = check_out(out, files, count);
    return rc ? rc : convert(&c, out, files, count);
}
