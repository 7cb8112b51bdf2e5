/*
 * api -- the handlers of the routes below /api/v1: one function each, in the files api_*.c.
 *
 * A handler gets the worker of its thread and a checked request (numbers in the path are
 * numbers, a body is a JSON object) and fills in the response. It returns 0, or an ERR_* that
 * becomes a problem (RFC 9457). What each answers is described in openapi.json.
 */
#ifndef SNAG_SERVE_API_H
#define SNAG_SERVE_API_H

#include "http/request.h"
#include "http/response.h"
#include "serve/served.h"

typedef int api_fn(struct worker *worker, const struct request *request,
                   struct response *response);

/* api_run.c */
api_fn api_run, api_lost, api_regions, api_search, api_openapi, api_report;
/* api_executions.c */
api_fn api_columns, api_candidates, api_next, api_execution, api_executions_csv;
/* api_filter.c */
api_fn api_passing, api_filtered_measure, api_choices;
/* api_tree.c */
api_fn api_tree, api_typical, api_typical_there, api_subtrees, api_path;
/* api_timeline.c */
api_fn api_timeline, api_messages, api_dependencies, api_measure, api_window;
/* api_collectives.c */
api_fn api_collectives, api_collective;
/* api_counters.c */
api_fn api_counters, api_counter;
/* api_calls.c */
api_fn api_call, api_search_next;
/* api_learning.c */
api_fn api_labels, api_labels_csv, api_label, api_retrain, api_undo, api_redo, api_undo_retrain,
    api_retrains, api_learning, api_model;
api_fn api_incidents, api_causes, api_groups, api_ranks;
/* api_matrix.c */
api_fn api_matrix;
/* api_map.c */
api_fn api_map;
/* api_query.c */
api_fn api_query;
/* api_comparison.c */
api_fn api_comparison, api_comparison_tree, api_comparison_runs;
api_fn api_history, api_history_functions, api_history_comparison, api_history_tree;
/* api_projection.c */
api_fn api_projection, api_project, api_cancel;

#endif
