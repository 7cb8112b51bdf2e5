/*
 * live_recorder -- strange calls and all that explains them go to a store while the program
 * runs.
 *
 * A sink of ad: every verdict becomes a record with its call stack, what its thread did before
 * and after it, what those did with whom it exchanged messages, counters, the chain of waits
 * that led to it, the state of the node. What happens after a call may be in the next step:
 * records wait for that one step, a bounded number of them.
 *
 *     step k     judged -> complete records are put, the others held
 *     step k+1   held ones get what was missing, and are put
 *
 * A record whose messages went to ranks of other instances waits for what these say
 * (partners.h), for a while at most, and is stored without if they do not.
 *
 * Executions of functions of interest (live_trees.h) that are strange are records too, and the
 * latest normal one of a function when there was a strange one (tree_record.h).
 *
 * Of a call that had to wait for a model only its times are known: its record has no window.
 * With the last step go statistics and models, and all records are judged once more by the
 * final models.
 *
 * When the store fails, what is lost is counted, it is said once, and the program goes on.
 */
#ifndef SNAG_LIVE_LIVE_RECORDER_H
#define SNAG_LIVE_LIVE_RECORDER_H

#include "live/ad.h"
#include "live/live_trees.h"
#include "live/partners.h"
#include "prov/prov_store.h"

#include <stdbool.h>
#include <stdint.h>

#define LIVE_RECORDER_MAX_HELD 1024u /* records that wait for the next step */
#define LIVE_RECORDER_MAX_WINDOW 1000u

struct live_recorder;

struct live_recorder_opts {
    const char *url;            /* of the store */
    bool is_inclusive;          /* as in struct ad_opts */
    bool is_by_path;            /* likewise */
    struct live_trees *trees;   /* a sink before this one; NULL: none */
    uint32_t window;            /* calls before and after, at most LIVE_RECORDER_MAX_WINDOW */
    uint32_t program;           /* that statistics are of */
    const char *watchlist;      /* file, or NULL: see evidence.h */
    const char *counter_prefix; /* where there is no list */
    const char *hostname;       /* of processes whose metadata do not say it; NULL: "" */
    struct partners_opts partners; /* of other instances; no address: nobody is asked. Program
                                      and window are those above */
    struct prov_store_opts store;  /* but for its program */
};

struct live_recorder_counts {
    bool is_judged_again; /* by the final models, and that is stored; else these are 0: */
    uint64_t n_pruned;    /* records that the final models judge otherwise; of these */
    uint64_t n_taken_back, taken_back_ns; /* anomalies, and their severity */
    uint64_t n_recv_before_send;          /* messages, as in struct step_view */
    struct partners_counts partners;      /* what other instances were asked */
    struct prov_counts store;             /* of what is safe, and what is lost */
};

/*
 * live_recorder_open -- open the store, or make it, and read the list of counters.
 * Returns 0, ERR_RANGE for too large a window, or what prov_store_open and node_state_open do.
 */
int live_recorder_open(struct live_recorder **recorder, const struct live_recorder_opts *opts);

/* live_recorder_step -- the sink: ctx is the recorder. O(calls + verdicts x window). */
void live_recorder_step(void *ctx, const struct ad_step *step);

/* live_recorder_idle -- there is no step just now, but others may have answered, or ask. */
void live_recorder_idle(struct live_recorder *recorder);

void live_recorder_counts(struct live_recorder *recorder, struct live_recorder_counts *out);

/*
 * live_recorder_flush -- wait until what was put is stored: all records but those held.
 * Returns as prov_store_flush.
 */
int live_recorder_flush(struct live_recorder *recorder);

/*
 * live_recorder_close -- store what is waiting. NULL is harmless.
 * Returns 0, ERR_IO when something was lost, or why there are no final verdicts.
 */
int live_recorder_close(struct live_recorder *recorder);

#endif
