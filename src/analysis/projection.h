/*
 * projection -- the executions of a function of interest as points on a plane, and where they
 * are kept: tables projection and projection_settings of run.db.
 */
#ifndef SNAG_ANALYSIS_PROJECTION_H
#define SNAG_ANALYSIS_PROJECTION_H

#include "features/features.h"
#include "project/project.h"
#include "run/columns.h"
#include "trace/definitions.h"

#include <stdint.h>

#include <sqlite3.h>

struct projection_opts {
    const struct project_method *method;
    const struct feature_ops *features;
    struct project_opts project;     /* without defaults left open */
    struct stack2vec_opts embedding; /* what was said of it, see run_scoring_load */
};

struct projection {
    uint32_t n;
    double *point;              /* (n, 2), that of tree t in row t */
    struct stack2vec embedding; /* trained for it; without words if the run has it already */
    struct project_result result;
};

/*
 * projection_make -- project the executions of a finished run; nothing is written.
 *   p  zeroed; release it in any case
 * Returns 0, also when it was cancelled, or what run_scoring_load, scoring_matrix and
 * project_run do.
 */
int projection_make(struct projection *p, sqlite3 *db, const struct columns *columns,
                    const struct definitions *defs, int64_t foi,
                    const struct projection_opts *opts);
void projection_release(struct projection *p);

/*
 * projection_save -- keep the embedding if it is new, and put the points in place of those this
 * method had for this function of interest, in one transaction: readers see the old ones or the
 * new ones. Returns 0, ERR_DATABASE or ERR_IO; then nothing has changed.
 */
int projection_save(sqlite3 *db, int64_t foi, const struct projection *p,
                    const struct projection_opts *opts);

#endif
