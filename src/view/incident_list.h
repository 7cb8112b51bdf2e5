/*
 * incident_list -- the incidents of run.db, as list, analyze, the library and the page show
 * them.
 *
 * An incident is an anomaly when one of its executions is, after all labels; so the order can
 * change with them. An execution that labels made an anomaly, and that was part of nothing
 * before, is an incident of its own without a number.
 */
#ifndef SNAG_VIEW_INCIDENT_LIST_H
#define SNAG_VIEW_INCIDENT_LIST_H

#include "explain/why.h"
#include "view/executions.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

struct incident_row {
    int64_t foi_id, id; /* id: 0 for what has no number */
    const char *foi;
    char head[EXECUTION_ID_SIZE]; /* the execution that it goes back to */
    int64_t head_tree;
    uint32_t rank; /* where the cause is */
    double score;
    bool is_anomaly;
    uint64_t begin_ns, end_ns, lost_ns; /* lost_ns: summed over its executions */
    bool is_unended;                    /* its head does not end: what it lost nobody knows */
    bool has_cost; /* what the run would be shorter without all of that is known: */
    uint64_t cost_ns;
    uint32_t n_executions, n_ranks;
    uint32_t n_turns, period; /* see struct incident in analysis/incidents.h */
    const char *why, *cause;  /* cause: that in short */
};

/*
 * incident_list_each -- call fn for the incidents that have an execution of the filter's rank
 * and label, and the filter's verdict themselves, those that lost most first. Of label "none"
 * are those of whose executions none is labelled. The texts last until fn returns.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE.
 */
int incident_list_each(sqlite3 *db, const struct execution_filter *filter,
                       void (*fn)(const struct incident_row *x, void *ctx), void *ctx);

/* incident_list_count -- how many those are, whatever the filter's most and offset say. */
int incident_list_count(sqlite3 *db, const struct execution_filter *filter, uint64_t *n);

/*
 * incident_list_to_json -- the same as an array, with the executions of each.
 *   out  set only when 0 is returned
 */
int incident_list_to_json(sqlite3 *db, const struct execution_filter *filter, json_t **out);

/*
 * incident_of -- call fn for the incident that an execution is part of, if there is one.
 * Returns 0 or ERR_DATABASE. O(its executions).
 */
int incident_of(sqlite3 *db, int64_t foi, int64_t tree,
                void (*fn)(const struct incident_row *x, void *ctx), void *ctx);

/* Incidents of which no execution is an anomaly, and that cost the run something all the same.
 */
struct costly_others {
    uint64_t n, cost_ns;          /* how many; the sum of what each costs by itself */
    uint64_t most_ns;             /* of the dearest, */
    char head[EXECUTION_ID_SIZE]; /* which goes back to this one */
    char cause[WHY_CAUSE_SIZE];   /* ... for this */
};

/*
 * incident_list_costly_others -- those of the filter's function and rank.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE.
 */
int incident_list_costly_others(sqlite3 *db, const struct execution_filter *filter,
                                struct costly_others *out);

/* incident_of_to_json -- the same as an object; null where there is none. */
int incident_of_to_json(sqlite3 *db, int64_t foi, int64_t tree, json_t **out);

#endif
