/* The parts of a message that comes in pieces. */
#include "forward/frame.h"

#include "base/msgpack.h"

static int begin(ln_forward_frame *f, const uint8_t *bytes, size_t len) {
    const uint8_t *next;
    ln_value v;
    int head;
    *f = (ln_forward_frame){0};
    head = ln_msgpack_head(bytes, bytes + len, &v, &next);
    if (head == LN_HEAD_SHORT) return LN_FRAME_MORE;
    if (head == LN_HEAD_BAD) return LN_EINVALID;
    if (v.type == LN_NULL) {
        f->at[0] = 1;
    } else if (v.type == LN_ARRAY && v.len >= 2 && v.len <= LN_FORWARD_PARTS) {
        f->parts = v.len;
        f->elements = v.len;
        f->at[0] = (uint64_t)(next - bytes);
        ln_framer_init(&f->framer);
    } else {
        return LN_EINVALID;
    }
    f->begun = 1;
    return LN_OK;
}

/* The part that begins at byte `at`: whole in hand, as most are, or piece by piece. */
static int run_part(ln_forward_frame *f, const ln_limits *limits, uint64_t at, const uint8_t *bytes, size_t len) {
    const uint8_t *end;
    uint32_t elements;
    int err;
    if (f->framer.at == 0) {
        end = ln_scan_pass(limits, bytes + at, bytes + len, &elements);
        if (end) {
            f->elements += elements;
            f->at[++f->part] = (uint64_t)(end - bytes);
            return LN_OK;
        }
    }
    err = ln_framer_run(&f->framer, limits, bytes + at, len - at);
    if (err) return err;
    f->elements += f->framer.elements;
    f->at[++f->part] = at + f->framer.at;
    ln_framer_init(&f->framer);
    return LN_OK;
}

int ln_forward_frame_run(ln_forward_frame *f, const ln_limits *limits, const uint8_t *bytes, size_t len) {
    int err = f->begun ? LN_OK : begin(f, bytes, len);
    while (!err && f->part < f->parts) {
        ln_limits left = *limits;
        uint64_t at = f->at[f->part], others = f->parts - f->part - 1;
        if (at + others >= limits->record_bytes) return LN_ERECORD;
        left.record_bytes -= at + others; /* each part still to come is at least one byte */
        if (f->elements > limits->elements) return LN_EELEMENTS;
        left.elements -= (uint32_t)f->elements;
        err = run_part(f, &left, at, bytes, len);
    }
    return err;
}

uint64_t ln_forward_frame_error_at(const ln_forward_frame *f) {
    return f->begun && f->parts ? f->at[f->part] + f->framer.at : 0;
}
