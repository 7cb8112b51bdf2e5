/* What a store is made of, where it begins and how it ends. */
#include "ps/ps_store_parts.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

void ps_store_give_index(struct ps_store *s, uint32_t slot)
{
    mem_grow(&s->slot_of, &s->slot_cap, (size_t)s->n_indices + 1, sizeof *s->slot_of);
    s->slot_of[s->n_indices] = slot;
    s->index_of[slot] = s->n_indices++;
}

uint32_t ps_store_add_function(struct ps_store *s, const char *text)
{
    uint32_t n = s->function.n, slot = names_add(&s->function, text);

    if (slot == n) {
        mem_grow(&s->index_of, &s->index_cap, (size_t)n + 1, sizeof *s->index_of);
        s->index_of[slot] = PS_NO_INDEX;
        if (s->opts.upstream) { /* the server above says its index */
            s->has_new = true;
            pthread_cond_signal(&s->wake);
        } else if (s->opts.n_clients == 0) { /* else when the round is complete, by name */
            ps_store_give_index(s, slot);
        }
    }
    return slot;
}

struct ps_client_record *ps_store_client(struct ps_store *s, uint64_t client)
{
    uint32_t n = s->client_id.n, id;
    struct key key = key_pair(0, client);

    if (n >= PS_MAX_CLIENTS && idmap_find(&s->client_id, key) == IDMAP_NONE)
        return NULL;
    id = idmap_add(&s->client_id, key);
    if (id == n) {
        mem_grow(&s->client, &s->client_cap, (size_t)n + 1, sizeof *s->client);
        s->client[id] = (struct ps_client_record){.client = client};
    }
    return &s->client[id];
}

struct ps_model ps_store_pack_model(const struct sketch *sketch, uint64_t version)
{
    msgpack_sbuffer out = {0};

    ps_write_sketch(&out, sketch);
    return (struct ps_model){.version = version, .data = out.data, .n = out.size};
}

void ps_store_place_model(struct ps_store *s, uint32_t slot, struct ps_model model)
{
    mem_grow(&s->model, &s->model_cap, (size_t)slot + 1, sizeof *s->model);
    while (s->n_models <= slot)
        s->model[s->n_models++] = (struct ps_model){0};
    free(s->model[slot].data);
    s->model[slot] = model;
}

bool ps_store_is_round_complete(const struct ps_store *s)
{
    return s->n_ready >= s->opts.n_clients;
}

/* ------------------------------------------------------------------------------- lifetime */

static void take_functions(struct ps_store *s, struct ps_snapshot *from)
{
    for (uint32_t i = 0; i < from->n_functions; i++) {
        uint32_t slot = ps_store_add_function(s, from->function[i]);

        if (s->index_of[slot] == PS_NO_INDEX && s->opts.upstream == NULL)
            ps_store_give_index(s, slot);
        if (i < from->state.n && from->state.sketch[i].n > 0) {
            ps_state_add(&s->global, slot, &from->state.sketch[i]);
            if (s->opts.upstream == NULL)
                ps_store_place_model(s, slot,
                                     ps_store_pack_model(&s->global.sketch[slot], s->version));
        }
    }
}

/* Goes on where the snapshot ends: with its statistics, clients and rounds. */
static void take_rest(struct ps_store *s, struct ps_snapshot *from)
{
    for (uint32_t i = 0; i < from->state.key.n; i++)
        ps_state_count(&s->global, from->state.key.name[i], &from->state.stat[i]);
    atomic_store(&s->n_stats, s->global.key.n);
    for (uint32_t i = 0; i < from->n_clients; i++) {
        struct ps_client_record *c = ps_store_client(s, from->client[i].client);

        if (c == NULL)
            break;
        *c = from->client[i];
        s->n_ready += c->has_left;
    }
    s->round = s->published_round = from->round;
}

/* What was told to a server above, and is to be told. */
static int take_upstream(struct ps_store *s, struct ps_snapshot *from)
{
    if (s->opts.upstream && from->upstream.n == 0)
        return err_set(ERR_FORMAT, "the snapshot is of a server that was below no other");
    if (s->opts.upstream == NULL && from->upstream.n > 0)
        return err_set(ERR_FORMAT, "the snapshot is of a server below another (--upstream)");
    return s->opts.upstream ? ps_client_unpack(s->opts.upstream, &from->upstream) : 0;
}

static int load(struct ps_store *s)
{
    bool is_resumed = s->snapshot && fs_exists(s->snapshot);
    struct ps_snapshot from;
    int rc;

    s->may_resume = s->opts.n_clients > 0 && !is_resumed;
    if (!is_resumed && s->opts.load == NULL)
        return 0;
    rc = ps_snapshot_read(&from, is_resumed ? s->snapshot : s->opts.load);
    if (rc < 0)
        return rc;
    s->version = is_resumed && from.version > 0 ? from.version : 1;
    take_functions(s, &from);
    if (is_resumed)
        take_rest(s, &from);
    if (is_resumed)
        rc = take_upstream(s, &from);
    ps_snapshot_release(&from);
    return rc;
}

