/*
 * A store in PostgreSQL: rows go to a spool (prov_spool.h), a thread of its own brings them to
 * the database (prov_pg_sender.h), and questions are asked of tables that are there
 * (pg_tables.h). The final model's verdicts go to a table of ours, and from there all at once to
 * the records.
 */
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "postgres/pg_connection.h"
#include "postgres/pg_tables.h"
#include "prov/prov_kind.h"
#include "prov/prov_pg_keep.h"
#include "prov/prov_pg_rows.h"
#include "prov/prov_pg_sender.h"
#include "prov/prov_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 12 /* about 4 seconds */

#define LOCK 7600712 /* of those who make one */

enum failure { NO_FAILURE, SPOOL_IS_FULL, SPOOL_FAILS };

struct pg_store {
    char *url, *dir;
    char id[PROV_SPOOL_STORE_SIZE];
    struct prov_spool_opts spools;
    struct prov_spool *spool;
    struct prov_pg_sender *sender;
    uint64_t limit_bytes; /* of this run, 0: none is said */
    /* the writer's */
    ZSTD_CCtx *compressor;
    struct pack scratch, payload;
    uint64_t n_rows; /* in the spool so far */
};

/* ------------------------------------------------------------------------------------ sink */

/* Rows from the first on into the payload, as many as a frame may have; how many. */
static size_t pack_rows(struct pg_store *s, struct prov_job *const *job, size_t n)
{
    size_t i = 0;

    s->payload.n = 0;
    while (i < n && s->payload.n < s->spools.most_bytes / 16) {
        prov_pg_pack(job[i], s->n_rows + 1 + i, s->compressor, &s->scratch, &s->payload);
        i++;
    }
    return i;
}

static int write_rows(void *ctx, struct prov_job *const *job, size_t n, size_t *n_written)
{
    struct pg_store *s = ctx;

    for (*n_written = 0; *n_written < n;) {
        size_t n_frame = pack_rows(s, job + *n_written, n - *n_written);
        int rc = prov_spool_append(s->spool, s->n_rows + 1, (uint32_t)n_frame, &s->payload);

        job[*n_written]->is_lost =
            rc < 0 && n_frame == 1 && s->payload.n > s->spools.most_bytes / 2;
        if (rc < 0 && !job[*n_written]->is_lost)
            return rc == ERR_RANGE ? SPOOL_IS_FULL : SPOOL_FAILS;
        s->n_rows += rc < 0 ? 0 : n_frame;
        *n_written += n_frame;
        prov_pg_sender_wake(s->sender);
    }
    return 0;
}

static const char *why(void *ctx, int failure)
{
    struct pg_store *s = ctx;

    if (failure == SPOOL_IS_FULL)
        return "the spool is full";
    return failure == SPOOL_FAILS ? "the spool cannot be written"
                                  : prov_pg_sender_why(s->sender);
}

static const struct prov_sink_ops sink_ops = {write_rows, why, NULL, true};

static void *sink_of(void *state, uint32_t i, struct prov_tally *tally)
{
    struct pg_store *s = state;

    (void)i;
    return prov_pg_sender_new(&(struct prov_pg_sender_opts){s->url, s->spool, &s->spools, tally,
                                                            s->limit_bytes},
                              &s->sender) == 0
               ? s
               : NULL;
}

/* --------------------------------------------------------------------------------- opening */

