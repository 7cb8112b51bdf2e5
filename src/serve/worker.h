/*
 * worker -- one thread's view of the run that is served: its own connection to the database,
 * and what it has read so far. Nothing in it is shared, so nothing is locked.
 *
 * There is a worker for each thread that answers readers, one that writes labels, and one that
 * learns: it keeps what is needed to rank, so that a retrain costs milliseconds.
 */
#ifndef SNAG_SERVE_WORKER_H
#define SNAG_SERVE_WORKER_H

#include "analysis/retrain.h"
#include "analysis/run_scoring.h"
#include "base/pool.h"
#include "serve/foi_state.h"
#include "serve/served.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define WORKER_MAX_READY 3u

/* A ranking that is ready. */
struct ready {
    int64_t foi;
    struct retrain_settings as; /* what it was asked for with */
    struct ranking ranking;
};

struct worker {
    struct served *served;
    struct database database;
    sqlite3 *db;     /* NULL where no run is served: of what follows only the version is used */
    int64_t version; /* of the database's content, for this connection; or of the live state */
    sqlite3_stmt *ask_version;
    struct foi_state **foi_state; /* [n_foi_states] */
    size_t n_foi_states, foi_state_cap;

    struct pool *pool;                     /* of the learner */
    struct ready *ready[WORKER_MAX_READY]; /* [n_ready] the oldest first */
    size_t n_ready;
    struct subtrees *subtrees; /* of one function of interest, or NULL */
    int64_t subtrees_foi;
};

/*
 * worker_open -- ready to answer.
 *   is_writable  it writes to the database
 * Returns 0 or what rundb_open does. Close in any case.
 */
int worker_open(struct worker *worker, struct served *served, bool is_writable);
void worker_close(struct worker *worker);

/*
 * worker_refresh -- see whether anybody has written to the database, or a step was judged.
 * Returns true if so: what was read before is then no longer what holds.
 */
bool worker_refresh(struct worker *worker);

/* worker_forget -- this worker itself has written: what it read before no longer holds. */
void worker_forget(struct worker *worker);

/*
 * worker_foi -- how the executions of a function of interest stand now.
 * *state lasts until the worker is closed; its table until worker_refresh says true.
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT or ERR_DATABASE.
 */
int worker_foi(struct worker *worker, int64_t foi, struct foi_state **state);

/*
 * worker_warm -- read how the executions of all functions of interest stand, so that the first
 * who asks need not wait for it. Returns 0 or what worker_foi does.
 */
int worker_warm(struct worker *worker);

/* worker_pool -- threads of its own, for what takes long. */
struct pool *worker_pool(struct worker *worker);

/* worker_model -- the same with the residual model loaded. */
int worker_model(struct worker *worker, int64_t foi, struct foi_state **state);

/*
 * worker_ranking -- a function of interest ready to rank; *ranking lasts until the
 * next call.
 *   as  but for its labels
 * Returns 0 or what ranking_open does. The first time as long as the analysis, then nothing.
 */
int worker_ranking(struct worker *worker, int64_t foi, const struct retrain_settings *as,
                   struct ranking **ranking);

/*
 * worker_subtrees -- a function of interest ready for subtrees_choose; *subtrees lasts until
 * the next call. Returns 0 or what subtrees_open does. For another function than the time
 * before as long as the analysis, else nothing.
 */
int worker_subtrees(struct worker *worker, int64_t foi, struct subtrees **subtrees);

#endif
