/* Writes an input of the bench to standard output, the same bytes for the same settings.
 *   generate NAME=NUMBER ...
 * Names: records, keys, rate (records for each millisecond of event time, on average), disorder (percent of the records
 * that come up to 2 s after their time), debug (percent of the records with the level "debug"), json (1: JSON lines),
 * forward (entries of each message of Fluent Forward, as which the records then leave; not with JSON).
 * A record: {"ts": ms, "user": "u<k>", "value": a double, "region": one of 8, "level": "info", one in 20 "error"}. */
#include "base/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACK_MS = 2000, RECORD_MAX = 256, ENTRY_HEAD = 11 };

enum setting { RECORDS, KEYS, RATE, DISORDER, DEBUG, JSON, FORWARD, SETTINGS };
static const char *const names[SETTINGS] = {"records", "keys", "rate", "disorder", "debug", "json", "forward"};
static uint64_t settings[SETTINGS] = {[RECORDS] = 1000000, [KEYS] = 10000, [RATE] = 3, [DISORDER] = 100};

typedef struct event {
    int64_t ts;
    char user[24];
    double value; /* in quarters: sums are exact in any order */
    const char *region, *level;
} event;

/* splitmix64 */
static uint64_t draw(uint64_t below) {
    static uint64_t state = 1;
    uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

static const char *draw_level(void) {
    if (draw(100) < settings[DEBUG]) return "debug";
    return draw(20) ? "info" : "error";
}

static void draw_event(event *e) {
    static const char *const regions[] = {"eu-west",  "eu-east",  "us-west", "us-east",
                                          "ap-south", "ap-north", "sa-east", "af-south"};
    static int64_t now_ms = INT64_C(1700000000000);
    now_ms += draw(settings[RATE]) == 0;
    e->ts = now_ms - (draw(100) < settings[DISORDER] ? (int64_t)draw(BACK_MS) : 0);
    snprintf(e->user, sizeof e->user, "u%" PRIu64, draw(settings[KEYS]));
    e->value = (double)draw(100000) / 4;
    e->region = regions[draw(8)];
    e->level = draw_level();
}

static uint8_t *text(uint8_t *to, const char *s) {
    size_t len = strlen(s);
    to = ln_pack_head(to, LN_TEXT, (uint32_t)len);
    memcpy(to, s, len);
    return to + len;
}

static size_t write_msgpack(uint8_t *at, const event *e) {
    uint8_t *to = ln_pack_head(at, LN_MAP, 5);
    to = ln_pack_int(text(to, "ts"), e->ts);
    to = text(text(to, "user"), e->user);
    to = ln_pack_double(text(to, "value"), e->value);
    to = text(text(to, "region"), e->region);
    to = text(text(to, "level"), e->level);
    return (size_t)(to - at);
}

static size_t write_json(uint8_t *at, const event *e) {
    return (size_t)snprintf((char *)at, RECORD_MAX,
                            "{\"ts\":%" PRId64 ",\"user\":\"%s\",\"value\":%.2f,\"region\":\"%s\",\"level\":\"%s\"}\n",
                            e->ts, e->user, e->value, e->region, e->level);
}

/* An entry: its time and the record. */
static size_t write_entry(uint8_t *at, const event *e) {
    at[0] = 0x92;
    at[1] = 0xd7;
    at[2] = 0;
    ln_pack_be(at + 2, 0, (uint64_t)(e->ts / 1000) << 32 | (uint64_t)(e->ts % 1000) * 1000000, 8);
    return ENTRY_HEAD + write_msgpack(at + ENTRY_HEAD, e);
}

/* `count` records as one message, in the mode PackedForward, to be acknowledged. */
static int write_message(uint8_t *room, uint64_t count, uint64_t number) {
    uint8_t head[16], options[64], *to;
    char id[24];
    size_t len = 0;
    event e;
    for (uint64_t i = 0; i < count; i++) {
        draw_event(&e);
        len += write_entry(room + len, &e);
    }
    to = text(ln_pack_head(head, LN_ARRAY, 3), "bench");
    to = ln_pack_be(to, 0xc6, len, 4);
    if (fwrite(head, 1, (size_t)(to - head), stdout) != (size_t)(to - head)) return -1;
    snprintf(id, sizeof id, "%" PRIu64, number);
    to = text(text(ln_pack_head(options, LN_MAP, 1), "chunk"), id);
    if (fwrite(room, 1, len, stdout) != len) return -1;
    return fwrite(options, 1, (size_t)(to - options), stdout) == (size_t)(to - options) ? 0 : -1;
}

static void write_messages(void) {
    uint64_t left = settings[RECORDS], number = 0;
    uint8_t *room = malloc(settings[FORWARD] * (RECORD_MAX + ENTRY_HEAD));
    while (room && left) {
        uint64_t count = left < settings[FORWARD] ? left : settings[FORWARD];
        if (write_message(room, count, ++number)) break;
        left -= count;
    }
    free(room);
}

static int set(const char *argument) {
    size_t len = strcspn(argument, "=");
    char *end;
    for (int i = 0; i < SETTINGS; i++) {
        if (strlen(names[i]) != len || strncmp(names[i], argument, len) != 0 || !argument[len]) continue;
        settings[i] = strtoull(argument + len + 1, &end, 10);
        return *end || end == argument + len + 1;
    }
    return 1;
}

int main(int argc, char **argv) {
    uint8_t record[RECORD_MAX];
    event e;
    for (int i = 1; i < argc; i++) {
        if (!set(argv[i])) continue;
        fprintf(stderr, "generate: %s: not understood\n", argv[i]);
        return 2;
    }
    if (!settings[KEYS] || !settings[RATE]) {
        fputs("generate: there must be a key and a rate\n", stderr);
        return 2;
    }
    if (settings[FORWARD]) write_messages();
    for (uint64_t i = 0; i < settings[RECORDS] && !settings[FORWARD]; i++) {
        draw_event(&e);
        size_t len = settings[JSON] ? write_json(record, &e) : write_msgpack(record, &e);
        if (fwrite(record, 1, len, stdout) != len) break;
    }
    if (!fflush(stdout) && !ferror(stdout)) return 0;
    perror("generate");
    return 1;
}
