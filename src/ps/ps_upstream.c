/*
 * A server below another: what its clients told goes on to the server above, as the deltas of
 * one client, and models, indices and whether they are frozen come from there.
 *
 *     clients --> workers --cut--> global (its own part)
 *                              \-> upstream: pending --number--> delta --snapshot--> sent
 *
 * A delta is sent only when it is in the snapshot, with how far its clients were counted in
 * it: a server that dies goes on there, and says nothing twice and nothing else under the same
 * number. All of this is done by the thread that publishes.
 */
#include "ps/ps_store_parts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Functions that came since the last time get their numbers there. Under registry_lock. */
static void name_functions(struct ps_store *s)
{
    mem_grow(&s->above, &s->above_cap, s->function.n, sizeof *s->above);
    for (; s->n_above < s->function.n; s->n_above++) {
        char *text = mem_copy_string(s->function.name[s->n_above]), *end = strchr(text, '\n');

        *end = '\0';
        s->above[s->n_above] = ps_client_function(s->opts.upstream, text, end + 1);
        free(text);
    }
    s->has_new = false;
}

void ps_upstream_add(struct ps_store *s, const struct ps_state *state)
{
    struct ps_client *up = s->opts.upstream;

    pthread_mutex_lock(&s->registry_lock);
    name_functions(s);
    pthread_mutex_unlock(&s->registry_lock);
    for (uint32_t i = 0; i < state->n_used; i++)
        if (s->above[state->used[i]] != PS_NO_INDEX)
            ps_client_add(up, s->above[state->used[i]], &state->sketch[state->used[i]]);
    for (uint32_t i = 0; i < state->key.n; i++) {
        char *text = mem_copy_string(state->key.name[i]);
        struct ps_stat_key key = ps_state_split(text);

        ps_client_count(up, &key, &state->stat[i]);
        free(text);
    }
}

/* The server above has begun another life: its indices are others, so ours are, too. */
static void forget_indices(struct ps_store *s)
{
    atomic_store(&s->epoch, ps_store_draw_epoch());
    for (uint32_t i = 0; i < s->function.n; i++)
        s->index_of[i] = PS_NO_INDEX;
    s->n_indices = 0;
}

static void take_index(struct ps_store *s, uint32_t slot, uint32_t index)
{
    mem_grow(&s->slot_of, &s->slot_cap, (size_t)index + 1, sizeof *s->slot_of);
    while (s->n_indices <= index)
        s->slot_of[s->n_indices++] = PS_NO_INDEX;
    s->slot_of[index] = slot;
    s->index_of[slot] = index;
}

static void take_indices(struct ps_store *s)
{
    struct ps_client_counts counts;

    ps_client_counts(s->opts.upstream, &counts);
    pthread_mutex_lock(&s->registry_lock);
    if (counts.n_restarts != s->upstream.n_restarts)
        forget_indices(s);
    s->upstream = counts;
    for (uint32_t i = 0; i < s->n_above; i++) {
        uint32_t index = s->above[i] == PS_NO_INDEX
                             ? PS_NO_INDEX
                             : ps_client_index(s->opts.upstream, s->above[i]);

        if (index < PS_MAX_FUNCTIONS && s->index_of[i] == PS_NO_INDEX)
            take_index(s, i, index);
    }
    s->is_frozen = ps_client_is_frozen(s->opts.upstream);
    s->is_changed |= ps_client_has_pending(s->opts.upstream); /* it can have a number now */
    pthread_mutex_unlock(&s->registry_lock);
}

static const struct sketch *new_model(const struct ps_store *s, uint32_t slot)
{
    if (s->above[slot] == PS_NO_INDEX ||
        !ps_client_has_changed(s->opts.upstream, s->above[slot]))
        return NULL;
    return ps_client_model(s->opts.upstream, s->above[slot]);
}

static void take_models(struct ps_store *s)
{
    struct ps_model *model = mem_alloc(s->n_above, sizeof *model);

    for (uint32_t i = 0; i < s->n_above; i++)
        if (new_model(s, i))
            model[i] = ps_store_pack_model(new_model(s, i), s->version + 1);
    pthread_rwlock_wrlock(&s->model_lock);
    s->version++;
    for (uint32_t i = 0; i < s->n_above; i++)
        if (model[i].data)
            ps_store_place_model(s, i, model[i]);
    pthread_rwlock_unlock(&s->model_lock);
    free(model);
}

bool ps_store_relay(struct ps_store *s, int timeout_ms)
{
    struct ps_client *up = s->opts.upstream;
    bool has_models;

    if (s->is_unsaved)
        return false;
    pthread_mutex_lock(&s->registry_lock);
    name_functions(s);
    pthread_mutex_unlock(&s->registry_lock);
    has_models = ps_client_exchange(up, timeout_ms);
    take_indices(s);
    if (has_models)
        take_models(s);
    return ps_client_is_flushed(up);
}
