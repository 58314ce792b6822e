/* See panes.h. `emit` of a script may make anything of a pane: what is not as panes are is left out. */
#include "host/panes.h"

#include <string.h>

static int is_named(const ln_value *name, const char *text) {
    size_t len = strlen(text);
    return name->type == LN_TEXT && name->len == len && memcmp(name->at, text, len) == 0;
}

static int64_t number(const ln_value *v) { return v->type == LN_INT || v->type == LN_BOOL ? v->i : 0; }

static int timing(const ln_value *v) {
    if (is_named(v, "on_time")) return LUNETTE_ON_TIME;
    return is_named(v, "late") ? LUNETTE_LATE : LUNETTE_EARLY;
}

/* The aggregates: the map at `p`. 0, or -1 where memory is short. */
static int read_values(ln_panes *s, ln_mem *mem, const uint8_t *p, const uint8_t *end) {
    ln_value map, name;
    p = ln_value_read(p, end, 0, &map);
    if (map.type != LN_MAP) return 0;
    if (ln_mem_grow(mem, &s->field, &s->cap, map.len, sizeof *s->field) < 0) return -1;
    for (uint32_t i = 0; i < map.len; i++) {
        lunette_field *f = &s->field[i];
        p = ln_value_read(p, end, 1, &name);
        p = ln_value_read(p, end, 1, &f->value);
        f->name = name.type == LN_TEXT ? (const char *)name.at : "";
        f->name_len = name.type == LN_TEXT ? name.len : 0;
    }
    s->pane.values = s->field;
    s->pane.values_count = map.len;
    return 0;
}

/* One entry of the pane's map. */
static int read_entry(ln_panes *s, ln_mem *mem, const ln_value *name, const ln_value *v, const uint8_t *p,
                      const uint8_t *end) {
    lunette_pane *pane = &s->pane;
    if (is_named(name, "key")) pane->key = *v;
    else if (is_named(name, "start")) pane->start = *v;
    else if (is_named(name, "end")) pane->end = *v;
    else if (is_named(name, "pane")) pane->index = (uint64_t)number(v);
    else if (is_named(name, "timing")) pane->timing = timing(v);
    else if (is_named(name, "final")) pane->final = (int)number(v);
    else if (is_named(name, "value")) return read_values(s, mem, p, end);
    else if (is_named(name, "retract")) pane->retract = (int)number(v);
    else if (is_named(name, "approx")) pane->approx = (int)number(v);
    else if (is_named(name, "cut")) pane->cut = (int)number(v);
    else if (is_named(name, "absorbed")) pane->absorbed = *v;
    else if (is_named(name, "pipeline")) pane->pipeline = *v;
    return 0;
}

const uint8_t *ln_panes_read(ln_panes *s, ln_mem *mem, const uint8_t *p, const uint8_t *end) {
    const uint8_t *start = p;
    ln_value map;
    s->pane = (lunette_pane){.values = s->field};
    p = ln_value_read(p, end, 0, &map);
    if (map.type != LN_MAP) return ln_value_read(start, end, 1, &s->pane.whole);
    for (uint32_t i = 0; i < map.len; i++) {
        ln_value name, v;
        const uint8_t *at = ln_value_read(p, end, 1, &name);
        p = ln_value_read(at, end, 1, &v);
        if (read_entry(s, mem, &name, &v, at, end) < 0) return NULL;
    }
    s->pane.whole = (ln_value){.type = LN_MAP, .len = (uint32_t)(p - start), .at = start};
    return p;
}

void ln_panes_free(ln_panes *s, ln_mem *mem) { ln_mem_free(mem, s->field, s->cap * sizeof *s->field); }

ln_value lunette_pane_value(const lunette_pane *pane, const char *name) {
    size_t len = strlen(name);
    for (size_t i = 0; i < pane->values_count; i++)
        if (pane->values[i].name_len == len && memcmp(pane->values[i].name, name, len) == 0)
            return pane->values[i].value;
    return (ln_value){.type = LN_MISSING};
}
