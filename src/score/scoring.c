/*
 * The same steps whether the model is learnt or of another run; only who fills in differs.
 *
 * A scorer keeps the columns of a forest but for the regions, which are its model's.
 */
#include "score/scoring.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "detect/rbf.h"
#include "detect/residual_score.h"
#include "explain/cause.h"
#include "explain/excess.h"
#include "explain/waiting.h"
#include "explain/why.h"
#include "score/own_lost.h"
#include "score/patterns.h"
#include "trace/region_name.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_TIME_EVIDENCE log(20.0)
#define MIN_RARE_SHARE 0.5 /* of what it took more, in calls that others do not make */

/* ---------------------------------------------------------------------------------- scoring */

void scoring_release(struct scoring *s)
{
    forest_release(&s->forest);
    wl_release(&s->wl);
    residual_place_release(&s->place);
    residual_scores_release(&s->residual);
    if (s->by == NULL) {
        residual_release(&s->model);
        calibration_release(&s->calibration);
        stack2vec_release(&s->embedding);
    }
    free(s->measure);
    free(s->score);
    free(s->chance);
    free(s->is_anomaly);
    trace_view_release(&s->view);
    *s = (struct scoring){0};
}

/* ----------------------------------------------------------------------------- measuring */

static struct residual_input model_input(const struct scoring *s)
{
    return (struct residual_input){.forest = &s->forest,
                                   .wl = &s->wl,
                                   .defs = s->defs,
                                   .pool = s->pool,
                                   .paged = s->paged,
                                   .share = s->share};
}

static void measure(struct scoring *s)
{
    struct residual_input input = model_input(s);

    s->measure = mem_alloc(s->forest.n_trees, sizeof *s->measure);
    residual_measures(&s->model, &s->place, &input, s->measure);
    own_lost_find(s);
}

/* Of what executions like it take, it is not among the longest for nothing. */

/* An anomaly, as far as the evidence goes, and by what it took among others, or for calls that
 * these do not make. */
static bool is_strange_by_time(const struct scoring *s, uint32_t t)
{
    const struct residual_scores *scores = &s->residual;

    return scores->weight[t] >= s->calibration.strong && s->measure[t].loss.more_ns > 0 &&
           (scores->is_long[t] ||
            s->measure[t].rare * s->model.root_ns >=
                MIN_RARE_SHARE * (double)s->measure[t].loss.more_ns ||
            fmax(scores->value[PART_TIME][t], scores->value[PART_GROSS][t]) >=
                MIN_TIME_EVIDENCE);
}

/*
 * What an anomaly took more is lost, and so is what all took that were longer and are not so by
 * chance: of two executions with the same calls the longer one never lost less.
 */
static void find_losses(struct scoring *s)
{
    if (s->by == NULL) {
        s->model.loss_ratio = INFINITY;
        for (uint32_t t = 0; t < s->forest.n_trees; t++)
            if (is_strange_by_time(s, t))
                s->model.loss_ratio =
                    fmin(s->model.loss_ratio, residual_ratio(&s->measure[t].loss));
    }
    for (uint32_t t = 0; t < s->forest.n_trees; t++) {
        struct residual_loss *loss = &s->measure[t].loss;
        bool is_lost = is_strange_by_time(s, t) || residual_is_long(&s->model, loss);

        loss->ns = is_lost && s->measure[t].open_ns == 0 ? loss->more_ns : 0;
        if (s->measure[t].is_fill)
            loss->ns =
                (int64_t)fmin((double)loss->ns, llrint(s->measure[t].own * s->model.root_ns));
    }
}

/* What is no anomaly alone may be one with others of its location. share: NULL, or what says
 * how many trees the locations of all processes have. */
