/*
 * chosen -- what a run is to be played without, as a person says it:
 *
 *     #1-40                  what this execution lost
 *     anomalies              what all executions of their incidents lost
 *     incident=3             what all executions of an incident lost, and what they waited for
 *                            where that is in no execution
 *     rank=3                 its calls take what is typical on all ranks
 *     path='step > forces'   calls on a path that ends so, and what is called in them, take
 *                            what is typical there
 *     region=NAME            the same; region is a path of one
 *
 *     chosen_open(&c, db, foi, &columns, &defs);
 *     chosen_execution(&c, rank, thread, index); chosen_rank(&c, 3); ...
 *     chosen_cut(&c, &what_if);
 *     chosen_close(&c);
 *
 * A call that is chosen twice loses the larger excess.
 */
#ifndef SNAG_ANALYSIS_CHOSEN_H
#define SNAG_ANALYSIS_CHOSEN_H

#include "features/residual.h"
#include "ranks/peers.h"
#include "replay/what_if.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

struct chosen {
    sqlite3 *db; /* this and the next two are not its own */
    const struct columns *columns;
    const struct definitions *defs;
    int64_t foi;
    struct residual_model model;

    uint32_t n; /* executions of the function */
    struct chosen_execution {
        uint32_t location, call, rank, thread, index;
        bool is_anomaly;
        int64_t lost_ns;
        uint32_t incident; /* its number; 0: it is part of none */
        unsigned how;      /* of enum chosen_how */
    } * execution;         /* [n] in order */
    size_t cap;
    uint32_t *first_member; /* [n + 3] into member, by number of an incident; NULL before one is
                               chosen */
    uint32_t *member;       /* [n] executions */
    bool *is_incident;      /* [n + 1] it is chosen, by its number */
    bool *is_path;          /* [model.paths.n] calls on it are chosen */
    bool has_paths;
    struct peers peers;  /* ranks, once one is chosen */
    double *peer_factor; /* [model.paths.n] for peers_excess; NULL: none is chosen */

    uint32_t n_chosen;  /* executions with a call that is chosen; after chosen_cut */
    uint32_t n_outside; /* of these, on locations that take no part in the replay */
    int64_t excess_ns;  /* of all chosen calls */
    int64_t unknown_ns; /* of that, waiting for what is not in the trace */
    int64_t cut_ns;     /* of that, not waiting: what was taken out */
    int64_t
        outside_ns; /* taken out of calls that chosen incidents waited for, in no execution */
    int64_t off_ns; /* by which the time of what is chosen may be off */
    uint64_t n_elsewhere; /* calls of functions that are chosen by path on threads without
                             executions, as those of teams: they stay as they are */
};

/*
 * chosen_open -- the executions of a function of interest, none of them chosen.
 * Returns 0, ERR_NOT_FOUND or ERR_FORMAT as model_store_load, or ERR_DATABASE. chosen_close in
 * any case.
 */
int chosen_open(struct chosen *c, sqlite3 *db, int64_t foi, const struct columns *columns,
                const struct definitions *defs);
void chosen_close(struct chosen *c);

/* chosen_execution, ... -- choose. Return 0, or ERR_NOT_FOUND where there is no such thing. */
int chosen_execution(struct chosen *c, uint32_t rank, uint32_t thread, uint32_t index);
int chosen_incident(struct chosen *c, int64_t incident);
int chosen_rank(struct chosen *c, uint32_t rank);
int chosen_path(struct chosen *c, const char *path);
void chosen_anomalies(struct chosen *c);

/*
 * chosen_cut -- take the excess of all that is chosen out of the run.
 *   way  0; 1: as much as it may be, if begins and ends are estimates; -1: as little
 * Returns 0, ERR_FORMAT for a damaged run, or ERR_RANGE. O(calls of the executions).
 */
int chosen_cut(struct chosen *c, struct what_if *w, int way);

#endif
