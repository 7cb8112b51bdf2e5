/*
 * live_state -- what the live page shows of a program that runs, in bounded memory however long
 * it runs: points, sums over time, statistics, models, totals.
 *
 * An ad_sink. The thread that judges counts each step without a lock (live_tally.h) and adds
 * what came out under one, which also guards every reader's copy: nobody holds it while
 * anything is sent or waited for. So a page that is slow to read slows nobody down. Of the
 * large parts, points are in blocks that never change (live_points.h), and answers made from
 * the sums are kept until the version changes (http/response.h).
 *
 *     state = live_state_new(&opts);
 *     ... ad_opts.sink[k] = (struct ad_sink){live_state_step, state};
 *     ... site_opts.served.live = state;
 *     live_state_end(state, NULL);
 *     live_state_next_run(state, store);         the program runs again: all is empty
 *
 * In the end the anomalies of calls are judged once more, by the final models: those that are
 * none any more are taken back, in points, sums and totals, as in the store.
 *
 * Memory: LIVE_MAX_POINTS and the old anomalies, of calls and of executions, 80 bytes each;
 * LIVE_MAX_CELLS sums of 32 bytes each for ranks, regions and counters; a few hundred bytes
 * per rank, region, counter and location; a copy of each region's sketch (30 KiB at most).
 */
#ifndef SNAG_MONITOR_LIVE_STATE_H
#define SNAG_MONITOR_LIVE_STATE_H

#include "base/idmap.h"
#include "base/names.h"
#include "live/ad.h"
#include "live/live_recorder.h"
#include "live/loop_watch.h"
#include "monitor/live_grid.h"
#include "monitor/live_points.h"
#include "monitor/live_recent.h"
#include "monitor/live_slow.h"
#include "monitor/live_stat.h"
#include "monitor/live_tally.h"
#include "prov/reduction.h"
#include "ps/ps_snapshot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_RATES 20u /* moments of which the rate is the mean: five seconds */

enum live_phase { LIVE_WAITING, LIVE_RUNNING, LIVE_OVER, LIVE_FAILED };

/* The statistics of a rank or a region. */
struct live_row {
    uint32_t rank, program;        /* of a rank */
    struct live_stat anomalies;    /* per step with calls; the sum without those taken back */
    struct live_stat severity_ns;  /* per anomaly */
    struct live_stat exclusive_ns; /* per call; n is 0 where that is not known */
    uint64_t n_calls;              /* where that is known otherwise; 0: as exclusive_ns has */
    uint64_t n_taken_back;         /* of records of a store */
    bool has_steps; /* else of anomalies only their sum is known, not how many a step had */
};

/* live_row_calls -- how many calls it is of; 0 of the past: not known. */
static inline uint64_t live_row_calls(const struct live_row *row)
{
    return row->n_calls > 0 ? row->n_calls : row->exclusive_ns.n;
}

struct live_region {
    const char *name, *short_name; /* last as long as the state, whatever the run */
    enum region_kind kind;
    bool is_foi;
    struct sketch sketch; /* of the durations judged by, at most 5 % behind */
    struct call_judge judge;
    bool is_judged; /* judge is what judges it: not where calls are compared by path */
};

/* How a rank compares with the others of the job. */
struct live_slow {
    uint32_t program, rank;
    struct slow_rank slow; /* its functions are regions */
};

struct live_location {
    const char *name; /* lasts as long as the state */
    uint32_t rank, thread, program;
    bool is_gpu;               /* a stream */
    uint64_t n_calls, last_ns; /* last_ns: of any event */
};

struct live_totals {
    uint64_t n_steps, begin_ns, end_ns;
    uint64_t n_events, n_calls, n_unjudged, n_slight, n_messages, n_lost;
    uint64_t n_calls_stored; /* of a job: as its statistics in the store have them, */
    uint64_t n_calls_told; /* and as its parameter server was told; n_calls: the more of both */
    uint64_t n_anomalies, severity_ns; /* without those that were taken back */
    uint64_t n_taken_back;             /* that the final models do not call strange */
    double least_ns;                   /* that an anomaly has lost at least; 0: not known */
    double lag_ns;                     /* NAN: not known */
    uint64_t n_bytes;                  /* of the trace, */
    const char *no_bytes;              /* and why not, as the stream has them */
};

