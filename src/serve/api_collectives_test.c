/*
 * Three ranks, three barriers; rank 1 comes 2 ms late to the second one.
 *
 *  row   0     1       2         3     4       5         6 ...
 *       step  solve  barrier   step  solve  barrier    step        of each rank
 */
#include "base/err.h"

#include "sample_page.h"
#include "test.h"

static const char program[] = "synth:3*step(solve@1ms |);ranks=3;slow=solve/2/3/1";

static int begin(void **state)
{
    return sample_page_begin(state, program, "step");
}

static void each_says_who_came_last_and_how_long_the_others_waited(void **state)
{
    struct sample_page *p = *state;
    double *wait, *last;
    uint32_t *who, *known, *members;

    sample_page_ok(p, "/collectives");
    wait = sample_page_column(p, "wait_ns", "f64", 3);
    last = sample_page_column(p, "last_ns", "f64", 3);
    who = sample_page_column(p, "last_location", "u32", 3);
    known = sample_page_column(p, "known", "u32", 3);
    members = sample_page_column(p, "members", "u32", 3);
    assert_true(wait[0] == 0 && wait[1] == 2 * 2e6 && wait[2] == 0);
    assert_int_equal(who[1], 1);
    assert_true(last[0] < last[1] && last[1] < last[2]);
    for (int i = 0; i < 3; i++)
        assert_true(known[i] == 3 && members[i] == 3);
    free(wait);
    free(last);
    free(who);
    free(known);
    free(members);
}

static void parts_are_of_the_locations_asked_for_and_the_last_of_all(void **state)
{
    struct sample_page *p = *state;
    uint32_t *who, *known, *location, *of;
    double *wait;

    sample_page_ok(p, "/collectives?locations=2");
    who = sample_page_column(p, "last_location", "u32", 3);
    known = sample_page_column(p, "known", "u32", 3);
    location = sample_page_column(p, "part.location", "u32", 3);
    of = sample_page_column(p, "part.of", "u32", 3);
    wait = sample_page_column(p, "part.wait_ns", "f64", 3);
    assert_true(who[1] == 1 && known[1] == 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(location[i] == 2 && of[i] == i && wait[i] == (i == 1 ? 2e6 : 0));
    free(who);
    free(known);
    free(location);
    free(of);
    free(wait);
}

static void a_window_has_those_that_reach_into_it_and_no_more_than_asked_for(void **state)
{
    struct sample_page *p = *state;
    const struct call_view calls = columns_view(&p->served.run.columns, 0);
    uint64_t begin = calls.enter_ns[5], end = begin + calls.inclusive_ns[5] / 2;
    char path[96];

    /* Rank 0 waits in the second one from one end of the window to the other. */
    snprintf(path, sizeof path, "/collectives?begin=%llu&end=%llu",
             (unsigned long long)begin + 1, (unsigned long long)end);
    sample_page_ok(p, path);
    free(sample_page_column(p, "wait_ns", "f64", 1));
    free(sample_page_column(p, "part.wait_ns", "f64", 3));
    sample_page_ok(p, "/collectives?limit=2");
    free(sample_page_column(p, "wait_ns", "f64", 2));
    sample_page_ok(p, "/collectives?limit=0");
    free(sample_page_column(p, "wait_ns", "f64", 0));
}

static void one_of_them_lists_who_waited_longest_first(void **state)
{
    struct sample_page *p = *state;
    const json_t *parts;

    sample_page_ok(p, "/calls/1/5/collective?most=2");
    assert_string_equal(json_string_value(json_object_get(p->json, "kind")), "barrier");
    assert_int_equal(sample_page_number(p->json, "members"), 3);
    assert_int_equal(sample_page_number(p->json, "known"), 3);
    assert_int_equal(sample_page_number(p->json, "last_location"), 1);
    assert_int_equal(sample_page_number(p->json, "last_call"), 5);
    assert_int_equal(sample_page_number(p->json, "wait_ns"), 4000000);
    parts = json_object_get(p->json, "parts");
    assert_int_equal(json_array_size(parts), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *part = json_array_get(parts, i);

        assert_int_equal(sample_page_number(part, "location"), 2 * i);
        assert_int_equal(sample_page_number(part, "wait_ns"), 2000000);
    }
}

static void a_call_that_takes_part_in_none_is_refused(void **state)
{
    sample_page_refused(*state, "/calls/1/4/collective", ERR_NOT_FOUND,
                        "this call takes part in no collective");
    sample_page_refused(*state, "/calls/1/9/collective", ERR_NOT_FOUND,
                        "the run has no such call");
    sample_page_refused(*state, "/calls/3/0/collective", ERR_NOT_FOUND,
                        "the run has no such call");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_says_who_came_last_and_how_long_the_others_waited),
        cmocka_unit_test(parts_are_of_the_locations_asked_for_and_the_last_of_all),
        cmocka_unit_test(a_window_has_those_that_reach_into_it_and_no_more_than_asked_for),
        cmocka_unit_test(one_of_them_lists_who_waited_longest_first),
        cmocka_unit_test(a_call_that_takes_part_in_none_is_refused),
    };

    return cmocka_run_group_tests(tests, begin, sample_page_end);
}
