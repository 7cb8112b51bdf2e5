/* A run made from a synthetic trace; what is loaded from it is what the analysis had. */
#include "analysis/run_scoring.h"

#include "base/err.h"
#include "base/fs.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include "sample_run.h"
#include "test.h"
#include "test_dir.h"

static const char program[] = "synth:60*step(compute@1ms(a 3*b) >1 <1 |);ranks=7;jitter=0.2";

static void assert_as_stored(sqlite3 *db, const struct scoring *w)
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
    struct scoring loaded = {0}, fitted = {.embedding.opts = stack2vec_default()};
    struct definitions defs;
    struct sample_run m;

    (void)state;
    fitted.embedding.opts.seed = opts.seed;
    sample_run_init(&m, program, "step", &opts);
    assert_int_equal(run_summary_definitions(m.db, &defs), 0);
    assert_int_equal(run_scoring_load(&loaded, m.db, &m.columns, &defs, m.foi.id, true), 0);
    assert_int_equal(loaded.forest.n_trees, 60 * 7);
    assert_as_stored(m.db, &loaded);
    assert_int_equal(run_scoring_collect(&fitted, &m.columns, &m.source.defs, m.foi.region), 0);
    scoring_learn(&fitted, true);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const names[] = {"residual", "time", "subtrees", "stack2vec"};
        struct matrix a, b;

        assert_int_equal(scoring_matrix(&loaded, feature_find(names[kind]), m.pool, &a), 0);
        assert_int_equal(scoring_matrix(&fitted, feature_find(names[kind]), m.pool, &b), 0);
        assert_int_equal(a.rows, b.rows);
        assert_int_equal(a.cols, b.cols);
        assert_memory_equal(a.x, b.x, a.rows * a.cols * sizeof *a.x);
        free(a.x);
        free(b.x);
    }
    scoring_release(&loaded);
    scoring_release(&fitted);
    definitions_release(&defs);
    sample_run_release(&m);
}

/* The vectors that are inferred later are those that the analysis trained, bit for bit. */
static void an_embedding_is_trained_once(void **state)
{
    const struct analysis_opts opts = {.features = "stack2vec",
                                       .detector = "knn",
                                       .seed = 5,
                                       .threshold = NAN,
                                       .embedding = {.dims = 20}};
    struct scoring kept = {0}, fitted = {.embedding.opts = stack2vec_default()};
    struct scoring other = {.embedding.opts = {.epochs = 3}};
    const struct feature_ops *stack2vec = feature_find("stack2vec");
    struct matrix a, b, c;
    struct sample_run m;

    (void)state;
    sample_run_init(&m, program, "step", &opts);
    fitted.embedding.opts.seed = 5;
    fitted.embedding.opts.dims = 20;
    assert_int_equal(run_scoring_load(&kept, m.db, &m.columns, &m.source.defs, 1, true), 0);
    assert_true(kept.embedding.n_words > 0);
    assert_int_equal(scoring_matrix(&kept, stack2vec, m.pool, &a), 0);
    assert_false(kept.is_embedding_new);
    assert_int_equal(kept.unseen.subtrees.n_words, 0);
    assert_int_equal(run_scoring_collect(&fitted, &m.columns, &m.source.defs, m.foi.region), 0);
    scoring_learn(&fitted, true);
    assert_int_equal(scoring_matrix(&fitted, stack2vec, m.pool, &b), 0);
    assert_true(fitted.is_embedding_new);
    assert_int_equal(a.cols, 20);
    assert_memory_equal(a.x, b.x, a.rows * a.cols * sizeof *a.x);
    assert_int_equal(run_scoring_load(&other, m.db, &m.columns, &m.source.defs, 1, true), 0);
    assert_int_equal(other.embedding.n_words, 0);
    assert_int_equal(scoring_matrix(&other, stack2vec, m.pool, &c), 0);
    assert_true(other.is_embedding_new);
    assert_memory_not_equal(a.x, c.x, a.rows * a.cols * sizeof *a.x);
    free(a.x);
    free(b.x);
    free(c.x);
    scoring_release(&kept);
    scoring_release(&fitted);
    scoring_release(&other);
    sample_run_release(&m);
}

/* One bit in the middle of the kept embedding. */
static void a_damaged_embedding_is_an_error(void **state)
{
    const struct analysis_opts opts = {
        .features = "stack2vec", .detector = "knn", .seed = 5, .threshold = NAN};
    struct scoring w = {0};
    struct sample_run m;
    sqlite3_blob *blob;
    unsigned char byte;

    (void)state;
    sample_run_init(&m, program, "step", &opts);
    assert_int_equal(sqlite3_blob_open(m.db, "main", "embedding", "data", 1, 1, &blob), 0);
    assert_int_equal(sqlite3_blob_read(blob, &byte, 1, sqlite3_blob_bytes(blob) / 2), 0);
    byte ^= 0x40;
    assert_int_equal(sqlite3_blob_write(blob, &byte, 1, sqlite3_blob_bytes(blob) / 2), 0);
    sqlite3_blob_close(blob);
    assert_int_equal(run_scoring_load(&w, m.db, &m.columns, &m.source.defs, 1, true),
                     ERR_FORMAT);
    scoring_release(&w);
    sample_run_release(&m);
}

static void what_does_not_fit_the_run_is_an_error(void **state)
{
    struct definitions defs;
    struct scoring w = {0};
    struct sample_run m;

    (void)state;
    sample_run_init(&m, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m.db, &defs), 0);
    assert_int_equal(run_scoring_load(&w, m.db, &m.columns, &defs, 2, false), ERR_NOT_FOUND);
    scoring_release(&w);
    assert_int_equal(rundb_exec(m.db, "UPDATE foi SET trees = trees + 1"), 0);
    assert_int_equal(run_scoring_load(&w, m.db, &m.columns, &defs, 1, false), ERR_FORMAT);
    scoring_release(&w);
    assert_int_equal(rundb_exec(m.db, "UPDATE foi SET region = 1000"), 0);
    assert_int_equal(run_scoring_load(&w, m.db, &m.columns, &defs, 1, false), ERR_FORMAT);
    scoring_release(&w);
    definitions_release(&defs);
    sample_run_release(&m);
}

/* What is analysed with all its arrays in files is what is loaded into memory. */
static void arrays_in_files_are_as_good(void **state)
{
    char dir[] = "/tmp/snag-run-scoring-XXXXXX";
    struct analysis_opts opts = {.threshold = NAN};
    struct scoring loaded = {0};
    struct definitions defs;
    struct sample_run m;

    (void)state;
    assert_non_null(test_dir(dir));
    opts.paged = paged_new(dir, 1);
    sample_run_init(&m, program, "step", &opts);
    assert_int_equal(run_summary_definitions(m.db, &defs), 0);
    assert_int_equal(run_scoring_load(&loaded, m.db, &m.columns, &defs, m.foi.id, false), 0);
    assert_as_stored(m.db, &loaded);
    scoring_release(&loaded);
    definitions_release(&defs);
    sample_run_release(&m);
    paged_free(opts.paged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_in_files_are_as_good),
        cmocka_unit_test(what_is_loaded_is_what_the_analysis_had),
        cmocka_unit_test(an_embedding_is_trained_once),
        cmocka_unit_test(a_damaged_embedding_is_an_error),
        cmocka_unit_test(what_does_not_fit_the_run_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
