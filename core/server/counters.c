/* See counters.h. */
#include "server/counters.h"

#include <string.h>

#define FIELD(name) \
    { #name, offsetof(ln_counters, name) }

static const struct {
    const char *name;
    size_t at;
} FIELDS[] = {
    FIELD(connections),
    FIELD(connections_opened),
    FIELD(connections_refused),
    FIELD(connections_broken),
    FIELD(connections_unfinished),
    FIELD(connections_timed_out),
    FIELD(bytes_received),
    FIELD(datagrams),
    FIELD(datagrams_malformed),
    FIELD(datagrams_dropped),
    FIELD(forward_messages),
    FIELD(forward_acknowledged),
    FIELD(forward_repeated),
    FIELD(forward_heartbeats),
    FIELD(forward_refused_signal),
    FIELD(forward_refused_tag),
    FIELD(forward_refused_compression),
    FIELD(forward_denied),
    FIELD(bytes_sent),
    FIELD(queued_bytes),
    FIELD(sink_connections),
    FIELD(sink_failures),
    FIELD(panes_lost),
    FIELD(subscribers),
    FIELD(subscribers_opened),
    FIELD(subscribers_cut),
    FIELD(log_lines_left_out),
};
_Static_assert(sizeof FIELDS / sizeof *FIELDS == sizeof(ln_counters) / sizeof(uint64_t), "every counter has a name");

int ln_counters_get(const ln_counters *c, size_t i, const char **name, uint64_t *value) {
    if (i >= sizeof FIELDS / sizeof *FIELDS) return 0;
    *name = FIELDS[i].name;
    memcpy(value, (const char *)c + FIELDS[i].at, sizeof *value);
    return 1;
}
