/* Makes and frees a lunette, all of it in the host's memory. */
#include "host/host.h"

#include <string.h>

enum { PRESET_MIB = 1 << 20 };

int ln_host_read_sized(const void *given, size_t given_size, void *to, size_t size) {
    const unsigned char *bytes = given;
    for (size_t i = size; i < given_size; i++) {
        if (bytes[i]) return -1;
    }
    memcpy(to, given, given_size < size ? given_size : size);
    return 0;
}

static size_t capped(uint64_t bytes, uint64_t preset) {
    if (!bytes) bytes = preset;
    return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

lunette *lunette_new(const lunette_config *given) {
    lunette_config config = LUNETTE_CONFIG_INIT;
    ln_memory memory;
    lunette *l;
    if (given && ln_host_read_sized(given, given->size, &config, sizeof config)) return NULL;
    if (!given) config.lua_bytes_max = UINT64_MAX;
    if (!config.input_bytes_max) config.input_bytes_max = PRESET_MIB;
    if (!config.output_bytes_max) config.output_bytes_max = PRESET_MIB;
    ln_memory_init(&memory, &config.allocator, 0);
    l = ln_mem_zero(&memory.host, sizeof *l);
    if (!l) return NULL;
    l->config = config;
    l->due_us = INT64_MAX;
    l->pace = (ln_pace){.rows = 64, .work = 128};
    ln_memory_init(&l->memory, &config.allocator, capped(config.lua_bytes_max, 256 * (uint64_t)PRESET_MIB));
    ln_input_init(&l->input, &l->memory.own, config.input_bytes_max);
    if (ln_state_init(&l->state, &l->memory) == LN_OK) return l;
    ln_mem_free(&memory.host, l, sizeof *l);
    return NULL;
}

void lunette_delete(lunette *l) {
    ln_mem host;
    if (!l) return;
    ln_host_reload_free(l);
    ln_state_free(&l->state);
    ln_input_free(&l->input);
    ln_panes_free(&l->panes, &l->memory.own);
    host = l->memory.host;
    ln_mem_free(&host, l, sizeof *l);
}
