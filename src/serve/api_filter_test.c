/* One filter for lists, points, sums, functions and maps, on a run of which it is known by hand
 * what passes. */
#include "base/err.h"

#include "sample_page.h"
#include "test.h"

/*
 *            step 30        step 61        step 92         3 ranks, 123 steps of 2 ms each
 *   rank 0   waits          waits          waits
 *   rank 1   a +10 ms       a +10 ms       waits
 *   rank 2   waits          waits          b +5 ms         at the end of each all meet
 */
#define STEPS "30*step(a@1ms b@1ms |) "
#define LATE_A "step(0:a@1ms 1:a@11ms 2:a@1ms b@1ms |) "
#define LATE_B "step(a@1ms 0:b@1ms 1:b@1ms 2:b@6ms |) "
static const char program[] =
    "synth:main(" STEPS LATE_A STEPS LATE_A STEPS LATE_B STEPS ");ranks=3";

#define N (3 * 123)           /* executions */
#define LATE_BEGIN "60500000" /* of step 30, in ns ... */
#define LATE_END "71000000"   /* ... 12 ms from 60 ms on: within it */

static int set_up(void **state)
{
    int rc = sample_page_begin(state, program, "step");
    struct sample_page *p = *state;
    struct location *location = p->served.run.defs.location;

    /* a sentence has no nodes */
    location[0].node = location[1].node = "left";
    location[2].node = "right";
    return rc;
}

static int64_t total(struct sample_page *p, const char *list, const char *filter)
{
    char path[256];

    snprintf(path, sizeof path, "/fois/1/%s?%s", list, filter);
    sample_page_ok(p, path);
    return sample_page_number(p->json, "total");
}

/* What is measured of a function, or NULL. */
static const json_t *measured(struct sample_page *p, const char *filter, const char *function)
{
    int64_t region = sample_page_region(p, function);
    const json_t *items;
    char path[256];

    snprintf(path, sizeof path, "/fois/1/measure?%s", filter);
    sample_page_ok(p, path);
    items = json_object_get(p->json, "items");
    for (size_t i = 0; i < json_array_size(items); i++)
        if (sample_page_number(json_array_get(items, i), "region") == region)
            return json_array_get(items, i);
    return NULL;
}

/* ------------------------------------------------------------------------------ why */

static void a_function_leaves_what_was_strange_there(void **state)
{
    struct sample_page *p = *state;
    const json_t *items;

    assert_int_equal(total(p, "candidates", "function=a"), 2);
    items = json_object_get(p->json, "items");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(sample_page_number(json_array_get(items, i), "rank"), 1);
    assert_int_equal(total(p, "candidates", "function=b"), 1);
    assert_int_equal(total(p, "groups", "function=a"), 1);
    assert_int_equal(total(p, "causes", "function=a"), 1);
    assert_int_equal(total(p, "incidents", "function=a"), 2);
    assert_int_equal(total(p, "incidents", "function=b"), 1);
    assert_int_equal(total(p, "incidents", "verdict=anomaly"), 3);
}

/* The same two incidents waited on rank 2: their reason is still that of their heads. */
static void an_incident_has_the_reason_of_its_head_and_the_places_of_all(void **state)
{
    struct sample_page *p = *state;

    assert_int_equal(total(p, "incidents", "function=a&rank=2"), 2);
    assert_int_equal(total(p, "candidates", "function=a&rank=2"), 0);
    assert_int_equal(total(p, "candidates", "kind=mpi"), 6);
    assert_int_equal(total(p, "incidents", "kind=mpi"), 0);
    assert_int_equal(total(p, "incidents", "kind=work"), 3);
    assert_int_equal(total(p, "candidates", "kind=work"), 3);
    assert_int_equal(total(p, "candidates", "kind=work&function=b"), 1);
    assert_int_equal(total(p, "candidates", "kind=less"), 0);
    sample_page_refused(p, "/fois/1/candidates?kind=odd", ERR_USAGE,
                        "'kind' takes work, mpi, barrier, all, less, calls or open, not 'odd'");
}

static void what_there_is_to_filter_by_is_counted(void **state)
{
    struct sample_page *p = *state;

    sample_page_ok(p, "/fois/1/choices");
    sample_page_is(p, "{\"functions\": [{\"name\": \"a\", \"place\": null, \"executions\": 2},"
                      "{\"name\": \"b\", \"place\": null, \"executions\": 1}],"
                      "\"kinds\": [{\"kind\": \"work\", \"executions\": 3},"
                      "{\"kind\": \"mpi\", \"executions\": 6}]}");
}

/* --------------------------------------------------------------------------- where and when */

static void a_node_leaves_what_ran_there(void **state)
{
    struct sample_page *p = *state;

    assert_int_equal(total(p, "candidates", "node=right"), 123);
    assert_int_equal(total(p, "candidates", "node=left"), 246);
    assert_int_equal(total(p, "candidates", "node=left&rank=2"), 0);
    assert_int_equal(total(p, "incidents", "node=right&function=b"), 1);
    assert_int_equal(total(p, "groups", "node=right"), 2); /* b, and who waited */
}

static void names_that_the_run_does_not_have_leave_nothing(void **state)
{
    static const char *const filters[] = {"node=nowhere", "function=nothing", "rank=99"};
    static const char *const lists[] = {"candidates", "causes", "incidents", "groups"};
    struct sample_page *p = *state;

    for (size_t f = 0; f < 3; f++)
        for (size_t l = 0; l < 4; l++)
            assert_int_equal(total(p, lists[l], filters[f]), 0);
}

/* --------------------------------------------------------------------------- the other views */

