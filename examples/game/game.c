/* A game server's loop at 60 Hz, with an engine that gets 1 ms of each frame. Each entity moves in each tick, and some
 * shoot each other; the loop pushes what happens, and prints the sprees that the engine tells. It waits for nothing but
 * the next frame (--fast: not even for that).
 *   game SCRIPT [--ticks N] [--entities N] [--fast] */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <lunette.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HERTZ = 60, BUDGET_US = 1000 };

static int64_t clock_us(void *ctx) {
    struct timespec t;
    (void)ctx;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

static int64_t wall_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * (int64_t)1000000 + t.tv_nsec / 1000;
}

static void told(void *ctx, int level, const char *text) {
    (void)ctx;
    (void)level;
    fprintf(stderr, "game: %s\n", text);
}

/* ---- the game ---------------------------------------------------------------------------------------------------- */

static uint32_t roll(uint32_t sides) {
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % sides;
}

/* What does not fit is lost, and counted: a game does not wait for its statistics. */
static int happens(lunette *l, int64_t tick, const char *kind, uint32_t player, uint32_t victim) {
    char name[16];
    lunette_record_begin(l);
    lunette_record_int(l, "tick", tick);
    lunette_record_text(l, "kind", kind, strlen(kind));
    lunette_record_text(l, "player", name, (size_t)snprintf(name, sizeof name, "p%" PRIu32, player));
    if (kind[0] == 'k') {
        lunette_record_text(l, "victim", name, (size_t)snprintf(name, sizeof name, "p%" PRIu32, victim));
        lunette_record_int(l, "score", 10 + player % 7);
    }
    return lunette_record_end(l) == LUNETTE_OK;
}

/* One tick: a few good shooters make most of the kills. */
static uint64_t simulate(lunette *l, int64_t tick, uint32_t entities) {
    uint64_t lost = 0;
    for (uint32_t e = 0; e < entities; e++) lost += !happens(l, tick, "move", e, 0);
    for (int shots = 0; shots < 3; shots++)
        lost += !happens(l, tick, "kill", roll(roll(2) ? 10 : entities), roll(entities));
    return lost;
}

/* ---- the engine in the loop -------------------------------------------------------------------------------------- */

static void show(lunette *l) {
    const lunette_pane *p;
    while ((p = lunette_pane_next(l))) {
        if (p->pipeline.len == 6) /* "sprees" */
            printf("%.*s: %" PRId64 " kills, %" PRId64 " points\n", (int)p->key.len, (const char *)p->key.at,
                   lunette_pane_value(p, "kills").i, lunette_pane_value(p, "score").i);
        else printf("second %" PRId64 ": %" PRId64 " events\n", p->start.i / HERTZ, lunette_pane_value(p, "events").i);
    }
}

static lunette *open_engine(const char *script) {
    lunette_config config = LUNETTE_CONFIG_INIT;
    lunette *l;
    const char *problem;
    config.clock_us = clock_us;
    config.log = told;
    config.input_bytes_max = 4 << 20;
    l = lunette_new(&config);
    if (!l) {
        fprintf(stderr, "game: memory is short\n");
        return NULL;
    }
    if (lunette_open(l, script, NULL) == LUNETTE_OK) return l;
    for (size_t i = 0; (problem = lunette_problem(l, i)); i++) fprintf(stderr, "%s\n", problem);
    if (!lunette_problem(l, 0)) fprintf(stderr, "game: %s\n", lunette_error(l));
    lunette_delete(l);
    return NULL;
}

/* The frame's share for the engine; -1 where it has failed. What is left undone is done in the next frames. */
static int engine_frame(lunette *l) {
    static const lunette_budget budget = {.us = BUDGET_US};
    int code = lunette_step(l, wall_us(), &budget);
    show(l);
    if (code != LUNETTE_FAILED) return 0;
    fprintf(stderr, "game: %s\n", lunette_error(l));
    return -1;
}

/* The end of the game: every window is completed, however long it takes. */
static void finish(lunette *l) {
    int code = lunette_end(l);
    while (code == LUNETTE_OK || code == LUNETTE_DRAIN || code == LUNETTE_MORE) {
        code = lunette_step(l, wall_us(), NULL);
        show(l);
        if (code == LUNETTE_OK) break;
    }
    fprintf(stderr, "%s\n", lunette_stats(l));
}

static void wait_until(int64_t at_us) {
    int64_t left_us = at_us - clock_us(NULL);
    struct timespec t = {.tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000};
    if (left_us > 0) nanosleep(&t, NULL);
}

int main(int argc, char **argv) {
    int64_t ticks = 600, frame_us = 1000000 / HERTZ, began_us = clock_us(NULL);
    uint32_t entities = 2000;
    uint64_t lost = 0;
    int fast = 0;
    lunette *l;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--fast")) fast = 1;
        else if (!strcmp(argv[i], "--ticks") && i + 1 < argc) ticks = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--entities") && i + 1 < argc) entities = (uint32_t)atol(argv[++i]);
        else argc = 0;
    }
    if (argc < 2 || ticks < 1 || entities < 1) {
        fprintf(stderr, "usage: game SCRIPT [--ticks N] [--entities N] [--fast]\n");
        return 2;
    }
    l = open_engine(argv[1]);
    if (!l) return 1;
    for (int64_t tick = 0; tick < ticks; tick++) {
        lost += simulate(l, tick, entities);
        (void)lunette_advance(l, tick); /* nothing older than this tick follows */
        if (engine_frame(l)) break;
        if (!fast) wait_until(began_us + (tick + 1) * frame_us);
    }
    finish(l);
    if (lost) fprintf(stderr, "game: %" PRIu64 " events were lost: the engine had no room for them\n", lost);
    lunette_delete(l);
    return 0;
}
