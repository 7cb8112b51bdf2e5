/* Runs of which it is known by hand what their anomalies cost: what they come to, and their
 * incidents by cause. */
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

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

static const char *text(const json_t *object, const char *field)
{
    return json_string_value(json_object_get(object, field));
}

static bool is_null(const json_t *object, const char *field)
{
    return json_is_null(json_object_get(object, field));
}

static void assert_about(const json_t *object, const char *field, int64_t ns)
{
    assert_in_range(sample_page_number(object, field), ns - ns / 100, ns + ns / 100);
}

/* That of the only function. */
static const json_t *outcome(struct sample_page *p)
{
    sample_page_ok(p, "/run");
    return json_object_get(json_array_get(json_object_get(p->json, "fois"), 0), "outcome");
}

static const json_t *item(struct sample_page *p, const char *path, size_t i)
{
    sample_page_ok(p, path);
    return json_array_get(json_object_get(p->json, "items"), i);
}

/* ---------------------------------------------------------------------------- what it comes to */

static void the_cost_and_what_most_of_it_goes_back_to_are_as_worked_by_hand(void **state)
{
    const json_t *it = outcome(*state), *most = json_object_get(it, "most");

    assert_about(it, "length_ns", 123 * 2000000 + 25000000);
    assert_about(it, "cost_ns", 25000000);
    assert_int_equal(sample_page_number(it, "carrying"), 3); /* of nine: six only waited */
    assert_true(is_null(it, "unknown") && is_null(it, "slow"));
    assert_true(json_is_false(json_object_get(it, "is_few")));
    assert_int_equal(sample_page_number(most, "rank"), 1);
    assert_int_equal(sample_page_number(most, "incidents"), 2);
    assert_about(most, "ns", 20000000);
    assert_about(most, "of_ns", 25000000);
    assert_true(json_is_true(json_object_get(most, "is_cost")));
    assert_string_equal(text(most, "function"), "a");
    assert_true(is_null(most, "place")); /* a sentence has no source */
    assert_string_equal(text(most, "text"),
                        "most of that goes back to rank 1: step > a takes longer");
}

static void a_cost_that_cannot_be_told_is_null_and_says_why(void **state)
{
    struct sample_page p;
    const json_t *it;

    (void)state;
    /* nobody receives what rank 0 sends */
    sample_page_init(&p, "synth:100*step(0:>1 a@1ms b@1ms);ranks=2;slow=a/25/11/1", "step");
    it = outcome(&p);
    assert_true(is_null(it, "cost_ns") && is_null(it, "carrying"));
    assert_string_equal(text(it, "unknown"), "who waited for whom is not in the trace");
    assert_string_equal(
        text(json_object_get(it, "most"), "text"),
        "all of what anomalies lost goes back to rank 1: step > a takes longer");
    assert_true(json_is_false(json_object_get(json_object_get(it, "most"), "is_cost")));
    sample_page_release(&p);
}

