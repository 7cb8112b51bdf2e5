/*
 * incident_list -- the incidents and the groups of run.db, as list, analyze, the library and
 * the page show them.
 *
 * An incident is what happened at one time, an anomaly when one of its executions is, after
 * all labels; so the order can change with them. An execution that labels made an anomaly, and
 * that was part of nothing before, is an incident of its own without a number.
 *
 * Anomalies that are strange in the same way are one thing to people, too, whenever and on
 * whatever rank they are: a group.
 *
 *     32 executions: more calls of ev_tally, on 16 ranks, in executions 161 and 201
 *
 * In which way is found when a run is made (explain/way.h) and does not change; which
 * executions are anomalies changes with labels. So a number is that of the same group for
 * ever, and a group without an anomaly is not there. The executions of an incident may be
 * strange in several ways, as some wait for others; and one way may be that of many incidents.
 *
 * Incidents whose heads are strange in the same way have the same cause, and are listed as one:
 *
 *     step > compute takes longer, 6 times, on rank 2, 15 executions apart
 *
 * What only waited for others is a group of executions, and no cause of incidents.
 */
#ifndef SNAG_VIEW_INCIDENT_LIST_H
#define SNAG_VIEW_INCIDENT_LIST_H

#include "base/text.h"
#include "explain/why.h"
#include "view/executions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

struct incident_row {
    int64_t foi_id, id; /* id: 0 for what has no number */
    const char *foi;
    char head[EXECUTION_ID_SIZE]; /* the execution that it goes back to */
    int64_t head_tree;
    uint32_t rank; /* where the cause is; its head's, where nobody else is to blame */
    double score;
    bool is_anomaly;
    uint64_t begin_ns, end_ns, lost_ns; /* lost_ns: summed over its executions */
    bool is_unended;                    /* its head does not end: what it lost nobody knows */
    bool has_cost;          /* what the run would be shorter without all of that is known: */
    uint64_t cost_ns;       /* or else, */
    bool has_range;         /* where anything is known of it: */
    uint64_t cost_least_ns, /* what it would be shorter without what its cause alone lost, */
        cost_most_ns;       /* and at most, as cost_ns where that is known */
    uint32_t n_executions, n_ranks;
    uint32_t n_turns, period; /* see struct incident in analysis/incidents.h */
    const char *why, *cause;  /* cause: that in short */
    uint32_t head_rank, head_index;
    bool is_costly;   /* it matters even if it is no anomaly */
    int64_t way;      /* in which its head is strange, the number of its group; 0: in none */
    const char *what; /* that in words; "" */
    uint32_t
        n_alike; /* ranks on which it is the same, each by itself; 1: it goes back to one */
};

#define INCIDENT_CAUSE_TEXT_SIZE 400

/* incident_cause_text -- "step > solve +9.9 ms", "6 ranks: step > solve +9.9 ms". Returns out. */
char *incident_cause_text(const struct incident_row *x, char out[INCIDENT_CAUSE_TEXT_SIZE]);

/* incident_cost_text -- "36.4 ms", "29.2 to 36.4 ms", "at most 36.4 ms", "" where nothing is
 * known. Returns out. */
char *incident_cost_text(const struct incident_row *x, char out[TEXT_RANGE_SIZE]);

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
    uint64_t n; /* how many */
    uint64_t least_ns,
        most_ns; /* the sums of what each costs by itself, at least and at most */
    uint64_t its_least_ns, its_most_ns; /* of the dearest, */
    char head[EXECUTION_ID_SIZE];       /* which goes back to this one */
    char cause[WHY_CAUSE_SIZE];         /* ... for this */
};

/*
 * incident_list_costly_others -- those of the filter's function and rank.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE.
 */
int incident_list_costly_others(sqlite3 *db, const struct execution_filter *filter,
                                struct costly_others *out);

/* incident_of_to_json -- the same as an object; null where there is none. */
int incident_of_to_json(sqlite3 *db, int64_t foi, int64_t tree, json_t **out);