static void find_patterns(struct scoring *s, const struct tree_share *share)
{
    uint32_t n_trees = s->forest.n_trees, n_places = 0;
    uint32_t *n_here = mem_alloc(n_trees, sizeof *n_here); /* [n_places] */
    double *lost = mem_alloc(n_trees, sizeof *lost);
    bool *is_in = mem_alloc(n_trees, sizeof *is_in);
    double evidence = calibration_strong(&s->calibration, n_trees, PATTERN_FALSE_ALARMS);

    for (uint32_t l = 0; share && l < share->n_locations; l++)
        if (share->n_trees[l] > 0)
            n_here[n_places++] = share->n_trees[l];
    for (uint32_t t = 0; share == NULL && t < n_trees; t++) {
        n_places += t == 0 || s->forest.location[t] != s->forest.location[t - 1];
        n_here[n_places - 1]++;
    }
    for (uint32_t p = 0, t = 0; p < n_places; t += n_here[p++]) {
        for (uint32_t i = 0; i < n_here[p]; i++)
            lost[i] = residual_own(&s->measure[t + i]);
        patterns_find(lost, n_here[p], RESIDUAL_MIN_LOST, n_places, is_in);
        for (uint32_t i = 0; i < n_here[p]; i++)
            if (is_in[i])
                residual_score_raise(&s->calibration, &s->measure[t + i], t + i, evidence,
                                     &s->residual);
    }
    free(n_here);
    free(lost);
    free(is_in);
}

/* By the calibration that is there, or by one made of these trees. */
static void rate(struct scoring *s, const struct tree_share *share)
{
    if (s->by == NULL)
        calibration_fit(&s->calibration, s->measure, s->forest.n_trees, s->pool);
    residual_score(&s->calibration, s->measure, s->forest.n_trees, s->pool, &s->residual);
    if (s->by == NULL)
        find_patterns(s, share);
    find_losses(s);
}

void scoring_learn_part(struct scoring *s)
{
    struct residual_input input = model_input(s);

    wl_init(&s->wl, &s->forest, s->defs, false, s->pool);
    residual_fit(&s->model, &s->place, &input);
    measure(s);
}

void scoring_learn(struct scoring *s, bool with_bags)
{
    struct residual_input input = model_input(s);

    wl_init(&s->wl, &s->forest, s->defs, with_bags, s->pool);
    residual_fit(&s->model, &s->place, &input);
    measure(s);
    rate(s, NULL);
}

void scoring_measure(struct scoring *s, bool with_bags)
{
    struct residual_input input = model_input(s);

    wl_init(&s->wl, &s->forest, s->defs, with_bags, s->pool);
    residual_locate(&s->model, &s->place, &input);
    measure(s);
    rate(s, NULL);
}

static void borrow(struct scoring *s, const struct model *by)
{
    s->by = by;
    s->model = by->residual;
    s->calibration = by->calibration;
    if (by->embedding.n_words > 0)
        s->embedding = by->embedding;
}

void scoring_apply(struct scoring *s, const struct model *by, bool with_bags)
{
    borrow(s, by);
    scoring_measure(s, with_bags);
    for (uint32_t t = 0; t < s->forest.n_trees; t++) {
        uint64_t n_before = s->unseen.n_calls;

        for (uint32_t v = s->forest.first[t]; v < s->forest.first[t + 1]; v++)
            s->unseen.n_calls += residual_path(&s->place, &s->forest, t, v) == PATH_NONE;
        s->unseen.n_trees += s->unseen.n_calls > n_before;
    }
}

/* ------------------------------------------------------------------------------- features */

static struct feature_input input_of(struct scoring *s, struct pool *pool)
{
    return (struct feature_input){.forest = &s->forest,
                                  .defs = s->defs,
                                  .wl = &s->wl,
                                  .model = &s->model,
                                  .place = &s->place,
                                  .pool = pool,
                                  .embedding = &s->embedding,
                                  .unseen = &s->unseen.subtrees};
}

struct reasons_input scoring_reasons(const struct scoring *s)
{
    return (struct reasons_input){.forest = &s->forest,
                                  .model = &s->model,
                                  .place = &s->place,
                                  .measure = s->measure,
                                  .scores = &s->residual};
}

