/* A run with one slow step out of sixty on each of seven ranks, as lists, columns and trees. */
#include "base/err.h"

#include "sample_page.h"
#include "test.h"

#define N 420 /* executions */

static const char program[] = "synth:60*step(compute@1ms(a 3*b));ranks=7;jitter=0.05;"
                              "slow=compute/60/8";

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

static const char *text(const json_t *object, const char *field)
{
    return json_string_value(json_object_get(object, field));
}

/* ------------------------------------------------------------------------------- columns */

static void columns_are_of_all_executions_by_rank_then_time(void **state)
{
    struct sample_page *p = *state;
    uint32_t *rank, *index;
    double *enter, *leave, *duration;

    sample_page_ok(p, "/fois/1/columns?names=rank,index,enter_ns,exit_ns,duration_ns");
    rank = sample_page_column(p, "rank", "u32", N);
    index = sample_page_column(p, "index", "u32", N);
    enter = sample_page_column(p, "enter_ns", "f64", N);
    leave = sample_page_column(p, "exit_ns", "f64", N);
    duration = sample_page_column(p, "duration_ns", "f64", N);
    for (uint32_t t = 0; t < N; t++) {
        assert_int_equal(rank[t], t / 60);
        assert_int_equal(index[t], t % 60);
        assert_true(leave[t] - enter[t] == duration[t]);
        assert_true(t % 60 == 0 || enter[t] >= leave[t - 1]);
    }
    free(rank);
    free(index);
    free(enter);
    free(leave);
    free(duration);
}

static void an_answer_of_columns_is_another_one_after_a_label(void **state)
{
    struct sample_page *p = *state;
    char before[sizeof p->response.etag];

    sample_page_ok(p, "/fois/1/columns?names=label");
    memcpy(before, p->response.etag, sizeof before);
    sample_page_ok(p, "/fois/1/columns?names=label");
    assert_string_equal(p->response.etag, before);
    sample_page_ok(p, "/fois/1/columns?names=score");
    assert_string_not_equal(p->response.etag, before);
    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 5, \"label\": \"normal\"}]}"),
                     0);
    sample_page_ok(p, "/fois/1/columns?names=label");
    assert_string_not_equal(p->response.etag, before);
}

static void an_answer_of_columns_is_another_one_after_a_retrain_and_after_its_undo(void **state)
{
    struct sample_page *p = *state;
    char etag[3][sizeof p->response.etag];
    static const char *const post[] = {"labels", "retrain", "retrain/undo"};
    static const char *const body[] = {"{\"labels\": [{\"tree\": 5, \"label\": \"normal\"}]}",
                                       "{}", "{}"};

    for (int i = 0; i < 3; i++) {
        char path[64];

        snprintf(path, sizeof path, "/fois/1/%s", post[i]);
        assert_int_equal(sample_page_post(p, path, body[i]), 0);
        sample_page_ok(p, "/fois/1/columns?names=score");
        memcpy(etag[i], p->response.etag, sizeof etag[i]);
    }
    assert_string_not_equal(etag[0], etag[1]);
    assert_string_not_equal(etag[1], etag[2]);
}

static void a_column_that_there_is_none_of_is_not_found(void **state)
{
    struct sample_page *p = *state;

    sample_page_refused(p, "/fois/1/columns?names=nothing", ERR_NOT_FOUND,
                        "there is no column 'nothing'");
    sample_page_refused(p, "/fois/1/columns?names=tsne.x", ERR_NOT_FOUND,
                        "there is no column 'tsne.x'");
    sample_page_refused(p, "/fois/1/columns?names=tsne.z", ERR_NOT_FOUND,
                        "there is no column 'tsne.z'");
    sample_page_refused(p, "/fois/2/columns", ERR_NOT_FOUND,
                        "the run has no function of interest 2");
}

/* ---------------------------------------------------------------------------- candidates */

/* Their trees in order, to be freed; how many are in all of the list. */
static int64_t *candidates(struct sample_page *p, const char *query, size_t n, int64_t *total)
{
    char path[160];
    int64_t *tree = malloc((n + 1) * sizeof *tree);
    const json_t *items;

    snprintf(path, sizeof path, "/fois/1/candidates?%s", query);
    sample_page_ok(p, path);
    items = json_object_get(p->json, "items");
    assert_int_equal(json_array_size(items), n);
    for (size_t i = 0; i < n; i++)
        tree[i] = sample_page_number(json_array_get(items, i), "tree");
    *total = sample_page_number(p->json, "total");
    return tree;
}