struct live_opts {
    const char *source;             /* as the user named it; copied */
    const char *run_id;             /* constant; NULL: not known */
    const char *store_url;          /* copied; NULL: none */
    const char *detector;           /* its name; constant */
    bool is_inclusive;              /* inclusive times are judged */
    bool is_by_path;                /* calls are compared with those on the same path */
    double speed;                   /* of trace time, for the lag; 0: as fast as it goes */
    const struct stream *stream;    /* what was lost, and its quality; NULL: not known */
    struct live_recorder *recorder; /* asked for counts with each step; NULL: none */
    struct live_trees *trees;       /* a sink before this one: its executions become points */
    enum live_point_kind typical;   /* points that are meant when nobody says which */
    bool is_past; /* told by live_state_past...: there are no steps, nor what they count */
};

/* Executions of all functions of interest; of the past n_anomalies alone is known. */
struct live_executions {
    uint64_t n, n_anomalies, n_unjudged, n_cut;
};

/* One of those that are counted, for who looks for one. */
struct live_example {
    char id[PROV_EXECUTION_ID_SIZE]; /* "": there was none yet */
    uint64_t at_ns;                  /* when it was counted, since 1970 */
};

struct live_state {
    pthread_mutex_t lock;  /* guards all below but `tally` and `opts`; no other of our locks is
                              taken under it, but that of `recent` */
    atomic_ullong version; /* counted up under the lock */
    enum live_phase phase;
    char *message; /* why it failed */
    uint32_t run;  /* of the program, from 1 */
    const char *store_url;
    struct live_totals totals;
    struct quality quality;
    struct prov_counts store;
    struct reduction reduction;

    struct live_points points[LIVE_KINDS];
    struct live_recent recent; /* has a lock of its own */
    struct live_executions executions;
    struct live_example strange; /* the execution that was counted last as that */
    enum loop_watch_state loop;
    struct live_grid rank_grid, region_grid, counter_grid;
    struct live_row *rank, *of_region; /* [n_ranks], [n_regions] */
    struct live_region *region;        /* [n_regions] */
    struct live_reading *counter;      /* [n_counters] */
    const char **counter_name;         /* [n_counters] */
    struct live_location *place;       /* [n_places] by location */
    uint32_t n_ranks, n_regions, n_counters, n_places;
    size_t rank_cap, of_region_cap, region_cap, counter_cap, counter_name_cap, place_cap;
    struct live_slow *slow; /* [n_slow] ranks with statistics of their own */
    uint32_t n_slow;
    const char *slow_unknown; /* why they are not compared; NULL: they are */
    struct {
        uint64_t at_ns, n_events;
    } moment[LIVE_RATES]; /* a ring */
    uint32_t n_moments;

    /* Of the thread that judges alone. */
    struct live_opts opts;
    char *source;
    struct names texts; /* names and URLs of all runs, which are mostly the same */
    struct live_tally tally;
    struct idmap rank_ids; /* (program, rank) -> row */
    uint32_t *rank_of;     /* [n_places] row */
    size_t rank_of_cap;
    uint64_t started_ns;
    double least_delay_ns; /* wall time minus trace time */
};

struct live_state *live_state_new(const struct live_opts *opts);

/* live_state_free -- when nobody reads it any more. NULL is harmless. */
void live_state_free(struct live_state *state);

/* live_state_step -- for struct ad_sink; ctx is a struct live_state. O(calls of the step). */
void live_state_step(void *ctx, const struct ad_step *step);

/*
 * live_state_past -- a call of which a record is left, or an execution, as its kind says, for a
 * state without steps (live_past.h). In order of time. Of anomalies all have records, so they
 * are counted by these; of what is normal only some have, so calls and executions are not.
 *   point          its region is that of the function: the next new one, or one known
 *   function       its name
 *   is_taken_back  it was an anomaly until the final models said otherwise
 */
void live_state_past(struct live_state *state, const struct live_point *point,
                     const char *function, bool is_taken_back);