int scoring_matrix(struct scoring *s, const struct feature_ops *ops, struct pool *pool,
                   struct matrix *x)
{
    struct feature_input input = input_of(s, pool);
    bool has_embedding = s->embedding.n_words > 0;
    int rc = feature_matrix(ops, &input, x);

    s->is_embedding_new |= !has_embedding && s->embedding.n_words > 0;
    return rc;
}

/* -------------------------------------------------------------------------------- judging */

bool scoring_needs_bags(const struct scoring_opts *opts)
{
    return opts->detector->needs_matrix && opts->features->needs_bags;
}

static int score_by_detector(struct scoring *s, const struct scoring_opts *opts,
                             struct matrix x)
{
    struct detector_input input = {.x = x,
                                   .residual = &s->residual,
                                   .k = opts->k,
                                   .gamma = opts->gamma,
                                   .nu = opts->nu,
                                   .seed = opts->seed,
                                   .pool = opts->pool};

    if (opts->detector->needs_gamma)
        s->gamma = input.gamma = input.gamma > 0 ? input.gamma : rbf_gamma(x);
    return opts->detector->score(&input, s->forest.n_trees, s->score, &s->threshold);
}

/* What the model learnt from labels, on top of the detector's scores. */
static void correct(struct scoring *s, struct pool *pool)
{
    struct reasons_input input = scoring_reasons(s);
    struct reasons reasons;

    if (s->by == NULL || s->by->logit.n_cols == 0)
        return;
    reasons_find(&reasons, &input, false);
    logit_score(&s->by->logit, &reasons.rows, s->score, pool, s->score);
    reasons_release(&reasons);
}

/* By evidence, but where labels have moved the score. */
static bool is_strange(const struct scoring *s, uint32_t t)
{
    if (isfinite(s->threshold))
        return s->score[t] > s->threshold;
    return logit_verdict(s->residual.weight[t] >= s->strong, s->residual.score[t], s->score[t],
                         s->calibration.threshold);
}

/* It had not ended when the events of its rank ended, long before the run did. */
static bool never_ends(const struct scoring *s, uint32_t t)
{
    const struct residual_measure *m = &s->measure[t];

    return m->open_ns > 0 &&
           residual_never_ends((double)m->open_ns - 1, (double)m->loss.typical_ns,
                               (double)s->model.longest_ns);
}

/* The highest score, or 0. */
static double highest_score(const struct scoring *s)
{
    double highest = 0;

    for (uint32_t t = 0; t < s->forest.n_trees; t++)
        highest = fmax(highest, s->score[t]);
    return highest;
}

/* There is nothing stranger than an execution that does not end.
 *   highest  score of the run, of which these trees may be a part */
static void put_open_first(struct scoring *s, double highest)
{
    for (uint32_t t = 0; t < s->forest.n_trees; t++)
        if (never_ends(s, t)) {
            s->is_anomaly[t] = true;
            s->score[t] = highest + 1;
        }
}

static void decide(struct scoring *s, const struct scoring_opts *opts)
{
    /* of the run, of which these may be a part */
    uint32_t n_executions = s->share ? s->share->n_all : s->forest.n_trees;

    s->strong = opts->false_alarms > 0
                    ? calibration_strong(&s->calibration, n_executions, opts->false_alarms)
                    : s->calibration.strong;
    for (uint32_t t = 0; t < s->forest.n_trees; t++) {
        s->is_anomaly[t] = is_strange(s, t);
        s->score[t] += 0.0; /* there is no minus zero, as a database would not keep it */
        s->chance[t] = s->residual.chance[t];
    }
}

