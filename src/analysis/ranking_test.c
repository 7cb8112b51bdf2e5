/* A run with one slow step out of sixty on each of seven ranks, made ready to be ranked anew.
 */
#include "analysis/retrain.h"

#include "base/err.h"
#include "detect/rbf.h"
#include "run/rundb.h"

#include "sample_run.h"
#include "test.h"

#define N 420 /* executions */

static const char program[] = "synth:60*step(compute@1ms(a 3*b));ranks=7;jitter=0.05;"
                              "slow=compute/60/8";

static int open_ranking(struct sample_run *run, struct ranking_opts opts, struct ranking *r)
{
    opts.seed = 1;
    opts.pool = run->pool;
    *r = (struct ranking){.foi = 0};
    return ranking_open(r, run->db, &run->columns, &run->source.defs, 1, &opts);
}

static int set_up(void **state)
{
    struct sample_run *run = calloc(1, sizeof *run);

    sample_run_init(run, program, "step", NULL);
    *state = run;
    return 0;
}

static int tear_down(void **state)
{
    sample_run_release(*state);
    free(*state);
    return 0;
}

static void the_detectors_scores_are_as_stored_and_where_to_start_from(void **state)
{
    struct sample_run *run = *state;
    struct ranking r;
    sqlite3_stmt *query;
    uint32_t t = 0;

    assert_int_equal(open_ranking(run, (struct ranking_opts){.learner = NULL}, &r), 0);
    assert_int_equal(r.n, N);
    assert_string_equal(r.learner_name, "reasons");
    assert_string_equal(r.features_name, "residual");
    assert_string_equal(r.detector_name, "residual");
    assert_memory_equal(r.prior, r.detector, N * sizeof *r.prior);
    assert_int_equal(rundb_prepare(run->db,
                                   "SELECT score, verdict = 'anomaly' FROM execution "
                                   "ORDER BY tree",
                                   &query),
                     0);
    for (; sqlite3_step(query) == SQLITE_ROW; t++) {
        assert_true(r.detector[t] == sqlite3_column_double(query, 0));
        assert_int_equal(r.is_anomaly[t], sqlite3_column_int(query, 1));
    }
    assert_int_equal(t, N);
    sqlite3_finalize(query);
    ranking_close(&r);
}

/* In nats: of n scores the k-th highest has the tail k/n, so that order and number stay. */
static void scores_of_a_detector_that_is_not_calibrated_become_tails(void **state)
{
    const struct analysis_opts knn = {.detector = "knn", .threshold = NAN, .seed = 1};
    struct sample_run run;
    struct ranking r;

    (void)state;
    sample_run_init(&run, program, "step", &knn);
    assert_int_equal(open_ranking(&run, (struct ranking_opts){.learner = "reasons"}, &r), 0);
    assert_string_equal(r.detector_name, "knn");
    for (uint32_t t = 1; t < N; t++) {
        assert_true(r.prior[t] >= 0 && r.prior[t] <= log(N) + 1e-9);
        assert_true((r.detector[t] > r.detector[0]) == (r.prior[t] > r.prior[0]));
    }
    ranking_close(&r);
    sample_run_release(&run);
}

static void without_a_label_the_detectors_verdicts_hold(void **state)
{
    static const char *const detectors[] = {"residual", "knn", "iforest"};
    static const signed char no_label[N];

    (void)state;
    for (size_t d = 0; d < sizeof detectors / sizeof *detectors; d++) {
        const struct analysis_opts opts = {
            .detector = detectors[d], .threshold = NAN, .seed = 1};
        struct sample_run run;
        struct ranking r;
        double score[N], threshold;
        bool is_anomaly[N];

        sample_run_init(&run, program, "step", &opts);
        assert_int_equal(open_ranking(&run, (struct ranking_opts){.learner = "reasons"}, &r),
                         0);
        assert_int_equal(learner_rank(&r.learner, no_label, score, is_anomaly, &threshold), 0);
        assert_memory_equal(is_anomaly, r.is_anomaly, sizeof is_anomaly);
        ranking_close(&r);
        sample_run_release(&run);
    }
}

static void gamma_is_what_was_said_else_of_the_analysis_else_of_the_data(void **state)
{
    const struct analysis_opts ocsvm = {
        .detector = "ocsvm", .threshold = NAN, .gamma = 0.75, .seed = 1};
    const struct ranking_opts plain = {.learner = "ocsvm"},
                              said = {.learner = "ocsvm", .gamma = 3},
                              other = {.learner = "ocsvm", .features = "subtrees"};
    struct sample_run run;
    struct ranking r;

    assert_int_equal(open_ranking(*state, plain, &r), 0); /* no kernel was used there */
    assert_true(r.learnt.gamma == rbf_gamma(r.x));
    ranking_close(&r);
    sample_run_init(&run, program, "step", &ocsvm);
    assert_int_equal(open_ranking(&run, plain, &r), 0);
    assert_true(r.learnt.gamma == 0.75);
    ranking_close(&r);
    assert_int_equal(open_ranking(&run, said, &r), 0);
    assert_true(r.learnt.gamma == 3);
    ranking_close(&r);
    assert_int_equal(open_ranking(&run, other, &r), 0); /* other vectors: other distances */
    assert_string_equal(r.features_name, "subtrees");
    assert_true(r.learnt.gamma == rbf_gamma(r.x));
    ranking_close(&r);
    sample_run_release(&run);
}

static void what_there_is_none_of_is_refused(void **state)
{
    struct sample_run *run = *state;
    struct ranking r;

    assert_int_equal(open_ranking(run, (struct ranking_opts){.learner = "parrot"}, &r),
                     ERR_USAGE);
    assert_string_equal(err_message(), "no such learner: 'parrot'; there are reasons, ocsvm");
    ranking_close(&r);
    assert_int_equal(open_ranking(run, (struct ranking_opts){.features = "smell"}, &r),
                     ERR_USAGE);
    assert_string_equal(
        err_message(),
        "no such features: 'smell'; there are residual, time, subtrees, stack2vec");
    ranking_close(&r);
    assert_int_equal(ranking_open(&r, run->db, &run->columns, &run->source.defs, 2,
                                  &(struct ranking_opts){.pool = run->pool}),
                     ERR_NOT_FOUND);
    ranking_close(&r);
}

static void a_run_without_all_its_scores_is_damaged(void **state)
{
    struct sample_run *run = *state;
    struct ranking r;

    assert_int_equal(rundb_exec(run->db, "DELETE FROM execution WHERE tree = 77"), 0);
    assert_int_equal(open_ranking(run, (struct ranking_opts){.learner = NULL}, &r), ERR_FORMAT);
    assert_string_equal(err_message(), "damaged run: 419 of 420 executions have a score");
    ranking_close(&r);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_detectors_scores_are_as_stored_and_where_to_start_from),
        TEST(scores_of_a_detector_that_is_not_calibrated_become_tails),
        TEST(without_a_label_the_detectors_verdicts_hold),
        TEST(gamma_is_what_was_said_else_of_the_analysis_else_of_the_data),
        TEST(what_there_is_none_of_is_refused),
        TEST(a_run_without_all_its_scores_is_damaged),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
