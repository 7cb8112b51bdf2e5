/* The stages of an analysis with a model, on the forest of a step. */
#include "live/tree_model.h"

#include "base/mem.h"
#include "base/pool.h"
#include "features/residual_rows.h"
#include "learn/model_file.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tree_model {
    struct model model;
    struct definitions defs; /* regions as the model numbers them, then what is new */
    uint32_t *to;            /* [n_to] region of the model for each of the stream */
    uint32_t n_to;
    size_t to_cap;
    const struct feature_ops *features; /* of the SVM */
    struct pool *pool;

    /* Of the forest that was scored last. */
    struct forest forest; /* another's, but for the regions */
    size_t region_cap;
    struct wl wl;
    struct residual_place place;
    struct residual_measure *measure; /* [n_trees] */
    struct residual_scores residual;
    double *score; /* [n_trees] */
};

int tree_model_open(const char *path, struct tree_model **out)
{
    struct tree_model *m = mem_alloc(1, sizeof *m);
    uint32_t region;
    int rc = model_file_read(path, &m->model);

    *out = NULL;
    if (rc < 0) {
        tree_model_close(m);
        return rc;
    }
    model_adopt(&m->model, &m->defs, &region);
    m->features = feature_find(m->model.features);
    m->pool = pool_new(1);
    *out = m;
    return 0;
}

static void forget_forest(struct tree_model *m)
{
    wl_release(&m->wl);
    residual_place_release(&m->place);
    residual_scores_release(&m->residual);
    free(m->measure);
    free(m->score);
    m->measure = NULL;
    m->score = NULL;
}

void tree_model_close(struct tree_model *m)
{
    if (m == NULL)
        return;
    forget_forest(m);
    free(m->forest.region);
    free(m->to);
    pool_free(m->pool);
    definitions_release(&m->defs);
    model_release(&m->model);
    free(m);
}

const char *tree_model_foi(const struct tree_model *m)
{
    return m->model.foi;
}

/* The same forest with the model's regions. */
static void translate(struct tree_model *m, const struct forest *forest,
                      const struct definitions *defs)
{
    uint32_t *region = m->forest.region;

    mem_grow(&m->to, &m->to_cap, defs->names.n, sizeof *m->to);
    for (; m->n_to < defs->names.n; m->n_to++)
        m->to[m->n_to] = definitions_region(&m->defs, defs->region[m->n_to].name);
    mem_grow(&region, &m->region_cap, forest->n, sizeof *region);
    for (uint32_t v = 0; v < forest->n; v++)
        region[v] = m->to[forest->region[v]];
    m->forest = *forest;
    m->forest.region = region;
}

static bool has_svm(const struct tree_model *m)
{
    return m->model.svm.support.rows > 0;
}

static struct feature_input input_of(struct tree_model *m, struct stack2vec_unseen *unseen)
{
    return (struct feature_input){.forest = &m->forest,
                                  .defs = &m->defs,
                                  .wl = &m->wl,
                                  .model = &m->model.residual,
                                  .place = &m->place,
                                  .pool = m->pool,
                                  .embedding = &m->model.embedding,
                                  .unseen = unseen};
}

static int score_by_svm(struct tree_model *m)
{
    struct stack2vec_unseen unseen;
    struct feature_input input = input_of(m, &unseen);
    struct matrix x = {0};
    int rc = feature_matrix(m->features, &input, &x);

    if (rc == 0)
        rc = ocsvm_model_score(&m->model.svm, x, m->pool, m->score);
    free(x.x);
    return rc;
}

/* What the model learnt from labels, on top of the detector's scores. */
static void correct(struct tree_model *m)
{
    struct stack2vec_unseen unseen;
    struct feature_input input = input_of(m, &unseen);
    struct rows rows;

    if (m->model.gp.points.n == 0)
        return;
    residual_rows(&input, m->score, &rows);
    gp_score(&m->model.gp, &rows, m->score, m->pool, m->score);
    rows_release(&rows);
}

int tree_model_score(struct tree_model *m, const struct forest *forest,
                     const struct definitions *defs)
{
    const struct residual_model *residual = &m->model.residual;
    bool with_bags = has_svm(m) && m->features->needs_bags;
    uint32_t n = forest->n_trees;
    int rc = 0;

    forget_forest(m);
    translate(m, forest, defs);
    wl_init(&m->wl, &m->forest, &m->defs, with_bags);
    residual_locate(residual, &m->place, &m->forest, &m->wl.vocab, m->wl.complete, &m->defs);
    m->measure = mem_alloc(n, sizeof *m->measure);
    residual_measures(residual, &m->place, &m->forest, m->measure);
    residual_score(&m->model.yardstick, false, m->measure, n, &m->residual);
    m->score = mem_alloc(n, sizeof *m->score);
    if (has_svm(m))
        rc = score_by_svm(m);
    else
        memcpy(m->score, m->residual.score, n * sizeof *m->score);
    if (rc == 0)
        correct(m);
    return rc;
}

double tree_model_score_of(const struct tree_model *m, uint32_t t)
{
    return m->score[t];
}

double tree_model_threshold(const struct tree_model *m)
{
    return has_svm(m) ? m->model.threshold : m->model.yardstick.threshold;
}

bool tree_model_is_anomaly(const struct tree_model *m, uint32_t t)
{
    double threshold = tree_model_threshold(m);

    return isfinite(threshold) ? m->score[t] > threshold
                               : m->residual.evidence[t] >= RESIDUAL_STRONG;
}

void tree_model_why(struct tree_model *m, uint32_t t, char out[WHY_SIZE])
{
    double value[N_PARTS];
    struct why why;

    assert(t < m->forest.n_trees);
    for (int p = 0; p < N_PARTS; p++)
        value[p] = m->residual.value[p][t];
    why_init(&why, &m->model.residual, &m->place, &m->forest, &m->defs);
    why_sentence(&why, t, &m->measure[t], value, out);
    why_release(&why);
}
