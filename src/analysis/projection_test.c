/* A run made from a synthetic trace gets its executions projected, again, and not at all. */
#include "analysis/projection.h"

#include "base/err.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include "sample_run.h"
#include "test.h"

static const char program[] = "synth:30*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.2";

struct made {
    struct sample_run run;
    struct definitions defs;
    struct projection_opts opts;
};

static void make(struct made *m)
{
    sample_run_init(&m->run, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    m->opts =
        (struct projection_opts){.method = project_find("tsne"),
                                 .features = feature_find("residual"),
                                 .project = {.iterations = 60, .seed = 1, .pool = m->run.pool}};
}

static void unmake(struct made *m)
{
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

static double number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    double value;

    assert_int_equal(rundb_prepare(db, sql, &query), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    value = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    return value;
}

static void points_are_kept_per_method_and_replaced(void **state)
{
    static const char *const methods[] = {"tsne", "pca", "tsne", "mds"};
    static const char *const features[] = {"residual", "time", "subtrees", "residual"};
    struct made m;

    (void)state;
    make(&m);
    for (size_t i = 0; i < 4; i++) {
        struct projection p = {0};

        m.opts.method = project_find(methods[i]);
        m.opts.features = feature_find(features[i]);
        assert_int_equal(projection_make(&p, m.run.db, &m.run.columns, &m.defs, 1, &m.opts), 0);
        assert_int_equal(p.n, 90);
        assert_int_equal(projection_save(m.run.db, 1, &p, &m.opts), 0);
        if (i == 2)
            assert_true(number(m.run.db, "SELECT x FROM projection WHERE tree = 7 "
                                         "AND method = 'tsne'") == p.point[14]);
        projection_release(&p);
    }
    assert_true(number(m.run.db, "SELECT count(*) FROM projection") == 3 * 90);
    assert_true(number(m.run.db, "SELECT count(*) FROM projection_settings") == 3);
    assert_true(number(m.run.db, "SELECT features = 'subtrees' FROM projection_settings "
                                 "WHERE method = 'tsne'") == 1);
    assert_true(number(m.run.db, "SELECT settings ->> 'iterations' FROM projection_settings "
                                 "WHERE method = 'tsne'") == 60);
    unmake(&m);
}

static void what_cannot_be_stored_leaves_the_old_points(void **state)
{
    struct projection p = {0}, bad = {0};
    struct made m;

    (void)state;
    make(&m);
    assert_int_equal(projection_make(&p, m.run.db, &m.run.columns, &m.defs, 1, &m.opts), 0);
    assert_int_equal(projection_save(m.run.db, 1, &p, &m.opts), 0);
    bad = p;
    sqlite3_db_config(m.run.db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    assert_int_equal(rundb_exec(m.run.db, "CREATE TRIGGER no BEFORE INSERT ON projection WHEN "
                                          "new.tree = 80 BEGIN SELECT raise(FAIL, 'no'); END"),
                     0);
    bad.result.cost = -1;
    assert_int_equal(projection_save(m.run.db, 1, &bad, &m.opts), ERR_DATABASE);
    assert_true(number(m.run.db, "SELECT count(*) FROM projection") == 90);
    assert_true(number(m.run.db, "SELECT cost FROM projection_settings") == p.result.cost);
    assert_int_equal(projection_make(&bad, m.run.db, &m.run.columns, &m.defs, 2, &m.opts),
                     ERR_NOT_FOUND);
    projection_release(&p);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_kept_per_method_and_replaced),
        cmocka_unit_test(what_cannot_be_stored_leaves_the_old_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
