/* Checkpoints of a run: what must not be forgotten, cut between two records and written a little at a time while
 * records go on, then put on the disk by a thread of its own, so that nothing waits for it. A disk that fails is tried
 * again; meanwhile the run goes on in memory, up to a bounded backlog, past which no more input is taken. */
#ifndef LN_SERVER_CHECKPOINT_H
#define LN_SERVER_CHECKPOINT_H

#include "durable/facts.h"
#include "server/histogram.h"

typedef struct ln_server ln_server;
typedef struct ln_checkpoint ln_checkpoint;

/* What is told of them. */
typedef struct ln_checkpoint_told {
    uint64_t done, failed;
    const char *problem;      /* of the last attempt; "" where it succeeded, or there was none */
    int64_t age_us;           /* of the state on the disk */
    int64_t longest_pause_us; /* for which records have waited at a stretch */
    int64_t took_us;          /* the last one, from its cut until the disk had it */
    uint64_t entries, bytes;  /* of the last one */
    uint64_t all_bytes;       /* of all */
    int held;                 /* no input is taken */
} ln_checkpoint_told;

/* NULL where memory is short. `ledger` and `facts` are the caller's, and outlive it. */
ln_checkpoint *ln_checkpoint_new(ln_server *s, ln_ledger *ledger, ln_facts *facts);
void ln_checkpoint_delete(ln_checkpoint *c);
/* Puts on the disk that the run has begun, with its positions, before any input is taken: 0, or -1 with the ledger's
 * error. */
int ln_checkpoint_begin(ln_checkpoint *c);

/* Is there something to be done between two records? Then there: does some of it. NULL is no checkpoint. */
int ln_checkpoint_is_due(const ln_checkpoint *c);
void ln_checkpoint_go_on(ln_checkpoint *c);
/* A round has been begun and is not gathered: no reload may take over now. */
int ln_checkpoint_is_gathering(const ln_checkpoint *c);
/* Is it the disk's turn? */
int ln_checkpoint_waits(const ln_checkpoint *c);
/* Must no more input be taken? */
int ln_checkpoint_holds(const ln_checkpoint *c);

/* The run ends: makes the last one, `over` where nothing is left to be done. 1 while that takes; 0 when it is done
 * with, or has failed, which is told. */
int ln_checkpoint_conclude(ln_checkpoint *c, int over);
/* The host has failed: there is nothing to save any more. */
void ln_checkpoint_give_up(ln_checkpoint *c);
/* A line of log, and for /readyz; NULL where all is well. */
const char *ln_checkpoint_problem(const ln_checkpoint *c);
void ln_checkpoint_tell(const ln_checkpoint *c, ln_checkpoint_told *out);

#endif
