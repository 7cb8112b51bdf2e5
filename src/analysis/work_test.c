/* A run made from a synthetic trace; what is loaded from it is what the analysis had. */
#include "analysis/work.h"

#include "analysis/sample_run.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/test.h"
#include "run/run_summary.h"
#include "run/rundb.h"

static const char program[] = "synth:60*step(compute@1ms(a 3*b) >1 <1 |);ranks=7;jitter=0.2";

static void assert_as_stored(sqlite3 *db, const struct work *w)
{
    sqlite3_stmt *query;
    uint32_t t = 0;

    assert_int_equal(
        rundb_prepare(db,
                      "SELECT enter_ns, idx, time, gross, structure, size, score, rank "
                      "FROM execution ORDER BY tree",
                      &query),
        0);
    for (; sqlite3_step(query) == SQLITE_ROW; t++) {
        const struct residual_measure *m = &w->measure[t];

        assert_true(t < w->forest.n_trees);
        assert_int_equal(w->forest.enter_ns[t], sqlite3_column_int64(query, 0));
        assert_int_equal(w->forest.index[t], sqlite3_column_int64(query, 1));
        assert_true(m->time == sqlite3_column_double(query, 2));
        assert_true(m->gross == sqlite3_column_double(query, 3));
        assert_true(m->structure == sqlite3_column_double(query, 4));
        assert_true(m->size == sqlite3_column_double(query, 5));
        assert_true(w->residual.score[t] == sqlite3_column_double(query, 6));
        assert_int_equal(w->defs->location[w->forest.location[t]].rank,
                         sqlite3_column_int64(query, 7));
    }
    assert_int_equal(t, w->forest.n_trees);
    sqlite3_finalize(query);
}

static void what_is_loaded_is_what_the_analysis_had(void **state)
{
    const struct analysis_opts opts = {.seed = UINT64_MAX - 5, .threshold = NAN};
    struct work loaded = {0}, fitted = {.embedding_opts = stack2vec_default()};
    struct definitions defs;
    struct sample_run m;

    (void)state;
    fitted.embedding_opts.seed = opts.seed;
    sample_run_init(&m, program, "step", &opts);
    assert_int_equal(run_summary_definitions(m.db, &defs), 0);
    assert_int_equal(work_load(&loaded, m.db, &m.columns, &defs, m.foi.id, true), 0);
    assert_int_equal(loaded.forest.n_trees, 60 * 7);
    assert_as_stored(m.db, &loaded);
    assert_int_equal(work_forest(&fitted, &m.columns, &m.source.defs, m.foi.region), 0);
    work_fit(&fitted, true);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const names[] = {"residual", "time", "subtrees", "stack2vec"};
        struct matrix a, b;

        assert_int_equal(work_matrix(&loaded, feature_find(names[kind]), m.pool, &a), 0);
        assert_int_equal(work_matrix(&fitted, feature_find(names[kind]), m.pool, &b), 0);
        assert_int_equal(a.rows, b.rows);
        assert_int_equal(a.cols, b.cols);
        assert_memory_equal(a.x, b.x, a.rows * a.cols * sizeof *a.x);
        free(a.x);
        free(b.x);
    }
    work_release(&loaded);
    work_release(&fitted);
    definitions_release(&defs);
    sample_run_release(&m);
}

static void what_does_not_fit_the_run_is_an_error(void **state)
{
    struct definitions defs;
    struct work w = {0};
    struct sample_run m;

    (void)state;
    sample_run_init(&m, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m.db, &defs), 0);
    assert_int_equal(work_load(&w, m.db, &m.columns, &defs, 2, false), ERR_NOT_FOUND);
    work_release(&w);
    assert_int_equal(rundb_exec(m.db, "UPDATE foi SET trees = trees + 1"), 0);
    assert_int_equal(work_load(&w, m.db, &m.columns, &defs, 1, false), ERR_FORMAT);
    work_release(&w);
    assert_int_equal(rundb_exec(m.db, "UPDATE foi SET region = 1000"), 0);
    assert_int_equal(work_load(&w, m.db, &m.columns, &defs, 1, false), ERR_FORMAT);
    work_release(&w);
    definitions_release(&defs);
    sample_run_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_is_what_the_analysis_had),
        cmocka_unit_test(what_does_not_fit_the_run_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