/* A time that one execution of each rank has a part in: the page's list has these, and an incident of them. */
static void the_lists_are_of_a_time_when_they_are_asked_for_one(void **state)
{
    struct sample_page *p = *state;
    double *enter, *leave, begin, end;
    uint32_t expected = 0;
    int64_t total, *tree;
    char query[96], path[128];

    sample_page_ok(p, "/fois/1/columns?names=enter_ns,exit_ns");
    enter = sample_page_column(p, "enter_ns", "f64", N);
    leave = sample_page_column(p, "exit_ns", "f64", N);
    begin = enter[30] + 1;
    end = begin + 1;
    for (uint32_t t = 0; t < N; t++)
        expected += enter[t] < end && leave[t] > begin;
    assert_true(expected > 0 && expected <= N / 60);
    snprintf(query, sizeof query, "begin=%.0f&end=%.0f&limit=420", begin, end);
    tree = candidates(p, query, expected, &total);
    assert_int_equal(total, expected);
    for (uint32_t i = 0; i < expected; i++)
        assert_true(enter[tree[i]] < end && leave[tree[i]] > begin);
    free(tree);

    for (int i = 0; i < 2; i++) {
        static const char *const lists[] = {"incidents", "groups"};
        int64_t all;

        snprintf(path, sizeof path, "/fois/1/%s", lists[i]);
        sample_page_ok(p, path);
        all = sample_page_number(p->json, "total");
        assert_true(all > 0);
        snprintf(path, sizeof path, "/fois/1/%s?begin=0&end=1e15", lists[i]);
        sample_page_ok(p, path);
        assert_int_equal(sample_page_number(p->json, "total"), all);
        snprintf(path, sizeof path, "/fois/1/%s?begin=1e14&end=1e15", lists[i]);
        sample_page_ok(p, path);
        assert_int_equal(sample_page_number(p->json, "total"), 0);
        snprintf(path, sizeof path, "/fois/1/%s?begin=9&end=3", lists[i]);
        sample_page_refused(p, path, ERR_USAGE,
                            "the time ends before it begins: 'end' is above 'begin'");
    }
    free(enter);
    free(leave);
}

static void candidates_are_the_strangest_first(void **state)
{
    struct sample_page *p = *state;
    const json_t *items;
    double last = INFINITY;

    sample_page_ok(p, "/fois/1/candidates?limit=420");
    items = json_object_get(p->json, "items");
    assert_int_equal(json_array_size(items), N);
    for (size_t i = 0; i < N; i++) {
        const json_t *item = json_array_get(items, i);
        double score = json_number_value(json_object_get(item, "score"));

        assert_true(score <= last);
        assert_int_equal(sample_page_number(item, "rank_now"), i + 1);
        assert_int_equal(sample_page_number(item, "rank_before"), i + 1);
        assert_string_equal(text(item, "verdict_before"), text(item, "verdict"));
        assert_true(json_is_object(json_object_get(item, "sketch")) ||
                    json_is_array(json_object_get(item, "sketch")));
        last = score;
    }
    for (size_t i = 0; i < 7; i++) /* the slow one of each rank */
        assert_string_equal(text(json_array_get(items, i), "verdict"), "anomaly");
}

/* Rank 0 writes every 30th step, by plan, 3 ms each; once rank 1 takes 8 ms longer. */
static void what_comes_once_is_before_what_comes_by_plan_and_takes_less(void **state)
{
    struct sample_page p;
    const json_t *items;

    (void)state;
    sample_page_init(&p,
                     "synth:9*block(29*step(compute@1ms >1 <1) step(compute@1ms 0:write@3ms "
                     ">1 <1));ranks=2;jitter=0.02;slow=compute/200/9/1",
                     "step");
    sample_page_ok(&p, "/fois/1/incidents?verdict=anomaly");
    items = json_object_get(p.json, "items");
    assert_int_equal(json_array_size(items), 2);
    assert_int_equal(sample_page_number(json_array_get(items, 0), "turns"), 1);
    assert_int_equal(sample_page_number(json_array_get(items, 1), "turns"), 9);
    assert_true(sample_page_number(json_array_get(items, 0), "lost_ns") <
                sample_page_number(json_array_get(items, 1), "lost_ns"));
    sample_page_release(&p);
}

