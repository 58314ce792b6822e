/* What a run answers those who watch and steer it: a request is a line of JSON, its answer another. The control socket
 * asks by it, and HTTP for the status. */
#ifndef LN_SERVER_ANSWER_H
#define LN_SERVER_ANSWER_H

#include "server/json.h"
#include "server/server.h"

enum { LN_REQUEST_BYTES = 4096 };

/* Reads requests; NULL where memory is short. */
ln_reader *ln_answer_reader(void);
/* The answer to one request, without a line end: what was asked for, or {"error":"what is wrong, and how to mend it"}.
 * `out` is empty. 0, or, where nothing is answered yet, what ln_answer_awaited is to be asked with later. */
uint64_t ln_answer(ln_server *s, ln_reader *requests, const char *line, size_t len, ln_buf *out);
/* Likewise. */
uint64_t ln_answer_awaited(ln_server *s, uint64_t awaited, ln_buf *out);
/* The status: the account of every pipeline, and the server's numbers. 0, or -1 where it can't be had. */
int ln_answer_status(ln_server *s, ln_buf *out);
/* Is the run ready for records? NULL, or why not. */
const char *ln_answer_unready(const ln_server *s);

#endif
