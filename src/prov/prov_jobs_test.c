/* Runs of two processes of one job, merged against the moments of all values, and rows that no
 * snag writes. */
#include "prov/prov_reader.h"

#include <math.h>
#include <stdio.h>
#include <jansson.h>

#include "test.h"

static const char tables[] =
    "CREATE TABLE runs (run, pid, rid, began, run_id, ended, dropped);"
    "CREATE TABLE anomalies (run, pid, run_id, is_pruned, event_id);"
    "CREATE TABLE func_stats_of_runs (run, pid, fid, func, calls, anomalies, exclusive, "
    "inclusive, severity, score);"
    "CREATE TABLE counter_stats_of_runs (run, pid, counter, stats);";

static void open_tables(struct database *d, const char *rows)
{
    *d = (struct database){.sql = NULL};
    assert_int_equal(sqlite3_open(":memory:", &d->sql), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d->sql, tables, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d->sql, rows, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(prov_jobs_add(d, "memory"), 0);
}

static char *ask(struct database *d, const char *sql, char out[400])
{
    sqlite3_stmt *query = NULL;
    const char *text;

    assert_int_equal(sqlite3_prepare_v2(d->sql, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    text = (const char *)sqlite3_column_text(query, 0);
    snprintf(out, 400, "%s", text ? text : "NULL");
    sqlite3_finalize(query);
    return out;
}

/* As a store writes them. */
static char *stats_of(const double *value, size_t n, char out[400])
{
    double sum = 0, m[5] = {0}, deviation;

    for (size_t i = 0; i < n; i++)
        sum += value[i];
    for (size_t i = 0; i < n; i++)
        for (int k = 2; k < 5; k++)
            m[k] += pow(value[i] - sum / (double)n, k);
    deviation = sqrt(m[2] / (double)(n - 1));
    snprintf(out, 400,
             "{\"count\":%zu,\"accumulate\":%.17g,\"minimum\":0,\"maximum\":0,\"mean\":%.17g,"
             "\"stddev\":%.17g,\"skewness\":%.17g,\"kurtosis\":%.17g}",
             n, sum, sum / (double)n, deviation, sqrt((double)n) * m[3] / pow(m[2], 1.5),
             (double)n * m[4] / (m[2] * m[2]) - 3);
    return out;
}

static void moments_are_those_of_all_values(void **state)
{
    static const double value[] = {1, 2, 4, 8, 100, 3, 5, 50, 7};
    static const char *const names[] = {"count",  "accumulate", "mean",
                                        "stddev", "skewness",   "kurtosis"};
    char rows[1400], first[400], second[400], whole[400], told[400];
    json_t *is, *should;
    struct database d;

    (void)state;
    snprintf(
        rows, sizeof rows,
        "INSERT INTO runs VALUES (1, 0, 0, 5, 'job', 9, NULL), (2, 0, 1, 6, 'job', 8, NULL);"
        "INSERT INTO counter_stats_of_runs VALUES (1, 0, 'c', '%s'), (2, 0, 'c', '%s'), "
        "(2, 0, 'd', '%s'), (1, 0, 'none', NULL), (2, 0, 'none', NULL);",
        stats_of(value, 5, first), stats_of(value + 5, 4, second), first);
    open_tables(&d, rows);
    is = json_loads(ask(&d, "SELECT stats FROM counter_stats WHERE counter = 'c'", told), 0,
                    NULL);
    should = json_loads(stats_of(value, 9, whole), 0, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(fabs(json_number_value(json_object_get(is, names[i])) -
                         json_number_value(json_object_get(should, names[i]))) < 1e-9 * 162);
    json_decref(is);
    json_decref(should);
    assert_string_equal(ask(&d, "SELECT stats FROM counter_stats WHERE counter = 'd'", told),
                        first);
    assert_string_equal(ask(&d, "SELECT stats FROM counter_stats WHERE counter = 'none'", told),
                        "NULL");
    sqlite3_close(d.sql);
}

/* Of an older store: each of its runs is a job, with anomalies of its own. */
static void runs_without_an_id_are_jobs_of_their_own(void **state)
{
    struct database d;
    char told[400];

    (void)state;
    open_tables(&d, "INSERT INTO runs VALUES (1, 0, NULL, 5, '', 9, NULL), "
                    "(2, 0, NULL, 6, '', NULL, NULL), (3, 0, 0, 7, 'job', 8, NULL), "
                    "(4, 0, 1, 7, 'job', 9, NULL);"
                    "INSERT INTO anomalies VALUES (1, 0, '', 0, 'a'), "
                    "(1, 0, '', 0, 'b'), (1, 0, '', 0, 'b'), (2, 0, '', 0, 'a'), "
                    "(2, 0, '', 1, 'b'), (3, 0, 'job', 0, 'a'), (4, 0, 'job', 0, 'a');");
    assert_string_equal(ask(&d,
                            "SELECT group_concat(job || ':' || anomalies) FROM (SELECT * FROM "
                            "jobs ORDER BY job)",
                            told),
                        "1:2,2:1,3:2");
    sqlite3_close(d.sql);
}

/* Nobody knows how many anomalies it had, and its id stays. */
static void a_dropped_run_leaves_the_anomalies_of_its_job_unknown(void **state)
{
    struct database d;
    char told[400];

    (void)state;
    open_tables(&d, "INSERT INTO runs VALUES (1, 0, 0, 5, 'old', 9, 20), "
                    "(2, 0, 0, 6, 'part', 9, 20), (3, 0, 1, 6, 'part', 9, NULL), "
                    "(4, 0, 0, 7, 'new', 9, NULL);"
                    "INSERT INTO anomalies VALUES (3, 0, 'part', 0, 'a');");
    assert_string_equal(
        ask(&d,
            "SELECT group_concat(run_id || ':' || runs || ':' || ifnull(anomalies, '?')) "
            "FROM (SELECT * FROM jobs ORDER BY job)",
            told),
        "old:1:?,part:2:?,new:1:0");
    sqlite3_close(d.sql);
}

static void what_no_snag_writes_does_no_harm(void **state)
{
    static const char *const pairs[][2] = {
        {"{\"count\":1e300}", "{\"count\":1e300}"},
        {"{\"count\":9007199254740992}", "{\"count\":9007199254740992}"},
        {"{\"count\":2,\"mean\":1e308,\"stddev\":1}", "{\"count\":2,\"mean\":-1e308}"},
        {"{\"count\":2,\"stddev\":1e308,\"skewness\":1e308}", "{\"count\":2}"},
        {"{\"count\":1,\"accumulate\":1e308}", "{\"count\":1,\"accumulate\":1e308}"},
        {"[]", "{"},
        {"{\"count\":-1}", "{\"count\":\"x\"}"}};

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct database d;
        char rows[1000], told[400];

        snprintf(
            rows, sizeof rows,
            "INSERT INTO runs VALUES (1, 0, 0, 5, 'job', 9, NULL), (2, 0, 1, 6, 'job', 8, "
            "NULL);"
            "INSERT INTO counter_stats_of_runs VALUES (1, 0, 'c', '%s'), (2, 0, 'c', '%s');",
            pairs[i][0], pairs[i][1]);
        open_tables(&d, rows);
        ask(&d, "SELECT stats FROM counter_stats", told);
        assert_null(strstr(told, "inf"));
        assert_null(strstr(told, "nan"));
        sqlite3_close(d.sql);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_all_values),
        cmocka_unit_test(runs_without_an_id_are_jobs_of_their_own),
        cmocka_unit_test(a_dropped_run_leaves_the_anomalies_of_its_job_unknown),
        cmocka_unit_test(what_no_snag_writes_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
