/*
 * api -- the handlers of the routes below /api/v1: one function each, in the files api_*.c.
 *
 * A handler gets the worker of its thread and a checked request (numbers in the path are
 * numbers, a body is a JSON object) and fills in the response. It returns 0, or an ERR_* that
 * becomes a problem (RFC 9457). What each answers is described in openapi.json.
 */
#ifndef SNAG_WEB_API_H
#define SNAG_WEB_API_H

#include "web/request.h"
#include "web/response.h"
#include "web/worker.h"

typedef int api_fn(struct worker *worker, const struct request *request,
                   struct response *response);

/* api_run.c */
api_fn api_run, api_regions, api_search, api_openapi;
/* api_executions.c */
api_fn api_columns, api_candidates, api_next, api_execution, api_executions_csv;
/* api_tree.c */
api_fn api_tree, api_typical, api_subtrees;
/* api_timeline.c */
api_fn api_timeline, api_messages, api_window;
/* api_calls.c */
api_fn api_call, api_search_next;
/* api_learning.c */
api_fn api_labels, api_labels_csv, api_label, api_retrain, api_undo, api_retrains;
/* api_projection.c */
api_fn api_projection, api_project, api_cancel;
/* api_live.c; api_live_run answers /run */
api_fn api_live_status, api_live_counters, api_live_model;
int api_live_run(struct worker *worker, struct response *response);
/* api_live_points.c */
api_fn api_live_points;
/* api_live_rows.c */
api_fn api_live_heatmap, api_live_history, api_live_ranks, api_live_regions;
/* api_live_records.c */
api_fn api_live_records, api_live_record;

#endif
