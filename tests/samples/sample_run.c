/* The same steps as snag analyze takes, with asserts for errors. */
#include "sample_run.h"

#include "analysis/run_scoring.h"
#include "analysis/run_store.h"
#include "base/fs.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include "test.h"
#include "test_dir.h"

void sample_run_init(struct sample_run *m, const char *program, const char *foi,
                     const struct analysis_opts *given)
{
    struct analysis_opts opts = given ? *given : (struct analysis_opts){.threshold = NAN};
    struct ingest_opts ingest_opts = {.dir = m->dir};
    struct analysis_result result;
    struct analysis_sink sink;

    *m = (struct sample_run){.dir = "/tmp/snag-run-XXXXXX"};
    opts.pool = ingest_opts.pool = m->pool = pool_new(2);
    assert_non_null(test_dir(m->dir));
    assert_int_equal(source_open(&m->source, program), 0);
    assert_int_equal(ingest(&m->source, &ingest_opts, &m->ingested), 0);
    assert_int_equal(columns_open(&m->columns, m->dir), 0);
    assert_int_equal(rundb_create(m->dir, &m->database), 0);
    m->db = m->database.sql;
    assert_int_equal(run_summary_save(m->db, &m->source, &m->ingested), 0);
    m->foi = (struct analysis_foi){1, names_find(&m->source.defs.names, foi), foi};
    sink = run_store_sink(m->db);
    assert_int_equal(analysis_run(&m->columns, &m->source.defs, &m->foi, &opts, &sink, &result),
                     0);
    assert_int_equal(rundb_finish(m->db), 0);
}

void sample_run_scoring(const struct sample_run *m, const struct definitions *defs,
                        struct scoring *out)
{
    assert_int_equal(run_scoring_load(out, m->db, &m->columns, defs, m->foi.id, false), 0);
}

void sample_run_release(struct sample_run *m)
{
    database_close(&m->database);
    columns_close(&m->columns);
    ingested_release(&m->ingested);
    source_close(&m->source);
    pool_free(m->pool);
    fs_remove_tree(m->dir);
}
