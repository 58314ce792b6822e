/* The invariants of a grid. */
#include "window/hop.h"

static const char *verify_slice(const ln_engine *e, const ln_slice *s) {
    const ln_column *c = &s->column;
    if (!c->rows || c->vacant) return "a slice holds no row, or less than it says";
    if ((__int128)s->end_us - s->start_us > e->plan.slice_us) return "a slice is wider than slices are";
    for (uint32_t row = 0; row < c->rows; row++) {
        const ln_hop_row *own;
        if (ln_column_find(c, ln_column_key(c, row)) != row) return "a row cannot be found";
        if (!e->grid.hopping) continue;
        own = hop_row(s, row);
        if (!own->next) continue;
        if (own->next->start_us <= s->start_us || hop_row(own->next, own->next_row)->key != own->key)
            return "the rows of a key are out of order";
    }
    return NULL;
}

/* Between two firings: what is put together of a key is what its rows say. */
static const char *verify_hop_key(const ln_engine *e, uint32_t id) {
    const ln_grid *g = &e->grid;
    const ln_hop_key *key = hop_key(e, id);
    uint32_t back = 0;
    const ln_slice *next = key->first;
    uint32_t next_row = key->first_row;
    for (uint32_t i = 0; i < g->slices.count; i++) {
        const ln_slice *s = ln_grid_slice(g, i);
        uint32_t row = ln_column_find(&s->column, id);
        if (row == LN_COLUMN_NONE) continue;
        if (in_front(e, s)) {
            if (next != s || next_row != row) return "a row of the front is not where its key looks for it";
            next_row = hop_row(s, row)->next_row;
            next = hop_row(s, row)->next;
        } else {
            back += ln_grid_start(e, s) < g->folded_us;
        }
    }
    if (next) return "a key's rows go on behind the front";
    return back == key->back_rows || g->next_us >= g->pivot_us ? NULL
                                                               : "the back of a key holds other rows than it has";
}

const char *ln_grid_verify(const ln_engine *e) {
    const ln_grid *g = &e->grid;
    size_t rows = 0, held = 0;
    const char *wrong;
    for (uint32_t i = 0; i < g->slices.count; i++) {
        const ln_slice *s = ln_grid_slice(g, i);
        if (g->stage == LN_GRID_BEGIN && (wrong = verify_slice(e, s))) return wrong;
        if (i && ln_grid_slice(g, i - 1)->start_us >= s->start_us) return "slices are out of order";
        rows += s->column.rows;
    }
    for (uint32_t id = 0; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        const ln_key *key = ln_keys_at(&e->keys, id);
        held += key->held;
        if ((key->held == 0) != key->resting) return "a key rests that holds something, or the reverse";
        if (g->hopping && g->stage == LN_GRID_BEGIN && (wrong = verify_hop_key(e, id))) return wrong;
    }
    if (g->stage != LN_GRID_BEGIN) return NULL;
    if (rows != g->rows || held != rows) return "the count of rows is wrong";
    if ((g->slices.count == 0) != (g->next_end_us == INT64_MAX))
        return "a window is due that holds nothing, or the reverse";
    if (!g->slices.count) return NULL;
    if (e->phase == LN_PHASE_NONE && g->next_end_us <= e->now_us) return "a window is open past its end";
    return g->next_us <= ln_grid_start(e, ln_grid_slice(g, 0)) ? NULL : "a slice is left behind";
}
