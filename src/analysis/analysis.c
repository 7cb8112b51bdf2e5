/*
 * Stages in the order of the pipeline, each timed. What one stage needed and the next does not
 * is released at once: a forest may be most of the run.
 */
#include "analysis/analysis.h"

#include "analysis/analysis_crew.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/idmap.h"
#include "base/progress.h"

#define MAX_WHOLE (1u << 20) /* vertices that are made again at a time */

/* One function of interest on its way through the stages. */
struct analysis {
    const struct analysis_opts *opts;
    struct scoring_opts scoring_opts;
    struct scoring scoring;
};

static int choose(struct analysis *a)
{
    const struct analysis_opts *opts = a->opts;
    const struct model *model = opts->model;
    const char *features = model ? model->features : opts->features;
    const char *detector = model ? model->detector : opts->detector;

    features = features ? features : SCORING_DEFAULT;
    detector = detector ? detector : SCORING_DEFAULT;
    a->scoring_opts = (struct scoring_opts){.detector = detector_find(detector),
                                            .features = feature_find(features),
                                            .k = opts->k,
                                            .threshold = opts->threshold,
                                            .false_alarms = opts->false_alarms,
                                            .gamma = opts->gamma,
                                            .nu = opts->nu,
                                            .seed = opts->seed,
                                            .pool = opts->pool};
    if (a->scoring_opts.features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'", features);
    if (a->scoring_opts.detector == NULL)
        return err_set(ERR_USAGE, "no such detector: '%s'", detector);
    a->scoring.embedding.opts = stack2vec_default();
    a->scoring.embedding.opts.seed = opts->seed;
    stack2vec_override(&a->scoring.embedding.opts, &opts->embedding);
    return stack2vec_check(&a->scoring.embedding.opts);
}

/* --------------------------------------------------------------------------------- public */

/* What trees as they were recorded have that they do not have without the tracer. */
static void count_whole(const struct scoring *w, struct forest *whole, struct idmap *subtrees,
                        struct analysis_result *result)
{
    uint32_t depth = forest_depth(whole, NULL, whole->n_trees);
    struct wl wl;

    wl_init(&wl, whole, w->defs, false, NULL);
    for (uint32_t i = 0; i < wl.vocab.label.n; i++)
        if (idmap_find(&w->wl.vocab.label, wl.vocab.label.key[i]) == IDMAP_NONE)
            idmap_add(subtrees, wl.vocab.label.key[i]);
    result->max_depth = depth > result->max_depth ? depth : result->max_depth;
    wl_release(&wl);
    forest_release(whole);
}

/*
 * What the tracer did is in none of the measures; but the numbers that describe the trees are
 * of all that is in the trace. Trees that have any of it are made again as they are there, some
 * at a time.
 */
static void count_tracer(const struct analysis *a, const struct columns *columns,
                         struct analysis_result *result)
{
    const struct scoring *w = &a->scoring;
    struct forest whole = {0};
    struct idmap subtrees = {0};

    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        uint32_t n = forest_n_rows(&w->forest, t);
        struct call_view calls;

        if (n == w->forest.first[t + 1] - w->forest.first[t])
            continue;
        calls = columns_view(columns, w->forest.location[t]);
        forest_of_call(&whole, w->forest.location[t], &calls, w->forest.call[t], NULL);
        result->n_vertices += n - (w->forest.first[t + 1] - w->forest.first[t]);
        if (whole.n >= MAX_WHOLE)
            count_whole(w, &whole, &subtrees, result);
    }
    if (whole.n_trees > 0)
        count_whole(w, &whole, &subtrees, result);
    result->n_subtrees += subtrees.n;
    idmap_release(&subtrees);
}

static void summarize(const struct analysis *a, struct analysis_result *result)
{
    const struct scoring *w = &a->scoring;

    result->n_trees = w->forest.n_trees;
    result->n_vertices = w->forest.n;
    result->max_depth = forest_depth(&w->forest, w->wl.kinds.first, w->wl.kinds.n);
    result->n_subtrees = w->wl.vocab.label.n;
    result->gamma = w->gamma;
    result->unseen = w->unseen;
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        result->n_messages += w->forest.n_messages[t];
        result->n_anomalies += w->is_anomaly[t];
    }
}

/* Alone: all executions are here. */
static int learn_and_judge(struct analysis *a, const struct columns *columns,
                           const struct definitions *defs, uint32_t region,
                           struct analysis_result *result)
{
    struct scoring *scoring = &a->scoring;
    uint64_t begin = clock_ns(), forest_at, features_at;
    int rc = run_scoring_collect(scoring, columns, defs, region);

    if (rc < 0)
        return rc;
    forest_at = clock_ns();
    if (a->opts->model)
        scoring_apply(scoring, a->opts->model, scoring_needs_bags(&a->scoring_opts));
    else
        scoring_learn(scoring, scoring_needs_bags(&a->scoring_opts));
    features_at = clock_ns();
    rc = scoring_judge(scoring, &a->scoring_opts);
    result->forest_ns = forest_at - begin;
    result->features_ns = features_at - forest_at;
    result->detect_ns = clock_ns() - features_at;
    return rc;
}

/* With others; then this process has all that it needs to go on alone. */
static int learn_together(struct analysis *a, const struct columns *columns,
                          const struct definitions *defs, uint32_t region,
                          struct sentences *sentences, struct analysis_result *result)
{
    struct scoring *scoring = &a->scoring;
    uint64_t begin = clock_ns(), features_at;
    int rc = analysis_crew_lead(a->opts->crew, columns, defs, region, &a->scoring_opts, scoring,
                                sentences);

    features_at = clock_ns();
    if (rc == 0)
        rc = run_scoring_collect(scoring, columns, defs, region);
    if (rc == 0)
        scoring_complete(scoring);
    result->features_ns = features_at - begin;
    result->forest_ns = clock_ns() - features_at;
    return rc;
}

int analysis_run(const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 const struct analysis_sink *sink, struct analysis_result *result)
{
    struct analysis a = {
        .opts = opts, .scoring.pool = opts->pool, .scoring.paged = opts->paged};
    struct sentences sentences = {0};
    struct analysed analysed = {.foi = foi,
                                .columns = columns,
                                .scoring = &a.scoring,
                                .opts = &a.scoring_opts,
                                .result = result};
    uint64_t begin;
    int rc = choose(&a);

    *result = (struct analysis_result){0};
    if (rc == 0 && opts->crew && !a.scoring_opts.detector->needs_matrix) {
        analysed.sentences = &sentences;
        rc = learn_together(&a, columns, defs, foi->region, &sentences, result);
    } else if (rc == 0) {
        rc = learn_and_judge(&a, columns, defs, foi->region, result);
    }
    begin = clock_ns();
    if (rc == 0) {
        summarize(&a, result);
        count_tracer(&a, columns, result);
        rc = sink->take(sink->ctx, &analysed);
    }
    result->store_ns = clock_ns() - begin;
    sentences_release(&sentences);
    scoring_release(&a.scoring);
    return rc;
}
