#include "cmd/report_runs.h"

#include "base/err.h"
#include "cmd/cmd_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/* main(wide(a b c) narrow): a, b and c together are seen, each alone is not. */
static json_t *sample_tree(void)
{
    json_t *tree = json_loads(
        "{\"foi\": \"main\", \"nodes\": ["
        "{\"name\": \"main\", \"path\": \"main\", \"parent\": null, \"time_ns\": [0, 100]},"
        "{\"name\": \"narrow\", \"path\": \"main > narrow\", \"parent\": 0, \"time_ns\": [9, "
        "9]},"
        "{\"name\": \"below\", \"path\": \"main > narrow > below\", \"parent\": 1,"
        " \"time_ns\": [0, 0]},"
        "{\"name\": \"wide\", \"path\": \"main > wide\", \"parent\": 0, \"time_ns\": [900, "
        "700]},"
        "{\"name\": \"a\", \"path\": \"main > wide > a\", \"parent\": 3, \"time_ns\": [30, "
        "40]},"
        "{\"name\": \"b\", \"path\": \"main > wide > b\", \"parent\": 3, \"time_ns\": [30, "
        "40]},"
        "{\"name\": \"c\", \"path\": \"main > wide > c\", \"parent\": 3, \"time_ns\": [31, "
        "111]}],"
        "\"kinds\": [{\"kind\": \"all\"}]}",
        0, NULL);

    assert_non_null(tree);
    return tree;
}

static json_int_t sum_of(const json_t *tree, size_t side)
{
    const json_t *node;
    json_int_t sum = 0;
    size_t i;

    json_array_foreach(json_object_get(tree, "nodes"), i, node) sum +=
        json_integer_value(json_array_get(json_object_get(node, "time_ns"), side));
    return sum;
}

static const char *text_of(const json_t *tree, size_t node, const char *field)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(tree, "nodes"), node), field));
}

static void narrow_paths_become_one_and_times_still_add_up(void **state)
{
    json_t *tree = sample_tree(), *more;

    (void)state;
    report_tree_prune(tree, 0.05);
    assert_int_equal(json_array_size(json_object_get(tree, "nodes")), 5);
    assert_string_equal(text_of(tree, 1, "name"), "wide");
    assert_string_equal(text_of(tree, 2, "name"), "c"); /* it is seen after */
    assert_string_equal(text_of(tree, 3, "name"), "2 more call paths");
    assert_string_equal(text_of(tree, 4, "name"), "2 more call paths");
    assert_null(text_of(tree, 0, "path"));
    assert_int_equal(sum_of(tree, 0), 1000);
    assert_int_equal(sum_of(tree, 1), 1000);
    more = json_array_get(json_object_get(tree, "nodes"), 4);
    assert_int_equal(json_integer_value(json_object_get(more, "parent")), 1);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(more, "time_ns"), 1)),
                     80);
    assert_int_equal(json_array_size(json_object_get(tree, "kinds")), 0);
    json_decref(tree);
}

static void what_lies_deep_is_drawn_together(void **state)
{
    json_t *tree = json_pack("{s:[], s:[]}", "nodes", "kinds");

    (void)state;
    for (int i = 0; i < 40; i++)
        json_array_append_new(json_object_get(tree, "nodes"),
                              json_pack("{s:s, s:o, s:[i, i]}", "name", "f", "parent",
                                        i ? json_integer(i - 1) : json_null(), "time_ns", 10,
                                        20));
    report_tree_prune(tree, 0.001);
    assert_in_range(json_array_size(json_object_get(tree, "nodes")), 10, 20);
    assert_int_equal(sum_of(tree, 0), 400);
    assert_int_equal(sum_of(tree, 1), 800);
    json_decref(tree);
}

/* Series of 40 runs; of the paths the i-th changes by change[i], none by 0. */
static void sample_trend(struct trend *t, struct trend_series *series,
                         struct change_point *change, const double *by, uint32_t n)
{
    static char names[16][32];
    static double ns[40];
    static struct history_run run[40];
    static struct history_tags tags[40];

    *t =
        (struct trend){.run = run, .tags = tags, .n_runs = 40, .series = series, .n_series = n};
    for (uint32_t i = 0; i < 40; i++)
        run[i] = (struct history_run){.id = i + 1, .source = "r.snag", .foi = "step"};
    for (uint32_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], i ? "step > f%u" : "step", i);
        change[i] = (struct change_point){.at = 20, .before = 100, .after = 100 + by[i]};
        series[i] = (struct trend_series){
            .path = names[i], .ns = ns, .change = &change[i], .n_changes = by[i] != 0};
    }
}

static void of_a_trend_the_whole_and_what_changed_most_are_drawn(void **state)
{
    static const double by[] = {0, 5, 0, -50, 20, 1, 30, 2, -3};
    enum { N = sizeof by / sizeof *by };
    struct trend_series series[N];
    struct change_point change[N];
    struct answers answers = {.json = NULL};
    uint32_t chosen[REPORT_MAX_SERIES];
    struct trend trend;
    const json_t *json;

    (void)state;
    sample_trend(&trend, series, change, by, N);
    assert_int_equal(report_add_trend(&answers, &trend, NULL, chosen), 5);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 3);
    assert_int_equal(chosen[2], 6);
    assert_int_equal(chosen[3], 4);
    assert_int_equal(chosen[4], 1);
    json = json_object_get(answers.json, REPORT_TREND_ADDRESS);
    assert_int_equal(json_array_size(json_object_get(json, "series")), 5);
    assert_int_equal(json_array_size(json_object_get(json, "runs")), 40);
    answers_close(&answers);

    assert_int_equal(report_add_trend(&answers, &trend, "step > f8", chosen), 2);
    assert_int_equal(chosen[1], 8);
    answers_close(&answers);

    answers.bytes = ANSWERS_MAX_BYTES;
    assert_int_equal(report_add_trend(&answers, &trend, NULL, chosen), 0);
    answers_close(&answers);
}

/* Of a run before less is kept than of the others. */
static void what_a_function_did_is_said_to_be_unknown_not_nothing(void **state)
{
    struct compare_function flush = {.own_ns = {NAN, 5e6},
                                     .critical_ns = {NAN, 5e6},
                                     .calls = {NAN, 7},
                                     .locations = {NAN, 1}};
    const char *name = "flush";
    char *text = NULL;
    struct comparison c = {.n_runs = {2, 1},
                           .run_ns = {1e9, 1e9},
                           .shown.shown = &name,
                           .function = &flush,
                           .n_functions = 1};
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    compare_print_html_tables(&c, 5, out);
    fclose(out);
    assert_non_null(strstr(text, "not known now 7"));
    assert_non_null(strstr(text, "added by an older snag"));
    assert_null(strstr(text, "nan"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_paths_become_one_and_times_still_add_up),
        cmocka_unit_test(what_lies_deep_is_drawn_together),
        cmocka_unit_test(of_a_trend_the_whole_and_what_changed_most_are_drawn),
        cmocka_unit_test(what_a_function_did_is_said_to_be_unknown_not_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