static void points_are_those_of_the_list_for_every_filter(void **state)
{
    static const char *const filters[] = {
        "",
        "rank=1",
        "node=left",
        "function=a",
        "kind=mpi",
        "label=none",
        "verdict=anomaly",
        "verdict=normal",
        "verdict=changed",
        "label=abnormal",
        "begin=" LATE_BEGIN "&end=" LATE_END,
        "begin=" LATE_BEGIN "&end=" LATE_END "&rank=1&verdict=anomaly",
        "node=right&kind=work",
    };
    struct sample_page *p = *state;

    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 5, \"label\": \"abnormal\"}]}"),
                     0);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        int64_t listed = total(p, "candidates", filters[i]), n = 0;
        double *executions, sum = 0;
        unsigned char *passes;
        char path[256];

        snprintf(path, sizeof path, "/fois/1/passing?%s", filters[i]);
        sample_page_ok(p, path);
        passes = sample_page_column(p, "passes", "u8", N);
        executions = sample_page_column(p, "executions", "f64", 3);
        for (uint32_t t = 0; t < N; t++)
            n += passes[t];
        for (uint32_t l = 0; l < 3; l++)
            sum += executions[l];
        assert_int_equal(n, listed);
        assert_int_equal(sum, listed);
        free(passes);
        free(executions);
    }
    assert_int_equal(total(p, "candidates", "label=abnormal"), 1);
    assert_int_equal(total(p, "candidates", filters[10]), 3);
}

static void sums_are_of_what_passes_location_by_location(void **state)
{
    struct sample_page *p = *state;
    double *anomalies, *lost, *duration;

    sample_page_ok(p, "/fois/1/passing?function=a");
    anomalies = sample_page_column(p, "anomalies", "f64", 3);
    lost = sample_page_column(p, "lost_ns", "f64", 3);
    duration = sample_page_column(p, "duration_ns", "f64", 3);
    assert_int_equal(anomalies[1], 2);
    assert_in_range((uint64_t)lost[1], 19900000, 20100000);
    assert_in_range((uint64_t)duration[1], 23900000, 24100000);
    for (uint32_t l = 0; l < 3; l += 2)
        assert_true(anomalies[l] == 0 && lost[l] == 0 && duration[l] == 0);
    free(anomalies);
    free(lost);
    free(duration);
}

static void functions_are_those_in_what_passes(void **state)
{
    struct sample_page *p = *state;
    const json_t *a = measured(p, "function=a", "a");

    assert_true(json_is_true(json_object_get(p->json, "is_of_executions")));
    assert_int_equal(sample_page_number(a, "calls"), 2);
    assert_int_equal(sample_page_number(a, "total_ns"), 22000000);
    assert_int_equal(sample_page_number(measured(p, "function=a", "step"), "calls"), 2);
    assert_null(measured(p, "function=a", "main"));
    assert_int_equal(sample_page_number(measured(p, "verdict=normal", "a"), "calls") +
                         sample_page_number(measured(p, "verdict=anomaly", "a"), "calls"),
                     N);
    /* where and when alone leave all that ran there and then, outside of executions too */
    assert_int_equal(sample_page_number(measured(p, "rank=1", "main"), "calls"), 1);
    assert_true(json_is_false(json_object_get(p->json, "is_of_executions")));
    assert_int_equal(sample_page_number(measured(p, "node=left", "a"), "calls"), 246);
    assert_int_equal(sample_page_number(measured(p, "", "a"), "calls"), N);
}

/* a lasts from 60 to 71 ms there; all of the time that is asked for is within it. */
static void functions_are_cut_to_the_time(void **state)
{
    static const char *const filters[] = {
        "rank=1&begin=" LATE_BEGIN "&end=" LATE_END,
        "function=a&begin=" LATE_BEGIN "&end=" LATE_END,
    };
    struct sample_page *p = *state;

    for (size_t i = 0; i < 2; i++) {
        const json_t *a = measured(p, filters[i], "a");

        assert_int_equal(sample_page_number(a, "calls"), 1);
        assert_int_equal(sample_page_number(a, "total_ns"), 10500000);
        assert_null(measured(p, filters[i], "b"));
    }
}

static void the_map_is_of_what_passes_in_its_time(void **state)
{
    static const char *const filters[] = {"of=lost&function=a", "of=cost&kind=work",
                                          "of=lost&node=right",
                                          "of=lost&begin=" LATE_BEGIN "&end=" LATE_END};
    static const bool lane_has[][3] = {{0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 1, 1}};
    struct sample_page *p = *state;

    for (size_t i = 0; i < 4; i++) {
        char path[256];
        double *lost;

        snprintf(path, sizeof path, "/fois/1/map?%s", filters[i]);
        sample_page_ok(p, path);
        lost = sample_page_column(p, "total_ns", "f64", 3);
        for (uint32_t l = 0; l < 3; l++)
            assert_true(lane_has[i][l] ? lost[l] > 0 : lost[l] == 0);
        if (i == 3) /* 10.5 of the 12 ms over which it lost 10 */
            assert_in_range((uint64_t)lost[1], 8600000, 8900000);
        free(lost);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_function_leaves_what_was_strange_there),
        TEST(an_incident_has_the_reason_of_its_head_and_the_places_of_all),
        TEST(what_there_is_to_filter_by_is_counted),
        TEST(a_node_leaves_what_ran_there),
        TEST(names_that_the_run_does_not_have_leave_nothing),
        TEST(points_are_those_of_the_list_for_every_filter),
        TEST(sums_are_of_what_passes_location_by_location),
        TEST(functions_are_those_in_what_passes),
        TEST(functions_are_cut_to_the_time),
        TEST(the_map_is_of_what_passes_in_its_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
