/* What is needed of a run is built, made into a matrix, and let go before the projection. */
#include "analysis/projection.h"

#include "analysis/run_scoring.h"
#include "base/mem.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>

int projection_make(struct projection *p, sqlite3 *db, const struct columns *columns,
                    const struct definitions *defs, int64_t foi,
                    const struct projection_opts *opts)
{
    struct scoring work = {.embedding.opts = opts->embedding};
    struct matrix x = {0};
    int rc = run_scoring_load(&work, db, columns, defs, foi, opts->features->needs_bags);

    if (rc == 0)
        rc = scoring_matrix(&work, opts->features, opts->project.pool, &x);
    if (work.is_embedding_new) {
        p->embedding = work.embedding;
        work.embedding = (struct stack2vec){0};
    }
    scoring_release(&work);
    if (rc == 0) {
        p->n = (uint32_t)x.rows;
        p->point = mem_alloc(2 * x.rows, sizeof *p->point);
        rc = project_run(opts->method, x, &opts->project, p->point, &p->result);
    }
    free(x.x);
    return rc;
}

void projection_release(struct projection *p)
{
    free(p->point);
    stack2vec_release(&p->embedding);
    *p = (struct projection){0};
}

static int forget(sqlite3 *db, int64_t foi, const char *method)
{
    static const char *const sql[] = {
        "DELETE FROM projection WHERE foi = ? AND method = ?",
        "DELETE FROM projection_settings WHERE foi = ? AND method = ?"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof sql / sizeof *sql; i++) {
        sqlite3_stmt *statement;

        rc = rundb_prepare(db, sql[i], &statement);
        if (rc == 0)
            rc = rundb_insert(db, statement, "it", foi, method);
        sqlite3_finalize(statement);
    }
    return rc;
}

static int save_settings(sqlite3 *db, int64_t foi, const struct projection *p,
                         const struct projection_opts *opts)
{
    sqlite3_stmt *insert;
    char settings[128];
    int rc = rundb_prepare_insert(db, "projection_settings",
                                  "foi, method, features, iterations, cost, settings", &insert);

    snprintf(settings, sizeof settings,
             "{\"perplexity\": %g, \"iterations\": %u, \"seed\": %llu}",
             opts->project.perplexity, opts->project.iterations,
             (unsigned long long)opts->project.seed);
    if (rc == 0)
        rc = rundb_insert(db, insert, "ittidt", foi, opts->method->name, opts->features->name,
                          (int64_t)p->result.n_iterations, p->result.cost, settings);
    sqlite3_finalize(insert);
    return rc;
}

static int save_points(sqlite3 *db, int64_t foi, const struct projection *p, const char *method)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "projection", "foi, method, tree, x, y", &insert);

    for (uint32_t t = 0; rc == 0 && t < p->n; t++)
        rc = rundb_insert(db, insert, "itirr", foi, method, (int64_t)t, p->point[2 * (size_t)t],
                          p->point[2 * (size_t)t + 1]);
    sqlite3_finalize(insert);
    return rc;
}

int projection_save(sqlite3 *db, int64_t foi, const struct projection *p,
                    const struct projection_opts *opts)
{
    int rc = rundb_exec(db, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = forget(db, foi, opts->method->name);
    if (rc == 0)
        rc = save_settings(db, foi, p, opts);
    if (rc == 0)
        rc = save_points(db, foi, p, opts->method->name);
    if (rc == 0 && p->embedding.n_words > 0)
        rc = model_store_save_embedding(db, foi, &p->embedding);
    if (rc == 0)
        rc = rundb_exec(db, "COMMIT");
    if (rc < 0)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* the first error is the one to tell */
    return rc;
}
