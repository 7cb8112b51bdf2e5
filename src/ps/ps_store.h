/*
 * ps_store -- the parameter server without its sockets: requests in, answers out.
 *
 * Every worker adds the deltas it gets to a state of its own. Now and then ps_store_publish
 * takes all these states away at one instant (a cut), merges them into the global one, and
 * publishes the sketches that changed. A cut takes the clients' sequences along, so that what
 * it holds of a client is all deltas up to one of them, and none after it.
 *
 *     worker 0: += delta --.
 *     worker 1: += delta ---+-- cut --> global += --> published, snapshot --> saved
 *     worker 2: += delta --'
 *
 * A delta is *received* when it is in some state, and *saved* when a snapshot has it (without
 * a snapshot: as soon as it is received). Clients keep what is not saved and send it again
 * to a server that was started anew; sequences tell what is counted already.
 *
 * A server may be below another (upstream): then it tells that one what its clients told, and
 * its clients what that one says. See ps_publish.c.
 */
#ifndef SNAG_PS_STORE_H
#define SNAG_PS_STORE_H

#include "ps/ps_client.h"
#include "ps/ps_relay.h"
#include "ps/ps_wire.h"

#include <stdbool.h>

#define PS_MAX_CLIENTS 1000000u
#define PS_WHY_SIZE 256

struct ps_store;

struct ps_store_opts {
    unsigned n_workers;   /* 1.. */
    uint32_t n_clients;   /* deterministic: publish when so many clients have pushed; or 0 */
    bool is_frozen;       /* the models do not change; statistics do */
    const char *snapshot; /* file to go on from, if it is there, and to write; or NULL */
    const char *load;     /* file to take models from if there is no snapshot yet; or NULL */
    struct ps_client *upstream; /* of the server above, with a snapshot only; or NULL */
};

struct ps_counts {
    uint64_t n_requests, n_merged, n_duplicates,
        n_refused;   /* answered; deltas; deltas; frames */
    uint64_t n_lost; /* calls that did not fit */
    uint64_t version, round, n_snapshots;
    uint64_t received_bytes, sent_bytes; /* frames */
    uint32_t n_functions, n_clients, n_stats;
    char unsaved[PS_WHY_SIZE]; /* why the last snapshot could not be written; "": it could */
    struct ps_relay_counts letters;   /* among instances */
    struct ps_client_counts upstream; /* as of the last talk with the server above */
};

/* ps_store_open -- Returns 0, or ERR_IO, ERR_FORMAT for the files, ERR_EXISTS when another
 * process writes the snapshot. */
int ps_store_open(struct ps_store **store, const struct ps_store_opts *opts);

/* ps_store_close -- writes nothing. NULL is harmless. */
void ps_store_close(struct ps_store *store);

/*
 * ps_store_answer -- any bytes in, one frame out.
 *   worker  0..n_workers - 1; a worker is used by one thread at a time
 *   reply   its bytes are replaced
 * O(bytes of both). Thread-safe, but for the worker.
 */
void ps_store_answer(struct ps_store *store, unsigned worker, const void *request, size_t bytes,
                     struct pack *reply);

/*
 * ps_store_wait -- until it is time to publish: the interval is over, the round complete, or
 * the server above is to be asked about a new function.
 * Returns false once ps_store_stop was called.
 */
bool ps_store_wait(struct ps_store *store, unsigned interval_ms);
void ps_store_stop(struct ps_store *store);

/*
 * ps_store_publish -- cut, merge, publish, write the snapshot; nothing if nothing changed, or
 * if the round is not complete. By one thread at a time. Returns 0, or ERR_IO when the
 * snapshot could not be written, which is tried again the next time. O(changed sketches),
 * with a snapshot O(all).
 */
int ps_store_publish(struct ps_store *store);

/*
 * ps_store_relay -- talk to the server above, for at most timeout_ms; by the thread that
 * publishes. Nothing that is not in the snapshot is said.
 * Returns true if it has saved all that was cut so far.
 */
bool ps_store_relay(struct ps_store *store, int timeout_ms);

void ps_store_counts(struct ps_store *store, struct ps_counts *counts);

#endif