/* Of one of the three it is not known what it cost by itself: so nobody can tell how much of the cost of all it is. */
static void what_most_of_the_cost_goes_back_to_is_told_only_where_each_is_known(void **state)
{
    struct sample_page p;
    const json_t *it, *most;

    (void)state;
    sample_page_init(&p, program, "step");
    assert_int_equal(sqlite3_exec(p.worker.db,
                                  "UPDATE incident SET cost_ns = NULL WHERE rank = 2 AND "
                                  "lost_ns > 10000000",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_changes(p.worker.db), 1);
    it = outcome(&p);
    most = json_object_get(it, "most");
    assert_about(it, "cost_ns", 25000000);
    assert_true(json_is_false(json_object_get(most, "is_cost")));
    assert_string_equal(
        text(most, "text"),
        "most of what anomalies lost goes back to rank 1: step > a takes longer");
    sample_page_release(&p);
}

/* Each of three ranks is late once, by as much: none of them is it. */
static void of_many_ranks_alike_none_is_named(void **state)
{
    struct sample_page p;
    const json_t *most;

    (void)state;
    sample_page_init(&p,
                     "synth:main(" STEPS
                     "step(0:a@11ms 1:a@1ms 2:a@1ms b@1ms |) " STEPS LATE_A STEPS
                     "step(0:a@1ms 1:a@1ms 2:a@11ms b@1ms |) " STEPS ");ranks=3",
                     "step");
    most = json_object_get(outcome(&p), "most");
    assert_true(is_null(most, "rank"));
    assert_int_equal(sample_page_number(most, "ranks"), 3);
    assert_int_equal(sample_page_number(most, "incidents"), 3);
    assert_about(most, "ns", 30000000);
    assert_string_equal(text(most, "function"), "a");
    assert_string_equal(text(most, "text"),
                        "all of that goes back to 3 ranks: step > a takes longer");
    sample_page_release(&p);
}

/* Rank 1 waits in its step for what rank 0 does between two. In which way its step is strange is not what rank 0 did. */
static void of_who_waited_nothing_is_said_of_the_rank_that_they_waited_for(void **state)
{
    struct sample_page p;
    const json_t *most;

    (void)state;
    sample_page_init(&p,
                     "synth:60*step(a@1ms 1:b@1ms |) 0:out@5ms 60*step(a@1ms 1:b@1ms |);"
                     "ranks=2;jitter=0.02",
                     "step");
    most = json_object_get(outcome(&p), "most");
    assert_int_equal(sample_page_number(most, "rank"), 0);
    assert_true(is_null(most, "function") && is_null(most, "place"));
    assert_string_equal(text(most, "text"),
                        "all of that goes back to rank 0 out, 4.02 ms late");
    sample_page_release(&p);
}

/* Rank 1 calls c once; that it is in the barrier before the others costs nobody any time. */
static void who_lost_nothing_is_the_strangest_itself(void **state)
{
    struct sample_page p;
    const json_t *most;

    (void)state;
    sample_page_init(&p,
                     "synth:main(" STEPS STEPS STEPS
                     "step(0:a@1.02ms 1:a@970us 2:a@1ms 1:c@100ns b@1ms |) " STEPS STEPS
                     ");ranks=3;jitter=0.02",
                     "step");
    most = json_object_get(outcome(&p), "most");
    assert_int_equal(sample_page_number(most, "rank"), 1);
    assert_int_equal(sample_page_number(most, "of_ns"), 0);
    assert_string_equal(text(most, "function"), "c");
    assert_string_equal(text(most, "text"),
                        "none lost time; the strangest: rank 1, more calls of c");
    sample_page_release(&p);
}

static void who_is_slow_always_is_said_though_there_is_no_anomaly(void **state)
{
    struct sample_page p;
    const json_t *it, *slow;

    (void)state;
    sample_page_init(&p, "synth:100*step(0:a@1ms 1:a@2ms 2:a@1ms 3:a@1ms |);ranks=4", "step");
    it = outcome(&p);
    slow = json_object_get(it, "slow");
    assert_true(is_null(it, "cost_ns") && is_null(it, "most"));
    assert_string_equal(text(slow, "place"), "rank 1");
    assert_about(slow, "cost_ns", 100000000);
    assert_int_equal(sample_page_number(slow, "more"), 0);
    sample_page_release(&p);
}

static void of_few_executions_nothing_is_told(void **state)
{
    struct sample_page p;
    const json_t *it;

    (void)state;
    sample_page_init(&p, "synth:3*step(a@1ms)", "step");
    it = outcome(&p);
    assert_true(json_is_true(json_object_get(it, "is_few")));
    assert_true(is_null(it, "cost_ns") && is_null(it, "most") && is_null(it, "slow"));
    sample_page_release(&p);
}

/* What was counted is of other anomalies: with one more, which took what is typical, it is that at most; with one less,
 * too. And by what labels say nothing is "typical". */
static void labels_that_made_other_anomalies_leave_a_bound(void **state)
{
    struct sample_page *p = *state;
    const json_t *it;

    assert_int_equal(sample_page_post(p, "/fois/1/labels",
                                      "{\"labels\": [{\"tree\": 5, \"label\": \"abnormal\"}]}"),
                     0);
    assert_int_equal(sample_page_post(p, "/fois/1/retrain", "{}"), 0);
    it = outcome(p);
    assert_about(it, "cost_ns", 25000000);
    assert_true(json_is_true(json_object_get(it, "cost_is_bound")));
    assert_true(is_null(it, "carrying"));
    assert_string_equal(text(it, "unknown"),
                        "labels have changed since which executions are anomalies");
    assert_true(json_is_false(json_object_get(json_object_get(it, "most"), "is_cost")));
    sample_page_ok(p, "/fois/1/executions/5");
    assert_string_equal(text(p->json, "verdict"), "anomaly");
    assert_string_equal(text(p->json, "why"),
                        "labels made it an anomaly, though nothing of it stands out");
    assert_int_equal(sample_page_post(p, "/fois/1/undo", "{}"), 0);
    it = outcome(p);
    assert_about(it, "cost_ns", 25000000);
    assert_true(json_is_false(json_object_get(it, "cost_is_bound")));
}

/* ------------------------------------------------------------------------- incidents by cause */

static void incidents_with_one_cause_are_one_group_the_dearest_first(void **state)
{
    struct sample_page *p = *state;
    const json_t *group = item(p, "/fois/1/causes?verdict=anomaly", 0), *first;

    assert_int_equal(sample_page_number(p->json, "total"), 2);
    assert_string_equal(text(group, "what"), "step > a takes longer");
    assert_string_equal(text(group, "where"), "on rank 1, executions 30 and 61");
    assert_string_equal(text(group, "text"),
                        "step > a takes longer, 2 times, on rank 1, executions 30 and 61");
    assert_string_equal(text(group, "verdict"), "anomaly");
    assert_int_equal(sample_page_number(group, "times"), 2);
    assert_about(group, "lost_ns", 60000000); /* on three ranks */
    assert_about(group, "cost_ns", 20000000);
    assert_about(group, "cost_least_ns", 20000000);
    assert_int_equal(sample_page_number(group, "cost_unknown"), 0);
    assert_int_equal(json_array_size(json_object_get(group, "incidents")), 2);
    assert_int_equal(json_array_size(json_object_get(group, "begins_ns")), 2);
    assert_int_equal(json_array_size(json_object_get(group, "member_trees")), 6);
    first = json_object_get(group, "first");
    assert_string_equal(text(first, "what"), "step > a takes longer");
    assert_non_null(strstr(text(first, "why"), "step > a +10.0 ms"));
    group = json_array_get(json_object_get(p->json, "items"), 1);
    assert_string_equal(text(json_object_get(group, "first"), "head"), "#2-92");
    assert_non_null(strstr(text(json_object_get(group, "first"), "why"), "step > b +5.00 ms"));
    assert_about(group, "cost_ns", 5000000);
}

/* An incident without an anomaly is first only by what its cause alone cost: not by up to 90 ms, perhaps nothing. */
static void what_may_cost_nothing_is_behind_what_anomalies_cost(void **state)
{
    static const char *const least[] = {"0", "80000000"};
    struct sample_page p;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char sql[512];

        sample_page_init(
            &p, "synth:400*step(compute@1ms >1 <1);ranks=4;jitter=0.05;slow=compute/200/9/1",
            "step");
        snprintf(sql, sizeof sql,
                 "UPDATE incident SET is_costly = 1, lost_ns = 90000000, cost_ns = 90000000, "
                 "cost_most_ns = 90000000, cost_least_ns = %s WHERE id = (SELECT max(incident) "
                 "FROM execution WHERE verdict = 'normal' AND incident NOT IN (SELECT incident "
                 "FROM execution WHERE verdict = 'anomaly' AND incident IS NOT NULL))",
                 least[i]);
        assert_int_equal(sqlite3_exec(p.worker.db, sql, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_changes(p.worker.db), 1);
        assert_string_equal(text(item(&p, "/fois/1/causes", 0), "verdict"),
                            i == 0 ? "anomaly" : "normal");
        assert_string_equal(text(item(&p, "/fois/1/causes", 1), "verdict"),
                            i == 0 ? "normal" : "anomaly");
        sample_page_release(&p);
    }
}

/* What is no anomaly goes back to its own head, where nothing was lost; and is blamed on no other rank, where it was. */
static void of_what_is_no_anomaly_nobody_is_the_cause(void **state)
{
    struct sample_page p;
    const json_t *items;

    (void)state;
    sample_page_init(
        &p,
        "synth:400*step(advect@2ms(flux@1ms) exchange(>1 <1) solve@3ms(matvec 4*dot) "
        "|);ranks=8;jitter=0.1",
        "step");
    assert_int_equal(sqlite3_exec(p.worker.db,
                                  "UPDATE incident SET lost_ns = 1000000, rank = rank + 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sample_page_ok(&p, "/fois/1/incidents?limit=1000");
    items = json_object_get(p.json, "items");
    assert_true(json_array_size(items) > 0);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *incident = json_array_get(items, i);

        assert_string_equal(text(incident, "verdict"), "normal");
        assert_int_equal(sample_page_number(incident, "rank"),
                         strtol(text(incident, "head") + 1, NULL, 10) + 1);
        assert_true(is_null(incident, "caused_by"));
    }
    sample_page_ok(&p, "/fois/1/causes?limit=1000");
    items = json_object_get(p.json, "items");
    for (size_t i = 0; i < json_array_size(items); i++)
        assert_null(strstr(text(json_array_get(items, i), "where"), "caused by"));
    sample_page_release(&p);
}

/* Rank 0 writes in every 30th step: one incident, that came nine times. */
static void what_comes_back_says_how_often_and_how_far_apart(void **state)
{
    struct sample_page p;
    const json_t *group;

    (void)state;
    sample_page_init(&p,
                     "synth:9*block(29*step(compute@1ms >1 <1) step(compute@1ms 0:write@3ms "
                     ">1 <1));ranks=2;jitter=0.02;slow=compute/200/9/1",
                     "step");
    group = item(&p, "/fois/1/causes?verdict=anomaly", 0);
    assert_int_equal(sample_page_number(group, "times"), 9);
    assert_int_equal(json_array_size(json_object_get(group, "incidents")), 1);
    assert_string_equal(text(group, "text"),
                        "step > write takes longer, 9 times, on rank 0, once in 30 executions");
    sample_page_release(&p);
}

static void a_group_opens_to_its_incidents_and_no_others(void **state)
{
    struct sample_page *p = *state;
    const json_t *items;

    sample_page_ok(p, "/fois/1/incidents?verdict=anomaly&group=1");
    items = json_object_get(p->json, "items");
    assert_int_equal(sample_page_number(p->json, "total"), 2);
    assert_int_equal(json_array_size(items), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sample_page_number(json_array_get(items, i), "group"), 1);
        assert_int_equal(sample_page_number(json_array_get(items, i), "rank"), 1);
    }
    sample_page_ok(p, "/fois/1/incidents?verdict=anomaly");
    assert_int_equal(sample_page_number(p->json, "total"), 3);
}

static void groups_come_in_pieces_and_pass_the_filters_of_incidents(void **state)
{
    struct sample_page *p = *state;
    const json_t *second = item(p, "/fois/1/causes?verdict=anomaly&offset=1&limit=1", 0);

    assert_int_equal(json_array_size(json_object_get(p->json, "items")), 1);
    assert_int_equal(sample_page_number(p->json, "total"), 2);
    assert_string_equal(text(second, "what"), "step > b takes longer");
    sample_page_ok(p, "/fois/1/causes?label=abnormal");
    assert_int_equal(sample_page_number(p->json, "total"), 0);
    assert_int_equal(sample_page_get(p, "/fois/2/causes"), ERR_NOT_FOUND);
    sample_page_refused(p, "/fois/1/causes?verdict=changed", ERR_USAGE,
                        "'verdict' takes anomaly or normal, not 'changed'");
}

/* Whole, and one by one: the same, whichever filter was asked for in between. */
static void pieces_are_those_of_the_whole_list(void **state)
{
    static const char *const lists[] = {"incidents", "causes"};
    struct sample_page *p = *state;

    for (size_t l = 0; l < 2; l++) {
        char path[64];
        json_t *whole;
        size_t n;

        snprintf(path, sizeof path, "/fois/1/%s", lists[l]);
        sample_page_ok(p, path);
        whole = json_deep_copy(json_object_get(p->json, "items"));
        n = json_array_size(whole);
        assert_true(n >= 2);
        for (size_t i = 0; i < n; i++) {
            snprintf(path, sizeof path, "/fois/1/%s?verdict=%s", lists[l],
                     i % 2 ? "anomaly" : "normal");
            sample_page_ok(p, path);
            snprintf(path, sizeof path, "/fois/1/%s?offset=%zu&limit=1", lists[l], i);
            assert_true(json_equal(item(p, path, 0), json_array_get(whole, i)));
            assert_int_equal(sample_page_number(p->json, "total"), n);
        }
        snprintf(path, sizeof path, "/fois/1/%s?offset=%zu", lists[l], n);
        sample_page_ok(p, path);
        assert_int_equal(json_array_size(json_object_get(p->json, "items")), 0);
        json_decref(whole);
    }
}

static json_int_t total_of(struct sample_page *p, const char *path)
{
    sample_page_ok(p, path);
    return sample_page_number(p->json, "total");
}

/* Asked for again, with nothing else in between. */
static void lists_are_those_of_now_after_a_label_and_an_undo(void **state)
{
    static const struct {
        const char *path;
        int more; /* with one more incident that has a label */
    } list[] = {
        {"/fois/1/incidents?label=abnormal", 1},
        {"/fois/1/incidents?label=none", -1},
        {"/fois/1/causes?label=abnormal", 1},
    };
    struct sample_page *p = *state;
    char body[96];

    snprintf(body, sizeof body, "{\"labels\":[{\"tree\":%lld,\"label\":\"abnormal\"}]}",
             (long long)sample_page_number(item(p, "/fois/1/incidents", 0), "head_tree"));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        json_int_t n = total_of(p, list[i].path);

        assert_int_equal(sample_page_post(p, "/fois/1/labels", body), 0);
        assert_int_equal(total_of(p, list[i].path), n + list[i].more);
        assert_int_equal(sample_page_post(p, "/fois/1/undo", "{}"), 0);
        assert_int_equal(total_of(p, list[i].path), n);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_cost_and_what_most_of_it_goes_back_to_are_as_worked_by_hand),
        cmocka_unit_test(a_cost_that_cannot_be_told_is_null_and_says_why),
        cmocka_unit_test(what_most_of_the_cost_goes_back_to_is_told_only_where_each_is_known),
        cmocka_unit_test(of_many_ranks_alike_none_is_named),
        cmocka_unit_test(of_who_waited_nothing_is_said_of_the_rank_that_they_waited_for),
        cmocka_unit_test(who_lost_nothing_is_the_strangest_itself),
        cmocka_unit_test(who_is_slow_always_is_said_though_there_is_no_anomaly),
        cmocka_unit_test(of_few_executions_nothing_is_told),
        TEST(labels_that_made_other_anomalies_leave_a_bound),
        TEST(incidents_with_one_cause_are_one_group_the_dearest_first),
        cmocka_unit_test(what_may_cost_nothing_is_behind_what_anomalies_cost),
        cmocka_unit_test(of_what_is_no_anomaly_nobody_is_the_cause),
        cmocka_unit_test(what_comes_back_says_how_often_and_how_far_apart),
        TEST(a_group_opens_to_its_incidents_and_no_others),
        TEST(pieces_are_those_of_the_whole_list),
        TEST(lists_are_those_of_now_after_a_label_and_an_undo),
        TEST(groups_come_in_pieces_and_pass_the_filters_of_incidents),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
