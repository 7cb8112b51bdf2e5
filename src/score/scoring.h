/*
 * scoring -- the executions of one function of interest and all that is known of them: their
 * forest, the labels of its subtrees, the model of what is typical, what each tree measures by
 * it, scores, verdicts, reasons. The only place where a tree gets a score, whoever asks and
 * whether the program still runs.
 *
 *     scoring_learn                    the model is made of the forest itself
 *     scoring_apply                    the model is of another run
 *     scoring_judge                    scores and verdicts by a detector, or by the model
 *     scoring_why                      the reason for one
 *
 * Several processes that have a part of the executions each (forest/tree_share.h):
 *
 *     scoring_learn_part               the model is made of all parts together
 *     scoring_judge_parts              process 0 scores all, each part gets what is its own
 *     scoring_apply_part               or, by the model of another run: each its own
 *     scoring_why                      of the own executions
 *     scoring_take_model, scoring_complete   what process 0 goes on with alone
 *
 * By a model of another run every tree is compared with those the model was made from, never
 * with its neighbours: its score, to the last bit, does not depend on how many are judged at
 * once.
 */
#ifndef SNAG_SCORE_SCORING_H
#define SNAG_SCORE_SCORING_H

#include "base/matrix.h"
#include "base/pool.h"
#include "detect/detector.h"
#include "explain/trace_view.h"
#include "explain/why.h"
#include "features/features.h"
#include "features/wl.h"
#include "forest/forest.h"
#include "forest/tree_share.h"
#include "learn/model_file.h"
#include "learn/reasons.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define SCORING_DEFAULT "residual" /* name of the features and of the detector */

/* What a model did not know of the executions it was applied to. */
struct scoring_unseen {
    uint64_t n_calls; /* on call paths the model does not have */
    uint32_t n_trees; /* executions with such calls */
    struct stack2vec_unseen subtrees;
};

/*
 * How long call v of tree t of the forest waited for other ranks that came late, if somebody
 * else than a view of the whole run knows: ns, as waiting_others_ns, with what v takes
 * typically. Returns false where that is not known.
 */
struct own_waits {
    bool (*waited)(void *ctx, uint32_t t, uint32_t v, double typical_ns, uint64_t *ns);
    void *ctx;
};

struct scoring {
    const struct definitions *defs; /* not its own; regions as in the forest and the model */
    struct pool *pool;              /* not its own; NULL: one thread. No result depends on it */
    struct paged *paged; /* not its own; may be NULL: for what is as long as the run */
    const struct tree_share *share; /* not its own; NULL, or: the forest is a part of all */
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure *measure; /* [forest.n_trees] */
    struct calibration calibration;   /* what they are compared with */
    struct residual_scores residual;  /* [forest.n_trees] */
    struct stack2vec embedding;       /* nothing but its options until there is a need for it */
    bool is_embedding_new;            /* trained by scoring_matrix, and not kept anywhere yet */
    struct own_waits waits;           /* or nothing: then by what follows */
    struct trace_view view; /* of the run, where whom calls waited for is found; or nothing */
    struct scoring_unseen unseen;
    const struct model *by; /* the model of another run; NULL: learnt from the forest */

    double *score;    /* [forest.n_trees] after scoring_judge; in the detector's units */
    bool *is_anomaly; /* [forest.n_trees] */
    double *chance;   /* [forest.n_trees] of residual_scores */
    double strong;    /* evidence that makes an anomaly */
    double threshold; /* what is above it is an anomaly; INFINITY: see scoring_judge */
    double gamma;     /* of the kernel of ocsvm; 0 with another detector */
};

/* scoring_release -- all that is its own: not what scoring_apply has borrowed. */
void scoring_release(struct scoring *s);

/*
 * scoring_learn -- label the forest, learn the model from it, measure every tree.
 *   s          zeroed, but for defs, pool, forest and embedding.opts
 *   with_bags  for features that need wl.bags
 * O(vertices), see wl_init and residual_fit.
 */
void scoring_learn(struct scoring *s, bool with_bags);

/*
 * scoring_measure -- the same by the model that is there already, learnt from this forest.
 */
void scoring_measure(struct scoring *s, bool with_bags);

/*
 * scoring_apply -- label the forest and measure every tree by what was learnt from another run.
 *   by  numbered as s->defs; must outlive s
 * Costs as scoring_learn.
 */
void scoring_apply(struct scoring *s, const struct model *by, bool with_bags);

/* What scores are made with. */
struct scoring_opts {
    const struct detector_ops *detector; /* learnt: */
    const struct feature_ops *features;  /* ... and what it compares; see scoring_needs_bags */
    uint32_t k;                          /* neighbours; 0: the detector's own number */
    double threshold;                    /* NAN: the detector's own */
    double false_alarms; /* expected in a run; 0: RESIDUAL_FALSE_ALARMS in the model's own */
    double gamma;        /* 0: taken from the data */
    double nu;           /* 0: OCSVM_NU */
    uint64_t seed;
    struct pool *pool;
};

/* scoring_needs_bags -- what scoring_learn and scoring_apply are to be told. */
bool scoring_needs_bags(const struct scoring_opts *opts);

