/* Words to the service manager, by the protocol of sd_notify: one datagram each to the socket that NOTIFY_SOCKET names.
 * Where it names none, nothing happens. (The protocol is a few lines; libsystemd would be a dependency for them.) */
#ifndef LN_SERVER_NOTIFY_H
#define LN_SERVER_NOTIFY_H

#include <stdint.h>

/* `state` as sd_notify takes it: "READY=1", "STOPPING=1", "WATCHDOG=1", several joined by line ends. */
void ln_notify(const char *state);
/* How often WATCHDOG=1 is due; 0: never. */
int64_t ln_notify_watchdog_us(void);

#endif
