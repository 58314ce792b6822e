/* Every number of a run that is not the engine's, by name: counted where it happens, read in one place. */
#ifndef LN_SERVER_COUNTERS_H
#define LN_SERVER_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ln_counters {
    uint64_t connections_opened;
    uint64_t connections_refused;    /* at a limit */
    uint64_t connections_broken;     /* what came could not be read */
    uint64_t connections_unfinished; /* ended in the middle of a record */
    uint64_t connections_timed_out;  /* silent for too long, or too slow with a record */
    uint64_t bytes_received;         /* through sockets */
    uint64_t datagrams;
    uint64_t datagrams_malformed;  /* in part or whole */
    uint64_t datagrams_dropped;    /* by the system, since they were not read in time */
    uint64_t forward_messages;     /* of Fluent Forward, those refused left out */
    uint64_t forward_acknowledged; /* of these, at the sender's wish */
    uint64_t forward_repeated;     /* of these, sent again: their records count once */
    uint64_t forward_heartbeats;
    uint64_t forward_refused_signal, forward_refused_tag, forward_refused_compression; /* messages */
    uint64_t forward_denied;   /* connections without the shared key, or with a wrong user or password */
    uint64_t bytes_sent;       /* to sinks */
    uint64_t sink_connections; /* made to sinks that are sockets */
    uint64_t sink_failures;    /* attempts that failed, and connections that broke */
    uint64_t panes_lost;       /* taken from the engine, and not delivered */
    uint64_t subscribers_opened;
    uint64_t subscribers_cut; /* too slow */
    uint64_t log_lines_left_out;
    uint64_t connections, subscribers; /* now */
    uint64_t queued_bytes;             /* now, in queues of sinks */
} ln_counters;

/* Number i and its name; 0 past the last. */
int ln_counters_get(const ln_counters *c, size_t i, const char **name, uint64_t *value);

#endif
