/*
 * The database is read by way of SQLite (pg_tables.h): a copy is rows of one statement into
 * another, and comparing is two statements side by side.
 *
 * A drop empties whole partitions where all runs of one go, which gives their room back at
 * once; else rows are deleted, and their room is used anew. Partitions stay, since rows that
 * wait in a spool may still come.
 */
#include "prov/prov_pg_keep.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "postgres/pg_tables.h"
#include "prov/prov_keep.h"
#include "prov/prov_pg_rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 10 /* when runs change under our hands */

/* Columns there and in a shard (prov_schema.sql), and an order that both know. */
static const struct table {
    const char *name, *run, *from, *order_from, *to, *order_to;
} tables[] = {
    {"run", "id", "id, program, rank, began_ns, run_id, ended_ns, backed_up_ns, dropped_ns",
     "id", NULL, "id"},
    {"function", NULL, "id, name", "id", NULL, "id"},
    {"record", "run",
     "nr, run, is_normal, program, rank, thread, step, idx, fid, function, enter_ns, leave_ns, "
     "inclusive_ns, exclusive_ns, score, p, severity_ns, model_version, is_gpu, "
     "CAST(execution AS INTEGER), CAST(calls AS INTEGER), CAST(messages AS INTEGER), "
     "is_pruned, final_score, final_p, data, stored_ns",
     "nr",
     "id, run, is_normal, program, rank, thread, step, idx, fid, function, enter_ns, leave_ns, "
     "inclusive_ns, exclusive_ns, score, p, severity_ns, model_version, is_gpu, execution, "
     "calls, messages, is_pruned, final_score, final_p, data, stored_ns",
     "id"},
    {"cost_row", "run", "run, program, rank, step, idx, is_execution, cost_ns, is_bound",
     "run, program, rank, step, idx, is_execution", NULL,
     "run, program, rank, step, idx, is_execution"},
    {"metadata_row", "run", "run, program, rank, thread, descr, value, stored_ns", "run, id",
     NULL, "rowid"},
    {"func_stats_row", "run",
     "run, program, fid, name, calls, anomalies, exclusive, inclusive, severity, score",
     "run, program, fid", NULL, "run, program, fid"},
    {"counter_stats_row", "run", "run, program, counter, stats", "run, program, counter", NULL,
     "run, program, counter"},
    {"ad_model_row", "run", "run, version, program, fid, name, algorithm, stats, data",
     "run, version, program, fid", NULL, "run, version, program, fid"},
};

#define N_TABLES (sizeof tables / sizeof *tables)

static const char *columns_to(const struct table *t)
{
    return t->to ? t->to : t->from;
}

/* ---------------------------------------------------------------------------------- reading */

static int open_writer(const char *url, PGconn **connection)
{
    int rc = pg_open(url, prov_pg_schema.name, connection);

    return rc < 0 ? rc : pg_schema_check(*connection, &prov_pg_schema);
}

/* All tables as of one moment. */
static int open_source(const char *url, struct database *source)
{
    const char *name[N_TABLES];
    PGconn *connection;
    int rc = pg_open(url, prov_pg_schema.name, &connection);

    for (size_t i = 0; i < N_TABLES; i++)
        name[i] = tables[i].name;
    return rc < 0 ? rc : pg_tables_open(source, connection, name, N_TABLES);
}

/* " WHERE run >= 3 AND run <= 7" */
static void range_of(const struct prov_pg_asked *asked, const char *column, char out[120])
{
    *out = '\0';
    if (asked->first > 0 && column)
        snprintf(out, 120, " WHERE %s >= %" PRId64 " AND %s <= %" PRId64, column, asked->first,
                 column, asked->last);
}

/* Runs whose sender is connected now. */
static int read_alive(PGconn *connection, struct idmap *alive)
{
    char sql[256];
    PGresult *rows;
    int rc = 0;

    snprintf(sql, sizeof sql,
             "SELECT objid FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND classid = "
             "%d AND objsubid = 2 AND database = (SELECT oid FROM pg_catalog.pg_database WHERE "
             "datname = current_database())",
             PROV_PG_ALIVE);
    rows = PQexec(connection, sql);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        rc = pg_error(connection, rows, "read");
    for (int i = 0; rc == 0 && i < PQntuples(rows); i++)
        idmap_add(alive, key_pair(0, strtoull(PQgetvalue(rows, i, 0), NULL, 10)));
    PQclear(rows);
    return rc;
}

