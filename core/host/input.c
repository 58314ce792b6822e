/* See input.h. */
#include "host/input.h"

enum { KEPT_BYTES = 256 * 1024 }; /* of an empty buffer */

void ln_input_init(ln_input *in, ln_mem *mem, uint64_t bytes_max) {
    *in = (ln_input){.bytes_max = bytes_max};
    ln_buf_init(&in->bytes, mem);
}

void ln_input_free(ln_input *in) {
    ln_mem_free(in->bytes.mem, in->piece, in->cap * sizeof *in->piece);
    ln_buf_free(&in->bytes);
}

size_t ln_input_waiting(const ln_input *in) {
    return in->bytes.len - in->at + (in->count - in->first) * sizeof(ln_piece);
}

/* What has been read makes room where it is the larger part, so that each byte is moved once at most. */
static void move_up(ln_input *in) {
    size_t rest = in->bytes.len - in->at;
    if (!in->at || rest > in->at) return;
    memmove(in->bytes.data, in->bytes.data + in->at, rest);
    in->passed += in->at;
    in->bytes.len = rest;
    in->at = 0;
    if (!rest && in->bytes.cap > KEPT_BYTES) ln_buf_free(&in->bytes);
}

int ln_input_has_room(ln_input *in, size_t more) {
    size_t waiting = ln_input_waiting(in);
    move_up(in);
    return waiting <= in->bytes_max && more <= in->bytes_max - waiting;
}

/* A place for one more piece; 0 or -1. */
static int reserve_piece(ln_input *in) {
    if (in->first == in->count) in->first = in->count = 0;
    if (in->piece && in->first && in->count == in->cap) {
        memmove(in->piece, in->piece + in->first, (in->count - in->first) * sizeof *in->piece);
        in->count -= in->first;
        in->first = 0;
    }
    return ln_mem_grow(in->bytes.mem, &in->piece, &in->cap, in->count + 1, sizeof *in->piece);
}

/* The bytes up to the end of the buffer are of this kind. */
static void extend(ln_input *in, int kind) {
    int64_t upto = (int64_t)(in->passed + in->bytes.len);
    if (in->first == in->count || in->piece[in->count - 1].kind != kind) in->piece[in->count++].kind = kind;
    in->piece[in->count - 1].upto = upto;
}

int ln_input_push(ln_input *in, const void *bytes, size_t len) {
    if (!ln_input_has_room(in, len)) return LN_INPUT_FULL;
    if (!len) return LN_INPUT_TAKEN;
    if (reserve_piece(in) < 0) return LN_INPUT_SHORT;
    ln_buf_append(&in->bytes, bytes, len);
    if (in->bytes.failed) {
        in->bytes.failed = 0;
        return LN_INPUT_SHORT;
    }
    extend(in, LN_PIECE_BYTES);
    return LN_INPUT_TAKEN;
}

int ln_input_end_record(ln_input *in, size_t from) {
    int short_of_memory = in->bytes.failed;
    in->bytes.failed = 0;
    if (!short_of_memory && ln_input_waiting(in) <= in->bytes_max) {
        short_of_memory = reserve_piece(in) < 0;
        if (!short_of_memory) {
            extend(in, LN_PIECE_RECORDS);
            return LN_INPUT_TAKEN;
        }
    }
    in->bytes.len = from;
    return short_of_memory ? LN_INPUT_SHORT : LN_INPUT_FULL;
}

int ln_input_promise(ln_input *in, int64_t watermark_us) {
    ln_piece *last = in->first < in->count ? &in->piece[in->count - 1] : NULL;
    if (last && last->kind == LN_PIECE_PROMISE) {
        if (last->upto < watermark_us) last->upto = watermark_us;
        return LN_INPUT_TAKEN;
    }
    if (!ln_input_has_room(in, sizeof *last)) return LN_INPUT_FULL;
    if (reserve_piece(in) < 0) return LN_INPUT_SHORT;
    in->piece[in->count++] = (ln_piece){.kind = LN_PIECE_PROMISE, .upto = watermark_us};
    return LN_INPUT_TAKEN;
}

const ln_piece *ln_input_first(const ln_input *in) { return in->first < in->count ? &in->piece[in->first] : NULL; }

const uint8_t *ln_input_slice(const ln_input *in, size_t most, size_t *len) {
    size_t left = (size_t)((uint64_t)in->piece[in->first].upto - in->passed) - in->at;
    *len = left < most ? left : most;
    return in->bytes.data + in->at;
}

void ln_input_pass(ln_input *in, size_t len) {
    const ln_piece *p = &in->piece[in->first];
    in->at += len;
    if (p->kind == LN_PIECE_PROMISE || (uint64_t)p->upto == in->passed + in->at) in->first++;
    if (in->at == in->bytes.len) move_up(in);
}

void ln_input_drop(ln_input *in, int kind) {
    const ln_piece *p = ln_input_first(in);
    size_t len;
    if (!p || p->kind != kind) return;
    (void)ln_input_slice(in, SIZE_MAX, &len);
    ln_input_pass(in, len);
}
