/* Makes and frees an engine: copies the plan, lays out a window's state. */
#include "base/time.h"
#include "window/state.h"

#include <string.h>

/* An aggregate's name and numbers. */
static int copy_aggregate(ln_engine *e, ln_aggregate *copy, const ln_aggregate *from) {
    char *name = ln_mem_new(&e->mem, from->name_len + 1);
    double *number = ln_mem_new(&e->mem, (from->numbers + 1) * sizeof *number);
    *copy = *from;
    copy->name = name;
    copy->number = number;
    if (!name || !number) return -1;
    memcpy(name, from->name, from->name_len);
    if (from->numbers) memcpy(number, from->number, from->numbers * sizeof *number);
    return 0;
}

/* The plan's strings and its list of aggregates, copied into the engine's memory. */
static int copy_plan(ln_engine *e, const ln_plan *plan) {
    ln_aggregate *aggregate = ln_mem_zero(&e->mem, (plan->aggregates + 1) * sizeof *aggregate);
    char *name;
    e->plan = *plan;
    e->plan.aggregate = aggregate;
    e->plan.name = NULL; /* until there is a copy */
    if (!aggregate) return -1;
    for (uint32_t i = 0; i < plan->aggregates; i++)
        if (copy_aggregate(e, &aggregate[i], &plan->aggregate[i]) < 0) return -1;
    e->plan.name = name = ln_mem_new(&e->mem, plan->name_len + 1);
    if (!name) return -1;
    memcpy(name, plan->name, plan->name_len);
    return 0;
}

static void free_plan(ln_engine *e) {
    ln_aggregate *aggregate = (ln_aggregate *)(uintptr_t)e->plan.aggregate; /* ours: made by copy_plan */
    for (uint32_t i = 0; aggregate && i < e->plan.aggregates; i++) {
        ln_mem_free(&e->mem, (void *)(uintptr_t)aggregate[i].name, aggregate[i].name_len + 1);
        ln_mem_free(&e->mem, (void *)(uintptr_t)aggregate[i].number, (aggregate[i].numbers + 1) * sizeof(double));
    }
    ln_mem_free(&e->mem, aggregate, (e->plan.aggregates + 1) * sizeof *aggregate);
    ln_mem_free(&e->mem, (void *)(uintptr_t)e->plan.name, e->plan.name_len + 1);
}

enum { LINE = 64 }; /* of the processor's cache: cells begin on one */

static uint32_t round_up(uint32_t n, uint32_t to) { return (n + to - 1) / to * to; }

/* What a row of the grid takes. */
static void lay_out_rows(ln_engine *e) {
    ln_grid *g = &e->grid;
    uint32_t align = e->states.align == 8 || g->hopping ? 8 : sizeof(uint32_t);
    g->state_at = g->hopping ? sizeof(ln_hop_row) : g->headed ? sizeof(ln_window_row) : align;
    g->row_bytes = round_up((uint32_t)g->state_at + e->states.bytes, align);
}

void ln_grid_add_heads(ln_engine *e) {
    e->grid.headed = 1;
    lay_out_rows(e);
}

static void lay_out_grid(ln_engine *e) {
    ln_grid *g = &e->grid;
    g->hopping = e->plan.hop_us < e->plan.size_us;
    g->headed = !g->hopping && (e->folds || e->plan.early.count);
    g->next_end_us = INT64_MAX;
    g->edge_us = LN_PAST;
    g->pivot_us = g->folded_us = LN_GRID_PAST;
    lay_out_rows(e);
}

static size_t key_bytes(const ln_engine *e) {
    if (!e->sliced && e->plan.max_us >= 0) return sizeof(ln_cell_key);
    if (!e->sliced) return e->extents ? offsetof(ln_cell_key, held) : offsetof(ln_cell_key, closed);
    return e->grid.hopping ? sizeof(ln_hop_key) + round_up(e->states.bytes, 8) : sizeof(ln_key);
}

static int lay_out(ln_engine *e) {
    const ln_plan *p = &e->plan;
    if (ln_states_init(&e->states, &e->mem, p) < 0) return -1;
    e->values = ln_mem_zero(&e->mem, (p->aggregates + 1) * sizeof *e->values);
    e->shape.fold_at = ln_mem_zero(&e->mem, (p->aggregates + 1) * sizeof *e->shape.fold_at);
    e->fold_states = ln_mem_zero(&e->mem, (p->aggregates + 1) * sizeof *e->fold_states);
    if (!e->values || !e->shape.fold_at || !e->fold_states) return -1;
    e->stateful = ln_trigger_stateful(&p->early) || ln_trigger_stateful(&p->late);
    if (e->stateful) e->states_at = 2 * sizeof(ln_trigger_state);
    for (uint32_t i = 0; i < p->aggregates; i++) {
        if (p->aggregate[i].kind == LN_FOLD) {
            e->folds++;
            e->fold_states[i].size = p->aggregate[i].n;
            e->fold_states[i].layout = p->aggregate[i].limit;
        }
        e->by |= p->aggregate[i].has_by;
    }
    e->rare_at = e->states_at + round_up(e->states.bytes, 8);
    e->cell_bytes = (uint32_t)sizeof(ln_cell) + e->rare_at;
    e->rare = p->panes == LN_RETRACTING || p->merging || p->fill || e->clock_delays;
    if (e->rare)
        e->cell_bytes += (uint32_t)(p->fill || e->clock_delays ? sizeof(ln_rare) : offsetof(ln_rare, alarm_us));
    e->cell_bytes = round_up(e->cell_bytes, LINE);
    if (!e->sliced) return 0;
    lay_out_grid(e);
    e->cell_bytes = (uint32_t)(e->grid.row_bytes + key_bytes(e)); /* what another window may take */
    e->grid.combined = ln_mem_zero(&e->mem, e->states.bytes + 8);
    return e->grid.combined ? 0 : -1;
}

