/* The scores come from the database, everything else from the columns and the model. */
#include "analysis/ranking.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "detect/ocsvm.h"
#include "detect/rbf.h"
#include "detect/tails.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEARNER "reasons"
#define CALIBRATED "residual" /* the detector whose scores are in nats */

/* The detector's scores, and which of them it called anomalies; counts those. */
static int load_scores(sqlite3 *db, int64_t foi, double *score, bool *is_anomaly, uint32_t n,
                       uint32_t *n_anomalies)
{
    sqlite3_stmt *query = NULL;
    uint32_t t = 0;
    int rc = rundb_prepare(db,
                           "SELECT detector_score, detector_verdict = 'anomaly' FROM execution "
                           "WHERE foi = ? ORDER BY tree",
                           &query);

    *n_anomalies = 0;
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    while (rc == 0 && t < n && sqlite3_step(query) == SQLITE_ROW) {
        score[t] = sqlite3_column_double(query, 0);
        is_anomaly[t] = sqlite3_column_int(query, 1) != 0;
        *n_anomalies += is_anomaly[t++];
    }
    if (rc == 0 && t < n)
        rc = err_set(ERR_FORMAT, "damaged run: %u of %u executions have a score", t, n);
    sqlite3_finalize(query);
    return rc;
}

/*
 * The detector's scores as tail probabilities. Returns its threshold as one; where executions
 * were judged one by one without any (scoring_judge), one that leaves as many above.
 */
static double calibrate(struct ranking *r, const struct foi_settings *s, uint32_t n_anomalies)
{
    if (strcmp(s->detector, CALIBRATED) == 0) {
        memcpy(r->prior, r->detector, r->n * sizeof *r->prior);
        return isfinite(s->threshold) ? s->threshold
                                      : threshold_between(r->prior, r->n, n_anomalies);
    }
    tail_ranks(r->detector, r->n, r->prior);
    return -log((n_anomalies + 0.5) / r->n); /* between the last above and the first below */
}

/* What was said, or what the analysis had for the same vectors, or what suits them. */
static double choose_gamma(const struct ranking *r, const struct foi_settings *s,
                           const struct ranking_opts *opts)
{
    const struct stack2vec_opts *was = &s->learnt.embedding, *is = &r->work.embedding.opts;
    bool is_same = strcmp(s->features, r->features_name) == 0 && was->dims == is->dims &&
                   was->epochs == is->epochs && was->learning_rate == is->learning_rate &&
                   was->negatives == is->negatives;

    if (opts->gamma > 0)
        return opts->gamma;
    return is_same && s->learnt.gamma > 0 ? s->learnt.gamma : rbf_gamma(r->x);
}

static int describe(struct ranking *r, const struct learner_ops *ops,
                    const struct feature_ops *features, struct pool *pool)
{
    struct scoring *w = &r->work;
    struct reasons_input input = scoring_reasons(w);

    reasons_find(&r->reasons, &input, true);
    return ops->needs_matrix ? scoring_matrix(w, features, pool, &r->x) : 0;
}

int ranking_open(struct ranking *r, sqlite3 *db, const struct columns *columns,
                 const struct definitions *defs, int64_t foi, const struct ranking_opts *opts)
{
    const char *name = opts->learner ? opts->learner : DEFAULT_LEARNER;
    const struct learner_ops *ops = learner_find(name);
    const struct feature_ops *features;
    struct learner_input input = {.seed = opts->seed, .pool = opts->pool};
    struct foi_settings settings;
    uint32_t n_anomalies;
    int rc = foi_settings_load(db, foi, &settings);

    if (ops == NULL)
        return err_set(ERR_USAGE, "no such learner: '%s'", name);
    if (rc < 0)
        return rc;
    features = feature_find(opts->features ? opts->features : settings.features);
    if (features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'",
                       opts->features ? opts->features : settings.features);
    r->work.embedding.opts = opts->embedding;
    rc = run_scoring_load(&r->work, db, columns, defs, foi,
                          ops->needs_matrix && features->needs_bags);
    if (rc < 0)
        return rc;
    *r = (struct ranking){.foi = foi,
                          .n = r->work.forest.n_trees,
                          .learner_name = ops->name,
                          .features_name = ops->needs_matrix ? features->name : "residual",
                          .work = r->work};
    r->detector = mem_alloc(r->n, sizeof *r->detector);
    r->is_anomaly = mem_alloc(r->n, sizeof *r->is_anomaly);
    r->prior = mem_alloc(r->n, sizeof *r->prior);
    snprintf(r->detector_name, sizeof r->detector_name, "%.31s", settings.detector);
    rc = load_scores(db, foi, r->detector, r->is_anomaly, r->n, &n_anomalies);
    if (rc < 0)
        return rc;
    input.threshold = calibrate(r, &settings, n_anomalies);
    rc = describe(r, ops, features, opts->pool);
    if (rc == 0 && ops->needs_matrix) {
        input.gamma = r->learnt.gamma = choose_gamma(r, &settings, opts);
        input.nu = r->learnt.nu = opts->nu > 0 ? opts->nu : settings.learnt.nu;
    }
    r->learnt.embedding = r->work.embedding.opts;
    input.n = r->n;
    input.reasons = &r->reasons;
    input.x = r->x;
    input.prior = r->prior;
    input.is_anomaly = r->is_anomaly;
    return rc < 0 ? rc : learner_init(&r->learner, ops, &input);
}

void ranking_close(struct ranking *r)
{
    learner_release(&r->learner);
    reasons_release(&r->reasons);
    scoring_release(&r->work);
    free(r->x.x);
    free(r->detector);
    free(r->is_anomaly);
    free(r->prior);
    *r = (struct ranking){0};
}

double ranking_nu(const struct ranking *r)
{
    return r->learnt.nu > 0 ? r->learnt.nu : OCSVM_NU;
}
