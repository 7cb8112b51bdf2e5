/*
 * served -- the run that is served, as all threads see it; or a program that runs, of which
 * there is a live state instead; or runs that are compared, or a history of them, which have
 * neither.
 *
 * What never changes is shared: the columns, the definitions. The database is not: each thread
 * has its own connection (struct worker). What the threads tell each other goes through a feed
 * (events), a board (the points of the projection that runs), a cache (how all
 * executions stand) and counters.
 */
#ifndef SNAG_SERVE_SERVED_H
#define SNAG_SERVE_SERVED_H

#include "base/board.h"
#include "base/feed.h"
#include "base/shared_cache.h"
#include "compare/compare.h"
#include "monitor/live_state.h"
#include "run/levels.h"
#include "run/rundir.h"
#include "trace/definitions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
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

struct served {
    enum served_what what;   /* of others than a run there is no run and no database */
    struct live_state *live; /* of a program */
    const struct served_comparison *comparison; /* of a comparison */
    const char *history;                        /* path of a history */
    struct run run;                             /* its db is only used while it is opened */
    char name[256];                             /* of the directory */
    uint64_t begin_ns, end_ns;                  /* of the trace */
    struct columns scattered; /* run.columns, for whoever looks at a few places only */
    struct levels levels;     /* of these, once has_levels says so */
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

    struct feed events;
    struct board points;              /* a bundle */
    struct shared_cache tables;       /* by function of interest */
    struct shared_cache dependencies; /* by their ends: one value */
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
    uint32_t n_threads;
    feed_wake_fn *wake; /* of who listens to the events */
    bool is_brief;      /* for a few questions: nothing is made to answer more of them sooner */
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

#endif