static void survey_triggers(ln_engine *e) {
    const ln_trigger *both[] = {&e->plan.early, &e->plan.late};
    e->quiet_early = e->plan.at_watermark && e->plan.early.count == 0;
    e->early_whens = ln_trigger_nodes(&e->plan.early, 1u << LN_WHEN);
    if (e->sliced) { /* beside those each window has its one pane, when W reaches its end */
        ln_join_name(&e->question, &e->plan.early, e->early_whens);
        e->question.count = 0;
        return;
    }
    e->late_whens = ln_trigger_nodes(&e->plan.late, 1u << LN_WHEN);
    for (int i = 0; i < 2; i++) {
        e->clock_delays |= ln_trigger_nodes(both[i], 1u << LN_AFTER_DELAY | 1u << LN_AFTER_IDLE) != 0;
        for (uint32_t k = 0; k < both[i]->count; k++) {
            if (both[i]->node[k].kind != LN_EVERY) continue;
            if (both[i]->node[k].event_time) e->event_every = 1;
            else e->clock_every = 1;
        }
    }
}

/* About how far ahead of W windows end that each have an end of their own. */
static int64_t span_of(const ln_plan *p) {
    if (p->window != LN_WINDOW_SESSION && !p->merging) return 0;
    return ln_time_add(ln_time_add(p->gap_us, p->gap_us), p->delay_us == LN_FUTURE ? p->gap_us : 2 * (p->delay_us / 2));
}

ln_engine *ln_engine_new_with(const ln_plan *plan, const ln_sink *sink, const ln_mem *mem) {
    int mixed = plan->window == LN_WINDOW_ASSIGNER || plan->hop_us < plan->size_us; /* ends cut to the range are one */
    ln_mem own = *mem;
    ln_engine *e = ln_mem_zero(&own, sizeof *e);
    if (!e) return NULL;
    e->mem = own;
    e->mem.used = 0;
    e->sink = sink;
    ln_engine_pace(e, 0, 0);
    ln_rows_init(&e->rows, &e->plan);
    e->rows.mem.resize = mem->resize;
    e->rows.mem.ctx = mem->ctx;
    e->source_mem = e->rows.mem;
    if (copy_plan(e, plan) < 0) {
        ln_engine_delete(e);
        return NULL;
    }
    e->sliced = plan->slice_us > 0;
    e->extents = plan->merging || plan->max_us >= 0;
    survey_triggers(e);
    if (lay_out(e) < 0) {
        ln_engine_delete(e);
        return NULL;
    }
    e->shape.unit = plan->unit;
    e->shape.aggregate = e->plan.aggregate;
    e->shape.aggregates = plan->aggregates;
    if (plan->show_name) {
        e->shape.pipeline = e->plan.name;
        e->shape.pipeline_len = e->plan.name_len;
    }
    e->now_us = e->clock_us = LN_PAST;
    e->tally = (ln_tally){.mem = &e->mem, .distinct_max = plan->limits.distinct_values, .seed = plan->hash_seed};
    ln_buf_init(&e->tally.scratch, &e->mem);
    ln_buf_init(&e->tally.shown, &e->rows.mem);
    ln_slab_init(&e->cell_slab, &e->mem, e->cell_bytes);
    ln_keys_init(&e->keys, &e->mem, key_bytes(e), plan->hash_seed);
    ln_watermark_init(&e->watermark, &e->plan, &e->source_mem);
    ln_deadlines_init(&e->completing, &e->mem, &e->rows.mem, &e->cell_slab, mixed, span_of(plan));
    ln_deadlines_init(&e->expiring, &e->mem, &e->rows.mem, &e->cell_slab, mixed, span_of(plan));
    e->completing.keys = e->expiring.keys = &e->keys;
    ln_heap_init(&e->alarms, &e->mem, sizeof(ln_cell) + e->rare_at + offsetof(ln_rare, alarm_at));
    ln_heap_init(&e->waiting, &e->mem, offsetof(ln_held, at));
    ln_buf_init(&e->staged, &e->rows.mem);
    ln_buf_init(&e->places, &e->rows.mem);
    return e;
}

ln_engine *ln_engine_new_in(const ln_allocator *allocator, const ln_plan *plan, const ln_sink *sink) {
    ln_mem mem;
    ln_mem_init_in(&mem, allocator);
    return ln_engine_new_with(plan, sink, &mem);
}

