/*
 * execution_detail -- one execution looked at closely: its tree in the model of its forest, its
 * place among the others, what lost the time, and what went on elsewhere at the same time.
 *
 *     execution_detail_init(&c, db, &columns, &defs);
 *     execution_detail_find(&c, foi, rank, thread, index);      c.x
 *     execution_detail_locate(&c, NULL);                        all the rest
 *     execution_detail_release(&c);
 */
#ifndef SNAG_VIEW_EXECUTION_DETAIL_H
#define SNAG_VIEW_EXECUTION_DETAIL_H

#include "analysis/incidents.h"
#include "explain/cause.h"
#include "explain/why.h"
#include "features/residual.h"
#include "features/wl.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "trace/definitions.h"
#include "view/executions.h"

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/* cause_region_at -- the function at this depth of the call path of a link. O(log calls). */
const struct region *cause_region_at(const struct trace_view *view,
                                     const struct cause_link *link, uint32_t depth);

struct execution_detail {
    sqlite3 *db; /* this and the next two are not its own */
    const struct columns *columns;
    const struct definitions *defs;

    struct execution x; /* its texts are those below */
    char *text[6];      /* [n_texts] of the execution */
    size_t n_texts;
    uint64_t place, n_executions; /* it is the place-th by score */

    struct forest forest; /* of this one tree */
    struct wl wl;
    struct residual_model own;          /* empty when the model was given */
    const struct residual_model *model; /* of the function of interest */
    struct residual_place location;
    struct residual_measure measure;
    struct why why;
    struct causes causes;
    bool has_cause;
};

/*
 * execution_detail_init -- look at executions of a run.
 *   db       of the run, for this thread
 *   columns  and the definitions (run_summary_definitions) stay until the release
 */
void execution_detail_init(struct execution_detail *c, sqlite3 *db,
                           const struct columns *columns, const struct definitions *defs);
void execution_detail_release(struct execution_detail *c);

/*
 * execution_detail_find -- the row of an execution, by its id or by its tree.
 * Returns 0, ERR_NOT_FOUND with the ids there are, or ERR_DATABASE. O(log executions).
 */
int execution_detail_find(struct execution_detail *c, int64_t foi, uint32_t rank,
                          uint32_t thread, uint32_t index);
int execution_detail_find_tree(struct execution_detail *c, int64_t foi, int64_t tree);

/*
 * execution_detail_locate -- build the tree of the execution that was found, and find it in the
 * model.
 *   model  of its function, which stays until the release; NULL: load it
 * With its own model it is for one look: then the calls of a small location are compared with
 * their checksums. Returns 0, ERR_FORMAT for a
 * damaged run, or ERR_DATABASE. O(executions of the function + vertices of the tree).
 */
int execution_detail_locate(struct execution_detail *c, const struct residual_model *model);

/*
 * execution_detail_sketch -- only the tree of an execution, found in this model: no place, no
 * cause. For many executions one after another. Returns 0 or ERR_FORMAT.
 */
int execution_detail_sketch(struct execution_detail *c, const struct execution *x,
                            const struct residual_model *model);

/* execution_detail_typical_calls -- how many calls of a path an execution has on average. */
double execution_detail_typical_calls(const struct execution_detail *c, uint32_t path);

/*
 * execution_detail_peers -- the other locations' executions that overlap it in time and are
 * anomalies, strangest first: rank, thread, idx, score, how much later it was entered,
 * duration_ns, why. Step the query; sqlite3_finalize it in any case.
 */
int execution_detail_peers(const struct execution_detail *c, sqlite3_stmt **query);

/* execution_detail_peer_id -- the id of the execution of a row of that. has_several: as
 * executions_have_several. */
void execution_detail_peer_id(const struct execution_detail *c, sqlite3_stmt *row,
                              bool has_several, char id[EXECUTION_ID_SIZE]);

/* execution_detail_to_json -- what snag show --json prints; *out is set only when 0 is
 * returned. */
int execution_detail_to_json(struct execution_detail *c, json_t **out);

#endif
