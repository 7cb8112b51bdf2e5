/*
 * results_json -- what was found, as JSON for commands, scripts and the page: places against
 * their peers (snag ranks), a new ranking and all there were, what is to be said of a question
 * beside its execution (snag next), the top subtrees of an execution, how long executions took
 * from run to run; and rows of a query, whose columns' names are the fields.
 */
#ifndef SNAG_VIEW_RESULTS_JSON_H
#define SNAG_VIEW_RESULTS_JSON_H

#include "analysis/retrain.h"
#include "analysis/run_scoring.h"
#include "compare/trend.h"
#include "explain/why.h"
#include "learn/query.h"
#include "ranks/peers.h"
#include "trace/definitions.h"
#include "view/executions.h"

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/*
 * rows_to_json -- all rows as an array.
 *   types, ...  i or t as in rundb_bind, "" for none
 * Returns 0 or ERR_DATABASE; *out is set only when 0 is returned.
 */
int rows_to_json(sqlite3 *db, json_t **out, const char *sql, const char *types, ...);

/*
 * ranks_to_json -- the object that docs/formats.md describes.
 *   width  stretches of time in `history`; 0: it is left out
 */
json_t *ranks_to_json(const struct scoring *scoring, const struct why *why,
                      const struct peers *peers, uint32_t width);

/* execution_id_of -- the id of tree t of a forest. has_several: as executions_have_several. */
void execution_id_of(char out[EXECUTION_ID_SIZE], const struct forest *forest,
                     const struct definitions *defs, bool has_several, uint32_t t);

/*
 * retrain_to_json -- what a retrain or its undoing changed.
 *   has_several  ids say of which function they are
 *   most         changes in it; n_changes says how many there are
 */
json_t *retrain_to_json(const struct ranking *ranking, const struct definitions *defs,
                        const struct retrain_result *result, bool has_several, size_t most);

/*
 * retrain_history -- all retrains of a function of interest, oldest first, as an array.
 * Returns 0 or ERR_DATABASE; *out is set only when 0 is returned.
 */
int retrain_history(sqlite3 *db, int64_t foi, json_t **out);

/* question_name -- why it is asked: "strangest" or "uncertain". */
const char *question_name(const struct question *question);

/*
 * question_to_json -- as documented in docs/formats.md.
 *   n_moved  executions that the answer moves; NULL: not known
 */
json_t *question_to_json(const struct question *question, const struct ranking *ranking,
                         const struct definitions *defs, const uint32_t *n_moved);

/*
 * subtree_count -- how many have an importance that is not below a threshold, in either
 * direction; they come first.
 *   threshold  NAN for that of what there is twice or half as much of
 */
size_t subtree_count(const struct subtrees *subtrees, double threshold);

/* subtree_name -- how one is called, for people. Returns out. */
char *subtree_name(const struct subtrees *subtrees, const struct topsubtree *top,
                   char out[TOPSUBTREES_NAME_SIZE]);

/* subtree_to_json -- an array of those, with the vertices of the execution they begin at. */
json_t *subtree_to_json(const struct subtrees *subtrees, double threshold);

/* history_run_to_json -- a run of a history with its tags, as documented in docs/formats.md. */
json_t *history_run_to_json(const struct history_run *run, const struct history_tags *tags);

/*
 * trend_to_json -- runs, series and their change points.
 *   path  only series of that path, or below it; NULL: all
 *   most  series at most, the whole included; 0: all
 */
json_t *trend_to_json(const struct trend *trend, const char *path, uint32_t most);

/* trend_notes -- what is to be known of the changes of a trend, or of there being none, a line each
 * to `say`. */
void trend_notes(const struct trend *trend, const char *path,
                 void (*say)(void *ctx, const char *text), void *ctx);

/* trend_is_on -- whether a series is of this path, or below it; the whole always is. */
bool trend_is_on(const struct trend *trend, uint32_t series, const char *path);

#endif