ln_engine *ln_engine_new(const ln_plan *plan, const ln_sink *sink) { return ln_engine_new_in(NULL, plan, sink); }

static void free_cells_of(ln_engine *e, ln_cell_key *key) {
    for (uint32_t i = 0; i < key->open.count; i++) {
        ln_cell *c = ln_cells_at(&key->open, i);
        c->slot = 0;
        ln_store_drop(e, c);
    }
    ln_cells_free(&key->open, &e->mem);
    if (e->extents) ln_extents_free(&key->closed, &e->mem);
}

static void free_cells(ln_engine *e) {
    for (uint32_t id = 0; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++)
        free_cells_of(e, (ln_cell_key *)(void *)ln_keys_at(&e->keys, id));
}

int ln_engine_dispose(ln_engine *e, uint32_t keys) {
    e->failed = LN_ECLOSED;
    ln_engine_save_end(e);
    if (e->sliced) return ln_grid_dispose(e, keys);
    for (uint32_t id; keys > 0 && (id = ln_keys_next(&e->keys, e->walk_id)) != LN_KEY_NONE; keys--) {
        ln_cell_key *key = (ln_cell_key *)(void *)ln_keys_at(&e->keys, id);
        free_cells_of(e, key);
        e->walk_id = id + 1;
    }
    return keys > 0;
}

void ln_engine_delete(ln_engine *e) {
    ln_mem mem;
    if (!e) return;
    e->folds = 0; /* nobody is left to run operations */
    ln_engine_save_end(e);
    ln_load_free(e);
    if (e->sliced) ln_grid_free(e);
    else free_cells(e);
    ln_keys_free(&e->keys);
    ln_slab_free(&e->cell_slab);
    ln_watermark_free(&e->watermark);
    ln_deadlines_free(&e->completing);
    ln_deadlines_free(&e->expiring);
    ln_heap_free(&e->alarms);
    ln_ids_free(&e->slots, &e->mem);
    ln_ids_free(&e->handles, &e->mem);
    ln_hold_free(e);
    ln_mem_free(&e->mem, e->graves.item, e->graves.cap * sizeof *e->graves.item);
    ln_mem_free(&e->mem, e->walk, e->walk_cap * sizeof *e->walk);
    ln_mem_free(&e->mem, e->absorbed_us, e->absorbed_cap * sizeof *e->absorbed_us);
    ln_buf_free(&e->tally.scratch);
    ln_buf_free(&e->tally.shown);
    ln_states_free(&e->states, &e->mem);
    for (uint32_t i = 0; e->fold_states && i < e->plan.aggregates; i++)
        ln_fold_states_free(&e->fold_states[i], &e->mem);
    ln_mem_free(&e->mem, e->fold_states, (e->plan.aggregates + 1) * sizeof *e->fold_states);
    ln_mem_free(&e->mem, e->values, (e->plan.aggregates + 1) * sizeof *e->values);
    ln_mem_free(&e->mem, e->shape.fold_at, (e->plan.aggregates + 1) * sizeof *e->shape.fold_at);
    ln_mem_free(&e->rows.mem, e->op, e->op_cap * sizeof *e->op);
    ln_mem_free(&e->rows.mem, e->row_key, e->row_key_cap * sizeof *e->row_key);
    ln_buf_free(&e->staged);
    ln_buf_free(&e->places);
    ln_trace_free(e);
    ln_rows_free(&e->rows);
    free_plan(e);
    mem = e->mem;
    ln_mem_free(&mem, e, sizeof *e);
}

/* ---- what a plan costs ------------------------------------------------------------------------------------------ */

void ln_engine_footprint(const ln_engine *e, ln_footprint *out) {
    *out = (ln_footprint){
        .key_bytes = (uint32_t)key_bytes(e),
        .key_near_bytes = LN_KEY_NEAR,
        .window_bytes = e->sliced ? (uint32_t)e->grid.row_bytes : e->cell_bytes,
    };
}

uint32_t ln_engine_aggregate_bytes(const ln_engine *e, uint32_t i) {
    return i < e->states.count ? e->states.part[i].ops->size : 0;
}

/* ---- windows of assigners ---------------------------------------------------------------------------------------- */

int ln_engine_window(ln_engine *e, uint32_t row, double start, double stop) {
    ln_rows *f = &e->rows;
    ln_bounds b = {.row = row};
    ln_value from = {.type = LN_DOUBLE, .d = start}, to = {.type = LN_DOUBLE, .d = stop};
    if (ln_time_read(&from, e->plan.unit, &b.start_us) < 0 || ln_time_read(&to, e->plan.unit, &b.end_us) < 0)
        return LN_EINVALID;
    if (b.start_us >= b.end_us) return LN_EINVALID;
    if (e->plan.merging && (__int128)b.end_us - b.start_us > e->plan.gap_us) return LN_EINVALID;
    if (ln_mem_grow(&f->mem, &f->bounds, &f->bounds_cap, f->bounds_count + 1, sizeof b) < 0) return LN_ENOMEM;
    f->bounds[f->bounds_count++] = b;
    return LN_OK;
}
