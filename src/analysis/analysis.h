/*
 * analysis -- from the columns of a run to scored and explained executions.
 *
 * One function of interest at a time: forest, subtree labels, residual model, scores, reasons.
 * What was found is handed to a sink; run_store.h is the one that makes a run of it.
 */
#ifndef SNAG_ANALYSIS_ANALYSIS_H
#define SNAG_ANALYSIS_ANALYSIS_H

#include "learn/model_file.h"
#include "analysis/run_scoring.h"
#include "base/pool.h"
#include "features/residual.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "trace/definitions.h"

#include <stdint.h>

struct analysis_opts {
    const char *features, *detector; /* names, or NULL for the default */
    uint32_t k;                      /* neighbours; 0: the detector's own number */
    double threshold;                /* NAN: the detector's own */
    double false_alarms;             /* expected in a run; 0: see scoring_opts */
    double gamma;                    /* of ocsvm's kernel; 0: taken from the data */
    double nu;                       /* of ocsvm: the share that may be outside; 0: OCSVM_NU */
    struct stack2vec_opts embedding; /* what was said of it: stack2vec_override */
    uint64_t seed;
    struct pool *pool;
    struct paged *paged;              /* as of struct scoring */
    const struct model *model;        /* score by this model, numbered as defs; NULL: learn */
    const struct analysis_crew *crew; /* processes that share the work; NULL: this one alone */
};

struct analysis_crew;
struct sentences;

/* What is said of a function of interest as a whole. */
struct analysis_result {
    uint32_t n_trees, n_vertices, max_depth, n_subtrees, n_anomalies;
    uint64_t n_messages;
    double gamma;                 /* of the kernel of ocsvm; 0 with another detector */
    struct scoring_unseen unseen; /* by the model, if there is one */
    uint64_t forest_ns, features_ns, detect_ns, store_ns; /* how long the stages took */
};

/* A function of interest to be analysed. */
struct analysis_foi {
    int64_t id;
    uint32_t region;
    const char *name; /* what is printed in front of '#' when there are several */
};

/* All that was found, until the sink returns. */
struct analysed {
    const struct analysis_foi *foi;
    const struct columns *columns;
    const struct scoring *scoring;
    const struct scoring_opts *opts;
    const struct analysis_result *result; /* but for how long the stages took */
    const struct sentences *sentences;    /* that are made already; NULL: none is */
};

struct analysis_sink {
    int (*take)(void *ctx, const struct analysed *analysed); /* 0 or an ERR_* */
    void *ctx;
};

/*
 * analysis_run -- analyse all executions of a function and hand them to a sink.
 *   defs  regions as in the columns, and locations
 * With a model the executions are compared with those of the run it was made from, and with
 * what a person said of them, not with each other. The processes of a crew make scores and
 * sentences together where the detector needs no matrix of all executions; else this one does
 * it alone. A crew has the same model.
 * Returns 0, ERR_NOT_FOUND when the function is never called, another ERR_*, or what the sink
 * returns.
 */
int analysis_run(const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 const struct analysis_sink *sink, struct analysis_result *result);

#endif
