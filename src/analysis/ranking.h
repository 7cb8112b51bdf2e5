/*
 * ranking -- a function of interest of a run with all that is needed to rank its executions
 * anew when a person says something about them.
 */
#ifndef SNAG_ANALYSIS_RANKING_H
#define SNAG_ANALYSIS_RANKING_H

#include "analysis/foi_settings.h"
#include "analysis/run_scoring.h"
#include "base/pool.h"
#include "learn/learner.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

struct ranking_opts {
    const char *learner;             /* a name, or NULL for the default */
    const char *features;            /* NULL: those of the analysis */
    struct stack2vec_opts embedding; /* what was said of it, see run_scoring_load */
    double gamma;                    /* of ocsvm's kernel; 0: the analysis's or the data's */
    double nu;                       /* 0: the analysis's */
    uint64_t seed;
    struct pool *pool;
};

struct ranking {
    int64_t foi;
    uint32_t n;
    const char *learner_name, *features_name;
    char detector_name[32];
    struct learnt_settings learnt; /* what is used of it */
    double *detector;              /* [n] scores of the detector, in its own units */
    bool *is_anomaly;              /* [n] and its verdicts */
    struct learner learner;

    struct scoring work;
    struct reasons reasons;
    struct matrix x;
    double *prior; /* [n] the detector's scores in nats */
};

/*
 * ranking_open -- load a function of interest.
 *   r     zeroed; close it in any case
 *   defs  of the run (run_summary_definitions); must outlive r, as the pool must
 * Scores of a detector that is not calibrated are made tail probabilities first.
 * Returns 0, ERR_USAGE for an unknown learner, ERR_RANGE or as run_scoring_load. As long as the
 * analysis took without reading the trace.
 */
int ranking_open(struct ranking *r, sqlite3 *db, const struct columns *columns,
                 const struct definitions *defs, int64_t foi, const struct ranking_opts *opts);
void ranking_close(struct ranking *r);

/* ranking_nu -- the share that the one-class SVM expects outside. */
double ranking_nu(const struct ranking *r);

#endif
