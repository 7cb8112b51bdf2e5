/* Records are read by their id, some at a time, so that no row is changed under a running
 * query. */
#include "prov/prov_rejudge.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define SOME 256

struct rejudge {
    struct database database;
    const char *path;
    sqlite3_stmt *select, *update;
    const struct prov_rejudge *opts;
    struct prov_rejudged *counts;
    struct arena arena; /* of one record */
    struct verdict {
        int64_t id;
        struct prov_final final;
    } verdict[SOME];
    size_t n;
    int64_t last; /* id read last */
};

static int fail(const struct rejudge *r)
{
    return database_error(r->database.sql, "cannot keep the final verdicts in", r->path);
}

void prov_rejudge_record(const struct prov_rejudge *opts, struct prov_rejudged *counts,
                         struct arena *arena, const struct prov_stored *stored,
                         struct prov_final *final)
{
    struct arena_mark mark = arena_mark(arena);
    struct prov_record record;

    *final = (struct prov_final){.is_judged = false};
    counts->n_records++;
    if (prov_record_read(stored->data, stored->bytes, arena, &record) == 0)
        opts->judge(opts->ctx, stored->is_normal ? PROV_NORMAL : PROV_ANOMALY, &record, final);
    else
        counts->n_damaged++;
    if (final->is_judged && final->is_pruned && !stored->is_normal) {
        counts->n_taken_back++;
        counts->taken_back_ns += record.severity_ns;
    }
    arena_restore(arena, mark);
    counts->n_judged += final->is_judged;
    counts->n_pruned += final->is_judged && final->is_pruned;
}

/* The verdict on the current row, into r->verdict. */
static void judge_row(struct rejudge *r)
{
    struct prov_stored stored = {.is_normal = sqlite3_column_int(r->select, 1) != 0,
                                 .data = sqlite3_column_blob(r->select, 2),
                                 .bytes = (size_t)sqlite3_column_bytes(r->select, 2)};
    struct verdict *v = &r->verdict[r->n];

    v->id = r->last = sqlite3_column_int64(r->select, 0);
    prov_rejudge_record(r->opts, r->counts, &r->arena, &stored, &v->final);
    r->n += v->final.is_judged;
}

static void bind_real(sqlite3_stmt *statement, int i, double x)
{
    if (isfinite(x))
        sqlite3_bind_double(statement, i, x);
    else
        sqlite3_bind_null(statement, i);
}

static int keep_verdicts(struct rejudge *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct verdict *v = &r->verdict[i];
        int status;

        sqlite3_bind_int(r->update, 1, v->final.is_pruned);
        bind_real(r->update, 2, v->final.score);
        bind_real(r->update, 3, v->final.p);
        sqlite3_bind_int64(r->update, 4, v->id);
        status = sqlite3_step(r->update);
        sqlite3_reset(r->update);
        if (status != SQLITE_DONE)
            return fail(r);
    }
    r->n = 0;
    return 0;
}

/* The next records. Returns how many, or an error. */
static int judge_some(struct rejudge *r)
{
    int n = 0, status, rc;

    sqlite3_bind_int64(r->select, 1, r->last);
    sqlite3_bind_int64(r->select, 2, r->opts->run);
    for (; (status = sqlite3_step(r->select)) == SQLITE_ROW; n++)
        judge_row(r);
    rc = status == SQLITE_DONE ? 0 : fail(r);
    sqlite3_reset(r->select);
    if (rc == 0)
        rc = keep_verdicts(r);
    return rc < 0 ? rc : n;
}

static int prepare(struct rejudge *r)
{
    if (sqlite3_exec(r->database.sql, "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE", NULL,
                     NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(r->database.sql,
                           "SELECT id, is_normal, data FROM record WHERE id > ? AND +run = ? "
                           "ORDER BY id LIMIT 256",
                           -1, &r->select, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(r->database.sql,
                           "UPDATE record SET is_pruned = ?, final_score = ?, final_p = ? "
                           "WHERE id = ?",
                           -1, &r->update, NULL) != SQLITE_OK)
        return fail(r);
    return 0;
}

int prov_rejudge_shard(const struct prov_rejudge *opts, struct prov_rejudged *counts)
{
    struct rejudge *r = mem_alloc(1, sizeof *r);
    struct prov_file at;
    const struct database_file *file =
        prov_place_file(opts->place, opts->dir, opts->shard, &at);
    int rc;

    r->opts = opts;
    r->counts = counts;
    r->last = INT64_MIN;
    r->path = file->path;
    rc = database_open(&r->database, file, DATABASE_WRITE);
    if (rc == 0)
        rc = prepare(r);
    while (rc == 0 && (rc = judge_some(r)) > 0)
        rc = 0;
    if (rc == 0 && sqlite3_exec(r->database.sql, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rc = fail(r);
    sqlite3_finalize(r->select);
    sqlite3_finalize(r->update);
    database_close(&r->database); /* undoes what is not committed */
    arena_release(&r->arena);
    free(r);
    return rc;
}
