/* See top.h. Each look asks the server's control socket twice and hands the answers to the tool that makes lines of
 * them; this file asks, draws and waits. A server that does not answer is said to be silent, and asked again. */
#define _GNU_SOURCE
#include "cli/top.h"

#include "cli/ask.h"
#include "cli/screen.h"
#include "cli/words.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NUMBER_BYTES = 32 };

typedef struct top {
    const ln_cli_options *o;
    lunette *host;
    ln_ask asked;
    ln_ask_line answer[2];
    int pipeline; /* whose sources are shown, from 1 */
    int paused;
} top;

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

static double steady_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- one look -------------------------------------------------------------------------------------------------- */

/* The lines of one look more; NULL with a problem. */
static const char *look(top *t, int on_screen) {
    char seconds[NUMBER_BYTES], width[NUMBER_BYTES], height[NUMBER_BYTES], pipeline[NUMBER_BYTES],
        clock_text[NUMBER_BYTES];
    time_t now = time(NULL);
    struct tm tm;
    int status = 0;
    if (ln_ask_line_of(&t->asked, "{\"command\":\"status\"}\n", &t->answer[0]) ||
        ln_ask_line_of(&t->asked, "{\"command\":\"windows\",\"most\":0}\n", &t->answer[1]))
        return NULL;
    snprintf(seconds, sizeof seconds, "%.6f", steady_s());
    snprintf(height, sizeof height, "%d", on_screen ? ln_screen_rows() : 0);
    snprintf(width, sizeof width, "%d", on_screen ? ln_screen_columns() : 200);
    snprintf(pipeline, sizeof pipeline, "%d", t->pipeline);
    strftime(clock_text, sizeof clock_text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    const lunette_param args[] = {
        {"stats", t->answer[0].text},
        {"windows", t->answer[1].text},
        {"seconds", seconds},
        {"rows", height},
        {"pipeline", pipeline},
        {"address", t->asked.path},
        {"time", clock_text},
        {"columns", width},
        {"look", on_screen ? "screen" : "report"},
    };
    if (lunette_tool(t->host, "top", args, sizeof args / sizeof *args, t->o->traceback, &status) == LUNETTE_OK)
        return lunette_tool_text(t->host);
    snprintf(t->asked.problem, sizeof t->asked.problem, "%s", lunette_error(t->host));
    return NULL;
}

/* ---- a report now and then ------------------------------------------------------------------------------------- */

static void wait_for_next(const top *t) {
    int64_t us = t->o->interval_us;
    const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    (void)nanosleep(&pause, NULL);
}

static int print_reports(top *t) {
    for (uint64_t n = 0; !stopped && (!t->o->count || n < t->o->count); n++) {
        const char *text;
        if (n) wait_for_next(t);
        if (stopped) break;
        text = look(t, 0);
        if (!text) {
            ln_cli_say("top: %s", t->asked.problem);
            return LN_EXIT_ERROR;
        }
        fputs(text, stdout);
        if (fflush(stdout)) return LN_EXIT_ERROR;
    }
    return LN_EXIT_OK;
}

/* ---- a screen -------------------------------------------------------------------------------------------------- */

static void draw(top *t, const char *text) {
    static const char *const KEYS = "dq: quit   space: pause   tab: the next pipeline's sources";
    char line[512];
    ln_screen_clear();
    if (!text && *t->asked.problem) {
        snprintf(line, sizeof line, "h%s", "lunette top");
        ln_screen_line(0, line);
        snprintf(line, sizeof line, "w%s", t->asked.problem);
        ln_screen_line(2, line);
        ln_screen_line(3, "nIt is asked again each time.");
    }
    for (int row = 0; text && *text && row < ln_screen_rows() - 1; row++) {
        size_t len = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1), text);
        ln_screen_line(row, line);
        text += len + (text[len] != '\0');
    }
    if (ln_screen_rows() > 2)
        ln_screen_line(ln_screen_rows() - 1, t->paused ? "wpaused; space: go on   q: quit" : KEYS);
    ln_screen_show();
}

/* What a key asks for: 1 to end, 0 to look again now, -1 to go on waiting. */
static int obey(top *t, int key) {
    switch (key) {
    case 'q':
    case 'Q': return 1;
    case ' ': t->paused = !t->paused; return 0;
    case '\t': t->pipeline++; return 0;
    default: return key == LN_SCREEN_RESIZED ? 0 : -1;
    }
}

static int show_screen(top *t) {
    char *last = NULL;
    double due_s = 0;
    int done = -1;
    while (!stopped && done != 1) {
        double left_s = due_s - steady_s();
        if (done == 0 || left_s <= 0) {
            if (!t->paused) {
                const char *text = look(t, 1);
                free(last);
                last = text ? strdup(text) : NULL;
                if (left_s <= 0) due_s = steady_s() + (double)t->o->interval_us / 1e6;
            } else if (left_s <= 0) {
                due_s = steady_s() + (double)t->o->interval_us / 1e6;
            }
            draw(t, last);
            done = -1;
            continue;
        }
        done = obey(t, ln_screen_key((int)(left_s * 1000) + 1));
    }
    free(last);
    return LN_EXIT_OK;
}

int ln_cli_top(const ln_cli_options *o) {
    const struct sigaction stop = {.sa_handler = on_signal}; /* without SA_RESTART: waiting ends */
    top t = {.o = o, .host = lunette_new(NULL), .pipeline = 1};
    int rc;
    ln_ask_init(&t.asked, o->words[0]);
    t.asked.stopped = &stopped;
    if (!t.host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !ln_screen_open()) {
        rc = show_screen(&t);
        ln_screen_close();
    } else {
        rc = print_reports(&t);
    }
    ln_ask_close(&t.asked);
    free(t.answer[0].text);
    free(t.answer[1].text);
    lunette_delete(t.host);
    return rc;
}
