/* run_model -- what a run taught about a function of interest, as a model for other runs. */
#ifndef SNAG_ANALYSIS_RUN_MODEL_H
#define SNAG_ANALYSIS_RUN_MODEL_H

#include "analysis/ranking.h"
#include "learn/model_file.h"
#include "run/rundir.h"

#include <stdint.h>

/*
 * run_model_make -- what holds in the run: what was learnt by the newest retrain that is not
 * undone, else the detector as it was; or, if a learner is named, what that learns from all
 * labels there are.
 *   opts        learner NULL: as the run does
 *   model       out: model_release in any case
 *   n_left_out  out: labels of the run that nothing in the model has learnt from
 * Returns 0, ERR_UNSUPPORTED for a detector, learner or features whose model cannot be kept,
 * or as ranking_open.
 */
int run_model_make(struct run *run, int64_t foi, const struct ranking_opts *opts,
                   struct model *model, uint32_t *n_left_out);

/*
 * run_model_take -- moves what a scoring learnt into a model, as its newest version.
 *   foi    name of the function of interest
 *   trace  what it was learnt from
 *   made   when it was learnt; NULL: now
 *   model  {0} before
 */
void run_model_take(struct model *model, struct scoring *scoring, const char *foi,
                    const char *trace, const char *made);

#endif
