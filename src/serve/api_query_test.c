/* SQL of the page: what is answered, how it is limited, what is refused. */
#include "base/err.h"

#include "sample_page.h"
#include "test.h"

static int begin(void **state)
{
    return sample_page_begin(state, "synth:6*step(solve@1ms);ranks=2", "step");
}

static void rows_are_of_the_run(void **state)
{
    struct sample_page *p = *state;
    json_t *expected = json_loads("[[0, 6], [1, 6]]", 0, NULL);

    sample_page_ok(p, "/query?sql=SELECT%20rank,count(*)%20AS%20n%20FROM%20execution%20GROUP"
                      "%20BY%20rank%20ORDER%20BY%20rank");
    assert_true(json_equal(json_object_get(p->json, "rows"), expected));
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(p->json, "columns"), 1)), "n");
    assert_int_equal(sample_page_number(p->json, "total"), 2);
    assert_true(json_is_null(json_object_get(p->json, "stopped")));
    json_decref(expected);
}

static void there_are_no_more_rows_than_asked_for(void **state)
{
    struct sample_page *p = *state;

    sample_page_ok(p, "/query?limit=5&sql=SELECT%201%20FROM%20execution");
    assert_int_equal(json_array_size(json_object_get(p->json, "rows")), 5);
    assert_int_equal(sample_page_number(p->json, "total"), 12);
    sample_page_ok(p, "/query?limit=0&sql=SELECT%201%20FROM%20execution");
    assert_int_equal(json_array_size(json_object_get(p->json, "rows")), 0);
}

static void what_is_wrong_is_said_as_sqlite_says_it(void **state)
{
    struct sample_page *p = *state;

    sample_page_refused(p, "/query?sql=SELEC%201", ERR_USAGE,
                        "bad SQL: near \"SELEC\": syntax error");
    sample_page_refused(p, "/query", ERR_USAGE,
                        "'sql' is missing, such as 'SELECT * FROM region'");
    sample_page_refused(p, "/query?sql=DELETE%20FROM%20label", ERR_USAGE,
                        "query only reads: 'DELETE FROM label' would change something");
    sample_page_refused(p,
                        "/query?seconds=0.05&sql=WITH%20RECURSIVE%20n(i)%20AS%20(SELECT%201%20"
                        "UNION%20ALL%20SELECT%20i%2B1%20FROM%20n)%20SELECT%20count(*)%20FROM"
                        "%20n",
                        ERR_USAGE, "the query was stopped: it took longer than 0.05 s");
}

/* Temporary tables, settings of a connection: nothing stays. */
static void a_question_leaves_nothing_to_the_next(void **state)
{
    struct sample_page *p = *state;

    for (int i = 0; i < 3; i++) {
        sample_page_ok(p, "/query?sql=SELECT%20count(*)%20FROM%20region");
        sample_page_ok(p, "/regions"); /* the worker's own connection asks as before */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_of_the_run),
        cmocka_unit_test(there_are_no_more_rows_than_asked_for),
        cmocka_unit_test(what_is_wrong_is_said_as_sqlite_says_it),
        cmocka_unit_test(a_question_leaves_nothing_to_the_next),
    };

    return cmocka_run_group_tests(tests, begin, sample_page_end);
}
