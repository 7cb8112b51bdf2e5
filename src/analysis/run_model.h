/*
 * run_model -- what a run, or several, taught about a function of interest, as a model for
 * other runs.
 */
#ifndef SNAG_ANALYSIS_RUN_MODEL_H
#define SNAG_ANALYSIS_RUN_MODEL_H

#include "analysis/retrain.h"
#include "learn/model_file.h"
#include "run/rundir.h"
#include "score/scoring.h"

#include <stdint.h>

/*
 * run_model_make -- what holds in the run: what was learnt by the newest retrain that is not
 * undone, else the detector as it was; or, if a learner is named, what that learns from all
 * labels there are.
 *   opts        learner NULL: as the run does
 *   model       out: model_release in any case
 *   n_left_out  out: labels of the run that nothing in the model has learnt from
 * Returns 0, ERR_UNSUPPORTED for a detector, learner or features whose model cannot be kept,
 * or for a run that was judged by the model of another one and has not all of it, or as
 * ranking_open.
 */
int run_model_make(struct run *run, int64_t foi, const struct ranking_opts *opts,
                   struct model *model, uint32_t *n_left_out);

/*
 * pooled -- one model of several runs of a program: what was typical in any of them.
 *
 *     pooled_add(&p, &run, foi);      any number of runs
 *     pooled_model(&p, &model);
 *     pooled_release(&p);
 *
 * The executions of all runs are one forest, from which a model is learnt as from that of one
 * run. So what differs from run to run is in the widths of its contexts, and a run that is like
 * one of those before is nothing strange; by a model of one run it may be. Labels are not used.
 *
 * Who waited for whom is not known, as only executions are kept of a run. So in the calibration
 * all that an execution lost is taken for its own, its waits too (own_lost.h), and who was late
 * is less strange by such a model than by one of one run.
 */
struct pooled {
    struct definitions defs; /* of all: regions by name; locations one run after another */
    struct forest forest;
    uint32_t n_runs;
    char *foi, *traces; /* its full name; what was read, with commas */
};

/*
 * pooled_find -- the id of the function of interest in a run that is the one of the runs before,
 * whose lines may be others (call_sites_same); 0 where there is none, or no run was before.
 * Returns 0 or ERR_DATABASE. O(regions) for each function of interest.
 */
int pooled_find(const struct pooled *p, const struct run *run, int64_t *foi);

/*
 * pooled_add -- the executions of one more run. p is zeroed before the first; release it in any
 * case.
 *   foi  id in the run; the function of all, as pooled_find says
 * Returns 0, ERR_NOT_FOUND when it is not the function of the runs before, ERR_RANGE when there
 * are too many calls, or as run_scoring_collect. O(calls).
 */
int pooled_add(struct pooled *p, const struct run *run, int64_t foi);

/* pooled_model -- what they taught, as one run does without labels. Of at least one run. */
int pooled_model(struct pooled *p, struct model *out);
void pooled_release(struct pooled *p);

#endif
