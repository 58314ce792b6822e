/* Addresses: text in, parts out. Nothing is looked up or opened here. */
#include "lunette_program.h"

#include <stdio.h>
#include <string.h>

enum { UNIX_PATH_MAX = 107 }; /* bytes that a socket's name can have */

/* Writes what is wrong, and how to mend it; -1. */
#define refuse(a, ...) (snprintf((a)->problem, sizeof(a)->problem, __VA_ARGS__), -1)

/* ---- the words after the `?` of a sink for Fluent Forward -------------------------------------------------------- */

static int read_tag(lunette_address *a, const char *text, size_t len) {
    if (!len || len >= sizeof a->tag)
        return refuse(a, "a tag has 1 to %zu characters: write ?tag=TAG", sizeof a->tag - 1);
    memcpy(a->tag, text, len);
    a->tag[len] = '\0';
    for (const char *c = a->tag; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '/' || *c == '\\')
            return refuse(a, "a tag is of printable ASCII characters, without spaces and slashes");
    return strspn(a->tag, ".") == len ? refuse(a, "a tag of dots alone is none") : 0;
}

static int read_time(lunette_address *a, const char *text, size_t len) {
    if (!len || len >= sizeof a->time)
        return refuse(a, "the field of a time has 1 to %zu bytes: write ?time=end", sizeof a->time - 1);
    memcpy(a->time, text, len);
    a->time[len] = '\0';
    return 0;
}

static int read_unit(lunette_address *a, const char *text, size_t len) {
    static const char *const units[] = {
        [LN_UNIT_S] = "s", [LN_UNIT_MS] = "ms", [LN_UNIT_US] = "us", [LN_UNIT_NS] = "ns"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!units[i] || strlen(units[i]) != len || memcmp(units[i], text, len) != 0) continue;
        a->unit = (int)i;
        return 0;
    }
    return refuse(a, "?unit=%.*s is unknown: the units are s, ms, us and ns", (int)(len < 20 ? len : 20), text);
}

static int read_word(lunette_address *a, const char *word, size_t len) {
    if (len >= 4 && !memcmp(word, "tag=", 4)) return read_tag(a, word + 4, len - 4);
    if (len >= 5 && !memcmp(word, "time=", 5)) return read_time(a, word + 5, len - 5);
    if (len >= 5 && !memcmp(word, "unit=", 5)) return read_unit(a, word + 5, len - 5);
    a->gzip = len == 4 && !memcmp(word, "gzip", 4);
    if (a->gzip) return 0;
    return refuse(a,
                  "?%.*s is unknown: the words after ? are tag=TAG, time=FIELD, unit=ms and gzip, with & between them",
                  (int)(len < 60 ? len : 60), word);
}

static int read_words(lunette_address *a, const char *words) {
    int err = 0;
    for (size_t len; !err && *words; words += len + (words[len] == '&')) {
        len = strcspn(words, "&");
        err = read_word(a, words, len);
    }
    return err;
}

/* ---- addresses of sockets ---------------------------------------------------------------------------------------- */

/* What stands before the `?` that ends an address of a socket; `?listen` is the one word there is, but for Fluent
 * Forward. */
static int read_query(lunette_address *a, const char *text, size_t *len) {
    const char *query = a->kind == LUNETTE_ADDRESS_FORWARD ? strchr(text, '?') : strrchr(text, '?');
    *len = strlen(text);
    if (!query) return 0;
    *len = (size_t)(query - text);
    if (a->kind == LUNETTE_ADDRESS_FORWARD) {
        if (a->use == LUNETTE_USE_SINK) return read_words(a, query + 1);
        return refuse(a, "%.60s is unknown: nothing stands behind the port of a forward:// source", query);
    }
    if (strcmp(query, "?listen") != 0)
        return refuse(a, "%.60s is unknown: the one word after ? is listen, for a sink that serves subscribers", query);
    if (a->use == LUNETTE_USE_SOURCE) return refuse(a, "a source always listens: leave ?listen out");
    a->listen = 1;
    return 0;
}

static int read_port(lunette_address *a, const char *text, size_t len) {
    unsigned port = 0;
    if (len == 0 || len > 5 || strspn(text, "0123456789") < len)
        return refuse(a, "the port is no number from 0 to 65535: write %s://HOST:PORT", a->scheme);
    for (size_t i = 0; i < len; i++) port = 10 * port + (unsigned)(text[i] - '0');
    if (port > 65535) return refuse(a, "the port is no number from 0 to 65535: write %s://HOST:PORT", a->scheme);
    if (port == 0 && a->use == LUNETTE_USE_SINK && !a->listen)
        return refuse(a, "nobody listens on port 0: write the port to connect to, or add ?listen");
    a->port = (uint16_t)port;
    return 0;
}