static int read_id(struct pg_store *s, PGconn *connection)
{
    PGresult *result = PQexec(connection, "SELECT id FROM store");
    int rc = 0;

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        rc = pg_error(connection, result, "read");
    else if (PQntuples(result) != 1 ||
             strspn(PQgetvalue(result, 0, 0), "0123456789abcdef") != 32)
        rc = err_set(ERR_FORMAT, "the database does not say which store it has");
    else
        snprintf(s->id, sizeof s->id, "%.32s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return rc;
}

/*
 * The partition of a run. One that is made beside its table and attached hinders nobody who
 * writes or reads it, unlike one that is made in place.
 */
static int make_partition(PGconn *connection, const char *table, int64_t number)
{
    char sql[512], name[64];
    int rc;

    snprintf(name, sizeof name, "%s_%" PRId64, table, number);
    rc = pg_schema_has(connection, prov_pg_schema.name, name);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    snprintf(sql, sizeof sql,
             "CREATE TABLE snag.%s_%" PRId64 " (LIKE snag.%s INCLUDING ALL); "
             "ALTER TABLE snag.%s ATTACH PARTITION snag.%s_%" PRId64
             " FOR VALUES FROM (%" PRId64 ") TO (%" PRId64 ")",
             table, number, table, table, table, number, number * PROV_PG_RUNS,
             (number + 1) * PROV_PG_RUNS);
    return pg_run(connection, sql);
}

static int make_partitions(PGconn *connection, int64_t run)
{
    char sql[128];
    int rc;

    snprintf(sql, sizeof sql, "BEGIN; SELECT pg_advisory_xact_lock(%d)", LOCK);
    rc = pg_run(connection, sql);
    if (rc == 0)
        rc = make_partition(connection, "record", run / PROV_PG_RUNS);
    if (rc == 0)
        rc = make_partition(connection, "cost_row", run / PROV_PG_RUNS);
    if (rc == 0)
        return pg_run(connection, "COMMIT");
    PQclear(PQexec(connection, "ROLLBACK"));
    return rc;
}

static int make_run(PGconn *connection, const struct prov_store_opts *opts, int64_t *run)
{
    const char *run_id = opts->run_id ? opts->run_id : "";
    char *quoted = PQescapeLiteral(connection, run_id, strlen(run_id));
    char *sql, rank[16] = "NULL";
    int rc;

    if (quoted == NULL)
        return pg_error(connection, NULL, "write to");
    if (opts->rank)
        snprintf(rank, sizeof rank, "%u", *opts->rank);
    sql = sqlite3_mprintf("INSERT INTO run (program, rank, began_ns, run_id) "
                          "VALUES (%u, %s, %llu, %s) RETURNING id",
                          opts->program, rank, (unsigned long long)text_now_ns(), quoted);
    rc = pg_number(connection, sql, run);
    sqlite3_free(sql);
    PQfreemem(quoted);
    return rc < 0 ? rc : make_partitions(connection, *run);
}

static int open_spool(struct pg_store *s, const struct prov_store_opts *opts, int64_t run)
{
    s->dir = mem_copy_string(opts->spool ? opts->spool : PROV_SPOOL);
    s->spools = (struct prov_spool_opts){.dir = s->dir,
                                         .store = s->id,
                                         .version = PROV_PG_ROWS_VERSION,
                                         .most_bytes = opts->spool_bytes ? opts->spool_bytes
                                                                         : PROV_SPOOL_BYTES};
    return prov_spool_open(&s->spools, run, &s->spool);
}

static int open_store(const char *url, const struct prov_store_opts *opts,
                      struct prov_base *base)
{
    struct pg_store *s = mem_alloc(1, sizeof *s);
    PGconn *connection = NULL;
    int rc;

    base->state = s;
    base->n_sinks = 1;
    s->url = mem_copy_string(url);
    s->limit_bytes = opts->limit_bytes;
    s->compressor = prov_compressor();
    rc = strchr(url, '#')
             ? err_set(ERR_USAGE, "URL#RUN is for reading; what is written is a run of "
                                  "its own")
             : pg_open(url, prov_pg_schema.name, &connection);
    if (rc == 0)
        rc = pg_schema_update(connection, &prov_pg_schema);
    if (rc == 0)
        rc = read_id(s, connection);
    if (rc == 0)
        rc = make_run(connection, opts, &base->run);
    PQfinish(connection);
    return rc == 0 ? open_spool(s, opts, base->run) : rc;
}

/* ----------------------------------------------------------------------------------- ending */

static void end(void *state)
{
    struct pg_store *s = state;
    uint64_t n_left;

    if (s->sender == NULL || s->spool == NULL)
        return;
    n_left = s->n_rows - prov_pg_sender_end(s->sender);
    if (prov_pg_sender_why(s->sender) && n_left > 0)
        log_warn("prov",
                 "%" PRIu64 " rows wait in '%s' for the next snag that writes to this database "
                 "with --spool %s",
                 n_left, s->dir, s->dir);
}

static void close_store(void *state)
{
    struct pg_store *s = state;

    if (s == NULL)
        return;
    end(s);
    prov_pg_sender_free(s->sender);
    prov_spool_close(s->spool);
    ZSTD_freeCCtx(s->compressor);
    pack_release(&s->scratch);
    pack_release(&s->payload);
    free(s->dir);
    free(s->url);
    free(s);
}

/* ----------------------------------------------------------------------------- judged again */

static int rejudge_once(const char *url, const struct prov_rejudge *records,
                        struct prov_rejudged *counts)
{
    static const char *const tables[] = {"record"};
    PGconn *reader, *writer = NULL;
    struct prov_rejudge r = *records;
    struct database from = {0};
    int rc = pg_open(url, prov_pg_schema.name, &reader);

    *counts = (struct prov_rejudged){0};
    if (rc == 0)
        rc = pg_tables_open(&from, reader, tables, 1);
    if (rc == 0)
        rc = pg_open(url, prov_pg_schema.name, &writer);
    if (rc == 0)
        rc = prov_pg_begin_verdicts(writer);
    r.from = &from;
    r.path = url;
    r.keep = prov_pg_keep_verdicts;
    r.keeper = writer;
    if (rc == 0)
        rc = prov_rejudge_records(&r, counts);
    if (rc == 0)
        rc = prov_pg_end_verdicts(writer, r.run);
    database_close(&from);
    PQfinish(writer); /* undoes what is not committed */
    return rc;
}

/* In one transaction, and once more when a connection breaks. */
static int rejudge(const struct prov_base *base, const struct prov_rejudge *records,
                   struct prov_rejudged *counts)
{
    const char *url = ((const struct pg_store *)base->state)->url;
    unsigned waited_ms = 0;
    int rc = rejudge_once(url, records, counts);

    for (int i = 0; i < TRIES && rc < 0; i++) {
        prov_wait_again(&waited_ms);
        rc = rejudge_once(url, records, counts);
    }
    return rc;
}

/* ---------------------------------------------------------------------------------- reading */

/* As the views over shards, of prov_reader.c. */
static const struct {
    const char *name; /* there */
    const char *as;   /* here */
    const char *columns;
} views[] = {
    {"anomalies", "anomalies", NULL},
    {"normalexecs", "normalexecs", NULL},
    {"runs", "runs", "run, pid, rid, began, run_id, ended, backed_up, dropped, shard"},
    {"metadata", "metadata", "run, pid, rid, tid, descr, value, stored_ns, shard"},
    {"func_stats", "func_stats_of_runs",
     "run, pid, fid, func, calls, anomalies, exclusive, inclusive, severity, score, "
     "shard"},
    {"counter_stats", "counter_stats_of_runs", "run, pid, counter, stats, shard"},
    {"ad_model", "ad_model", "run, version, pid, fid, func, algorithm, stats, data, shard"},
};

#define N_VIEWS (sizeof views / sizeof *views)
#define RECORD_COLUMNS                                                                         \
    "run, pid, rid, tid, event_id, fid, func, entry, exit, runtime_total, runtime_exclusive, " \
    "io_step, outlier_score, outlier_severity, p, model_version, is_gpu_event, is_pruned, "    \
    "final_score, final_p, execution, calls, messages, cost_ns, cost_is_bound, "               \
    "prov_record(data, run, verdict_is_pruned, final_score, final_p, cost_ns, cost_is_bound, " \
    "run_id, stored_ns) AS record, run_id, stored_ns, __id, shard"

static int make_view(struct database *reader, size_t i, const struct prov_pg_asked *asked)
{
    const char *columns = views[i].columns ? views[i].columns : RECORD_COLUMNS;
    char *sql, only[80] = "";
    int status;

    if (asked->first == asked->last && asked->first > 0)
        snprintf(only, sizeof only, " WHERE run = %" PRId64, asked->first);
    else if (asked->first > 0)
        snprintf(only, sizeof only, " WHERE run >= %" PRId64 " AND run <= %" PRId64,
                 asked->first, asked->last);
    sql = sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT %s FROM stored_%s%s", views[i].as,
                          columns, views[i].name, only);
    status = sql ? sqlite3_exec(reader->sql, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status == SQLITE_OK ? 0 : prov_reader_error(reader, asked->url);
}

static int open_tables(struct database *reader, const struct prov_pg_asked *asked)
{
    char name[N_VIEWS][40];
    const char *names[N_VIEWS];
    PGconn *connection;
    int rc = pg_open(asked->url, prov_pg_schema.name, &connection);

    if (rc < 0)
        return rc;
    rc = pg_schema_check(connection, &prov_pg_schema);
    if (rc < 0) {
        PQfinish(connection);
        return rc;
    }
    for (size_t i = 0; i < N_VIEWS; i++) {
        snprintf(name[i], sizeof name[i], "stored_%s", views[i].name);
        names[i] = name[i];
    }
    rc = pg_tables_open(reader, connection, names, N_VIEWS);
    if (rc == 0)
        rc = prov_reader_add_function(reader, asked->url);
    for (size_t i = 0; i < N_VIEWS && rc == 0; i++)
        rc = make_view(reader, i, asked);
    return rc == 0 ? prov_jobs_add(reader, asked->url) : rc;
}

static int read_store(const char *text, int64_t run, struct database *reader)
{
    struct prov_pg_asked asked;
    int rc = prov_pg_ask(text, run, &asked);

    *reader = (struct database){0};
    if (rc == 0)
        rc = open_tables(reader, &asked);
    free(asked.url);
    if (rc == 0)
        database_read_only(reader);
    else
        database_close(reader);
    return rc;
}

/* What is there shows when it is opened. */
static bool may_be_there(const char *url)
{
    const char *part = pg_url_part(url);

    return pg_url_is(url) && !(part && strcmp(part, PG_URL_HISTORY) == 0);
}

static void leave(const char *url)
{
    (void)url;
}

static int look(const char *text)
{
    PGconn *connection = NULL;
    struct prov_pg_asked asked;
    int rc = prov_pg_ask(text, 0, &asked);

    if (rc == 0)
        rc = pg_open(asked.url, prov_pg_schema.name, &connection);
    PQfinish(connection);
    free(asked.url);
    return rc;
}

const struct prov_kind_ops prov_postgres = {.name = "postgresql",
                                            .is_mine = pg_url_is,
                                            .sink_ops = &sink_ops,
                                            .open = open_store,
                                            .sink = sink_of,
                                            .end = end,
                                            .close = close_store,
                                            .rejudge = rejudge,
                                            .read = read_store,
                                            .keep = &prov_pg_keep,
                                            .is_there = may_be_there,
                                            .look = look,
                                            .is_written = prov_pg_is_written,
                                            .discard = leave};