/* All but what does not end. */
static int judge(struct scoring *s, const struct scoring_opts *opts)
{
    struct matrix x = {0};
    int rc = 0;

    s->score = mem_alloc(s->forest.n_trees, sizeof *s->score);
    s->chance = mem_alloc(s->forest.n_trees, sizeof *s->chance);
    s->is_anomaly = mem_alloc(s->forest.n_trees, sizeof *s->is_anomaly);
    if (opts->detector->needs_matrix)
        rc = scoring_matrix(s, opts->features, opts->pool, &x);
    if (rc == 0 && s->by && s->by->svm.support.rows > 0) {
        s->threshold = s->by->threshold;
        s->gamma = s->by->svm.gamma;
        rc = ocsvm_model_score(&s->by->svm, x, opts->pool, s->score);
    } else if (rc == 0) {
        rc = score_by_detector(s, opts, x);
    }
    free(x.x);
    if (rc < 0)
        return rc;
    correct(s, opts->pool);
    if (!isnan(opts->threshold))
        s->threshold = opts->threshold;
    decide(s, opts);
    return 0;
}

int scoring_judge(struct scoring *s, const struct scoring_opts *opts)
{
    int rc = judge(s, opts);

    if (rc == 0)
        put_open_first(s, highest_score(s));
    return rc;
}

/* ---------------------------------------------------------------------------------- parts */

/* Vertices are numbered from the root on, as forests differ. */
static struct residual_measure *take_measures(const struct scoring *part)
{
    const struct forest *forest = &part->forest;
    struct residual_measure *own = mem_resize(NULL, forest->n_trees, sizeof *own);

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        own[t] = part->measure[t];
        own[t].rarest -= forest->first[t];
    }
    return tree_share_take(part->share, own, sizeof *own);
}

/* Of a column that the part keeps. */
static void *take(const struct scoring *part, const void *column, size_t width)
{
    size_t bytes = part->forest.n_trees * width;
    void *own = mem_resize(NULL, part->forest.n_trees, width);

    if (bytes > 0)
        memcpy(own, column, bytes);
    return tree_share_take(part->share, own, width);
}

/* What process 0 says of a tree to the process that has it. */
struct handed {
    double value[N_PARTS], evidence, chance;
    int64_t lost_ns;
    uint64_t is_anomaly;
};

static struct handed *pack_verdicts(const struct scoring *whole, uint32_t n)
{
    struct handed *all = mem_resize(NULL, n, sizeof *all);

    for (uint32_t t = 0; t < n; t++) {
        all[t] = (struct handed){.evidence = whole->residual.evidence[t],
                                 .chance = whole->chance[t],
                                 .lost_ns = whole->measure[t].loss.ns,
                                 .is_anomaly = whole->is_anomaly[t]};
        for (int p = 0; p < N_PARTS; p++)
            all[t].value[p] = whole->residual.value[p][t];
    }
    return all;
}

static void take_verdicts(struct scoring *part, const struct handed *own)
{
    uint32_t n = part->forest.n_trees;

    part->chance = mem_alloc(n, sizeof *part->chance);
    part->is_anomaly = mem_alloc(n, sizeof *part->is_anomaly);
    part->residual.evidence = mem_alloc(n, sizeof *part->residual.evidence);
    for (int p = 0; p < N_PARTS; p++)
        part->residual.value[p] = mem_alloc(n, sizeof *part->residual.value[p]);
    for (uint32_t t = 0; t < n; t++) {
        part->chance[t] = own[t].chance;
        part->measure[t].loss.ns = own[t].lost_ns;
        part->is_anomaly[t] = own[t].is_anomaly;
        part->residual.evidence[t] = own[t].evidence;
        for (int p = 0; p < N_PARTS; p++)
            part->residual.value[p][t] = own[t].value[p];
    }
}

