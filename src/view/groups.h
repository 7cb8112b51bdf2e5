/*
 * groups -- anomalies that are strange in the same way are one thing to people, whenever and on
 * whatever rank they are.
 *
 *     32 executions: more calls of ev_tally, on 16 ranks, in executions 161 and 201
 *
 * In which way is found when a run is made (explain/why.h) and does not change; which
 * executions are anomalies changes with labels. So a number is that of the same group for ever,
 * and a group without an anomaly is not there.
 *
 * An incident (incident_list.h) is what happened at one time: its executions may be strange in
 * several ways, as some wait for others; and one way may be that of many incidents.
 */
#ifndef SNAG_VIEW_GROUPS_H
#define SNAG_VIEW_GROUPS_H

#include "view/executions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

#define GROUP_MIN_EXECUTIONS 3 /* executions; fewer are each by themselves */
#define GROUP_TEXT_SIZE 1024

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
