/* A run with one slow step out of sixty on each of seven ranks; a person says what they are. */
#include "base/err.h"
#include "run/rundb.h"

#include "sample_page.h"
#include "test.h"

static const char program[] = "synth:60*step(compute@1ms(a 3*b));ranks=7;jitter=0.05;"
                              "slow=compute/60/8";

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

static void ok(struct sample_page *p, const char *path, const char *body)
{
    assert_int_equal(sample_page_post(p, path, body), 0);
}

/* The scores that hold, to be freed. */
static float *scores(struct sample_page *p)
{
    assert_int_equal(sample_page_get(p, "/fois/1/columns?names=score"), 0);
    return sample_page_column(p, "score", "f32", 420);
}

/* -------------------------------------------------------------------------------- labels */

static void labels_are_listed_by_execution_with_their_author(void **state)
{
    struct sample_page *p = *state;

    ok(p, "/fois/1/labels",
       "{\"labels\": [{\"tree\": 62, \"label\": \"abnormal\"}, {\"tree\": 3, \"label\": "
       "\"normal\"}], \"author\": \"me\"}");
    sample_page_is(p, "{\"labels\": 2}");
    ok(p, "/fois/1/labels", "{\"labels\": [{\"tree\": 4, \"label\": \"normal\"}]}");
    assert_int_equal(sample_page_get(p, "/labels"), 0);
    for (size_t i = 0; i < json_array_size(p->json); i++)
        json_object_del(json_array_get(p->json, i), "at");
    sample_page_is(
        p, "[{\"foi\": 1, \"tree\": 3, \"id\": \"#0-3\", \"label\": \"normal\", \"author\": "
           "\"me\"},"
           " {\"foi\": 1, \"tree\": 4, \"id\": \"#0-4\", \"label\": \"normal\", \"author\": "
           "\"somebody\"},"
           " {\"foi\": 1, \"tree\": 62, \"id\": \"#1-2\", \"label\": \"abnormal\", \"author\": "
           "\"me\"}]");
    ok(p, "/fois/1/labels", "{\"labels\": [{\"tree\": 3, \"label\": \"clear\"}]}");
    assert_int_equal(sample_page_get(p, "/labels"), 0);
    assert_int_equal(json_array_size(p->json), 2);
}

static void labels_are_a_file_that_snag_label_reads(void **state)
{
    struct sample_page *p = *state;
    static const char expected[] = "id,label,author,at\n#6-59,abnormal,\"a, b\",";

    ok(p, "/fois/1/labels",
       "{\"labels\": [{\"tree\": 419, \"label\": \"abnormal\"}], \"author\": \"a, b\"}");
    assert_int_equal(sample_page_get(p, "/labels.csv"), 0);
    assert_string_equal(p->response.download, "labels.csv");
    assert_memory_equal(p->response.body, expected, sizeof expected - 1);
}

static void one_wrong_label_and_none_is_taken(void **state)
{
    struct sample_page *p = *state;

    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 1, \"label\": \"normal\"}, "
                                      "{\"tree\": 420, \"label\": \"normal\"}]}"),
                     ERR_USAGE);
    assert_string_equal(err_message(), "no execution has the tree 420");
    assert_int_equal(sample_page_post(p, "/fois/2/labels", "{\"labels\": []}"), ERR_NOT_FOUND);
    assert_int_equal(sample_page_get(p, "/labels"), 0);
    sample_page_is(p, "[]");
}

/* ------------------------------------------------------------------------------ learning */

static void a_retrain_says_what_it_learnt_from_and_whose_verdict_changed(void **state)
{
    struct sample_page *p = *state;
    const json_t *change;
    size_t i;

    ok(p, "/fois/1/labels", "{\"labels\": [{\"tree\": 59, \"label\": \"normal\"}]}");
    ok(p, "/fois/1/retrain", "{\"learner\": \"reasons\", \"author\": \"me\"}");
    assert_int_equal(json_integer_value(json_object_get(p->json, "retrain")), 1);
    assert_int_equal(json_integer_value(json_object_get(p->json, "abnormal")), 0);
    assert_int_equal(json_integer_value(json_object_get(p->json, "normal")), 1);
    assert_true(json_integer_value(json_object_get(p->json, "n_changes")) > 0);
    json_array_foreach(json_object_get(p->json, "changes"), i, change)
    {
        assert_string_equal(json_string_value(json_object_get(change, "verdict")), "normal");
    }
    assert_int_equal(i, json_integer_value(json_object_get(p->json, "n_changes")));
    assert_int_equal(sample_page_get(p, "/fois/1/retrains"), 0);
    assert_int_equal(json_array_size(p->json), 1);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(p->json, 0), "author")), "me");
}

static void what_labels_changed_is_a_list(void **state)
{
    struct sample_page *p = *state;
    const json_t *item;
    int64_t n_changes;
    size_t i;

    ok(p, "/fois/1/labels", "{\"labels\": [{\"tree\": 59, \"label\": \"normal\"}]}");
    ok(p, "/fois/1/retrain", "{}");
    n_changes = sample_page_number(p->json, "n_changes");
    sample_page_ok(p, "/fois/1/candidates?verdict=changed&limit=420");
    assert_int_equal(sample_page_number(p->json, "total"), n_changes);
    json_array_foreach(json_object_get(p->json, "items"), i, item)
    {
        assert_string_equal(json_string_value(json_object_get(item, "verdict")), "normal");
        assert_string_equal(json_string_value(json_object_get(item, "verdict_before")),
                            "anomaly");
    }
    assert_int_equal(i, n_changes);
    sample_page_refused(p, "/fois/1/incidents?verdict=changed", ERR_USAGE,
                        "'verdict' takes anomaly or normal, not 'changed'");
    ok(p, "/fois/1/retrain/undo", "{}");
    sample_page_ok(p, "/fois/1/candidates?verdict=changed");
    assert_int_equal(sample_page_number(p->json, "total"), 0);
}