static void hand_out(struct scoring *part, const struct scoring *whole)
{
    struct handed *own = mem_resize(NULL, part->forest.n_trees, sizeof *own);
    struct handed *all = whole ? pack_verdicts(whole, part->share->n_all) : NULL;
    double limit[4] = {0};

    if (whole) {
        limit[0] = whole->threshold;
        limit[1] = whole->strong;
        limit[2] = whole->calibration.strong;
        limit[3] = whole->model.loss_ratio;
    }
    tree_share_tell(part->share, limit, sizeof limit);
    part->threshold = limit[0];
    part->strong = limit[1];
    part->calibration.strong = limit[2];
    part->model.loss_ratio = limit[3];
    tree_share_hand_out(part->share, all, own, sizeof *own);
    take_verdicts(part, own);
    free(own);
    free(all);
}

int scoring_judge_parts(struct scoring *part, const struct scoring_opts *opts,
                        struct scoring *whole)
{
    struct residual_measure *measures = take_measures(part);
    int rc = 0;

    if (whole) {
        whole->measure = measures;
        whole->model.loss_z = part->model.loss_z; /* there is no more of that yet ... */
        whole->model.longest_ns = part->model.longest_ns;
        whole->model.root_ns = part->model.root_ns;
        whole->forest.n_trees = part->share->n_all; /* ... nor of this */
        rate(whole, part->share);
        rc = scoring_judge(whole, opts);
        whole->forest = (struct forest){0};
    }
    rc = process_group_agree(part->share->process_group, rc);
    if (rc == 0)
        hand_out(part, whole);
    return rc;
}

/* By the model of another run: process 0 gets what each has found of its own trees. */
static void gather(const struct scoring *part, struct scoring *whole)
{
    const struct residual_scores *own = &part->residual;
    struct residual_scores *all = &whole->residual;

    all->score = take(part, own->score, sizeof *own->score);
    all->part = take(part, own->part, sizeof *own->part);
    for (int p = 0; p < N_PARTS; p++)
        all->value[p] = take(part, own->value[p], sizeof *own->value[p]);
    all->is_by_tracer = take(part, own->is_by_tracer, sizeof *own->is_by_tracer);
    all->is_long = take(part, own->is_long, sizeof *own->is_long);
    all->evidence = take(part, own->evidence, sizeof *own->evidence);
    all->weight = take(part, own->weight, sizeof *own->weight);
    all->chance = take(part, own->chance, sizeof *own->chance);
    whole->score = take(part, part->score, sizeof *part->score);
    whole->chance = take(part, part->chance, sizeof *part->chance);
    whole->is_anomaly = take(part, part->is_anomaly, sizeof *part->is_anomaly);
    whole->measure = take_measures(part);
}

static void add_unseen(void *into, const void *from, size_t n)
{
    struct scoring_unseen *to = into;
    const struct scoring_unseen *more = from;

    for (size_t i = 0; i < n; i++) {
        to[i].n_calls += more[i].n_calls;
        to[i].n_trees += more[i].n_trees;
    }
}

static void take_higher(void *into, const void *from, size_t n)
{
    double *to = into;
    const double *other = from;

    for (size_t i = 0; i < n; i++)
        to[i] = fmax(to[i], other[i]);
}

int scoring_apply_part(struct scoring *part, const struct model *by,
                       const struct scoring_opts *opts, struct scoring *whole)
{
    struct scoring nobody = {0};
    double highest;
    int rc;

    scoring_apply(part, by, false);
    rc = process_group_agree(part->share->process_group, judge(part, opts));
    if (rc < 0)
        return rc;
    highest = highest_score(part);
    tree_share_add(part->share, &highest, 1, sizeof highest, take_higher);
    put_open_first(part, highest);
    gather(part, whole ? whole : &nobody); /* others than process 0 get NULL */
    tree_share_add(part->share, &part->unseen, 1, sizeof part->unseen, add_unseen);
    if (whole == NULL)
        return 0;
    borrow(whole, by);
    whole->unseen = part->unseen;
    whole->strong = part->strong;
    whole->threshold = part->threshold;
    return 0;
}

