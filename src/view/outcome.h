/*
 * outcome -- what somebody wants to know first of a run: what the anomalies of a function of
 * interest cost it, how many of them matter, on which rank and in which function most of that
 * goes back to, and whether someone is slow always, which is no anomaly and may cost more.
 *
 * snag analyze, a report and the page say them in the same words. A cost is that of the replay (replay/), and holds for the anomalies as
 * they were analysed. Once labels made others, it is a bound: a run that is played without less
 * time does not end earlier, and what is taken out beside makes it shorter by no more than itself.
 */
#ifndef SNAG_VIEW_OUTCOME_H
#define SNAG_VIEW_OUTCOME_H

#include "view/executions.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/* The cause that most of the time goes back to, and the rank where more than half of that is; where no incident has
 * lost time, cause and rank of the strangest. */
struct outcome_most {
    uint32_t n_incidents; /* 0: there is none */
    uint32_t
        n_ranks; /* where it is; 1 where more than half of it, or the strangest, is on one: then */
    uint32_t rank;      /* all else is of what is there; else this is NO_RANK */
    bool is_cost;       /* ns: what each incident cost by itself, summed; else what all lost */
    bool is_loss_known; /* of all anomalies: each ends, and there are enough executions */
    uint64_t ns, of_ns; /* of_ns: the same of all incidents with an anomaly */
    char *
        what; /* "step > solve takes longer", "rank 1.1 gemm, 39.9 ms longer"; NULL: not known */
    char *function, *place; /* "solve", "solver.c:17" or ""; NULL: of no function in particular
                             */
};

/* The first of those who are slow, or have more to do, in every execution. */
struct outcome_slow {
    char *place, *verdict, *why; /* place: NULL, there is none */
    bool has_cost;               /* it is known */
    bool is_first;               /* ... and not less than what the anomalies cost */
    bool has_range;              /* between which two it lies is known */
    uint64_t cost_ns, cost_least_ns, cost_most_ns;
    uint32_t n_more; /* others who are, too */
};

struct outcome {
    uint64_t n_anomalies;
    uint64_t length_ns; /* of the run */
    bool is_few;        /* too few executions to say what is typical */
    struct anomalies_cost cost;
    bool is_bound; /* the cost is at most that; how many carry it is not known */
    char *
        unknown; /* why the cost is not known, or just a bound: a clause; NULL: it is, or that is
                      not known */
    struct outcome_most most;
    struct outcome_slow slow;
    char *growth; /* "executions of step take longer and longer ..."; NULL: they do not */
};

/*
 * outcome_find -- of one function of interest, and how many anomalies it has, which who asks has counted.
 * Returns 0 or ERR_DATABASE. Release in any case. O(incidents), and where scores were learnt
 * from labels O(executions).
 */
int outcome_find(sqlite3 *db, int64_t foi, uint64_t n_anomalies, struct outcome *outcome);
void outcome_release(struct outcome *outcome);

#define OUTCOME_TEXT_SIZE 1024

/*
 * outcome_anomalies_text -- "without the anomalies the replayed run is 105 ms of 3.73 s shorter (2.82 %); most of that ...",
 * to be freed; NULL: there is none.
 * outcome_slow_text -- "rank 6 may be slow beside the others: ...", to be freed; NULL: nobody is.
 */
char *outcome_anomalies_text(const struct outcome *outcome);
char *outcome_slow_text(const struct outcome *outcome);

/* What all executions lost, and of what they took. */
struct outcome_lost {
    bool is_known; /* there are enough executions */
    uint64_t lost_ns, duration_ns;
    uint64_t n_unended; /* of which it is not known */
    /* "lost in all: 213 ms of 20.4 s (rank 6 81.7 ms, ...); the tracer took 8.02 ms" */
    char text[OUTCOME_TEXT_SIZE];
};

/* outcome_lost -- Returns 0 or ERR_DATABASE. O(executions). */
int outcome_lost(sqlite3 *db, int64_t foi, struct outcome_lost *lost);

/* outcome_to_json -- as documented in docs/formats.md. */
json_t *outcome_to_json(const struct outcome *outcome);

#endif