bool prov_pg_is_written(const struct prov_pg_asked *asked)
{
    struct idmap alive = {0};
    PGconn *connection = NULL;
    int rc = pg_open(asked->url, prov_pg_schema.name, &connection);
    bool is = false;

    if (rc == 0)
        rc = read_alive(connection, &alive);
    for (uint32_t i = 0; rc == 0 && i < alive.n; i++)
        is |= asked->first <= 0 || (alive.key[i].low >= (uint64_t)asked->first &&
                                    alive.key[i].low <= (uint64_t)asked->last);
    PQfinish(connection);
    idmap_release(&alive);
    return is;
}

/* ----------------------------------------------------------------------------------- backup */

struct backup {
    const struct prov_pg_asked *asked;
    const char *to;
    struct database source;
    struct prov_dir place;
    uint64_t bytes;
};

static int prepare(const struct backup *b, struct database *d, const char *sql,
                   sqlite3_stmt **out)
{
    return sqlite3_prepare_v2(d->sql, sql, -1, out, NULL) == SQLITE_OK
               ? 0
               : database_error(d->sql, "cannot read", d == &b->source ? b->asked->url : b->to);
}

/* What the database has of a table, in order. */
static int select_source(struct backup *b, const struct table *t, sqlite3_stmt **out)
{
    char sql[1024], range[120];

    range_of(b->asked, t->run, range);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s%s ORDER BY %s", t->from, t->name, range,
             t->order_from);
    return prepare(b, &b->source, sql, out);
}

static int copy_rows(sqlite3_stmt *from, sqlite3_stmt *to)
{
    int status;

    while ((status = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(from); i++)
            sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
        status = sqlite3_step(to);
        sqlite3_reset(to);
        if (status != SQLITE_DONE)
            return status;
    }
    return status;
}