void scoring_take_model(struct scoring *whole, struct scoring *part)
{
    if (whole->by == NULL) {
        whole->model = part->model;
        part->model = (struct residual_model){0};
    }
    scoring_release(part);
}

void scoring_complete(struct scoring *whole)
{
    struct residual_input input = model_input(whole);

    wl_init(&whole->wl, &whole->forest, whole->defs, false, whole->pool);
    residual_locate(&whole->model, &whole->place, &input);
    for (uint32_t t = 0; t < whole->forest.n_trees; t++)
        whole->measure[t].rarest += whole->forest.first[t];
}

/* -------------------------------------------------------------------------------- reasons */

void scoring_why_init(const struct scoring *s, struct why *why)
{
    why_init(why, &s->model, &s->place, &s->forest, s->defs);
}

/* How many executions a run has that is like those the model was made from. */
static double executions_of_a_run(const struct scoring *s)
{
    return isfinite(s->calibration.strong) ? calibration_executions(&s->calibration)
                                           : s->model.n_trees;
}

/* Of what it lost enough would matter, if it were not for begins and ends that are estimates.
 */
static bool is_material(const struct residual_measure *m)
{
    return (m->sure_off > 0 && m->sure >= RESIDUAL_MIN_LOST) ||
           (m->gross_off > 0 && m->gross >= RESIDUAL_MIN_LOST);
}

/* What a sentence on tree t says beside what it measures. */
static struct why_verdict verdict_of(const struct scoring *s, uint32_t t, bool is_of_anomaly,
                                     double value[N_PARTS])
{
    /* that it is none itself does not speak against the anomaly that it is said of */
    bool is_judged = s->is_anomaly[t] || !is_of_anomaly;
    bool is_none = is_judged && !s->is_anomaly[t] && !isfinite(s->threshold);
    bool is_by_labels = is_none && s->by && s->residual.weight[t] >= s->strong;
    /* it would be an anomaly, were it for the time it lost; but what is known of that is too
     * little */
    bool is_short = is_none && !is_by_labels && s->residual.evidence[t] >= s->strong;

    for (int p = 0; p < N_PARTS; p++)
        value[p] = s->residual.value[p][t];
    return (struct why_verdict){
        .value = value,
        .is_anomaly = s->is_anomaly[t],
        .is_of_anomaly = is_of_anomaly,
        .is_open = never_ends(s, t),
        .is_slight = is_short && !is_material(&s->measure[t]),
        .is_recording = is_judged && !s->is_anomaly[t] && s->measure[t].is_recording,
        .is_unknown = is_short && is_material(&s->measure[t]),
        .is_by_labels = is_by_labels,
        .is_by_model = s->by != NULL,
        .min_lost = RESIDUAL_MIN_LOST,
        .expected =
            is_judged && !isfinite(s->threshold) ? s->chance[t] * executions_of_a_run(s) : NAN,
    };
}

void scoring_why_of(const struct scoring *s, struct why *why, uint32_t t, bool is_of_anomaly,
                    char out[WHY_SIZE])
{
    double value[N_PARTS];
    struct why_verdict verdict = verdict_of(s, t, is_of_anomaly, value);

    why_sentence(why, t, &s->measure[t], &verdict, out);
}

void scoring_cause_of(const struct scoring *s, struct why *why, uint32_t t, bool is_of_anomaly,
                      char out[WHY_CAUSE_SIZE])
{
    double value[N_PARTS];
    struct why_verdict verdict = verdict_of(s, t, is_of_anomaly, value);

    why_cause(why, t, &s->measure[t], &verdict, out);
}

struct way scoring_way(const struct scoring *s, struct why *why, uint32_t t)
{
    double value[N_PARTS];
    struct why_verdict verdict = verdict_of(s, t, false, value);

    return way_of(why, t, &s->measure[t], &verdict);
}

void scoring_why(const struct scoring *s, struct why *why, uint32_t t, char out[WHY_SIZE])
{
    scoring_why_of(s, why, t, false, out);
}

