/* See queue.h. */
#define _GNU_SOURCE
#include "server/queue.h"

#include "lunette.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Where the pane at `p` ends; never beyond `end`, before which there is a whole one. */
static const uint8_t *pane_end(const uint8_t *p, const uint8_t *end, int format) {
    const uint8_t *stop;
    ln_value v;
    if (format != LN_FORMAT_JSON) return ln_value_read(p, end, 1, &v);
    stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop + 1 : end;
}

uint64_t ln_panes_count(const uint8_t *bytes, size_t len, int format) {
    const uint8_t *end = bytes + len;
    uint64_t count = 0;
    for (; bytes < end; count++) bytes = pane_end(bytes, end, format);
    return count;
}

/* Whole panes within the first `room` bytes; the first pane in any case where `alone`. */
static size_t whole_panes(const ln_queue *q, const uint8_t *bytes, size_t len, size_t room, int alone) {
    size_t whole = 0;
    if (len <= room) return len;
    while (whole < len) {
        size_t next = (size_t)(pane_end(bytes + whole, bytes + len, q->format) - bytes);
        if (next > room && (whole || !alone)) break;
        whole = next;
    }
    return whole;
}

static int make_room(ln_queue *q, size_t len) {
    uint8_t *grown;
    size_t held = q->end - q->start, to = q->cap ? q->cap : 4096;
    if (q->cap - q->end >= len) return 0;
    if (q->start) {
        memmove(q->data, q->data + q->start, held);
        q->sent -= q->start;
        q->end = held;
        q->start = 0;
    }
    if (q->cap - q->end >= len) return 0;
    while (to < held + len) to *= 2;
    grown = realloc(q->data, to);
    if (!grown) return -1;
    q->data = grown;
    q->cap = to;
    return 0;
}

size_t ln_queue_put(ln_queue *q, const uint8_t *bytes, size_t len) {
    size_t held = q->end - q->start, room = held < q->most ? q->most - held : 0;
    size_t take = whole_panes(q, bytes, len, room, held == 0);
    if (!take || make_room(q, take)) return 0;
    memcpy(q->data + q->end, bytes, take);
    q->end += take;
    return take;
}

int ln_queue_send(ln_queue *q, int fd, uint64_t *bytes_sent) {
    while (q->sent < q->end) {
        ssize_t n = send(fd, q->data + q->sent, q->end - q->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        q->sent += (size_t)n;
        *bytes_sent += (uint64_t)n;
        while (q->start < q->sent) {
            size_t next = (size_t)(pane_end(q->data + q->start, q->data + q->end, q->format) - q->data);
            if (next > q->sent) break;
            q->start = next;
        }
    }
    q->start = q->sent = q->end = 0;
    return 0;
}

void ln_queue_rewind(ln_queue *q) { q->sent = q->start; }

uint64_t ln_queue_panes(const ln_queue *q) { return ln_panes_count(q->data + q->start, q->end - q->start, q->format); }

void ln_queue_free(ln_queue *q) {
    free(q->data);
    q->data = NULL;
    q->cap = q->start = q->sent = q->end = 0;
}
