/*
 * work -- all that is known about the executions of one function of interest: their forest,
 * the labels of its subtrees, the residual model, and what each tree measures by it.
 *
 * A new analysis learns the model from the forest (work_forest, work_fit). Whoever goes on with
 * a finished run, to train or to project, gets the same from its directory (work_load): the
 * forest is built again from the columns and found in the model that is kept there.
 */
#ifndef SNAG_ANALYSIS_WORK_H
#define SNAG_ANALYSIS_WORK_H

#include "base/matrix.h"
#include "base/pool.h"
#include "detect/residual_score.h"
#include "features/features.h"
#include "features/residual.h"
#include "features/wl.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

struct work {
    const struct definitions *defs; /* not its own */
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure *measure; /* [forest.n_trees] */
    struct yardstick yardstick;       /* what they are compared with */
    struct residual_scores residual;  /* [forest.n_trees] */
    struct stack2vec embedding;       /* nothing but its options until there is a need for it */
    bool is_embedding_new;            /* trained by work_matrix, and not kept anywhere yet */
    struct stack2vec_unseen unseen;   /* what it did not know, when it was not */
};

void work_release(struct work *w);

/*
 * work_forest -- the executions of a function; nothing but the forest is set.
 *   w     zeroed
 *   defs  regions as in the columns; must outlive w
 * Returns 0, ERR_NOT_FOUND when the function is never called, or ERR_RANGE. O(calls).
 */
int work_forest(struct work *w, const struct columns *columns, const struct definitions *defs,
                uint32_t region);

/*
 * work_fit -- label the forest, learn the model from it, measure every tree.
 *   with_bags  for features that need wl.bags
 * O(vertices), see wl_init and residual_fit.
 */
void work_fit(struct work *w, bool with_bags);

/* What a model did not know of the executions it was applied to. */
struct work_unseen {
    uint64_t n_calls; /* on call paths the model does not have */
    uint32_t n_trees; /* executions with such calls */
};

/*
 * work_apply -- label the forest and measure every tree by what was learnt from another run.
 *   model, yardstick  numbered as in w->defs; they are moved into w
 *   with_bags         as above
 *   unseen            out
 * Costs as work_fit.
 */
void work_apply(struct work *w, struct residual_model *model, struct yardstick *yardstick,
                bool with_bags, struct work_unseen *unseen);

/*
 * work_load -- what a finished run knows about one of its functions of interest.
 *   w          zeroed, but for what was said of embedding.opts (stack2vec_override); the
 *              analysis's hold for the rest. Release it in any case
 *   db         the run's; its columns and definitions (run_summary_definitions) go with it
 *   foi        id in table foi; tree t of the forest is its execution (foi, tree = t)
 *   with_bags  as above
 * The measures are those of the analysis. Returns 0, ERR_NOT_FOUND, ERR_FORMAT when the columns
 * or the model do not fit the database, or ERR_DATABASE. As long as work_forest and work_fit.
 */
int work_load(struct work *w, sqlite3 *db, const struct columns *columns,
              const struct definitions *defs, int64_t foi, bool with_bags);

/* work_input -- what features are made from. */
struct feature_input work_input(struct work *w, struct pool *pool);

/*
 * work_matrix -- the features of all trees.
 *   ops  with needs_bags only if the work has bags
 *   x    out: (n_trees, cols), free(x->x)
 * An embedding that the work does not have is trained.
 * Returns 0, or ERR_RANGE when the matrix would take more than 4 GiB.
 */
int work_matrix(struct work *w, const struct feature_ops *ops, struct pool *pool,
                struct matrix *x);

#endif
