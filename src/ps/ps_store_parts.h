/*
 * ps_store_parts -- what the files of ps_store share: ps_store.c opens and closes it and
 * answers requests, ps_publish.c publishes and talks to a server above. For them only.
 *
 * Locks, in the order in which they are taken:
 *   worker->lock    guards worker->state
 *   model_lock      guards what is published: models, statistics, version
 *   registry_lock   guards names and indices of functions, clients, rounds, the flags
 * The relay of letters has a lock of its own, under which nothing else is taken.
 * `global.sketch` and what concerns the server above belong to the thread that publishes.
 * Nothing is waited for under a lock.
 *
 * A request holds its worker's lock from the look at the client's sequence to the last merge,
 * and a cut holds all of them: that is what makes a cut one instant.
 */
#ifndef SNAG_PS_PS_STORE_PARTS_H
#define SNAG_PS_PS_STORE_PARTS_H

#include "base/idmap.h"
#include "ps/ps_relay.h"
#include "ps/ps_snapshot.h"
#include "ps/ps_store.h"

#include <pthread.h>
#include <stdatomic.h>

struct ps_worker {
    pthread_mutex_t lock;
    struct ps_state state;
    uint32_t n_new_stats;  /* of state, that are not in the global one; under its lock, too */
    struct ps_frame frame; /* from here on its thread's own */
    uint32_t *slot;        /* of the functions of the request */
    size_t slot_cap;
    struct ps_reply reply;
    uint64_t bin[SKETCH_MAX_BINS];
};

struct ps_model {
    uint64_t version; /* that it changed in, 0: there is none */
    char *data;       /* [n] its sketch as in a frame */
    size_t n;
};

struct ps_store {
    struct ps_store_opts opts;
    char *snapshot;
    struct lock_file lock_file; /* on the snapshot */
    _Atomic uint64_t epoch;
    struct ps_worker *worker; /* [opts.n_workers] */
    struct ps_relay *relay;

    pthread_mutex_t registry_lock;
    pthread_cond_t wake;   /* is_stopping, or the round is complete */
    struct names function; /* by slot: "program\nname" */
    uint32_t *index_of;    /* [function.n] or PS_NO_INDEX */
    uint32_t *slot_of;     /* [n_indices] or PS_NO_INDEX: those above may have holes here */
    uint32_t n_indices;
    size_t index_cap, slot_cap;
    struct idmap client_id;
    struct ps_client_record *client; /* [client_id.n] */
    size_t client_cap;
    uint64_t round;         /* complete */
    uint64_t resumed_round; /* the last that was complete in a server before; 0: none */
    uint32_t n_ready;       /* clients that pushed for the next round, or left */
    bool is_stopping, is_changed;
    bool has_new;   /* functions that the server above was not told of yet */
    bool is_frozen; /* or the server above is */
    struct ps_client_counts upstream;
    char unsaved[PS_WHY_SIZE]; /* as in struct ps_counts */
    bool may_resume;           /* deterministic, no snapshot, and no round is complete yet */

    pthread_rwlock_t model_lock;
    struct ps_model *model; /* [n_models] by slot */
    uint32_t n_models;
    size_t model_cap;
    uint64_t version, published_round;

    struct ps_state global;
    uint32_t *above; /* [n_above] by slot: the number of the function in opts.upstream */
    uint32_t n_above;
    size_t above_cap;
    bool is_unsaved; /* the last snapshot could not be written */
    atomic_uint_fast64_t n_requests, n_merged, n_duplicates, n_refused, n_lost, n_snapshots,
        received_bytes, sent_bytes;
    atomic_uint n_stats, n_new_stats; /* in `global`; that will be, at most */
};

/* The following six want registry_lock. */

/* ps_store_give_index -- the next one, to a slot that has none. */
void ps_store_give_index(struct ps_store *store, uint32_t slot);

/*
 * ps_store_n_numbered, ps_store_slot -- what it tells of functions, by number: those that have
 * an index, by that. Below another server, whose indices have holes, all, by slot.
 *   number  less than how many there are
 */
uint32_t ps_store_n_numbered(const struct ps_store *store);
uint32_t ps_store_slot(const struct ps_store *store, uint32_t number);

/* ps_store_is_round_complete -- all clients have pushed for the next round, or left. */
bool ps_store_is_round_complete(const struct ps_store *store);

/* ps_store_draw_epoch -- a life of the server: a number that no other has had. */
uint64_t ps_store_draw_epoch(void);

/* ps_store_pack_model -- a sketch of one call or more, as it is sent. */
struct ps_model ps_store_pack_model(const struct sketch *sketch, uint64_t version);

/* ps_store_place_model -- publish it. Wants model_lock for writing. */
void ps_store_place_model(struct ps_store *store, uint32_t slot, struct ps_model model);

#endif
