/* A bounded queue of whole panes on their way to a socket. Bytes that have been sent stay until their pane has been
 * sent whole, so that a new connection can begin with it. */
#ifndef LN_SERVER_QUEUE_H
#define LN_SERVER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct ln_queue {
    uint8_t *data;
    size_t cap;
    size_t start; /* of the first pane that is not sent whole */
    size_t sent;  /* the first byte not sent, at or after start */
    size_t end;
    size_t most; /* bytes that it takes, but for one pane that is larger by itself */
    int format;  /* enum ln_format, of the panes */
} ln_queue;

/* Takes as many whole panes as there is room for, from the front: their bytes; 0 where there is no room or memory. */
size_t ln_queue_put(ln_queue *q, const uint8_t *bytes, size_t len);
/* Sends what can be sent at once: 0, or -1 with errno where the socket can be sent to no more. */
int ln_queue_send(ln_queue *q, int fd, uint64_t *bytes_sent);
/* A new connection: the pane that was cut is sent again. */
void ln_queue_rewind(ln_queue *q);
/* Panes that are not sent whole. */
uint64_t ln_queue_panes(const ln_queue *q);
static inline size_t ln_queue_pending(const ln_queue *q) { return q->end - q->sent; }
void ln_queue_free(ln_queue *q);

/* Panes in bytes that begin and end with whole ones. */
uint64_t ln_panes_count(const uint8_t *bytes, size_t len, int format);

#endif
