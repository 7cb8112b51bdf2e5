/* Records are read by their number, some at a time; the verdicts go to a table of ours, and
 * from there all at once to the records. */
#include "prov/prov_pg_rejudge.h"

#include "base/err.h"
#include "prov/prov_pg_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 10
#define NAP_NS 400000000

struct rejudge {
    PGconn *connection;
    const struct prov_rejudge *opts;
    struct prov_rejudged counts;
    struct arena arena;
    char *verdicts; /* lines of COPY, as text */
    size_t n_verdicts;
    int64_t last; /* id read last */
};

static void write_real(FILE *out, double x)
{
    if (isfinite(x))
        fprintf(out, "\t%.17g", x);
    else
        fputs("\t\\N", out);
}

static void judge_row(struct rejudge *r, const PGresult *rows, int i, FILE *out)
{
    struct prov_stored stored = {.is_normal = pg_get_i64(PQgetvalue(rows, i, 1)) != 0,
                                 .data = PQgetvalue(rows, i, 2),
                                 .bytes = (size_t)PQgetlength(rows, i, 2)};
    struct prov_final final;

    r->last = pg_get_i64(PQgetvalue(rows, i, 0));
    prov_rejudge_record(r->opts, &r->counts, &r->arena, &stored, &final);
    if (!final.is_judged)
        return;
    fprintf(out, "%" PRId64 "\t%d", r->last, final.is_pruned);
    write_real(out, final.score);
    write_real(out, final.p);
    fputc('\n', out);
}

/* Returns how many there were, or an error. */
static int judge_some(struct rejudge *r, FILE *out)
{
    char sql[256];
    PGresult *rows;
    int n;

    snprintf(sql, sizeof sql,
             "SELECT id, is_normal, data FROM record WHERE run = %" PRId64 " AND id > %" PRId64
             " ORDER BY id LIMIT 256",
             r->opts->run, r->last);
    rows = PQexecParams(r->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
    n = PQresultStatus(rows) == PGRES_TUPLES_OK ? PQntuples(rows)
                                                : pg_error(r->connection, rows, "read");
    for (int i = 0; i < n; i++)
        judge_row(r, rows, i, out);
    PQclear(rows);
    return n;
}

static int judge_all(struct rejudge *r)
{
    FILE *out = open_memstream(&r->verdicts, &r->n_verdicts);
    int n;

    while ((n = judge_some(r, out)) > 0)
        ;
    fclose(out);
    return n;
}

static int send_verdicts(struct rejudge *r)
{
    PGresult *result = PQexec(r->connection, "COPY verdict FROM STDIN");
    int rc = PQresultStatus(result) == PGRES_COPY_IN
                 ? 0
                 : pg_error(r->connection, result, "write to");

    PQclear(result);
    for (size_t at = 0, n; rc == 0 && at < r->n_verdicts; at += n) {
        n = r->n_verdicts - at < 1 << 20 ? r->n_verdicts - at : 1 << 20;
        if (PQputCopyData(r->connection, r->verdicts + at, (int)n) != 1)
            rc = pg_error(r->connection, NULL, "write to");
    }
    if (rc == 0 && PQputCopyEnd(r->connection, NULL) != 1)
        rc = pg_error(r->connection, NULL, "write to");
    while ((result = PQgetResult(r->connection))) {
        if (rc == 0 && PQresultStatus(result) != PGRES_COMMAND_OK)
            rc = pg_error(r->connection, result, "write to");
        PQclear(result);
    }
    return rc;
}

static int keep_verdicts(struct rejudge *r)
{
    char sql[256];
    int rc =
        pg_run(r->connection, "BEGIN; CREATE TEMP TABLE verdict (id bigint, is_pruned bigint, "
                              "score double precision, p double precision) ON COMMIT DROP");

    if (rc == 0)
        rc = send_verdicts(r);
    snprintf(
        sql, sizeof sql,
        "UPDATE record r SET is_pruned = v.is_pruned, final_score = v.score, final_p = v.p "
        "FROM verdict v WHERE r.run = %" PRId64 " AND r.id = v.id",
        r->opts->run);
    if (rc == 0)
        rc = pg_run(r->connection, sql);
    snprintf(sql, sizeof sql, "UPDATE run SET backed_up = NULL WHERE id = %" PRId64,
             r->opts->run); /* what is in a backup is not this any more */
    if (rc == 0)
        rc = pg_run(r->connection, sql);
    return rc < 0 ? rc : pg_run(r->connection, "COMMIT");
}

static int rejudge_once(struct rejudge *r, const char *url)
{
    int rc;

    r->counts = (struct prov_rejudged){0};
    r->last = 0;
    rc = pg_open(url, prov_pg_schema.name, &r->connection);
    if (rc == 0)
        rc = judge_all(r);
    if (rc == 0)
        rc = keep_verdicts(r);
    PQfinish(r->connection);
    r->connection = NULL;
    free(r->verdicts);
    r->verdicts = NULL;
    return rc;
}

int prov_pg_rejudge(const char *url, const struct prov_rejudge *opts,
                    struct prov_rejudged *counts)
{
    struct rejudge r = {.opts = opts};
    int rc = rejudge_once(&r, url);

    for (int i = 0; i < TRIES && rc < 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        rc = rejudge_once(&r, url);
    }
    arena_release(&r.arena);
    if (rc == 0)
        *counts = r.counts;
    return rc;
}
