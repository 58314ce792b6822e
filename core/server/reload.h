/* Reloads: another script takes over from the one that runs, between two records. It is tried by a process of its own
 * first; whatever is wrong with it, the old one goes on. */
#ifndef LN_SERVER_RELOAD_H
#define LN_SERVER_RELOAD_H

#include "server/trial.h"

typedef struct ln_server ln_server;
typedef struct ln_reload ln_reload;

enum ln_reload_kind {
    LN_RELOAD_NEW = 0, /* the script as its files are now */
    LN_RELOAD_BACK     /* the one that ran before this one */
};

/* How reloads have gone. */
typedef struct ln_reload_told {
    uint64_t done, failed;
    int under_way;
    const char *problem;   /* of the last one that failed; "" where the last one was done, or there was none */
    double longest_hold_s; /* the longest time for which a reload has kept records waiting at a stretch */
} ln_reload_told;

/* NULL where memory is short. Begins to watch the script's files where the options say so. */
ln_reload *ln_reload_new(ln_server *s);
void ln_reload_delete(ln_reload *r);
/* Begins a reload; one that is asked for while another is under way follows it. 0, or -1 where there is nothing to go
 * back to. */
int ln_reload_ask(ln_server *s, int kind);
/* Is there something to be done between two records? Then there: goes on with it for a while. */
int ln_reload_is_due(const ln_reload *r);
void ln_reload_go_on(ln_reload *r);
void ln_reload_tell(const ln_server *s, ln_reload_told *out);

#endif
