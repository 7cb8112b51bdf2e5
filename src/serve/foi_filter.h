/*
 * foi_filter -- which executions somebody asks for: the filter of the page, as it comes with a
 * request, and what passes it.
 *
 *     ?begin=60000000&end=70000000&rank=3&function=solve&verdict=anomaly
 *
 * It is read in one place and applied in one place: to executions as marks by tree. Lists of
 * executions, points, sums and maps take the trees that have all marks. Incidents take marks
 * one by one (run/rundb.h), as an incident passes with one execution that is where and when it
 * is asked for, and with the reason of its head, which is what it is listed for.
 *
 * Time, rank and node say where and when, and so which part of the trace, too. Function and
 * kind are of the way in which an execution is strange (explain/why.h): only anomalies and
 * executions of incidents have one.
 */
#ifndef SNAG_SERVE_FOI_FILTER_H
#define SNAG_SERVE_FOI_FILTER_H

#include "http/request.h"
#include "run/rundb.h"
#include "serve/execution_table.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define FOI_HAS_LABEL 4u
#define FOI_HAS_VERDICT 8u
#define FOI_PASSES RUNDB_ALL_MARKS

/*
 * foi_filter_read -- from the parameters begin and end (both or none), rank, node, function,
 * kind, verdict and label.
 *   facts           of the function of interest
 *   may_be_changed  verdict=changed is taken: it is of executions, not of incidents
 * Names that the run does not have are no error: nothing passes. Returns 0 or ERR_USAGE.
 */
int foi_filter_read(const struct request *request, const struct definitions *defs,
                    const struct execution_facts *facts, bool may_be_changed,
                    struct foi_filter *filter);

/* foi_filter_is_same -- the same executions pass both. */
bool foi_filter_is_same(const struct foi_filter *a, const struct foi_filter *b);

/* foi_filter_chooses -- it says more than where and when: which executions. */
bool foi_filter_chooses(const struct foi_filter *filter);

/*
 * foi_filter_lanes -- the locations of its rank and node.
 *   there  (locations) out
 */
void foi_filter_lanes(const struct foi_filter *filter, const struct definitions *defs,
                      bool *there);

/*
 * foi_filter_select -- what passes of the state's table. The last list that was asked for is
 * kept: whoever pages through it, or looks at several views of it, does not make it anew.
 * Lasts until the next call, or until the state is loaded again. O(executions).
 */
const struct foi_list *foi_filter_select(struct foi_state *state,
                                         const struct definitions *defs,
                                         const struct foi_filter *filter);

/* foi_list_has -- whether a tree of the table passes. */
static inline bool foi_list_has(const struct foi_list *list, uint32_t tree)
{
    return list->marks == NULL || list->marks[tree] == FOI_PASSES;
}

/* reason_kind_name -- "work", ...: as it is asked for. */
const char *reason_kind_name(enum reason_kind kind);

#endif