static void an_undo_gives_back_the_detectors_scores_once(void **state)
{
    struct sample_page *p = *state;
    float *at_first = scores(p), *learnt, *undone;

    ok(p, "/fois/1/labels", "{\"labels\": [{\"tree\": 59, \"label\": \"normal\"}]}");
    ok(p, "/fois/1/retrain", "{}");
    learnt = scores(p);
    assert_memory_not_equal(learnt, at_first, 420 * sizeof *learnt);
    ok(p, "/fois/1/retrain/undo", "{}");
    assert_int_equal(json_integer_value(json_object_get(p->json, "retrain")), 0);
    undone = scores(p);
    assert_memory_equal(undone, at_first, 420 * sizeof *undone);
    assert_int_equal(sample_page_post(p, "/fois/1/retrain/undo", "{}"), ERR_NOT_FOUND);
    free(at_first);
    free(learnt);
    free(undone);
}

/* As snag retrain --learner ocsvm --gamma 40 does. */
static void retrain_with_gamma(struct sample_page *p, double gamma)
{
    struct pool *pool = pool_new(1);
    struct ranking r = {.foi = 0};
    struct retrain_result result;
    const struct ranking_opts opts = {
        .learner = "ocsvm", .gamma = gamma, .seed = 1, .pool = pool};

    assert_int_equal(
        ranking_open(&r, p->worker.db, &p->served.run.columns, &p->served.run.defs, 1, &opts),
        0);
    assert_int_equal(retrain_run(p->worker.db, &r, "me", &result), 0);
    free(result.change);
    ranking_close(&r);
    pool_free(pool);
    worker_forget(&p->worker);
}

static void an_undo_ranks_as_the_retrain_before_did_with_all_that_was_said_of_it(void **state)
{
    struct sample_page *p = *state;
    float *before, *undone;

    ok(p, "/fois/1/labels",
       "{\"labels\": [{\"tree\": 59, \"label\": \"abnormal\"}, {\"tree\": 5, \"label\": "
       "\"normal\"}]}");
    retrain_with_gamma(p, 40);
    before = scores(p);
    ok(p, "/fois/1/retrain", "{\"learner\": \"ocsvm\"}");
    ok(p, "/fois/1/retrain/undo", "{}");
    undone = scores(p);
    assert_memory_equal(undone, before, 420 * sizeof *undone);
    free(before);
    free(undone);
}

static void what_is_said_wrongly_is_refused(void **state)
{
    struct sample_page *p = *state;

    assert_int_equal(sample_page_post(p, "/fois/1/retrain", "{\"learner\": \"none\"}"),
                     ERR_USAGE);
    assert_string_equal(err_message(), "no such learner");
    assert_int_equal(sample_page_post(p, "/fois/1/retrain", "{\"author\": 7}"), ERR_USAGE);
    assert_string_equal(err_message(), "'author' takes a text of up to 200 bytes");
    assert_int_equal(sample_page_post(p, "/fois/2/retrain", "{}"), ERR_NOT_FOUND);
    assert_int_equal(sample_page_get(p, "/fois/2/retrains"), ERR_NOT_FOUND);
}

/* Of two labels the execution of one cannot be read. */
static void a_list_that_ends_by_an_error_is_none(void **state)
{
    static const char damaged[] =
        "CREATE TEMP VIEW execution AS SELECT foi, rank, thread, idx, CASE WHEN tree = 62 THEN "
        "abs(-9223372036854775807 - 1) ELSE tree END AS tree FROM main.execution";
    struct sample_page *p = *state;

    ok(p, "/fois/1/labels",
       "{\"labels\": [{\"tree\": 62, \"label\": \"abnormal\"}, {\"tree\": 3, \"label\": "
       "\"normal\"}]}");
    assert_int_equal(sqlite3_exec(p->worker.db, damaged, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sample_page_get(p, "/labels"), ERR_DATABASE);
    assert_string_equal(err_message(), "cannot read the labels: integer overflow");
    assert_int_equal(sample_page_get(p, "/labels.csv"), ERR_DATABASE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)
    const struct CMUnitTest tests[] = {
        TEST(labels_are_listed_by_execution_with_their_author),
        TEST(labels_are_a_file_that_snag_label_reads),
        TEST(one_wrong_label_and_none_is_taken),
        TEST(a_retrain_says_what_it_learnt_from_and_whose_verdict_changed),
        TEST(what_labels_changed_is_a_list),
        TEST(an_undo_gives_back_the_detectors_scores_once),
        TEST(an_undo_ranks_as_the_retrain_before_did_with_all_that_was_said_of_it),
        TEST(what_is_said_wrongly_is_refused),
        TEST(a_list_that_ends_by_an_error_is_none),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
