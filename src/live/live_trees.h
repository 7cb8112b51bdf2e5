/*
 * live_trees -- the executions of the functions of interest, judged as soon as they are over.
 *
 * An ad_sink. In every step it collects the executions that were finished (live_forest.h),
 * judges each by what the last hour's were like (rolling.h) and, where a model was loaded that
 * is about this function, by that model (scorer_judge), and hands all to its own sinks: a
 * page that shows them, a store that keeps the strange ones.
 *
 *     live_trees_new(&opts, &trees);
 *     live_trees_add(trees, show, &page);
 *     ... ad_opts.sink[k] = (struct ad_sink){live_trees_step, trees};
 *
 * Sinks of ad after it may look at live_trees_foi instead: all stays until the next step.
 *
 * Functions of interest are patterns, as foi_match takes them, that are matched again whenever
 * a function is called for the first time. In the end they are what they are
 * after the run; until then a pattern may stand for something else, where a name that matches
 * better has not been defined yet: that function is then given up.
 */
#ifndef SNAG_LIVE_LIVE_TREES_H
#define SNAG_LIVE_LIVE_TREES_H

#include "detect/residual_score.h"
#include "detect/sketch.h"
#include "live/ad.h"
#include "live/live_forest.h"
#include "prov/prov_record.h"

#include <stdbool.h>
#include <stdint.h>

#define TREE_BY_ROLLING "rolling"
#define TREE_BY_MODEL "model"
#define LIVE_TREE_ID_SIZE PROV_EXECUTION_ID_SIZE

/* What was found out about one execution. */
struct tree_verdict {
    const char *algorithm; /* TREE_BY_*; NULL: not judged, too few to compare it with */
    double score;          /* strangeness: deviations for rolling, the detector's for a model */
    enum score_part part;  /* by a model: what the score is of */
    double p; /* by a model: that it looks so strange though nothing is wrong; else NAN */
    double threshold; /* a score above it is an anomaly; INFINITY: see scoring_judge */
    double sigmas;    /* deviations by rolling, whoever judges; NAN: too few yet */
    bool is_anomaly;
    const char *own_unknown; /* by a model: why it is not known how long it waited for others,
                                so that all it lost counts as its own; NULL: it is, or it does
                                not matter. Constant */
    const char *why;         /* of an anomaly, one sentence, until the next step; else NULL */
};

struct live_tree_totals {
    uint64_t n_executions, n_anomalies, n_unjudged, n_calls;
    uint64_t n_own_unknown; /* executions of which it is not known how long they waited */
    uint64_t n_cut;         /* executions of which not all calls were kept */
};

/* A function of interest and its executions that were finished in this step. */
struct live_foi {
    uint32_t region;
    bool has_model;               /* judged by it */
    bool is_given_up;             /* see above; has no more executions */
    struct live_forest trees;     /* trees.forest has n_trees of them */
    struct tree_verdict *verdict; /* [n_trees] */
    size_t verdict_cap;
    struct live_tree_totals totals; /* of the run so far, this step included */
    struct sketch durations;        /* likewise */
};

/* What a sink sees, until the next step. An index into foi never changes meaning. */
struct live_tree_step {
    const struct ad_step *step;
    const struct live_foi *foi; /* [n_foi] */
    uint32_t n_foi;
};

typedef void live_tree_fn(void *ctx, const struct live_tree_step *step);

struct live_trees_opts {
    const char *const *pattern; /* [n_patterns] --foi; copied */
    uint32_t n_patterns;
    bool guesses;           /* without patterns: one that suggests itself is looked at */
    const char *model_path; /* of `snag model save`, or NULL */
    const char *features;   /* names separated by commas, see rolling.h; NULL: duration */
    double window_s;        /* older executions are forgotten */
    double sigmas;          /* more deviations than that are an anomaly */
    uint32_t least;         /* executions of a function before any is judged by rolling */
    bool is_plain;          /* strange executions count in full, as in the paper */
};

struct live_trees;
struct sync_window;

/* live_trees_default -- one hour, 6 deviations, 30 executions; no patterns. */
struct live_trees_opts live_trees_default(void);

/*
 * live_trees_new -- read the model, check the features.
 *   out  NULL on failure; live_trees_free
 * Returns 0, ERR_USAGE for bad options or several loops, or as model_file_read.
 */
int live_trees_new(const struct live_trees_opts *opts, struct live_trees **out);

/* live_trees_free -- NULL is harmless. */
void live_trees_free(struct live_trees *trees);

/* live_trees_loop -- the pattern that asks for a loop, or the name of the model's; NULL: none
 * does. */
const char *live_trees_loop(const struct live_trees *trees);

/* live_trees_add -- another sink, after those there are. */
void live_trees_add(struct live_trees *trees, live_tree_fn *step, void *ctx);

/* live_trees_step -- for struct ad_sink; ctx is a struct live_trees. */
void live_trees_step(void *ctx, const struct ad_step *step);

/* live_trees_foi -- the functions of interest so far. */
const struct live_foi *live_trees_foi(const struct live_trees *trees, uint32_t *n);

/*
 * live_trees_check -- what is wrong with the patterns, once the run is over.
 * Returns 0, or ERR_NOT_FOUND or ERR_USAGE as foi_match, for the first that matches nothing.
 */
int live_trees_check(const struct live_trees *trees, const struct definitions *defs);

/* live_tree_id -- "#4-40", "#4.1-40" off the master thread, of tree t. Returns out. */
char *live_tree_id(const struct live_foi *foi, const struct definitions *defs, uint32_t t,
                   char out[LIVE_TREE_ID_SIZE]);

/* live_foi_typical -- the median of the durations of the executions so far, in ns. */
double live_foi_typical(const struct live_foi *foi);

/*
 * live_trees_excess -- what each call of an execution of this step lost by the model.
 *   out  (vertices of the tree) ns
 * Returns false where it is not judged by one.
 */
bool live_trees_excess(const struct live_trees *trees, const struct live_foi *foi,
                       uint32_t tree, double *out);

/* live_trees_syncs -- what is kept of messages and collectives, for live_costs; NULL without a
 * model. */
struct sync_window *live_trees_syncs(struct live_trees *trees);

/* live_foi_lost -- ns that an execution of this step took beyond that; 0 for a shorter one. */
uint64_t live_foi_lost(const struct live_foi *foi, uint32_t tree);

#endif
