/*
 * Cut, merge, publish, save; and a server below another: what its clients told goes on to the
 * server above, as the deltas of one client, and models, indices and whether they are frozen
 * come from there.
 *
 *     clients --> workers --cut--> global (its own part)
 *                              \-> upstream: pending --number--> delta --snapshot--> sent
 *
 * A delta is sent only when it is in the snapshot, with how far its clients were counted in
 * it: a server that dies goes on there, and says nothing twice and nothing else under the same
 * number. All of this is done by the thread that publishes.
 */
#include "ps/ps_store_parts.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------ to a server above */

/* Functions that came since the last time get their numbers there. Under registry_lock. */
static void name_functions(struct ps_store *s)
{
    mem_grow(&s->above, &s->above_cap, s->function.n);
    for (; s->n_above < s->function.n; s->n_above++) {
        char *text = mem_copy_string(s->function.name[s->n_above]), *end = strchr(text, '\n');

        *end = '\0';
        s->above[s->n_above] = ps_client_function(s->opts.upstream, text, end + 1);
        free(text);
    }
    s->has_new = false;
}

/* What a cut took, to what is told to the server above. */
static void ps_upstream_add(struct ps_store *s, const struct ps_state *state)
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

static void take_indices(struct ps_store *s)
{
    struct ps_client_counts counts;

    ps_client_counts(s->opts.upstream, &counts);
    pthread_mutex_lock(&s->registry_lock);
    if (counts.n_restarts != s->upstream.n_restarts) {
        /* The server above has begun another life: its indices are others, so ours are, too. */
        atomic_store(&s->epoch, ps_store_draw_epoch());
        for (uint32_t i = 0; i < s->function.n; i++)
            s->index_of[i] = PS_NO_INDEX;
        s->n_indices = 0;
    }
    s->upstream = counts;
    for (uint32_t i = 0; i < s->n_above; i++) {
        uint32_t index = s->above[i] == PS_NO_INDEX
                             ? PS_NO_INDEX
                             : ps_client_index(s->opts.upstream, s->above[i]);

        if (index < PS_MAX_FUNCTIONS && s->index_of[i] == PS_NO_INDEX) {
            mem_grow(&s->slot_of, &s->slot_cap, (size_t)index + 1);
            while (s->n_indices <= index)
                s->slot_of[s->n_indices++] = PS_NO_INDEX;
            s->slot_of[index] = i;
            s->index_of[i] = index;
        }
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

/* ------------------------------------------------------------------------------- publishing */

/* What a cut takes away. */
struct publish_cut {
    struct ps_state *state; /* [n_workers] */
    struct ps_client_record *client;
    uint32_t n_clients;
    uint64_t round;
    uint32_t n_new_stats;
};

static int by_text(const void *a, const void *b, void *names)
{
    const struct names *function = names;

    return strcmp(function->name[*(const uint32_t *)a], function->name[*(const uint32_t *)b]);
}

/* Functions that came in this round get their indices, in an order that is always the same. */
static void give_indices(struct ps_store *s)
{
    uint32_t *slot = mem_alloc(s->function.n, sizeof *slot), n = 0;

    for (uint32_t i = 0; i < s->function.n; i++)
        if (s->index_of[i] == PS_NO_INDEX)
            slot[n++] = i;
    qsort_r(slot, n, sizeof *slot, by_text, &s->function);
    for (uint32_t i = 0; i < n; i++)
        ps_store_give_index(s, slot[i]);
    free(slot);
}

/* Returns false if there is nothing to take. */
static bool cut(struct ps_store *s, struct publish_cut *c)
{
    unsigned n = s->opts.n_workers;
    bool is_changed;

    for (unsigned i = 0; i < n; i++)
        pthread_mutex_lock(&s->worker[i].lock);
    pthread_mutex_lock(&s->registry_lock);
    is_changed = s->is_changed && (s->opts.n_clients == 0 || ps_store_is_round_complete(s));
    if (is_changed) {
        c->state = mem_alloc(n, sizeof *c->state);
        for (unsigned i = 0; i < n; i++) {
            c->state[i] = s->worker[i].state;
            s->worker[i].state = (struct ps_state){0};
            c->n_new_stats += s->worker[i].n_new_stats;
            s->worker[i].n_new_stats = 0;
        }
        c->n_clients = s->client_id.n;
        c->client = mem_alloc(c->n_clients, sizeof *c->client);
        if (c->n_clients > 0)
            memcpy(c->client, s->client, c->n_clients * sizeof *c->client);
        if (s->opts.n_clients > 0) {
            /* Clients that left are ready for every round. */
            s->round++;
            s->may_resume = false;
            s->n_ready = 0;
            for (uint32_t i = 0; i < s->client_id.n; i++)
                s->n_ready += s->client[i].has_left;
            give_indices(s);
        }
        c->round = s->round;
        s->is_changed = false;
    }
    pthread_mutex_unlock(&s->registry_lock);
    for (unsigned i = n; i-- > 0;)
        pthread_mutex_unlock(&s->worker[i].lock);
    return is_changed;
}

static void merge_stats(struct ps_store *s, const struct publish_cut *c)
{
    for (unsigned w = 0; w < s->opts.n_workers; w++) {
        const struct ps_state *from = &c->state[w];

        for (uint32_t i = 0; i < from->key.n; i++)
            ps_state_count(&s->global, from->key.name[i], &from->stat[i]);
        s->global.n_lost += from->n_lost;
    }
    atomic_store(&s->n_stats, s->global.key.n);
    atomic_fetch_sub(&s->n_new_stats, c->n_new_stats); /* after it: at no time too few */
    atomic_store(&s->n_lost, s->global.n_lost);
}

/* Sketches are packed before the lock is taken, which is then held for moving pointers only. */
static void publish(struct ps_store *s, const struct publish_cut *c)
{
    struct ps_model *model = mem_alloc(s->global.n, sizeof *model);

    for (unsigned w = 0; w < s->opts.n_workers && s->opts.upstream == NULL; w++)
        for (uint32_t i = 0; i < c->state[w].n_used; i++) {
            uint32_t slot = c->state[w].used[i];

            if (model[slot].data == NULL)
                model[slot] = ps_store_pack_model(&s->global.sketch[slot], s->version + 1);
        }
    pthread_rwlock_wrlock(&s->model_lock);
    s->version++;
    s->published_round = c->round;
    for (uint32_t i = 0; i < s->global.n; i++)
        if (model[i].data)
            ps_store_place_model(s, i, model[i]);
    merge_stats(s, c);
    pthread_rwlock_unlock(&s->model_lock);
    free(model);
}

static void cut_release(struct ps_store *s, struct publish_cut *c)
{
    for (unsigned w = 0; w < s->opts.n_workers && c->state; w++)
        ps_state_release(&c->state[w]);
    free(c->state);
    free(c->client);
    *c = (struct publish_cut){0};
}

/* ------------------------------------------------------------------------------- snapshots */

/* The names and sketches of the functions, in the order of their indices, or, where these are
 * another server's, of their slots; borrowed. */
static void describe(struct ps_store *s, struct ps_snapshot *out)
{
    out->version = s->version;
    out->state = s->global;
    pthread_mutex_lock(&s->registry_lock);
    out->n_functions = out->state.n = ps_store_n_numbered(s);
    out->function = mem_alloc(out->n_functions, sizeof *out->function);
    out->state.sketch = mem_alloc(out->n_functions, sizeof *out->state.sketch);
    for (uint32_t i = 0; i < out->n_functions; i++) {
        uint32_t slot = ps_store_slot(s, i);

        out->function[i] = (char *)(uintptr_t)s->function.name[slot];
        if (slot < s->global.n)
            out->state.sketch[i] = s->global.sketch[slot];
        else
            sketch_init(&out->state.sketch[i]);
    }
    pthread_mutex_unlock(&s->registry_lock);
}

static int write_snapshot(struct ps_store *s, struct publish_cut *c, const char *path)
{
    struct ps_snapshot snapshot = {
        .round = c->round, .n_clients = c->n_clients, .client = c->client};
    int rc;

    describe(s, &snapshot);
    if (s->opts.upstream)
        ps_client_pack(s->opts.upstream, &snapshot.upstream);
    rc = ps_snapshot_write(&snapshot, path);
    pack_release(&snapshot.upstream);
    free(snapshot.function);
    free(snapshot.state.sketch);
    return rc;
}

/* What the cut has of every client is on disk now. */
static void note_saved(struct ps_store *s, const struct publish_cut *c)
{
    pthread_mutex_lock(&s->registry_lock);
    for (uint32_t i = 0; i < c->n_clients; i++)
        s->client[i].saved = c->client[i].last;
    pthread_mutex_unlock(&s->registry_lock);
    atomic_fetch_add(&s->n_snapshots, 1);
}

int ps_store_publish(struct ps_store *s)
{
    struct publish_cut c = {0};
    int rc = 0;

    if (!cut(s, &c))
        return 0;
    for (unsigned w = 0; w < s->opts.n_workers; w++)
        for (uint32_t i = 0; i < c.state[w].n_used; i++)
            ps_state_add(&s->global, c.state[w].used[i],
                         &c.state[w].sketch[c.state[w].used[i]]);
    publish(s, &c);
    if (s->opts.upstream) {
        for (unsigned w = 0; w < s->opts.n_workers; w++)
            ps_upstream_add(s, &c.state[w]);
        ps_client_push(s->opts.upstream);
    }
    if (s->snapshot) {
        rc = write_snapshot(s, &c, s->snapshot);
        if (rc == 0)
            note_saved(s, &c);
        pthread_mutex_lock(&s->registry_lock);
        s->is_changed |= rc < 0; /* so that it is tried again */
        snprintf(s->unsaved, sizeof s->unsaved, "%s", rc < 0 ? err_message() : "");
        pthread_mutex_unlock(&s->registry_lock);
        s->is_unsaved = rc < 0;
    }
    cut_release(s, &c);
    return rc;
}