/* Of all calls of a function, or of a rank: how many, and their own times. */
struct live_past_times {
    uint32_t region; /* LIVE_NO_REGION: of a rank */
    uint32_t program, rank;
    uint64_t n_calls;
    struct live_stat exclusive_ns;
};
#define LIVE_NO_REGION UINT32_MAX

/* live_state_past_times -- what the statistics of a store say of (n) functions and ranks. */
void live_state_past_times(struct live_state *state, const struct live_past_times *times,
                           size_t n);

/* live_state_past_again -- all of them are going to be told anew. */
void live_state_past_again(struct live_state *state);

/*
 * live_state_past_known -- what a parameter server knows of all instances: models and calls of
 * functions, and per rank and function calls and anomalies in each step, in place of what
 * records say of them.
 *   number   name -> region of the state; grows by what is new
 */
void live_state_past_known(struct live_state *state, const struct ps_snapshot *known,
                           struct names *number);

/*
 * live_state_past_function -- a function that something will be said of, as with
 * live_state_past_known.
 */
void live_state_past_function(struct live_state *state, uint32_t region, const char *function);

/*
 * live_state_past_slow -- how the ranks of a job compare.
 *   slow     (n) copied
 *   unknown  why they cannot be compared; constant; NULL: they are
 */
void live_state_past_slow(struct live_state *state, const struct live_slow *slow, uint32_t n,
                          const char *unknown);

/*
 * live_state_past_told -- those are all that are there.
 *   n_calls     that there were; 0: not known
 *   store       what is there
 *   is_written  somebody still writes: more will come
 */
void live_state_past_told(struct live_state *state, uint64_t n_calls,
                          const struct prov_counts *store, const struct reduction *reduction,
                          bool is_written);

/*
 * live_state_end -- nothing more comes: stream, recorder and trees of opts are not looked at
 * any more. For the thread that judges.
 *   message  why, when it is an error; NULL: it is over
 *   store    what is in the store in the end; NULL: none
 */
void live_state_end(struct live_state *state, const char *message,
                    const struct prov_counts *store);

/*
 * live_state_next_run -- the program has begun again: nothing is known of this run yet.
 * Versions go on; points are numbered from 0. For the thread that judges; what opts names is
 * for it to replace.
 *   store_url  of this run; NULL: none
 */
void live_state_next_run(struct live_state *state, const char *store_url);

/* live_state_stored -- what the store says by now, when no step tells it. */
void live_state_stored(struct live_state *state, const struct prov_counts *store);

/* live_state_store_url -- where the records of this run are, or NULL. Lasts as long as the
 * state. Thread-safe. */
const char *live_state_store_url(struct live_state *state);

/* live_state_store_run -- the number of this run there; 0: of a program that was looked at
 * before us, or not known yet. */
int64_t live_state_store_run(struct live_state *state);

/*
 * live_state_trouble -- what is found cannot be stored now.
 *   text  out: one line that says why; untouched when all is well
 * Thread-safe.
 */
bool live_state_trouble(struct live_state *state, char text[256]);

/* live_state_lock, live_state_unlock -- to copy something; for moments only. */
void live_state_lock(struct live_state *state);
void live_state_unlock(struct live_state *state);

/* live_state_version -- counts the steps that can be seen. Thread-safe. */
uint64_t live_state_version(const struct live_state *state);

/* live_state_has_store -- a store was opened. Thread-safe. */
bool live_state_has_store(struct live_state *state);

/* live_state_knows_calls -- how many calls there were: of the past, if statistics or a server
 * tell. Under the lock. */
static inline bool live_state_knows_calls(const struct live_state *state)
{
    return !state->opts.is_past || state->totals.n_calls > 0;
}

/* live_state_is_of_server -- of a job, of which there is what its parameter server was told, and
 * no store. Under the lock. */
static inline bool live_state_is_of_server(const struct live_state *state)
{
    return state->opts.is_past && state->store_url == NULL;
}

/* live_state_find_rank -- the row of a rank, or IDMAP_NONE. Under the lock. */
uint32_t live_state_find_rank(const struct live_state *state, uint32_t program, uint32_t rank);

#endif
