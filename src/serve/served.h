/*
 * served -- the run that is served, as all threads see it; or a program that runs, of which
 * there is a live state instead; or runs that are compared, or a history of them, which have
 * neither. And a worker, which is one thread's view of it.
 *
 * What never changes is shared: the columns, the definitions. The database is not: each worker
 * has its own connection, and what it has read so far; nothing in it is shared, so nothing is
 * locked. There is a worker for each thread that answers readers, one that writes labels, and
 * one that learns: it keeps what is needed to rank, so that a retrain costs milliseconds. What
 * the threads tell each other goes through an event ring, a latest value (the points of the
 * projection that runs), a cache (how all executions stand) and counters.
 */
#ifndef SNAG_SERVE_SERVED_H
#define SNAG_SERVE_SERVED_H

#include "analysis/retrain.h"
#include "analysis/run_scoring.h"
#include "base/event_ring.h"
#include "base/latest_value.h"
#include "base/pool.h"
#include "base/shared_cache.h"
#include "compare/compare.h"
#include "http/request.h"
#include "http/response.h"
#include "monitor/live_state.h"
#include "run/levels.h"
#include "run/rundir.h"
#include "serve/execution_table.h"
#include "trace/definitions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

enum served_what {
    SERVED_RUN,
    SERVED_PROGRAM, /* that runs, or ran */
    SERVED_COMPARISON,
    SERVED_HISTORY,
};

/* One of the runs that are compared. */
struct served_side {
    const char *path;
    bool is_after;
    int64_t number; /* in a history; 0: it is of none */
    int64_t foi;    /* id of its function of interest; 0: it is no run directory */
    int page;       /* its own page is at /runs/PAGE/; -1: it has none */
};

struct served_comparison {
    const struct comparison *comparison;
    const struct served_side *side; /* [n] those before first */
    uint32_t n;
    const struct compare_rename *rename; /* [n_renames] */
    uint32_t n_renames;
};

/*
 * report_fn -- makes the report of the run at a path: the one file of `snag report`.
 *   page  out: from malloc
 */
typedef int report_fn(const void *ctx, const char *path, char **page, size_t *size);

struct served {
    enum served_what what;   /* of others than a run there is no run and no database */
    struct live_state *live; /* of a program */
    const struct served_comparison *comparison; /* of a comparison */
    const char *path;                           /* of a run or a history, as it was given */
    report_fn *report;                          /* NULL: nobody makes reports */
    const void *report_ctx;
    struct run run;            /* its db is only used while it is opened */
    char name[256];            /* of the directory */
    uint64_t begin_ns, end_ns; /* of the trace */
    struct columns scattered;  /* run.columns, for whoever looks at a few places only */
    struct levels levels;      /* of these, once has_levels says so */
    atomic_bool has_levels;
    atomic_bool is_closing; /* nothing new is begun, and what takes long is given up */
    pthread_t levelling;    /* makes them, if the run has none */
    bool is_levelling;      /* that thread was started */
    const char *snag;       /* version of the program, */
    const char *command;    /* what it was told to do: "serve"; NULL: not known */
    const char *job;        /* of the batch system that it runs in, or NULL */
    const char *run_id;     /* of a program that runs, or NULL */
    const char *author;     /* of labels that do not name one */
    uint32_t n_threads;     /* for learning and projecting; 0: one per processor */

    struct event_ring events;
    struct latest_value points;       /* a bundle */
    struct shared_cache tables;       /* by function of interest */
    struct shared_cache dependencies; /* by their ends: one value */
    struct shared_cache incidents;    /* of the last filter, by function of interest */
    pthread_t projecting;
    bool has_projected; /* the thread above was started; only the learner's thread looks */
    atomic_bool is_projecting, is_cancelled;
    atomic_llong projecting_foi;
    atomic_bool is_write_failing; /* the last change of the run could not be written */

    atomic_ullong n_requests, n_failed, n_labels, n_retrains; /* since the start */
    uint64_t started_ns, nonce; /* nonce: another one at each start */
    bool has_opened;            /* served_open was called */
};

struct served_opts {
    const char *path; /* of the run or the history, or the name of what else is served */
    enum served_what what;
    struct live_state *live;                    /* of a program, and */
    const struct served_comparison *comparison; /* of a comparison; stay until served_close */
    const char *snag, *command, *job, *run_id, *author; /* as in struct served */
    report_fn *report;                                  /* of a run that is served; or NULL */
    const void *report_ctx;
    uint32_t n_threads;
    event_ring_wake_fn *wake; /* of who listens to the events */
    bool is_brief; /* for a few questions: nothing is made to answer more of them sooner */
};

/*
 * served_open -- open a run to be served. Instant, whatever its size; when the run has no
 * levels a thread begins to make them, and to keep them in it if they may be written there.
 * Returns 0 or what run_open and run_summary_definitions do. Close in any case.
 */
int served_open(struct served *served, const struct served_opts *opts);
void served_close(struct served *served);

/* served_levels -- of the calls, for the timeline; NULL as long as they are being made. */
const struct levels *served_levels(const struct served *served);

/*
 * served_wrote -- somebody has tried to change the run.
 *   rc  how that went; what was wrong with the question does not count
 */
void served_wrote(struct served *served, int rc);

/* served_tell -- an event for all pages: its name, its data as JSON. Takes the data over. */
void served_tell(struct served *served, const char *event, json_t *data);

struct window {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t *location;        /* [n_locations] different ones */
    uint32_t n_locations;
};

/*
 * window_read -- from the parameters begin, end (default: the whole trace) and locations
 * (default: all). Release in any case. Returns 0 or ERR_USAGE.
 */
int window_read(struct window *window, const struct served *served,
                const struct request *request);
void window_release(struct window *window);

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
    char *report; /* [report_size] the last that was made, while it holds; or NULL */
    size_t report_size;
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

/*
 * health_check -- of a run: run.db is where it was and answers, and the last change that was
 * asked for could be written. Of what is live: its store is there and takes what is found.
 *   worker  of this thread
 * Returns 0, or an ERR_* that says what is the matter. Microseconds.
 */
int health_check(struct worker *worker);

/* site_metrics -- fill in the response. accept  that field of the request, or NULL */
void site_metrics(struct served *served, unsigned n_connections, const char *accept,
                  struct response *response);

#endif
