/* What a run is told: where records come from, where panes go, and how much strangers may take. */
#ifndef LN_SERVER_OPTIONS_H
#define LN_SERVER_OPTIONS_H

#include "durable/facts.h"
#include "lunette_program.h"

#include <stddef.h>
#include <stdint.h>

enum ln_choice { LN_AUTO = 0, LN_YES, LN_NO };

typedef struct ln_server_options {
    const char *const *sources; /* addresses; files and standard input among them are one stream, in this order */
    size_t sources_count;
    const char *out;     /* an address */
    const char *rejects; /* likewise; NULL: none wanted */
    const char *trace;   /* likewise */
    const char *control; /* unix:PATH; NULL: no control socket */
    const char *http;    /* HOST:PORT; NULL: no metrics */
    int append;          /* files that are written keep what they hold */
    int own_clock;       /* processing time is the wall clock: it moves without records too */
    int progress;        /* enum ln_choice */
    int insecure;        /* sockets may be bound past this machine */
    int flush_on_exit;   /* a drain completes every window */
    uint32_t connections_max, connections_per_host;
    int64_t frame_timeout_us, idle_timeout_us; /* of a connection; 0: none */
    int64_t drain_timeout_us;
    int64_t ack_timeout_us;                     /* of a forward:// sink; 0: none */
    size_t queue_bytes;                         /* of a sink that is a socket, and of each subscriber */
    size_t message_bytes;                       /* of one message of Fluent Forward; 0: the default */
    size_t receive_bytes;                       /* of all messages of Fluent Forward that are not in the engine yet */
    const char *shared_key_file, *users_file;   /* of forward:// sources; NULL: none */
    const char *sink_key_file, *sink_user_file; /* of forward:// sinks */
    const char *script;                         /* the path of the script that runs, */
    const lunette_options *host_options;        /* and how it was opened: so are those that take over from it */
    int on_change;                              /* enum lunette_on_change */
    ln_ledger *ledger;                          /* NULL: the state is not kept; else, with `facts`, the caller's */
    ln_facts *facts;                            /* that the ledger holds, brought up to date at each checkpoint */
    int64_t checkpoint_interval_us;
    int watch; /* reload when a file of the script has changed */
} ln_server_options;

#endif
