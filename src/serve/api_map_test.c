/* A run in which one rank is late once and the others wait, as a map of its ranks over time. */
#include "base/err.h"

#include <math.h>

#include "sample_page.h"
#include "test.h"

static const char program[] =
    "synth:60*step(compute@1ms >1 <1);ranks=4;jitter=0.05;slow=compute/37/9/2";

static int set_up(void **state)
{
    return sample_page_begin(state, program, "step");
}

/* A column of the executions, summed by location. */
static void sum_of(struct sample_page *p, const char *column, double sum[4])
{
    sqlite3_stmt *query;
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT location, %s FROM execution WHERE lost_ns > 0", column);
    assert_int_equal(sqlite3_prepare_v2(p->worker.db, sql, -1, &query, NULL), SQLITE_OK);
    for (int l = 0; l < 4; l++)
        sum[l] = 0;
    while (sqlite3_step(query) == SQLITE_ROW)
        sum[sqlite3_column_int(query, 0)] += sqlite3_column_double(query, 1);
    sqlite3_finalize(query);
}

static void totals_are(struct sample_page *p, const double expected[4])
{
    double *total = sample_page_column(p, "total_ns", "f64", 4);

    for (int l = 0; l < 4; l++)
        assert_true(fabs(total[l] - expected[l]) <= 1e-6 * (1 + expected[l]));
    free(total);
}

static void what_was_lost_and_what_it_cost_are_those_of_the_executions(void **state)
{
    struct sample_page *p = *state;
    double lost[4], cost[4];

    sum_of(p, "lost_ns", lost);
    sum_of(p, "cost_ns", cost);
    assert_true(cost[2] > 1e6 && cost[3] < cost[2]); /* who waited cost nothing */
    sample_page_ok(p, "/fois/1/map");
    totals_are(p, lost);
    sample_page_ok(p, "/fois/1/map?of=cost&width=9");
    totals_are(p, cost);
}

/* What the header of the answer, a bundle, says of them; to be decref'd, NULL: nothing. */
static json_t *not_known(const struct sample_page *p)
{
    const char *body = p->response.body;
    uint32_t length;
    json_t *header, *found;

    memcpy(&length, body + 4, sizeof length);
    header = json_loadb(body + 8, length, 0, NULL);
    assert_non_null(header);
    found = json_incref(json_object_get(header, "not_known"));
    json_decref(header);
    return found;
}

static void where_all_cost_is_known_nothing_is_said_of_it(void **state)
{
    struct sample_page *p = *state;
    json_t *said;

    sample_page_ok(p, "/fois/1/map?of=cost");
    said = not_known(p);
    assert_int_equal(sample_page_number(said, "executions"), 0);
    assert_true(json_is_null(json_object_get(said, "why")));
    json_decref(said);
}

/* Told before anything is asked: what executions cost does not change while they are served. */
static void cost_that_is_not_known_is_left_out_and_said(void **state)
{
    struct sample_page *p = *state;
    double lost[4], none[4] = {0};
    json_t *said;

    assert_int_equal(sqlite3_exec(p->worker.db,
                                  "UPDATE execution SET cost_ns = NULL, cost_is_bound = 0, "
                                  "cost = 'nobody knows'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sum_of(p, "lost_ns", lost);
    sample_page_ok(p, "/fois/1/map?of=cost");
    totals_are(p, none);
    said = not_known(p);
    assert_true(sample_page_number(said, "executions") > 0);
    assert_int_equal(sample_page_number(said, "lost_ns"),
                     lost[0] + lost[1] + lost[2] + lost[3]);
    assert_string_equal(json_string_value(json_object_get(said, "why")), "nobody knows");
    json_decref(said);
    sample_page_ok(p, "/fois/1/map?of=lost");
    assert_null(not_known(p));
    sample_page_refused(p, "/fois/1/map?of=all", ERR_USAGE,
                        "'of' is lost, cost, waiting or region");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, sample_page_end)
    const struct CMUnitTest tests[] = {
        TEST(what_was_lost_and_what_it_cost_are_those_of_the_executions),
        TEST(where_all_cost_is_known_nothing_is_said_of_it),
        TEST(cost_that_is_not_known_is_left_out_and_said),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
