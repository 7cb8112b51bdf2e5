/*
 * What a store is made of, how it answers requests, where it begins and how it ends. What is
 * published, and what is said to a server above, is in ps_publish.c.
 *
 * A delta is looked at and counted as received under the worker's lock and the registry's, and
 * merged under the worker's alone; the answer is written under no lock but the readers' side
 * of the models'.
 */
#include "ps/ps_store_parts.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* --------------------------------------------------------------------- functions and clients */

void ps_store_give_index(struct ps_store *s, uint32_t slot)
{
    mem_grow(&s->slot_of, &s->slot_cap, (size_t)s->n_indices + 1);
    s->slot_of[s->n_indices] = slot;
    s->index_of[slot] = s->n_indices++;
}

uint32_t ps_store_n_numbered(const struct ps_store *s)
{
    return s->opts.upstream ? s->function.n : s->n_indices;
}

uint32_t ps_store_slot(const struct ps_store *s, uint32_t number)
{
    return s->opts.upstream ? number : s->slot_of[number];
}

/* The slot of "program\nname", new if it was not known. */
static uint32_t ps_store_add_function(struct ps_store *s, const char *text)
{
    uint32_t n = s->function.n, slot = names_add(&s->function, text);

    if (slot == n) {
        mem_grow(&s->index_of, &s->index_cap, (size_t)n + 1);
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

/* The record of a client, or NULL if there are too many. */
static struct ps_client_record *ps_store_client(struct ps_store *s, uint64_t client)
{
    uint32_t n = s->client_id.n, id;
    struct key key = key_pair(0, client);

    if (n >= PS_MAX_CLIENTS && idmap_find(&s->client_id, key) == IDMAP_NONE)
        return NULL;
    id = idmap_add(&s->client_id, key);
    if (id == n) {
        mem_grow(&s->client, &s->client_cap, (size_t)n + 1);
        s->client[id] = (struct ps_client_record){.client = client};
    }
    return &s->client[id];
}

struct ps_model ps_store_pack_model(const struct sketch *sketch, uint64_t version)
{
    struct pack out = {0};

    ps_write_sketch(&out, sketch);
    return (struct ps_model){.version = version, .data = (char *)out.data, .n = out.n};
}

void ps_store_place_model(struct ps_store *s, uint32_t slot, struct ps_model model)
{
    mem_grow(&s->model, &s->model_cap, (size_t)slot + 1);
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
    rc = s->snapshot ? ps_snapshot_lock(s->snapshot, &s->lock_file) : 0;
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
    lock_file_release(&s->lock_file);
    free(s->snapshot);
    free(s);
}

bool ps_store_wait(struct ps_store *s, unsigned interval_ms)
{
    struct timespec end = clock_after_ms(CLOCK_MONOTONIC, interval_ms);
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

/* -------------------------------------------------------------------------------- answering */

static uint32_t named_slot(struct ps_store *s, const struct ps_entry *e)
{
    char text[2 * PS_MAX_TEXT_BYTES + 2];

    if (e->program.n > 0)
        memcpy(text, e->program.data, e->program.n);
    text[e->program.n] = '\n';
    if (e->name.n > 0)
        memcpy(text + e->program.n + 1, e->name.data, e->name.n);
    text[e->program.n + 1 + e->name.n] = '\0';
    if (s->function.n >= PS_MAX_FUNCTIONS)
        return names_find(&s->function, text);
    return ps_store_add_function(s, text);
}

/* Slots of all functions of a push. Returns 0 or why not. */
static int find_slots(struct ps_store *s, struct ps_worker *w, const struct ps_push *p)
{
    mem_grow(&w->slot, &w->slot_cap, p->n_entries);
    for (uint32_t i = 0; i < p->n_entries; i++) {
        const struct ps_entry *e = &p->entry[i];

        if (e->index == PS_NO_INDEX)
            w->slot[i] = named_slot(s, e);
        else if (e->index < s->n_indices && s->slot_of[e->index] != PS_NO_INDEX)
            w->slot[i] = s->slot_of[e->index];
        else
            return PS_BAD_FRAME;
        if (w->slot[i] == NAMES_NONE)
            return PS_FULL;
    }
    return 0;
}

/* The statistics there may be, counted so that none has to be turned away at a cut. */
static bool has_room(struct ps_store *s, const struct ps_push *p)
{
    uint64_t n = p->n_stats;

    n += atomic_load(&s->n_new_stats); /* before what they become part of */
    n += atomic_load(&s->n_stats);
    return p->n_stats == 0 || n <= PS_MAX_STATS;
}

/* A client is ready when it has pushed for the round that is open, or left. */
static void note_round(struct ps_store *s, struct ps_client_record *c, uint64_t round)
{
    if (c->has_left || s->opts.n_clients == 0)
        return;
    if (round == PS_ROUND_LAST) {
        s->n_ready += c->round != s->round + 1;
        c->has_left = true;
    } else if (round == s->round + 1 && c->round != round) {
        s->n_ready++;
        c->round = round;
    }
    if (s->n_ready >= s->opts.n_clients)
        pthread_cond_signal(&s->wake);
}

/*
 * What comes with a later round, while none is complete, is of clients that tell again what a
 * server had that was before us. We go on with the latest of their rounds; those before it were
 * published then, to others at least. But who has told its round again waits with the next one
 * for those that wait for this one.
 */
static void resume(struct ps_store *s, const struct ps_push *p)
{
    uint32_t id = idmap_find(&s->client_id, key_pair(0, p->client));
    bool has_told = id != IDMAP_NONE && s->client[id].round == s->round + 1;

    if (!s->may_resume || has_told || p->round <= s->round + 1 || p->round == PS_ROUND_LAST)
        return;
    s->round = s->resumed_round = p->round - 1;
    s->n_ready = 0;
    for (uint32_t i = 0; i < s->client_id.n; i++)
        s->n_ready += s->client[i].has_left;
}

/* Looks whether a delta is new, and counts it as received. Returns 0 or why not. */
static int receive(struct ps_store *s, struct ps_worker *w, const struct ps_push *p,
                   bool *is_new)
{
    struct ps_client_record *c;
    int why;

    if (p->epoch != 0 && p->epoch != s->epoch)
        return PS_STALE;
    resume(s, p);
    if (s->opts.n_clients > 0 && p->round > s->round + 1 && p->round != PS_ROUND_LAST)
        return PS_EARLY;
    if (!has_room(s, p))
        return PS_FULL;
    why = find_slots(s, w, p);
    if (why)
        return why;
    c = p->sequence > 0 ? ps_store_client(s, p->client) : NULL;
    if (p->sequence > 0 && c == NULL)
        return PS_FULL;
    *is_new = c && p->sequence > c->last;
    if (*is_new) {
        c->last = p->sequence;
        s->is_changed = true;
        atomic_fetch_add(&s->n_new_stats, p->n_stats); /* at most: see add_stats */
        note_round(s, c, p->round);
    } else if (c) {
        atomic_fetch_add(&s->n_duplicates, 1);
    }
    return 0;
}

/* What the client's record and the indices say, for a reply or a refusal. */
static void look_up(struct ps_store *s, struct ps_worker *w, const struct ps_push *p, int why)
{
    uint32_t id = idmap_find(&s->client_id, key_pair(0, p->client));
    struct ps_reply *r = &w->reply;
    bool has_names = false;

    r->epoch = s->epoch;
    r->sequence = p->sequence;
    r->is_frozen = s->is_frozen;
    r->round = s->resumed_round;
    r->received = id == IDMAP_NONE ? 0 : s->client[id].last;
    r->saved = id == IDMAP_NONE ? 0 : s->snapshot ? s->client[id].saved : r->received;
    r->n_indices = 0;
    for (uint32_t i = 0; i < p->n_entries && !why; i++)
        has_names |= p->entry[i].index == PS_NO_INDEX;
    if (has_names)
        r->n_indices = p->n_entries;
}

static void add_stats(struct ps_store *s, struct ps_worker *w, const struct ps_push *p)
{
    uint32_t n_new = 0;
    char key[PS_KEY_SIZE];

    if (p->n_stats == 0)
        return;
    pthread_rwlock_rdlock(&s->model_lock);
    for (uint32_t i = 0; i < p->n_stats; i++) {
        uint32_t n_before = w->state.key.n;

        ps_state_key(&p->stat[i], key);
        ps_state_count(&w->state, key, &p->stat[i].stat);
        n_new += w->state.key.n > n_before && names_find(&s->global.key, key) == NAMES_NONE;
    }
    pthread_rwlock_unlock(&s->model_lock);
    w->n_new_stats += n_new;
    atomic_fetch_sub(&s->n_new_stats, p->n_stats - n_new);
}

static void merge(struct ps_store *s, struct ps_worker *w, const struct ps_push *p)
{
    for (uint32_t i = 0; i < p->n_entries && !s->opts.is_frozen; i++) {
        if (p->entry[i].has_sketch) {
            struct sketch view = ps_sketch_view(&p->entry[i].sketch, w->bin);

            ps_state_add(&w->state, w->slot[i], &view);
        }
    }
    add_stats(s, w, p);
    atomic_fetch_add(&s->n_merged, 1);
}

/* Is the model of entry i news to the client? Not what cannot be named: that of a server above, which
 * was started anew and gives indices and models once more. Under model_lock. */
static const struct ps_model *news(const struct ps_store *s, const struct ps_worker *w,
                                   const struct ps_push *p, uint32_t i)
{
    const struct ps_model *m = w->slot[i] < s->n_models ? &s->model[w->slot[i]] : NULL;
    bool is_known = p->entry[i].index != PS_NO_INDEX;

    if (w->reply.n_indices > 0 && w->reply.index[i] == PS_NO_INDEX)
        return NULL;
    if (m == NULL || m->version == 0 || (is_known && m->version <= p->have))
        return NULL;
    return m;
}

/* The indices: what is published has one, which it may not have had when the push was looked at.
 * Under model_lock. */
static void look_up_published(struct ps_store *s, struct ps_worker *w)
{
    struct ps_reply *r = &w->reply;

    if (r->n_indices == 0)
        return;
    mem_grow(&r->index, &r->index_cap, r->n_indices);
    pthread_mutex_lock(&s->registry_lock);
    for (uint32_t i = 0; i < r->n_indices; i++)
        r->index[i] = s->index_of[w->slot[i]];
    pthread_mutex_unlock(&s->registry_lock);
}

static void write_reply(struct ps_store *s, struct ps_worker *w, const struct ps_push *p,
                        struct pack *out)
{
    struct ps_reply *r = &w->reply;
    const struct ps_model *m;

    pthread_rwlock_rdlock(&s->model_lock);
    look_up_published(s, w);
    r->version = s->version;
    if (r->round < s->published_round)
        r->round = s->published_round;
    r->n_models = 0;
    for (uint32_t i = 0; i < p->n_entries; i++)
        r->n_models += news(s, w, p, i) != NULL;
    ps_write_reply(out, r);
    for (uint32_t i = 0; i < p->n_entries; i++) {
        m = news(s, w, p, i);
        if (m == NULL)
            continue;
        ps_write_array(out, 2);
        ps_write_count(out, r->n_indices ? r->index[i] : p->entry[i].index);
        ps_write_raw(out, m->data, m->n);
    }
    pthread_rwlock_unlock(&s->model_lock);
}

static void refuse(struct ps_store *s, const struct ps_reply *reply, int why, struct pack *out)
{
    struct ps_refusal refusal = {.code = (enum ps_refusal_code)why,
                                 .epoch = s->epoch,
                                 .sequence = reply->sequence,
                                 .received = reply->received};

    atomic_fetch_add(&s->n_refused, 1);
    ps_write_refusal(out, &refusal);
}

static void answer_push(struct ps_store *s, struct ps_worker *w, struct pack *out)
{
    const struct ps_push *p = &w->frame.push;
    bool is_new = false;
    int why;

    pthread_mutex_lock(&w->lock);
    pthread_mutex_lock(&s->registry_lock);
    why = receive(s, w, p, &is_new);
    look_up(s, w, p, why);
    pthread_mutex_unlock(&s->registry_lock);
    if (is_new)
        merge(s, w, p);
    pthread_mutex_unlock(&w->lock);
    if (why)
        refuse(s, &w->reply, why, out);
    else
        write_reply(s, w, p, out);
}

static void write_model(const struct ps_store *s, uint32_t slot, const char *text,
                        struct pack *out)
{
    const char *end = strchr(text, '\n');

    ps_write_array(out, 2);
    ps_write_array(out, 2);
    ps_write_text(out, text, (size_t)(end - text));
    ps_write_text(out, end + 1, strlen(end + 1));
    if (slot < s->n_models && s->model[slot].version > 0)
        ps_write_raw(out, s->model[slot].data, s->model[slot].n);
    else
        ps_write_nil(out);
}

static void write_stats(const struct ps_state *state, struct pack *out)
{
    char text[PS_KEY_SIZE];

    ps_write_array(out, state->key.n);
    for (uint32_t i = 0; i < state->key.n && out->n <= PS_MAX_FRAME_BYTES; i++) {
        struct ps_stat_key key;

        snprintf(text, sizeof text, "%s", state->key.name[i]);
        key = ps_state_split(text);
        ps_write_stat(out, &key, &state->stat[i]);
    }
}

/* A function, as it stands at its number. */
struct numbered {
    uint32_t slot;
    const char *name; /* "program\nname" */
};

/* A copy, so that who asks for all holds up nobody who tells something; the texts stay. */
static struct numbered *copy_names(struct ps_store *s, struct ps_push *state)
{
    struct numbered *function;

    pthread_mutex_lock(&s->registry_lock);
    state->client = s->client_id.n;
    state->n_entries = ps_store_n_numbered(s);
    function = mem_alloc(state->n_entries, sizeof *function);
    for (uint32_t i = 0; i < state->n_entries; i++) {
        uint32_t slot = ps_store_slot(s, i);

        function[i] = (struct numbered){slot, s->function.name[slot]};
    }
    pthread_mutex_unlock(&s->registry_lock);
    return function;
}

/* All that is published, as far as it fits into a frame. */
static void answer_question(struct ps_store *s, struct pack *out)
{
    struct ps_push state = {0};
    struct numbered *function = copy_names(s, &state);

    pthread_rwlock_rdlock(&s->model_lock);
    state.have = s->version;
    state.round = s->published_round;
    ps_write_state(out, &state);
    for (uint32_t i = 0; i < state.n_entries && out->n <= PS_MAX_FRAME_BYTES; i++)
        write_model(s, function[i].slot, function[i].name, out);
    write_stats(&s->global, out);
    pthread_rwlock_unlock(&s->model_lock);
    free(function);
    if (out->n <= PS_MAX_FRAME_BYTES)
        return;
    out->n = 0;
    refuse(s, &(struct ps_reply){0}, PS_LARGE, out);
}

static void answer_letters(struct ps_store *s, struct ps_worker *w, struct pack *out)
{
    if (!ps_relay_pass(s->relay, &w->frame.letters, atomic_load(&s->epoch),
                       clock_ns() / 1000000, out))
        refuse(s, &(struct ps_reply){0}, PS_FULL, out);
}

void ps_store_answer(struct ps_store *s, unsigned worker, const void *request, size_t bytes,
                     struct pack *out)
{
    struct ps_worker *w = &s->worker[worker];
    int rc = ps_frame_read(&w->frame, request, bytes);

    out->n = 0;
    atomic_fetch_add(&s->n_requests, 1);
    if (rc == 0 && w->frame.kind == PS_PUSH)
        answer_push(s, w, out);
    else if (rc == 0 && w->frame.kind == PS_ASK)
        answer_question(s, out);
    else if (rc == 0 && w->frame.kind == PS_LETTERS)
        answer_letters(s, w, out);
    else
        refuse(s, &(struct ps_reply){0},
               rc == ERR_UNSUPPORTED ? PS_OTHER_VERSION : PS_BAD_FRAME, out);
    atomic_fetch_add(&s->received_bytes, bytes);
    atomic_fetch_add(&s->sent_bytes, out->n);
}
