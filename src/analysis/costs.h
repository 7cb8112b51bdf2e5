/*
 * costs -- what the whole run would have gained without what single executions lost.
 *
 *     costs_init(&c, &scoring, columns);
 *     costs_find(&c, &incidents);
 *     costs_release(&c);
 *
 * What is not on the critical path (critical.h) cost nothing, what is on it at most that: this
 * is known of all, from one pass. Anomalies and the executions that may have cost most are
 * played too, each by itself (replay.h), until that took as long as looking at some share of
 * all calls; then what they cost is known exactly. What was lost in calls that may have waited,
 * nobody knows for whom, is never taken out: it cost at most itself, so there is a bound.
 *
 * What an incident cost lies between two replays: without what its cause lost alone, and
 * without all that its executions lost. Whatever else happened at the same time is in the
 * second.
 */
#ifndef SNAG_ANALYSIS_COSTS_H
#define SNAG_ANALYSIS_COSTS_H

#include "analysis/hidden_waits.h"
#include "analysis/incidents.h"
#include "replay/critical.h"
#include "replay/what_if.h"
#include "score/scoring.h"

#include <stdbool.h>
#include <stdint.h>

/* What the run is shorter by without an incident. */
struct incident_cost {
    int64_t least_ns; /* ... without what its cause alone lost, see costs_find */
    int64_t most_ns;  /* ... without all that its executions lost; both may be COST_UNKNOWN */
    bool is_bound;    /* it is at most most_ns; else it is that */
};

#define COST_UNKNOWN INT64_MIN
#define COST_TEXT_SIZE 256
#define COST_MIN_LOST 1.0 /* ns: who lost less cost nothing */

struct costs {
    const struct scoring *scoring;     /* not its own */
    const struct incidents *incidents; /* ... that are looked at */
    struct why why;
    struct what_if what_if;
    struct critical critical;
    struct hidden_waits hidden;
    int64_t
        *behind_ns;    /* [n_trees] of other incidents' that may have been for it; NULL: none */
    double *excess_ns; /* of the calls of a tree */
    size_t excess_cap;
    double budget; /* work that is left */

    int64_t *cost_ns; /* [n_trees] at least 0, at most what was lost; or COST_UNKNOWN */
    bool *is_bound;   /* [n_trees] it is at most that; else it is that */
    char **text;      /* [n_trees] as a clause; NULL where it cost nothing worth a word */
    struct incident_cost *of_incident; /* [incidents.n] */
    int64_t all_ns;    /* all incidents with anomalies together, or COST_UNKNOWN */
    bool is_all_bound; /* at most that */
    uint32_t
        n_carrying; /* anomalies, the costliest first, without which nine tenths are gone */
};

/*
 * costs_init -- look at a run.
 * Returns 0 or what what_if_init does. Release in any case. O(calls).
 */
int costs_init(struct costs *c, const struct scoring *scoring, const struct columns *columns);
void costs_release(struct costs *c);

/*
 * costs_find -- of all executions, of all incidents, and of all anomalies together.
 * The cause of an incident is what the sentence of its head names first: the calls of one path
 * that took most more than is typical, of each of its executions on the location of its head.
 * Where that is a wait, for a call that is in no execution, it is what that call was late, in
 * each turn.
 */
void costs_find(struct costs *c, const struct incidents *incidents);

/*
 * costs_say_range -- the two as a clause, where they differ; "" where they do not, or are next
 * to nothing of lost_ns, what all its executions lost. Returns out.
 */
char *costs_say_range(const struct incident_cost *cost, double lost_ns,
                      char out[COST_TEXT_SIZE]);

#endif
