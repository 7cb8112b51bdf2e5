/*
 * execution_table -- all executions of a function of interest as arrays by tree, as the page
 * asks for them; and foi_state, how they stand as one thread knows it.
 *
 * A table is a snapshot that all threads share (base/shared_cache.h). What never changes is
 * read once. A new label makes a new table that differs in the labels only; a retrain or an
 * undo one whose scores and order are read anew. A thread keeps beside it what never changes:
 * the model, and sketches of trees.
 */
#ifndef SNAG_SERVE_EXECUTION_TABLE_H
#define SNAG_SERVE_EXECUTION_TABLE_H

#include "base/names.h"
#include "base/shared_cache.h"
#include "features/residual.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/* Why executions are strange, as people ask for it: ways (explain/why.h) of a kind. */
enum reason_kind {
    REASON_WORK,    /* a function takes longer */
    REASON_MPI,     /* calls of MPI do */
    REASON_BARRIER, /* barriers of threads do */
    REASON_ALL,     /* all calls together do */
    REASON_LESS,    /* it takes less */
    REASON_CALLS,   /* more, fewer or other calls, or in another order */
    REASON_OPEN,    /* it does not end */
    N_REASON_KINDS,
};

#define NO_FUNCTION NAMES_NONE

/* What never changes. All arrays are [n] where nothing else is said. */
struct execution_facts {
    struct shared shared;
    double *enter_ns, *exit_ns, *duration_ns, *lost_ns;
    double *cost_ns; /* what the run would be shorter without that; NAN: not known */
    unsigned char *cost_is_bound; /* it is at most that */
    uint32_t *rank, *thread, *index, *location, *call, *vertices, *messages;
    uint32_t *way; /* in which it is strange, from 1 to n_ways; 0: in none that is known */
    struct {
        int kind;          /* enum reason_kind; FILTER_NOWHERE: none of these */
        uint32_t function; /* it is of; NO_FUNCTION */
    } * reason;            /* [n_ways + 1] of ways; the first is unused */
    uint32_t n_ways;
    struct names function; /* those that ways are of */
    char **place;          /* [function.n] "physics.c:234"; "": not known */
    size_t reason_cap, place_cap;
    unsigned char *part;        /* 0 time, 1 gross, 2 structure, 3 size */
    double *time, *gross;       /* they break ties of the score */
    uint32_t *place_before;     /* by the detector's own score, from 1 */
    unsigned char *was_anomaly; /* by the detector alone */
};

/* What a retrain changes. All arrays are [n]. */
struct execution_scores {
    struct shared shared;
    float *score;
    unsigned char *is_anomaly;
    uint32_t *order; /* trees, strangest first */
    uint32_t *place; /* of a tree in that order, from 1 */
};

struct execution_table {
    struct shared shared;
    uint32_t n; /* executions */
    struct execution_facts *facts;
    struct execution_scores *scores;
    signed char *label;                             /* [n] enum label */
    int64_t newest_label, newest_retrain, n_undone; /* when it was read */
};

/*
 * execution_table_take -- the table as the database has it now; give it back.
 *   n  executions of the function of interest
 * Returns 0, ERR_FORMAT for a damaged run, or ERR_DATABASE. Nothing to speak of when neither
 * label nor score changed, else O(n), or O(n log n) when scores did. Thread-safe.
 */
int execution_table_take(struct shared_cache *cache, sqlite3 *db, int64_t foi, uint32_t n,
                         const struct execution_table **table);
void execution_table_give_back(struct shared_cache *cache, const struct execution_table *table);

#define FOI_STATE_MAX_SKETCHES 1000 /* kept; then all are forgotten */

#define VERDICT_CHANGED 2 /* another one than before labels were learnt */
#define FILTER_ANY (-1)
#define FILTER_NOWHERE (-2) /* a name that the run does not have */

/* Which executions are asked for: serve/foi_filter.h. */
struct foi_filter {
    double rank;             /* < 0: any */
    int64_t node;            /* that of this location; FILTER_ANY, FILTER_NOWHERE */
    int64_t function;        /* of the facts; FILTER_ANY, FILTER_NOWHERE */
    int kind;                /* enum reason_kind; FILTER_ANY */
    int is_anomaly;          /* FILTER_ANY; VERDICT_CHANGED */
    int label;               /* enum label; 2: any */
    double begin_ns, end_ns; /* with a part in this time; end_ns 0: any */
};

/* Those of a table, strangest first. */
struct foi_list {
    struct foi_filter filter;
    const struct execution_table *table; /* NULL: no list */
    unsigned char *marks; /* [table->n] of each tree: what of the filter it passes; NULL: all
                             pass */
    uint32_t *tree;       /* [n]; NULL: all, as in scores->order */
    uint32_t n;
};

struct foi_state {
    int64_t foi;
    uint32_t n;                          /* executions */
    bool is_current;                     /* else ask for the table again */
    const struct execution_table *table; /* how they stand, or NULL */
    struct foi_list list;

    bool has_model;
    struct residual_model model;
    json_t **sketch; /* [n] small trees for the list, or NULL */
    uint32_t n_sketches;
};

/*
 * foi_state_find -- the number of executions of a function of interest.
 * Returns 0, ERR_NOT_FOUND or ERR_DATABASE.
 */
int foi_state_find(struct foi_state *state, sqlite3 *db, int64_t foi);

/* foi_state_load -- the table that holds now. Returns what execution_table_take does. */
int foi_state_load(struct foi_state *state, struct shared_cache *tables, sqlite3 *db);
void foi_state_release(struct foi_state *state, struct shared_cache *tables);

#endif