/*
 * scoring_judge -- scores and verdicts of all trees.
 *   opts  of the model, if one is applied: detector and features are its own then
 * An anomaly is what scores above the threshold. The default detector has none: an anomaly is
 * what is too strange to be by chance (residual_score.h), whatever its rank; unless labels have
 * carried its score over the calibration's threshold (logit_verdict).
 * Returns 0, or ERR_RANGE when a feature is not finite or takes too much memory, or there are
 * too few trees for the detector. O(trees * support vectors) by a one-class SVM, else see the
 * detector.
 */
int scoring_judge(struct scoring *s, const struct scoring_opts *opts);

/*
 * scoring_learn_part -- label the own forest, learn the model with all others, measure the own
 * trees. s as for scoring_learn, and share; nothing of all executions is there yet.
 */
void scoring_learn_part(struct scoring *s);

/*
 * scoring_judge_parts -- after it: scores and verdicts of all, by the default detector.
 *   part   of this process: has all that scoring_why asks for then
 *   opts   only on process 0
 *   whole  on process 0, zeroed: gets measures, scores and verdicts of all; NULL on the others
 * Returns as scoring_judge, on all processes.
 */
int scoring_judge_parts(struct scoring *part, const struct scoring_opts *opts,
                        struct scoring *whole);

/*
 * scoring_apply_part -- label, measure, score and judge the own forest by what was learnt from
 * another run, which needs nobody else's trees. s as for scoring_learn_part.
 *   by     the same on all processes, numbered as part->defs; must outlive part and whole
 *   opts   the same on all processes, with a detector that needs no matrix
 *   whole  as scoring_judge_parts, with what the model did not know of all
 * Returns as scoring_judge, on all processes.
 */
int scoring_apply_part(struct scoring *part, const struct model *by,
                       const struct scoring_opts *opts, struct scoring *whole);

/* scoring_take_model -- of a part that nothing more is asked; the part is released. */
void scoring_take_model(struct scoring *whole, struct scoring *part);

/*
 * scoring_complete -- label the forest of all, which is there now, and find it in the model.
 * Everything is then as if there had never been any parts. O(vertices).
 */
void scoring_complete(struct scoring *whole);

/* scoring_reasons -- what reasons are found from. */
struct reasons_input scoring_reasons(const struct scoring *s);

/*
 * scoring_matrix -- the features of all trees.
 *   ops  with needs_bags only if there are bags
 *   x    out: (n_trees, cols), free(x->x)
 * An embedding that is not there is trained.
 * Returns 0, or ERR_RANGE when the matrix would take more than 4 GiB.
 */
int scoring_matrix(struct scoring *s, const struct feature_ops *ops, struct pool *pool,
                   struct matrix *x);

/* scoring_why_init -- to ask for reasons, until the forest changes; why_release. */
void scoring_why_init(const struct scoring *s, struct why *why);

/* scoring_why -- what makes tree t strange, in a sentence. O(vertices of the tree). */
void scoring_why(const struct scoring *s, struct why *why, uint32_t t, char out[WHY_SIZE]);

/* scoring_way -- in which way tree t is strange. */
struct way scoring_way(const struct scoring *s, struct why *why, uint32_t t);

/* scoring_why_of -- the same of the head of an incident: nothing is said of chance where the
 * incident is an anomaly by others that go back to it. */
void scoring_why_of(const struct scoring *s, struct why *why, uint32_t t, bool is_of_anomaly,
                    char out[WHY_SIZE]);

/* scoring_cause_of -- the same in short, see why_cause. */
void scoring_cause_of(const struct scoring *s, struct why *why, uint32_t t, bool is_of_anomaly,
                      char out[WHY_CAUSE_SIZE]);

/*
 * scorer -- a model of an earlier run (model_file.h), asked about forest after forest of this
 * one: the executions that a step of a running program has finished.
 *
 * The model has its own numbers for functions; those of the program are translated as they
 * appear, by name. Functions that the model has never seen are on paths it does not know. Names
 * that hold lines are other ones in another build: call_sites.h.
 */
struct scorer;

/* scorer_open -- out: NULL on failure. Returns 0 or as model_file_read. */
int scorer_open(const char *path, struct scorer **out);

/* scorer_close -- NULL is harmless. */
void scorer_close(struct scorer *scorer);

/* scorer_foi -- the full name of the function it is about. */
const char *scorer_foi(const struct scorer *scorer);

/* scorer_foi_among -- that function in a program, or NAMES_NONE. */
uint32_t scorer_foi_among(const struct scorer *scorer, const struct definitions *defs);

/*
 * scorer_judge -- all trees of a forest.
 *   forest  of that function; must outlive the calls of scorer_why
 *   defs    of its regions; from call to call they may only grow
 *   waits   of the forest's calls, asked by one thread
 *   out     scores and verdicts, until the next call
 * Returns 0 or as scoring_judge. O(vertices), see wl_init.
 */
int scorer_judge(struct scorer *scorer, const struct forest *forest,
                 const struct definitions *defs, struct own_waits waits,
                 const struct scoring **out);

/* scorer_why -- what makes tree t of that forest strange, in a sentence. */
void scorer_why(const struct scorer *scorer, uint32_t t, char out[WHY_SIZE]);

/*
 * scorer_excess -- what each call of tree t of that forest lost, as excess_lost.
 *   out  (vertices of t) ns
 */
void scorer_excess(const struct scorer *scorer, uint32_t t, double *out);

#endif