/* HOST:PORT, where a host with colons stands in brackets. */
static int read_host_port(lunette_address *a, const char *text, size_t len) {
    const char *colon = NULL, *host = text;
    size_t host_len;
    for (size_t i = 0; i < len; i++)
        if (text[i] == ':') colon = text + i;
    if (len && *text == '[') {
        const char *close = memchr(text, ']', len);
        if (!close) return refuse(a, "the ] after the host is missing: write %s://[::1]:PORT", a->scheme);
        host = text + 1;
        host_len = (size_t)(close - host);
        if (!colon || colon != close + 1)
            return refuse(a, "the port is missing: write %s://[%.*s]:PORT", a->scheme, (int)(host_len & 255), host);
    } else {
        if (!colon) return refuse(a, "the port is missing: write %s://%.*s:PORT", a->scheme, (int)(len & 255), text);
        host_len = (size_t)(colon - text);
        if (memchr(text, ':', host_len))
            return refuse(a, "a host with colons stands in brackets: write %s://[::1]:PORT", a->scheme);
    }
    if (host_len == 0)
        return refuse(a, "the host is missing: write %s://127.0.0.1:PORT for this machine alone", a->scheme);
    if (host_len >= sizeof a->host) return refuse(a, "the host has more than %zu bytes", sizeof a->host - 1);
    memcpy(a->host, host, host_len);
    a->host[host_len] = '\0';
    return read_port(a, colon + 1, len - (size_t)(colon + 1 - text));
}

static int read_unix(lunette_address *a, const char *text) {
    size_t len;
    int err = read_query(a, text, &len);
    if (err) return err;
    if (len == 0) return refuse(a, "the path is missing: write unix:PATH");
    if (len > 1 && text[0] == '/' && text[1] == '/') return refuse(a, "write unix:PATH, without //");
    if (len > UNIX_PATH_MAX)
        return refuse(a, "the path of a socket has at most %d bytes, this one has %zu", UNIX_PATH_MAX, len);
    memcpy(a->host, text, len);
    a->host[len] = '\0';
    return 0;
}

static int read_inet(lunette_address *a, const char *text) {
    size_t len;
    int err = read_query(a, text, &len);
    return err ? err : read_host_port(a, text, len);
}

static int read_scheme(lunette_address *a, const char *text, size_t scheme, const char *rest) {
    static const struct {
        const char *name;
        int kind;
    } known[] = {{"tcp", LUNETTE_ADDRESS_TCP}, {"udp", LUNETTE_ADDRESS_UDP}, {"forward", LUNETTE_ADDRESS_FORWARD}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != scheme || memcmp(known[i].name, text, scheme) != 0) continue;
        a->scheme = known[i].name;
        a->kind = known[i].kind;
        if (strncmp(rest, "//", 2) != 0) return refuse(a, "the // is missing: write %s://HOST:PORT", a->scheme);
        if (a->kind == LUNETTE_ADDRESS_UDP && a->use == LUNETTE_USE_SINK)
            return refuse(a, "panes are not sent in datagrams, which may be lost: write tcp:// or unix:");
        return read_inet(a, rest + 2);
    }
    return refuse(
        a,
        "%.*s: is unknown: the kinds are tcp://HOST:PORT, forward://HOST:PORT, unix:PATH%s, null:, - and paths "
        "(one with a colon is written ./%.80s)",
        (int)scheme, text, a->use == LUNETTE_USE_SOURCE ? ", udp://HOST:PORT" : "", text);
}

int lunette_address_parse(lunette_address *a, const char *text, int use) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
    size_t scheme = strspn(text, letters);
    const char *rest = text + scheme + 1;
    *a = (lunette_address){.kind = LUNETTE_ADDRESS_PATH, .use = use, .unit = LN_UNIT_MS, .scheme = ""};
    if (!*text) return refuse(a, "is empty: write a path, - or an address such as tcp://127.0.0.1:7000");
    if (!strcmp(text, "-")) a->kind = LUNETTE_ADDRESS_STANDARD;
    if (!strcmp(text, "null:")) a->kind = LUNETTE_ADDRESS_NULL;
    if (a->kind != LUNETTE_ADDRESS_PATH || !scheme || text[scheme] != ':') return 0;
    if (scheme == 4 && !memcmp(text, "unix", 4)) {
        a->scheme = "unix";
        a->kind = LUNETTE_ADDRESS_UNIX;
        return read_unix(a, rest);
    }
    if (!strncmp(rest, "//", 2) || (scheme == 3 && (!memcmp(text, "tcp", 3) || !memcmp(text, "udp", 3))) ||
        (scheme == 4 && !memcmp(text, "null", 4)) || (scheme == 7 && !memcmp(text, "forward", 7)))
        return read_scheme(a, text, scheme, rest);
    return 0;
}
