/* executions -- the rows of run.db that list, show, export, evaluate and the page look at. */
#ifndef SNAG_VIEW_EXECUTIONS_H
#define SNAG_VIEW_EXECUTIONS_H

#include "run/rundb.h"
#include "run/rundir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <sqlite3.h>

#define EXECUTION_ID_SIZE 512

struct execution {
    char id[EXECUTION_ID_SIZE]; /* "#4-40", "#4.1-40", with "FOI" in front when there are
                                   several */
    const char *foi;
    int64_t foi_id, tree;
    uint32_t location, rank, thread, index;
    uint32_t call; /* row of its root */
    uint64_t enter_ns, duration_ns, n_vertices, n_messages;
    uint64_t tracer_ns, typical_ns, lost_ns, off_ns; /* as in run.db */
    bool is_open;                                    /* when the events of its location end; */
    uint64_t open_ns;                                /* the run went on for so long */
    bool has_cost; /* what the run would be shorter without what it lost is known: */
    uint64_t cost_ns;
    bool is_cost_bound;        /* it is at most that */
    double score, chance;      /* that it looks so strange though nothing is wrong */
    const char *verdict, *why; /* why with the cause chain and the cost after it, if any */
    const char *part, *cause;  /* what says most; the chain across ranks, or NULL */
    const char *label;         /* the last word of a person: abnormal, normal; NULL for none */
};

struct execution_filter {
    const char *foi;             /* name of one function of interest, or NULL */
    int64_t foi_id;              /* the same by its id; 0: not said */
    const char *verdict;         /* or NULL */
    uint32_t rank;               /* NO_RANK: all */
    uint64_t most;               /* 0: all */
    bool is_in_order;            /* executions as they are in the run, not by score */
    bool is_by_lost;             /* executions by the time they lost, not by score */
    bool is_by_cost;             /* executions by what they cost the run */
    const char *label;           /* abnormal, normal, none; NULL: all */
    uint64_t offset;             /* of incidents: so many are left out first */
    int64_t group;               /* of incidents: those whose head is in this one; 0: all */
    const struct rundb_set *set; /* of incidents and groups of the one function: those of its
                                    executions; NULL: all */
};

/*
 * executions_each -- call fn for the executions that pass the filter, strangest first unless it
 * says otherwise.
 * The texts last until fn returns. Returns 0, ERR_NOT_FOUND for an unknown FOI, or
 * ERR_DATABASE.
 */
int executions_each(sqlite3 *db, const struct execution_filter *filter,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx);

/* executions_one, executions_tree -- call fn for one execution, if there is such a one. */
int executions_one(sqlite3 *db, int64_t foi, uint32_t rank, uint32_t thread, uint32_t index,
                   void (*fn)(const struct execution *x, void *ctx), void *ctx);
int executions_tree(sqlite3 *db, int64_t foi, int64_t tree,
                    void (*fn)(const struct execution *x, void *ctx), void *ctx);

/*
 * execution_parse -- "#4-40", "#4.1-40", "compute#4-40" or "4-40" to its parts.
 *   foi  (size) out: what stands before '#', "" if nothing
 * Returns 0 or ERR_USAGE.
 */
int execution_parse(const char *id, char *foi, size_t size, uint32_t *rank, uint32_t *thread,
                    uint32_t *index);

/* execution_id -- the id in its shortest form; foi is NULL when there is only one. */
void execution_id(char out[EXECUTION_ID_SIZE], const char *foi, uint32_t rank, uint32_t thread,
                  uint32_t index);

/* What a rank, or all, lost in the executions of a function of interest. */
struct lost {
    uint32_t rank;
    uint64_t n_executions, duration_ns, lost_ns, tracer_ns;
};

/*
 * executions_lost -- call fn for every rank, that which lost most first.
 *   all  out: the sums over all ranks
 * Returns 0 or ERR_DATABASE.
 */
int executions_lost(sqlite3 *db, int64_t foi, void (*fn)(const struct lost *lost, void *ctx),
                    void *ctx, struct lost *all);

/*
 * executions_are_few -- whether too few executions say what is typical: of this run, or of that whose model it was
 * judged by. Then nothing is known of what they lost.
 *   foi  a function of interest; 0: all, too few of each of them
 * Returns 0 or ERR_DATABASE.
 */
int executions_are_few(sqlite3 *db, int64_t foi, bool *are_few);

/* What all anomalies of a function of interest, as they were analysed, cost the run together.
 */
struct anomalies_cost {
    bool is_known;
    uint64_t cost_ns;
    bool is_bound; /* it is at most that, as not all of who waited for whom is in the trace */
    uint32_t n_carrying; /* so many of them carry nine tenths of it */
};

/* executions_cost -- read it. Returns 0 or ERR_DATABASE. */
int executions_cost(sqlite3 *db, int64_t foi, struct anomalies_cost *out);

/* A rank or thread that is slow, or has more to do, in every execution. */
struct slow_place {
    const char *place, *verdict, *why;
    uint64_t excess_ns, cost_ns;
    uint64_t cost_least_ns, cost_most_ns; /* its cost lies between these */
    bool has_cost, has_range;             /* else it is not known */
};

/*
 * executions_slow_places -- call fn for those of a function, the dearest first. The texts last
 * until fn returns. Runs that were made before there was such a table have none. Returns 0 or
 * ERR_DATABASE.
 */
int executions_slow_places(sqlite3 *db, int64_t foi,
                           void (*fn)(const struct slow_place *x, void *ctx), void *ctx);

/* Executions that are no anomalies, and no part of an incident that is one. */
struct others {
    uint64_t n, lost_ns;
    uint64_t shortest_ns, longest_ns; /* of them; 0 where there are none */
};

/*
 * executions_others -- count those of the filter's function and rank.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE. O(executions).
 */
int executions_others(sqlite3 *db, const struct execution_filter *filter, struct others *out);

/* execution_to_json -- as documented in docs/formats.md. */
json_t *execution_to_json(const struct execution *x);

/* executions_csv_head, execution_to_csv -- the line of headings, and one of an execution. */
void executions_csv_head(FILE *out);
void execution_to_csv(const struct execution *x, FILE *out);

/* executions_have_several -- several functions of interest: ids have to say of which. */
bool executions_have_several(sqlite3 *db);

/*
 * executions_ask -- a statement that has the filter's function as ?1, its rank as ?2, and, if it
 * asks for one, its set as ?7, null for all. Its other parameters are for the caller to bind.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE.
 */
int executions_ask(sqlite3 *db, const char *sql, const struct execution_filter *filter,
                   sqlite3_stmt **query);

/* executions_foi -- the id of the FOI that a --foi means, or that of the only one. */
int executions_foi(sqlite3 *db, const char *name, int64_t *id);

/*
 * executions_foi_known -- the function of interest that has this identity (region_name.h), as
 * one of another run has it; 0 where there is none.
 *   shown  of several that is meant which is shown as this, else the first; or NULL
 * Returns 0 or ERR_DATABASE.
 */
int executions_foi_known(sqlite3 *db, const struct definitions *defs, const char *identity,
                         const char *shown, int64_t *id);

#endif
