/* Sixty steps on each of seven ranks, of which a sink is told; it writes down what it is given.
 */
#include "analysis/analysis.h"

#include "analysis/run_model.h"
#include "base/err.h"

#include "sample_run.h"
#include "test.h"

/* step
 *  |-- compute -- a, b, b, b
 *  `-- a message to the next rank, one from that before */
static const char program[] =
    "synth:60*step(compute@1ms(a 3*b) >1 <1);ranks=7;jitter=0.05;slow=compute/60/8";

/* What a sink was told: copies, as the rest is gone when it returns. */
struct told {
    unsigned n;
    int answer; /* what the sink returns */
    int64_t foi;
    char name[16], features[16], detector[16];
    uint32_t n_trees, n_vertices, n_anomalies;
    double *score; /* [n_trees] */
    struct analysis_result result;
};

static int take(void *ctx, const struct analysed *found)
{
    const struct scoring *w = found->scoring;
    struct told *told = ctx;

    told->n++;
    told->foi = found->foi->id;
    snprintf(told->name, sizeof told->name, "%s", found->foi->name);
    snprintf(told->features, sizeof told->features, "%s", found->opts->features->name);
    snprintf(told->detector, sizeof told->detector, "%s", found->opts->detector->name);
    told->n_trees = w->forest.n_trees;
    told->n_vertices = w->forest.n;
    told->n_anomalies = 0;
    free(told->score);
    told->score = malloc(w->forest.n_trees * sizeof *told->score);
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        told->score[t] = w->score[t];
        told->n_anomalies += w->is_anomaly[t];
    }
    told->result = *found->result;
    return told->answer;
}

struct fixture {
    struct sample_run run;
    struct told told;
    struct analysis_result result;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    sample_run_init(&f->run, program, "step", NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->told.score);
    sample_run_release(&f->run);
    free(f);
    return 0;
}

static int analyse(struct fixture *f, struct analysis_opts opts)
{
    const struct analysis_sink sink = {take, &f->told};

    opts.pool = f->run.pool;
    return analysis_run(&f->run.columns, &f->run.source.defs, &f->run.foi, &opts, &sink,
                        &f->result);
}

static void a_sink_is_told_once_of_all_that_was_found(void **state)
{
    struct fixture *f = *state;
    const struct told *told = &f->told;

    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN}), 0);
    assert_int_equal(told->n, 1);
    assert_int_equal(told->foi, 1);
    assert_string_equal(told->name, "step");
    assert_string_equal(told->features, "residual");
    assert_string_equal(told->detector, "residual");
    assert_int_equal(told->n_trees, 60 * 7);
    assert_int_equal(f->result.n_trees, 60 * 7);
    assert_int_equal(f->result.n_vertices, told->n_vertices);
    assert_int_equal(f->result.n_anomalies, told->n_anomalies);
    assert_true(told->n_anomalies >= 7);
    assert_int_equal(f->result.n_messages, 2 * 60 * 7);
    assert_true(f->result.gamma == 0);
    assert_int_equal(told->result.n_trees, f->result.n_trees);
    assert_int_equal(told->result.n_messages, f->result.n_messages);
    assert_int_equal(told->result.store_ns, 0);
}

/* Of each step one, of each of its calls one, and of those of b three. */
static void vertices_and_depth_are_those_of_the_trees(void **state)
{
    struct fixture *f = *state;
    uint32_t n_leaves = 0;

    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN}), 0);
    for (uint32_t l = 0; l < f->run.columns.n_locations; l++)
        n_leaves += columns_view(&f->run.columns, l).n;
    assert_int_equal(f->result.n_vertices, n_leaves); /* nothing is outside of a step */
    assert_int_equal(f->result.max_depth, 3);
}

static void with_a_threshold_the_anomalies_are_those_above_it(void **state)
{
    struct fixture *f = *state;
    uint32_t n_above = 0;

    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = 5}), 0);
    for (uint32_t t = 0; t < f->told.n_trees; t++)
        n_above += f->told.score[t] > 5;
    assert_int_equal(f->result.n_anomalies, n_above);
    assert_true(n_above > 0);
    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = 1e9}), 0);
    assert_int_equal(f->result.n_anomalies, 0);
}

/* Also of those that waited for others. */
static void by_a_model_of_the_same_run_the_scores_are_the_same(void **state)
{
    struct fixture *f = *state;
    struct run run = {.db = f->run.db, .columns = f->run.columns, .defs = f->run.source.defs};
    const struct ranking_opts opts = {.seed = 1, .pool = f->run.pool};
    struct model model;
    uint32_t n_left_out;
    double *learnt;

    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN}), 0);
    learnt = f->told.score;
    f->told.score = NULL;
    assert_int_equal(run_model_make(&run, 1, &opts, &model, &n_left_out), 0);
    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN, .model = &model}), 0);
    for (uint32_t t = 0; t < f->told.n_trees; t++)
        assert_true(f->told.score[t] == learnt[t]);
    assert_int_equal(f->result.unseen.n_trees, 0);
    model_release(&model);
    free(learnt);
}

static void what_the_sink_cannot_take_fails_the_analysis(void **state)
{
    struct fixture *f = *state;

    f->told.answer = err_set(ERR_IO, "the sink is full");
    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN}), ERR_IO);
    assert_string_equal(err_message(), "the sink is full");
    assert_int_equal(f->told.n, 1);
}

static void what_cannot_be_analysed_is_told_to_no_sink(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(analyse(f, (struct analysis_opts){.features = "smell"}), ERR_USAGE);
    assert_string_equal(
        err_message(),
        "no such features: 'smell'; there are residual, time, subtrees, stack2vec");
    assert_int_equal(analyse(f, (struct analysis_opts){.detector = "nose"}), ERR_USAGE);
    assert_string_equal(
        err_message(),
        "no such detector: 'nose'; there are residual, ocsvm, lof, knn, iforest");
    assert_int_equal(
        analyse(f, (struct analysis_opts){.embedding = {.dims = STACK2VEC_MAX_DIMS + 1}}),
        ERR_RANGE);
    f->run.foi.region = definitions_region(&f->run.source.defs, "never");
    assert_int_equal(analyse(f, (struct analysis_opts){.threshold = NAN}), ERR_NOT_FOUND);
    assert_int_equal(f->told.n, 0);
    assert_int_equal(f->result.n_trees, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_sink_is_told_once_of_all_that_was_found),
        TEST(vertices_and_depth_are_those_of_the_trees),
        TEST(with_a_threshold_the_anomalies_are_those_above_it),
        TEST(by_a_model_of_the_same_run_the_scores_are_the_same),
        TEST(what_the_sink_cannot_take_fails_the_analysis),
        TEST(what_cannot_be_analysed_is_told_to_no_sink),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
