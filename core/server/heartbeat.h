/* Heartbeats over UDP: senders of Fluent Forward that are set up so ask whether a receiver lives with a datagram of one
 * byte to its port, and take one byte back for a yes. Nothing else is answered, so that no stranger gets more out of
 * this than he has sent. */
#ifndef LN_SERVER_HEARTBEAT_H
#define LN_SERVER_HEARTBEAT_H

typedef struct ln_server ln_server;
typedef struct ln_heartbeat ln_heartbeat;

/* Answers on the port on which `fd` listens. NULL, with a line in the log, where it can't be had: the source does
 * without. */
ln_heartbeat *ln_heartbeat_open(ln_server *s, const char *name, int fd);
void ln_heartbeat_delete(ln_heartbeat *h);

#endif