/* ---------------------------------------------------------------------- forest after forest */

struct scorer {
    struct model model;
    struct definitions defs; /* regions as the model numbers them, then what is new */
    uint32_t n_known;        /* of the model */
    uint32_t *to;            /* [n_to] region of the model for each of the program */
    uint32_t n_to;
    size_t to_cap;
    struct scoring_opts opts;

    struct scoring scoring; /* of the last forest, which is another's but for: */
    uint32_t *region;       /* [scoring.forest.n] */
    size_t region_cap;
};

int scorer_open(const char *path, struct scorer **out)
{
    struct scorer *s = mem_alloc(1, sizeof *s);
    uint32_t region;
    int rc = model_file_read(path, &s->model);

    *out = NULL;
    if (rc < 0) {
        scorer_close(s);
        return rc;
    }
    model_adopt(&s->model, &s->defs, &region);
    s->n_known = s->defs.names.n;
    s->opts = (struct scoring_opts){.detector = detector_find(s->model.detector),
                                    .features = feature_find(s->model.features),
                                    .threshold = NAN,
                                    .pool = pool_new(1)};
    assert(s->opts.detector && s->opts.features); /* as model_file_read has checked */
    *out = s;
    return 0;
}

static void forget_forest(struct scorer *s)
{
    s->scoring.forest = (struct forest){0};
    scoring_release(&s->scoring);
}

void scorer_close(struct scorer *s)
{
    if (s == NULL)
        return;
    forget_forest(s);
    free(s->region);
    free(s->to);
    if (s->opts.pool)
        pool_free(s->opts.pool);
    definitions_release(&s->defs);
    model_release(&s->model);
    free(s);
}

const char *scorer_foi(const struct scorer *s)
{
    return s->model.foi;
}

uint32_t scorer_foi_among(const struct scorer *s, const struct definitions *defs)
{
    return model_foi_among(&s->model, defs);
}

/* The same forest with the model's regions. */
static void translate(struct scorer *s, const struct forest *forest,
                      const struct definitions *defs)
{
    mem_grow(&s->to, &s->to_cap, defs->names.n);
    if (s->n_to < defs->names.n) /* which places are the same is seen when all are known */
        s->n_to = 0;
    for (; s->n_to < defs->names.n; s->n_to++) {
        uint32_t same =
            call_sites_same(&defs->names, defs->names.n, s->n_to, &s->defs.names, s->n_known);

        s->to[s->n_to] = same != NAMES_NONE
                             ? same
                             : definitions_region(&s->defs, defs->region[s->n_to].name);
    }
    mem_grow(&s->region, &s->region_cap, forest->n);
    for (uint32_t v = 0; v < forest->n; v++)
        s->region[v] = s->to[forest->region[v]];
    s->scoring.forest = *forest;
    s->scoring.forest.region = s->region;
}

int scorer_judge(struct scorer *s, const struct forest *forest, const struct definitions *defs,
                 struct own_waits waits, const struct scoring **out)
{
    forget_forest(s);
    s->scoring.defs = &s->defs;
    s->scoring.waits = waits;
    translate(s, forest, defs);
    scoring_apply(&s->scoring, &s->model, scoring_needs_bags(&s->opts));
    *out = &s->scoring;
    return scoring_judge(&s->scoring, &s->opts);
}

void scorer_why(const struct scorer *s, uint32_t t, char out[WHY_SIZE])
{
    struct why why;

    assert(t < s->scoring.forest.n_trees);
    scoring_why_init(&s->scoring, &why);
    scoring_why(&s->scoring, &why, t, out);
    why_release(&why);
}

void scorer_excess(const struct scorer *s, uint32_t t, double *out)
{
    struct why why;

    assert(t < s->scoring.forest.n_trees);
    scoring_why_init(&s->scoring, &why);
    excess_lost(&why, t, s->scoring.measure[t].loss.ns, out);
    why_release(&why);
}