uint64_t ps_store_draw_epoch(void)
{
    uint64_t epoch = 0;

    while (epoch == 0)
        if (getrandom(&epoch, sizeof epoch, 0) != sizeof epoch)
            abort();
    return epoch;
}

/* Who publishes does not wait for readers that come later: there may always be some. */
static void init_model_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;

    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

int ps_store_open(struct ps_store **store, const struct ps_store_opts *opts)
{
    struct ps_store *s = mem_alloc(1, sizeof *s);
    pthread_condattr_t attr;
    int rc;

    assert(opts->n_workers > 0);
    assert(opts->upstream == NULL || opts->snapshot);
    s->opts = *opts;
    s->snapshot = opts->snapshot ? mem_copy_string(opts->snapshot) : NULL;
    s->is_frozen = opts->is_frozen;
    atomic_init(&s->epoch, ps_store_draw_epoch());
    s->worker = mem_alloc(opts->n_workers, sizeof *s->worker);
    for (unsigned i = 0; i < opts->n_workers; i++)
        pthread_mutex_init(&s->worker[i].lock, NULL);
    s->relay = ps_relay_new();
    pthread_mutex_init(&s->registry_lock, NULL);
    init_model_lock(&s->model_lock);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_condattr_destroy(&attr);
    rc = s->snapshot ? ps_snapshot_claim(s->snapshot, &s->claim) : 0;
    if (rc == 0)
        rc = load(s);
    *store = rc < 0 ? NULL : s;
    if (rc < 0)
        ps_store_close(s);
    return rc;
}

static void worker_release(struct ps_worker *w)
{
    pthread_mutex_destroy(&w->lock);
    ps_state_release(&w->state);
    ps_frame_release(&w->frame);
    free(w->slot);
    free(w->reply.index);
}

void ps_store_close(struct ps_store *s)
{
    if (s == NULL)
        return;
    for (unsigned i = 0; i < s->opts.n_workers; i++)
        worker_release(&s->worker[i]);
    free(s->worker);
    ps_relay_free(s->relay);
    for (uint32_t i = 0; i < s->n_models; i++)
        free(s->model[i].data);
    free(s->model);
    pthread_mutex_destroy(&s->registry_lock);
    pthread_rwlock_destroy(&s->model_lock);
    pthread_cond_destroy(&s->wake);
    names_release(&s->function);
    free(s->index_of);
    free(s->slot_of);
    idmap_release(&s->client_id);
    free(s->client);
    free(s->above);
    ps_state_release(&s->global);
    claim_release(&s->claim);
    free(s->snapshot);
    free(s);
}

static struct timespec after_ms(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool ps_store_wait(struct ps_store *s, unsigned interval_ms)
{
    struct timespec end = after_ms(interval_ms);
    bool is_going_on;
    int status = 0;

    pthread_mutex_lock(&s->registry_lock);
    while (!s->is_stopping && status == 0 && !s->has_new &&
           !(s->opts.n_clients > 0 && s->is_changed && ps_store_is_round_complete(s)))
        status = pthread_cond_timedwait(&s->wake, &s->registry_lock, &end);
    is_going_on = !s->is_stopping;
    pthread_mutex_unlock(&s->registry_lock);
    return is_going_on;
}

void ps_store_stop(struct ps_store *s)
{
    pthread_mutex_lock(&s->registry_lock);
    s->is_stopping = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->registry_lock);
}

void ps_store_counts(struct ps_store *s, struct ps_counts *n)
{
    n->n_requests = atomic_load(&s->n_requests);
    n->n_merged = atomic_load(&s->n_merged);
    n->n_duplicates = atomic_load(&s->n_duplicates);
    n->n_refused = atomic_load(&s->n_refused);
    n->n_lost = atomic_load(&s->n_lost);
    n->n_snapshots = atomic_load(&s->n_snapshots);
    n->n_stats = atomic_load(&s->n_stats);
    n->received_bytes = atomic_load(&s->received_bytes);
    n->sent_bytes = atomic_load(&s->sent_bytes);
    ps_relay_counts(s->relay, &n->letters);
    pthread_mutex_lock(&s->registry_lock);
    n->n_functions = s->function.n;
    n->n_clients = s->client_id.n;
    n->upstream = s->upstream;
    memcpy(n->unsaved, s->unsaved, sizeof n->unsaved);
    pthread_mutex_unlock(&s->registry_lock);
    pthread_rwlock_rdlock(&s->model_lock);
    n->version = s->version;
    n->round = s->published_round;
    pthread_rwlock_unlock(&s->model_lock);
}