/* ------------------------------------------------------------------------ incidents by cause */

/* Incidents whose heads are strange in the same way: all of them anomalies, or none. */
struct incident_group {
    const struct incident_row *incident; /* [n] those that lost most first */
    size_t n, n_with_cost;               /* whose cost is known */
    uint64_t n_times;                    /* what comes back counts as often as it came */
    uint64_t lost_ns, cost_ns;           /* cost_ns: of those with one, each by itself, */
    uint64_t cost_least_ns;              /* and at least, where causes alone cost less */
    bool matters;                        /* one is an anomaly, or costly */
};

struct incident_groups {
    struct incident_row *row; /* [n_rows] with texts of their own, by group */
    size_t *listed;           /* [n_rows] into row: in the order of incident_list_each */
    struct incident_group
        *group; /* [n] anomalies and what is costly first, by what they cost at
                                     most, without an anomaly at least; then by what they lost */
    size_t n, n_rows, row_cap;
};

/*
 * incident_groups_find -- of the incidents that pass the filter, whatever its most and offset.
 * What is strange in no way that is known is a group of one. Returns 0, ERR_NOT_FOUND for an
 * unknown FOI, or ERR_DATABASE. Release in any case. O(incidents log incidents).
 */
int incident_groups_find(sqlite3 *db, const struct execution_filter *filter,
                         struct incident_groups *all);
void incident_groups_release(struct incident_groups *all);

#define GROUP_TEXT_SIZE 1024

/* incident_group_text -- "what, 6 times, where". Returns out. */
char *incident_group_text(const struct incident_group *group, char out[GROUP_TEXT_SIZE]);

/*
 * incident_groups_to_json -- some of them, as documented in docs/formats.md.
 *   out  set only when 0 is returned
 */
int incident_groups_to_json(sqlite3 *db, const struct incident_groups *all, uint64_t offset,
                            uint64_t most, json_t **out);

/* incident_groups_list_to_json -- some of their incidents, one by one, as incident_list_to_json has
 * them for the same filter. */
int incident_groups_list_to_json(sqlite3 *db, const struct incident_groups *all,
                                 uint64_t offset, uint64_t most, json_t **out);

/* ---------------------------------------------------------------------- groups of executions */

#define GROUP_MIN_EXECUTIONS 3 /* executions; fewer are each by themselves */

struct group_member {
    int64_t tree;
    uint32_t rank, thread, index;
};

struct group {
    int64_t foi_id, id;
    char *foi, *what;            /* "more calls of ev_tally" */
    struct group_member *member; /* [n] in the order of the run: anomalies, by a label or not */
    size_t n, cap;
    uint32_t n_abnormal, n_normal; /* labels */
    size_t n_open;                 /* do not end: what these lost is not known */
    uint64_t begin_ns, lost_ns;    /* of the first of them; summed over them */
    /* Incidents that go back to one of them: what all their executions lost, and what each cost
     * the run by itself. */
    int64_t *incident; /* [n_incidents] numbers */
    size_t n_incidents, n_with_cost, incident_cap;
    uint64_t incidents_lost_ns, cost_ns;
};

struct groups {
    struct group *group; /* [n] by their numbers: first those that others go back to, by what
                            these lost when the run was made */
    size_t n, cap;
};

/*
 * groups_find -- those with anomalies of the filter's function and rank, however few.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE. Release in any case.
 * O(anomalies log anomalies).
 */
int groups_find(sqlite3 *db, const struct execution_filter *filter, struct groups *groups);
void groups_release(struct groups *groups);

/* group_places -- "on ranks 0 and 1, every 40th execution". Returns out. */
char *group_places(const struct group *group, char out[GROUP_TEXT_SIZE]);

/* group_text -- "12 executions: what, where". Returns out. */
char *group_text(const struct group *group, char out[GROUP_TEXT_SIZE]);

/* group_to_json -- as documented in docs/formats.md.
 *   has_several  ids say of which function they are */
json_t *group_to_json(const struct group *group, bool has_several);

#endif
