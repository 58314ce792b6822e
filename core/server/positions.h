/* Where the inputs and outputs of a run stand, as facts: taken when a checkpoint is cut, and gone back to when a run
 * goes on. A file is read on from its place, and one that is written is cut back to what it held. What has been taken
 * for a socket and not been sent is kept as it is. */
#ifndef LN_SERVER_POSITIONS_H
#define LN_SERVER_POSITIONS_H

#include "durable/facts.h"
#include "server/sink.h"

/* All that holds now. Everything that was put out must be in the sinks. */
void ln_positions_take(ln_server *s, ln_facts *facts);
/* Are the files among the sources those that were read, and do they hold what was read of them? 0, or -1 with a
 * problem. Where reading goes on is then known to the input. */
int ln_positions_resume_input(ln_server *s, const ln_facts *facts, ln_problem *problem);
/* The sink, which is open and has written nothing yet, goes on where it was. 0, or -1 with a problem. */
int ln_positions_resume_sink(ln_sink_end *sink, const ln_facts *facts, ln_problem *problem);
/* Where a file must be cut that is opened under this name; -1: it begins as any other does. */
int64_t ln_positions_cut(const ln_facts *facts, int stream, const char *name);

#endif