/* All slow steps are so in the same way; one post labels them, one undo takes that back. */
static void a_group_is_labelled_at_once(void **state)
{
    struct sample_page *p = *state;
    const json_t *group, *trees;
    json_t *labels = json_array();
    char *body, *text_of;
    size_t n;

    sample_page_ok(p, "/fois/1/groups");
    assert_int_equal(sample_page_number(p->json, "total"), 1);
    group = json_array_get(json_object_get(p->json, "items"), 0);
    trees = json_object_get(group, "member_trees");
    n = json_array_size(trees);
    assert_true(n > 1);
    assert_string_equal(text(group, "what"), "step > compute takes longer");
    for (size_t i = 0; i < n; i++)
        json_array_append_new(labels, json_pack("{s:I, s:s}", "tree",
                                                json_integer_value(json_array_get(trees, i)),
                                                "label", "abnormal"));
    text_of = json_dumps(labels, 0);
    body = malloc(strlen(text_of) + 32);
    sprintf(body, "{\"labels\": %s}", text_of);
    assert_int_equal(sample_page_post(p, "/fois/1/labels", body), 0);
    sample_page_ok(p, "/fois/1/groups?label=abnormal");
    group = json_array_get(json_object_get(p->json, "items"), 0);
    assert_int_equal(sample_page_number(group, "abnormal"), n);
    sample_page_ok(p, "/fois/1/groups?label=none");
    assert_int_equal(sample_page_number(p->json, "total"), 0);
    sample_page_ok(p, "/fois/1/groups?verdict=normal");
    assert_int_equal(sample_page_number(p->json, "total"), 0);
    assert_int_equal(sample_page_post(p, "/fois/1/undo", "{}"), 0);
    sample_page_ok(p, "/fois/1/groups?label=none");
    assert_int_equal(sample_page_number(p->json, "total"), 1);
    json_decref(labels);
    free(text_of);
    free(body);
}

static void pages_of_a_list_are_the_list(void **state)
{
    struct sample_page *p = *state;
    int64_t total, *all = candidates(p, "rank=3&limit=60", 60, &total);

    assert_int_equal(total, 60);
    for (int offset = 0; offset < 60; offset += 20) {
        char query[64];
        int64_t *page;

        snprintf(query, sizeof query, "rank=3&limit=20&offset=%d", offset);
        page = candidates(p, query, 20, &total);
        assert_int_equal(total, 60);
        assert_memory_equal(page, all + offset, 20 * sizeof *page);
        free(page);
    }
    free(candidates(p, "rank=3&offset=59", 1, &total));
    free(candidates(p, "rank=3&offset=60", 0, &total));
    assert_int_equal(total, 60);
    free(all);
}

static void candidates_are_chosen_by_label_and_verdict(void **state)
{
    struct sample_page *p = *state;
    int64_t total, n_anomalies, *tree;

    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 59, \"label\": \"abnormal\"}, "
                                      "{\"tree\": 3, \"label\": \"normal\"}]}"),
                     0);
    tree = candidates(p, "label=abnormal", 1, &total);
    assert_int_equal(tree[0], 59);
    free(tree);
    tree = candidates(p, "label=normal", 1, &total);
    assert_int_equal(tree[0], 3);
    free(tree);
    free(candidates(p, "label=none&limit=1", 1, &total));
    assert_int_equal(total, N - 2);
    free(candidates(p, "verdict=anomaly&limit=1", 1, &n_anomalies));
    free(candidates(p, "verdict=normal&limit=1", 1, &total));
    assert_int_equal(total, N - n_anomalies);
}

static void what_cannot_be_chosen_by_is_refused(void **state)
{
    struct sample_page *p = *state;

    sample_page_refused(p, "/fois/1/candidates?limit=1001", ERR_USAGE,
                        "'limit' takes a number from 0 to 1000, not '1001'");
    sample_page_refused(p, "/fois/1/candidates?label=maybe", ERR_USAGE,
                        "'label' takes abnormal, normal or none, not 'maybe'");
    sample_page_refused(p, "/fois/1/candidates?verdict=odd", ERR_USAGE,
                        "'verdict' takes anomaly, changed or normal, not 'odd'");
    sample_page_refused(p, "/fois/1/candidates?order=name", ERR_USAGE,
                        "'order' takes score or next, not 'name'");
}

static void what_to_ask_next_is_not_labelled_yet(void **state)
{
    struct sample_page *p = *state;
    const json_t *items, *item;
    size_t i;

    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 59, \"label\": \"normal\"}]}"),
                     0);
    sample_page_ok(p, "/fois/1/next?n=12");
    assert_int_equal(sample_page_number(p->json, "total"), N - 1);
    items = json_object_get(p->json, "items");
    assert_int_equal(json_array_size(items), 12);
    json_array_foreach(items, i, item)
    {
        assert_int_not_equal(sample_page_number(item, "tree"), 59);
    }
    sample_page_ok(p, "/fois/1/candidates?order=next&limit=3");
    assert_int_equal(json_array_size(json_object_get(p->json, "items")), 3);
}

/* ------------------------------------------------------------------------- one execution */

