/* sample_run -- a small run made from a synthetic trace, for tests. */
#ifndef SNAG_TESTS_SAMPLE_RUN_H
#define SNAG_TESTS_SAMPLE_RUN_H

#include "analysis/analysis.h"
#include "base/database.h"
#include "run/ingest.h"
#include "trace/source.h"

struct sample_run {
    char dir[32];
    struct source source;
    struct ingested ingested;
    struct columns columns;
    struct analysis_foi foi; /* number 1 */
    struct pool *pool;
    struct database database;
    sqlite3 *db; /* its connection */
};

/* sample_run_init -- analyse a trace said in one line; the defaults of opts where it is NULL.
 */
void sample_run_init(struct sample_run *m, const char *program, const char *foi,
                     const struct analysis_opts *opts);

/* sample_run_scoring -- run_scoring_load of its function; *out is zeroed. */
void sample_run_scoring(const struct sample_run *m, const struct definitions *defs,
                        struct scoring *out);
void sample_run_release(struct sample_run *m);

#endif