static int copy_table(struct backup *b, struct database *copy, const struct table *t)
{
    sqlite3_stmt *from = NULL, *to = NULL;
    char sql[1024];
    int status = SQLITE_DONE, rc = select_source(b, t, &from);

    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (?", t->name, columns_to(t));
    for (int i = 1; rc == 0 && i < sqlite3_column_count(from); i++)
        strcat(sql, ", ?");
    strcat(sql, ")");
    if (rc == 0)
        rc = prepare(b, copy, sql, &to);
    if (rc == 0)
        status = copy_rows(from, to);
    if (status != SQLITE_DONE)
        rc = sqlite3_errcode(b->source.sql) != SQLITE_DONE &&
                     sqlite3_errcode(b->source.sql) != SQLITE_ROW
                 ? database_error(b->source.sql, "cannot read", b->asked->url)
                 : database_error(copy->sql, "cannot write", b->to);
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    return rc;
}

static bool is_same_value(sqlite3_stmt *a, sqlite3_stmt *b, int i)
{
    int type = sqlite3_column_type(a, i), bytes;

    if (type != sqlite3_column_type(b, i))
        return false;
    if (type == SQLITE_INTEGER)
        return sqlite3_column_int64(a, i) == sqlite3_column_int64(b, i);
    if (type == SQLITE_FLOAT) /* no NaN is stored, and -0 as 0 */
        return sqlite3_column_double(a, i) == sqlite3_column_double(b, i);
    bytes = sqlite3_column_bytes(a, i);
    return bytes == sqlite3_column_bytes(b, i) &&
           (bytes == 0 ||
            memcmp(sqlite3_column_blob(a, i), sqlite3_column_blob(b, i), (size_t)bytes) == 0);
}

/* Both to their end. */
static bool is_same(sqlite3_stmt *a, sqlite3_stmt *b)
{
    int status = SQLITE_ROW;

    while (status == SQLITE_ROW) {
        status = sqlite3_step(a);
        if (status != sqlite3_step(b))
            return false;
        for (int i = 0; status == SQLITE_ROW && i < sqlite3_column_count(a); i++)
            if (!is_same_value(a, b, i))
                return false;
    }
    return status == SQLITE_DONE;
}

static int compare_table(struct backup *b, struct database *copy, const struct table *t)
{
    sqlite3_stmt *there = NULL, *here = NULL;
    char sql[1024];
    int rc = select_source(b, t, &there);

    snprintf(sql, sizeof sql, "SELECT %s FROM %s ORDER BY %s", columns_to(t), t->name,
             t->order_to);
    if (rc == 0)
        rc = prepare(b, copy, sql, &here);
    if (rc == 0 && !is_same(there, here))
        rc = err_set(ERR_IO, "the backup '%s' does not have what the database has in '%s'",
                     b->to, t->name);
    sqlite3_finalize(there);
    sqlite3_finalize(here);
    return rc;
}

static int write_copy(struct backup *b, int dir)
{
    struct prov_shard shard;
    int rc = prov_shard_open(&b->place, dir, 0, 1, &shard);
    struct database *d = &shard.database;

    if (rc == 0 &&
        sqlite3_exec(d->sql, "PRAGMA synchronous = FULL; BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        rc = database_error(d->sql, "cannot write", b->to);
    for (size_t i = 0; i < N_TABLES && rc == 0; i++)
        rc = copy_table(b, d, &tables[i]);
    /* one file: nothing beside it has to be copied with it */
    if (rc == 0 && sqlite3_exec(d->sql, "COMMIT; PRAGMA journal_mode = DELETE", NULL, NULL,
                                NULL) != SQLITE_OK)
        rc = database_error(d->sql, "cannot write", b->to);
    prov_shard_close(&shard);
    return rc;
}

/* The directory of a backup: all rows, read back from the file. */
static int fill(void *ctx, int dir)
{
    struct backup *b = ctx;
    struct database copy = {0};
    struct prov_file file;
    struct stat info;
    uint32_t n = 1;
    int rc = write_copy(b, dir);

    if (rc == 0)
        rc = database_open(&copy, prov_dir_file(&b->place, dir, 0, &file), DATABASE_READ);
    if (rc == 0)
        rc = prov_shard_check(&copy, "main", 0, &n, file.path);
    if (rc == 0)
        database_unbound(&copy);
    for (size_t i = 0; i < N_TABLES && rc == 0; i++)
        rc = compare_table(b, &copy, &tables[i]);
    database_close(&copy);
    if (rc == 0 && fstatat(dir, file.name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        b->bytes = (uint64_t)info.st_size;
    return rc;
}

/* As of the moment of the copy. */
static int read_copied_runs(struct backup *b, const struct idmap *alive,
                            struct prov_kept_runs *runs)
{
    sqlite3_stmt *query = NULL;
    char sql[512], range[120];
    int status = SQLITE_DONE, rc;

    range_of(b->asked, "id", range);
    snprintf(sql, sizeof sql,
             "SELECT id, ended_ns IS NOT NULL, stored, backed_up IS stored, dropped_ns IS NULL "
             "FROM run%s ORDER BY id",
             range);
    rc = prepare(b, &b->source, sql, &query);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(query, 0);

        if (!sqlite3_column_int(query, 4))
            continue;
        prov_kept_runs_add(
            runs, (struct prov_kept_run){
                      .id = id,
                      .is_over = sqlite3_column_int(query, 1) ||
                                 idmap_find(alive, key_pair(0, (uint64_t)id)) == IDMAP_NONE,
                      .stored = sqlite3_column_int64(query, 2),
                      .is_safe = sqlite3_column_int(query, 3)});
    }
    if (status != SQLITE_DONE)
        rc = database_error(b->source.sql, "cannot read", b->asked->url);
    sqlite3_finalize(query);
    return rc;
}

/* Those that are over, and have no more rows than the backup. */
static int mark(PGconn *connection, const struct prov_kept_runs *runs,
                struct prov_backed_up *out)
{
    const char *before = "";
    char *sql = NULL;
    size_t size;
    FILE *text = open_memstream(&sql, &size);
    PGresult *result;
    int rc = 0;

    fprintf(text,
            "UPDATE run SET backed_up_ns = %" PRIu64 ", backed_up = run.stored FROM (VALUES ",
            text_now_ns());
    for (size_t i = 0; i < runs->n; i++) {
        const struct prov_kept_run *run = &runs->at[i];

        out->n_open += !run->is_over;
        if (!run->is_over || run->is_safe)
            continue;
        fprintf(text, "%s(%" PRId64 ", %" PRId64 ")", before, run->id, run->stored);
        before = ", ";
    }
    fputs(") copied (id, stored) WHERE run.id = copied.id AND run.stored = copied.stored",
          text);
    fclose(text);
    if (*before) {
        result = PQexec(connection, sql);
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            rc = pg_error(connection, result, "mark what is backed up in");
        else
            out->n_runs = strtoull(PQcmdTuples(result), NULL, 10);
        PQclear(result);
    }
    free(sql);
    return rc;
}

int prov_pg_backup(const struct prov_pg_asked *asked, const char *dir,
                   struct prov_backed_up *out)
{
    struct backup b = {.asked = asked, .to = dir, .place.n_shards = 1};
    struct prov_kept_runs runs = {0};
    struct idmap alive = {0};
    PGconn *connection = NULL;
    int rc = open_writer(asked->url, &connection);

    snprintf(b.place.dir, sizeof b.place.dir, "%s", dir);
    if (rc == 0) /* who was not there before that moment has nothing to change after it */
        rc = read_alive(connection, &alive);
    if (rc == 0)
        rc = open_source(asked->url, &b.source);
    if (rc == 0)
        rc = read_copied_runs(&b, &alive, &runs);
    if (rc == 0)
        rc = prov_keep_directory(dir, fill, &b);
    database_close(&b.source);
    if (rc == 0)
        rc = mark(connection, &runs, out);
    out->bytes = rc == 0 ? b.bytes : 0;
    PQfinish(connection);
    idmap_release(&alive);
    free(runs.at);
    return rc;
}

/* ------------------------------------------------------------------------------------ prune */

struct prune {
    PGconn *connection;
    const struct prov_pg_asked *asked;
    const char *list; /* of runs that go */
    bool is_given_back;
};

/* With what their rows take. */
static int read_runs(PGconn *connection, const struct prov_pg_asked *asked,
                     const struct idmap *alive, struct prov_kept_runs *runs)
{
    char sql[1024], range[120];
    PGresult *rows;
    int rc = 0;

    range_of(asked, "id", range);
    snprintf(sql, sizeof sql,
             "SELECT id, coalesce(ended_ns, began_ns), ended_ns IS NOT NULL, "
             "backed_up IS NOT DISTINCT FROM stored, coalesce(r.bytes, 0) + coalesce(c.bytes, "
             "0) FROM run LEFT JOIN (SELECT run, sum(" PROV_PG_RECORD_BYTES ") AS bytes FROM "
             "record GROUP BY run) r ON r.run = id LEFT JOIN (SELECT run, 150 * count(*) AS "
             "bytes FROM cost_row GROUP BY run) c ON c.run = id%s%s dropped_ns IS NULL "
             "ORDER BY 2, 1",
             range, *range ? " AND" : " WHERE");
    rows = PQexec(connection, sql);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        rc = pg_error(connection, rows, "read");
    for (int i = 0; rc == 0 && i < PQntuples(rows); i++) {
        uint64_t id = strtoull(PQgetvalue(rows, i, 0), NULL, 10);
        bool is_over =
            *PQgetvalue(rows, i, 2) == 't' || idmap_find(alive, key_pair(0, id)) == IDMAP_NONE;

        prov_kept_runs_add(
            runs, (struct prov_kept_run){.id = (int64_t)id,
                                         .last_ns = strtoull(PQgetvalue(rows, i, 1), NULL, 10),
                                         .is_over = is_over,
                                         .is_safe = is_over && *PQgetvalue(rows, i, 3) == 't',
                                         .bytes = strtod(PQgetvalue(rows, i, 4), NULL)});
    }
    PQclear(rows);
    return rc;
}

/* Runs with rows in a partition that do not go. */
static int others_in(const struct prune *p, int64_t partition, int64_t *n)
{
    char *sql = NULL;
    int rc;

    sql = sqlite3_mprintf("SELECT count(*) FROM run WHERE id >= %lld AND id < %lld AND "
                          "dropped_ns IS NULL AND id NOT IN %s",
                          (long long)(partition * PROV_PG_RUNS),
                          (long long)((partition + 1) * PROV_PG_RUNS), p->list);
    rc = pg_number(p->connection, sql, n);
    sqlite3_free(sql);
    return rc;
}

/* All of a partition, when nobody else has rows there, looks at them or writes some. */
static bool empty_partition(const struct prune *p, int64_t partition)
{
    int64_t n = 1;
    char sql[400];

    if (others_in(p, partition, &n) < 0 || n > 0)
        return false;
    snprintf(sql, sizeof sql,
             "SAVEPOINT whole; SET LOCAL lock_timeout = '1s'; LOCK TABLE record_%" PRId64
             ", cost_row_%" PRId64 " IN ACCESS EXCLUSIVE MODE",
             partition, partition);
    if (pg_run(p->connection, sql) == 0 && others_in(p, partition, &n) == 0 && n == 0) {
        snprintf(sql, sizeof sql,
                 "TRUNCATE record_%" PRId64 ", cost_row_%" PRId64
                 "; SET LOCAL lock_timeout = DEFAULT; RELEASE whole",
                 partition, partition);
        if (pg_run(p->connection, sql) == 0)
            return true;
    }
    pg_run(p->connection, "ROLLBACK TO whole");
    return false;
}

static int drop_of(const struct prune *p, const char *table, const char *more)
{
    char *sql = sqlite3_mprintf("DELETE FROM %s WHERE run IN %s%s", table, p->list, more);
    int rc = pg_run(p->connection, sql);

    sqlite3_free(sql);
    return rc;
}

static int drop_partition(struct prune *p, int64_t partition)
{
    char more[100];
    int rc;

    if (empty_partition(p, partition))
        return 0;
    p->is_given_back = false;
    snprintf(more, sizeof more, " AND run >= %" PRId64 " AND run < %" PRId64,
             partition * PROV_PG_RUNS, (partition + 1) * PROV_PG_RUNS);
    rc = drop_of(p, "record", more);
    return rc < 0 ? rc : drop_of(p, "cost_row", more);
}

/* Nobody adds to them from now on; false when they are no longer as they were chosen. */
static int hold(const struct prune *p, uint64_t n, bool *is_held)
{
    int64_t held = 0;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT 1 FROM run WHERE id IN %s AND "
                                "backed_up = stored AND dropped_ns IS NULL FOR UPDATE) held",
                                p->list);
    int rc = pg_run(p->connection, "BEGIN");

    if (rc == 0)
        rc = pg_number(p->connection, sql, &held);
    sqlite3_free(sql);
    *is_held = (uint64_t)held == n;
    return rc;
}

static int drop_held(struct prune *p, const struct prov_kept_runs *runs, const bool *is_chosen,
                     uint64_t now_ns)
{
    static const char *const rest[] = {"metadata_row", "func_stats_row", "counter_stats_row",
                                       "ad_model_row"};
    struct idmap done = {0};
    char *sql;
    int rc = 0;

    for (size_t i = 0; i < runs->n && rc == 0; i++) {
        int64_t partition = runs->at[i].id / PROV_PG_RUNS;

        if (!is_chosen[i] || idmap_find(&done, key_pair(0, (uint64_t)partition)) != IDMAP_NONE)
            continue;
        idmap_add(&done, key_pair(0, (uint64_t)partition));
        rc = drop_partition(p, partition);
    }
    idmap_release(&done);
    for (size_t i = 0; i < sizeof rest / sizeof *rest && rc == 0; i++)
        rc = drop_of(p, rest[i], "");
    sql = sqlite3_mprintf("UPDATE run SET dropped_ns = %llu WHERE id IN %s; COMMIT",
                          (unsigned long long)now_ns, p->list);
    if (rc == 0)
        rc = pg_run(p->connection, sql);
    sqlite3_free(sql);
    return rc;
}

/* Once. *is_done: nothing is left to be dropped. */
static int prune_some(struct prune *p, const struct prov_prune_opts *opts,
                      struct prov_pruned *out, bool *is_done)
{
    struct prov_kept_runs runs = {0};
    struct idmap alive = {0};
    bool *is_chosen = NULL, is_held = false;
    uint64_t n = 0;
    double used = 0;
    char *list;
    int rc = read_alive(p->connection, &alive);

    if (rc == 0)
        rc = read_runs(p->connection, p->asked, &alive, &runs);
    for (size_t i = 0; i < runs.n; i++)
        used += runs.at[i].bytes;
    out->bytes = (uint64_t)used;
    if (out->bytes_before == 0)
        out->bytes_before = out->bytes;
    is_chosen = mem_alloc(runs.n + 1, sizeof *is_chosen);
    if (rc == 0)
        n = prov_kept_runs_choose(&runs, opts, used, is_chosen, &out->n_kept);
    *is_done = n == 0;
    p->list = list = prov_kept_runs_list(&runs, is_chosen);
    if (rc == 0 && n > 0) {
        rc = hold(p, n, &is_held);
        if (rc == 0 && is_held)
            rc = drop_held(p, &runs, is_chosen, opts->now_ns);
        if (rc < 0 || !is_held)
            PQclear(PQexec(p->connection, "ROLLBACK"));
        out->n_dropped += rc == 0 && is_held ? n : 0;
    }
    free(list);
    free(is_chosen);
    free(runs.at);
    idmap_release(&alive);
    return rc;
}

int prov_pg_prune(const struct prov_pg_asked *asked, const struct prov_prune_opts *opts,
                  struct prov_pruned *out)
{
    struct prune p = {.asked = asked, .is_given_back = true};
    bool is_done = false;
    int rc = open_writer(asked->url, &p.connection);

    for (int i = 0; i < TRIES && rc == 0 && !is_done; i++)
        rc = prune_some(&p, opts, out, &is_done);
    out->is_given_back = p.is_given_back && out->n_dropped > 0;
    PQfinish(p.connection);
    return rc;
}