static void an_execution_says_where_it_stands(void **state)
{
    struct sample_page *p = *state;

    sample_page_ok(p, "/fois/1/executions/123");
    assert_string_equal(text(p->json, "id"), "#2-3");
    assert_int_equal(sample_page_number(p->json, "tree"), 123);
    assert_int_equal(sample_page_number(p->json, "location"), 2);
    assert_int_equal(sample_page_number(p->json, "of"), N);
    assert_int_equal(sample_page_number(p->json, "exit_ns"),
                     sample_page_number(p->json, "enter_ns") +
                         sample_page_number(p->json, "duration_ns"));
    assert_int_equal(sample_page_get(p, "/fois/1/executions/420"), ERR_NOT_FOUND);
    assert_int_equal(sample_page_get(p, "/fois/2/executions/1"), ERR_NOT_FOUND);
}

/* step( compute( a b b b ) ): paths, not calls. */
static void a_tree_has_its_call_paths_and_how_often_each_was_called(void **state)
{
    struct sample_page *p = *state;
    const json_t *nodes;
    int64_t n_calls = 0;

    sample_page_ok(p, "/fois/1/executions/123/tree");
    nodes = json_object_get(p->json, "nodes");
    assert_int_equal(json_array_size(nodes), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *node = json_array_get(nodes, i);

        n_calls += sample_page_number(node, "calls");
        assert_true(i == 0 || sample_page_number(node, "parent") < (int64_t)i);
    }
    assert_int_equal(n_calls, 6);
    sample_page_ok(p, "/fois/1/typical");
    assert_int_equal(json_array_size(json_object_get(p->json, "nodes")), 4);
    assert_int_equal(sample_page_get(p, "/fois/1/executions/420/tree"), ERR_NOT_FOUND);
    assert_int_equal(sample_page_get(p, "/fois/2/typical"), ERR_NOT_FOUND);
}

static void subtrees_are_those_of_at_least_the_threshold(void **state)
{
    struct sample_page *p = *state;
    const json_t *item;
    char path[96];
    size_t i;

    sample_page_ok(p, "/fois/1/candidates?limit=1");
    snprintf(path, sizeof path, "/fois/1/executions/%lld/subtrees?threshold=0.1",
             (long long)sample_page_number(json_array_get(json_object_get(p->json, "items"), 0),
                                           "tree"));
    sample_page_ok(p, path);
    json_array_foreach(json_object_get(p->json, "subtrees"), i, item)
    {
        assert_true(fabs(json_number_value(json_object_get(item, "importance"))) >= 0.1);
        assert_true(json_array_size(json_object_get(item, "vertices_here")) > 0);
    }
    assert_true(i > 0);
    sample_page_ok(p, "/fois/1/executions/59/subtrees?threshold=1000");
    sample_page_is(p, "{\"subtrees\": []}");
    assert_int_equal(sample_page_get(p, "/fois/1/executions/420/subtrees"), ERR_NOT_FOUND);
}

static void all_executions_are_a_file_with_a_line_for_each(void **state)
{
    struct sample_page *p = *state;
    size_t n_lines = 0;

    sample_page_ok(p, "/executions.csv?foi=1");
    assert_string_equal(p->response.download, "executions.csv");
    for (size_t i = 0; i < p->response.size; i++)
        n_lines += ((const char *)p->response.body)[i] == '\n';
    assert_int_equal(n_lines, N + 1);
    sample_page_refused(p, "/executions.csv?foi=x", ERR_USAGE,
                        "'foi' takes a number from 0 to 9007199254740991, not 'x'");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)
    const struct CMUnitTest tests[] = {
        TEST(columns_are_of_all_executions_by_rank_then_time),
        TEST(an_answer_of_columns_is_another_one_after_a_label),
        TEST(an_answer_of_columns_is_another_one_after_a_retrain_and_after_its_undo),
        TEST(a_column_that_there_is_none_of_is_not_found),
        TEST(the_lists_are_of_a_time_when_they_are_asked_for_one),
        TEST(candidates_are_the_strangest_first),
        cmocka_unit_test(what_comes_once_is_before_what_comes_by_plan_and_takes_less),
        TEST(a_group_is_labelled_at_once),
        TEST(pages_of_a_list_are_the_list),
        TEST(candidates_are_chosen_by_label_and_verdict),
        TEST(what_cannot_be_chosen_by_is_refused),
        TEST(what_to_ask_next_is_not_labelled_yet),
        TEST(an_execution_says_where_it_stands),
        TEST(a_tree_has_its_call_paths_and_how_often_each_was_called),
        TEST(subtrees_are_those_of_at_least_the_threshold),
        TEST(all_executions_are_a_file_with_a_line_for_each),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
