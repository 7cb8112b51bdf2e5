#include "sample_summary.h"

#include "analysis/run_scoring.h"
#include "base/fs.h"
#include "run/ingest.h"
#include "trace/source.h"

#include "test.h"
#include "test_dir.h"

void sample_summary(const char *program, const char *foi, struct summary *out)
{
    char dir[32] = "/tmp/snag-run-XXXXXX";
    struct ingest_opts opts = {.dir = dir, .pool = pool_new(1)};
    struct source source = {0};
    struct ingested ingested;
    struct columns columns;
    struct scoring s = {0};

    assert_non_null(test_dir(dir));
    assert_int_equal(source_open(&source, program), 0);
    assert_int_equal(ingest(&source, &opts, &ingested), 0);
    assert_int_equal(columns_open(&columns, dir), 0);
    assert_int_equal(
        run_scoring_collect(&s, &columns, &source.defs, names_find(&source.defs.names, foi)),
        0);
    summary_make(out, &s.forest, &source.defs, NULL);
    scoring_release(&s);
    columns_close(&columns);
    ingested_release(&ingested);
    source_close(&source);
    pool_free(opts.pool);
    fs_remove_tree(dir);
}
