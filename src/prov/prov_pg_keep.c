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

/* Columns there and in a shard (prov_schema.sql), and an order that both know. */
static const struct kept_table {
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

static const char *columns_to(const struct kept_table *t)
{
    return t->to ? t->to : t->from;
}

/* Kept, from here on. */
struct pg_keep {
    struct prov_pg_asked asked;
    PGconn *connection;
    struct idmap alive; /* runs whose sender is connected */

    struct database source; /* of a backup: all tables as of one moment */
    struct prov_dir place;
    const char *to;

    const char *list; /* of runs that go */
    bool is_given_back;
};

/* ---------------------------------------------------------------------------- what is asked */

int prov_pg_ask(const char *text, int64_t run, struct prov_pg_asked *asked)
{
    const char *part = pg_url_part(text);
    int end = 0;

    *asked =
        (struct prov_pg_asked){.url = pg_url_without_part(text), .first = run, .last = run};
    if (part == NULL)
        return 0;
    if (sscanf(part, "%" SCNd64 "%n", &asked->first, &end) == 1 && part[end] == '\0')
        asked->last = asked->first;
    else if (sscanf(part, "%" SCNd64 "-%" SCNd64 "%n", &asked->first, &asked->last, &end) !=
                 2 ||
             part[end] != '\0')
        asked->first = -1;
    return asked->first > 0 && asked->last >= asked->first
               ? 0
               : err_set(ERR_USAGE,
                         "expected URL#RUN or URL#FIRST-LAST, numbers of runs from 1, "
                         "not '#%s'",
                         part);
}

/* ---------------------------------------------------------------------------------- reading */

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
    idmap_release(alive);
    for (int i = 0; rc == 0 && i < PQntuples(rows); i++)
        idmap_add(alive, key_pair(0, strtoull(PQgetvalue(rows, i, 0), NULL, 10)));
    PQclear(rows);
    return rc;
}

static bool is_alive(const struct pg_keep *k, uint64_t run)
{
    return idmap_find(&k->alive, key_pair(0, run)) != IDMAP_NONE;
}

bool prov_pg_is_written(const char *url)
{
    struct prov_pg_asked asked;
    struct idmap alive = {0};
    PGconn *connection = NULL;
    int rc = prov_pg_ask(url, 0, &asked);
    bool is = false;

    if (rc == 0)
        rc = pg_open(asked.url, prov_pg_schema.name, &connection);
    if (rc == 0)
        rc = read_alive(connection, &alive);
    for (uint32_t i = 0; rc == 0 && i < alive.n; i++)
        is |= asked.first <= 0 || (alive.key[i].low >= (uint64_t)asked.first &&
                                   alive.key[i].low <= (uint64_t)asked.last);
    PQfinish(connection);
    idmap_release(&alive);
    free(asked.url);
    return is;
}

static int open_keep(const char *url, void **out)
{
    struct pg_keep *k = mem_alloc(1, sizeof *k);
    int rc = prov_pg_ask(url, 0, &k->asked);

    *out = k;
    k->is_given_back = true;
    if (rc == 0)
        rc = pg_open(k->asked.url, prov_pg_schema.name, &k->connection);
    return rc == 0 ? pg_schema_check(k->connection, &prov_pg_schema) : rc;
}

static void close_keep(void *keep)
{
    struct pg_keep *k = keep;

    if (k == NULL)
        return;
    database_close(&k->source);
    PQfinish(k->connection);
    idmap_release(&k->alive);
    free(k->asked.url);
    free(k);
}

/* ----------------------------------------------------------------------------------- backup */

static int prepare(const struct pg_keep *k, struct database *d, const char *sql,
                   sqlite3_stmt **out)
{
    return sqlite3_prepare_v2(d->sql, sql, -1, out, NULL) == SQLITE_OK
               ? 0
               : database_error(d->sql, "cannot read", d == &k->source ? k->asked.url : k->to);
}

/* What the database has of a table, in order. */
static int select_source(struct pg_keep *k, const struct kept_table *t, sqlite3_stmt **out)
{
    char sql[1024], range[120];

    range_of(&k->asked, t->run, range);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s%s ORDER BY %s", t->from, t->name, range,
             t->order_from);
    return prepare(k, &k->source, sql, out);
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

static int copy_table(struct pg_keep *k, struct database *copy, const struct kept_table *t)
{
    sqlite3_stmt *from = NULL, *to = NULL;
    char sql[1024];
    int status = SQLITE_DONE, rc = select_source(k, t, &from);

    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (?", t->name, columns_to(t));
    for (int i = 1; rc == 0 && i < sqlite3_column_count(from); i++)
        strcat(sql, ", ?");
    strcat(sql, ")");
    if (rc == 0)
        rc = prepare(k, copy, sql, &to);
    if (rc == 0)
        status = copy_rows(from, to);
    if (status != SQLITE_DONE)
        rc = sqlite3_errcode(k->source.sql) != SQLITE_DONE &&
                     sqlite3_errcode(k->source.sql) != SQLITE_ROW
                 ? database_error(k->source.sql, "cannot read", k->asked.url)
                 : database_error(copy->sql, "cannot write", k->to);
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

static int compare_table(struct pg_keep *k, struct database *copy, const struct kept_table *t)
{
    sqlite3_stmt *there = NULL, *here = NULL;
    char sql[1024];
    int rc = select_source(k, t, &there);

    snprintf(sql, sizeof sql, "SELECT %s FROM %s ORDER BY %s", columns_to(t), t->name,
             t->order_to);
    if (rc == 0)
        rc = prepare(k, copy, sql, &here);
    if (rc == 0 && !is_same(there, here))
        rc = err_set(ERR_IO, "the backup '%s' does not have what the database has in '%s'",
                     k->to, t->name);
    sqlite3_finalize(there);
    sqlite3_finalize(here);
    return rc;
}

static int write_copy(struct pg_keep *k, int dir)
{
    struct prov_shard shard;
    int rc = prov_shard_open(&k->place, dir, 0, 1, &shard);
    struct database *d = &shard.database;

    if (rc == 0 &&
        sqlite3_exec(d->sql, "PRAGMA synchronous = FULL; BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        rc = database_error(d->sql, "cannot write", k->to);
    for (size_t i = 0; i < N_TABLES && rc == 0; i++)
        rc = copy_table(k, d, &tables[i]);
    /* one file: nothing beside it has to be copied with it */
    if (rc == 0 && sqlite3_exec(d->sql, "COMMIT; PRAGMA journal_mode = DELETE", NULL, NULL,
                                NULL) != SQLITE_OK)
        rc = database_error(d->sql, "cannot write", k->to);
    prov_shard_close(&shard);
    return rc;
}

/* The directory of a backup: all rows, read back from the file. */
static int copy_all(void *keep, int dir, const char *to, uint64_t *bytes)
{
    struct pg_keep *k = keep;
    struct database copy = {0};
    struct prov_file file;
    struct stat info;
    uint32_t n = 1;
    int rc;

    k->to = to;
    k->place.n_shards = 1;
    snprintf(k->place.dir, sizeof k->place.dir, "%s", to);
    rc = write_copy(k, dir);
    if (rc == 0)
        rc = database_open(&copy, prov_dir_file(&k->place, dir, 0, &file), DATABASE_READ);
    if (rc == 0)
        rc = prov_shard_check(&copy, "main", 0, &n, file.path);
    if (rc == 0)
        database_unbound(&copy);
    for (size_t i = 0; i < N_TABLES && rc == 0; i++)
        rc = compare_table(k, &copy, &tables[i]);
    database_close(&copy);
    if (rc == 0 && fstatat(dir, file.name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        *bytes = (uint64_t)info.st_size;
    return rc;
}

/* All tables as of one moment, and the runs of then. */
static int runs_to_copy(void *keep, struct prov_kept_runs *runs)
{
    struct pg_keep *k = keep;
    const char *name[N_TABLES];
    PGconn *reader;
    sqlite3_stmt *query = NULL;
    char sql[512], range[120];
    int status = SQLITE_DONE;
    int rc = read_alive(k->connection, &k->alive); /* nobody else changes them after that */

    for (size_t i = 0; i < N_TABLES; i++)
        name[i] = tables[i].name;
    if (rc == 0)
        rc = pg_open(k->asked.url, prov_pg_schema.name, &reader);
    if (rc == 0)
        rc = pg_tables_open(&k->source, reader, name, N_TABLES);
    range_of(&k->asked, "id", range);
    snprintf(sql, sizeof sql,
             "SELECT id, ended_ns IS NOT NULL, stored, backed_up IS stored, dropped_ns IS NULL "
             "FROM run%s ORDER BY id",
             range);
    if (rc == 0)
        rc = prepare(k, &k->source, sql, &query);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(query, 0);

        if (!sqlite3_column_int(query, 4))
            continue;
        prov_kept_runs_add(runs,
                           (struct prov_kept_run){.id = id,
                                                  .is_over = sqlite3_column_int(query, 1) ||
                                                             !is_alive(k, (uint64_t)id),
                                                  .stored = sqlite3_column_int64(query, 2),
                                                  .is_safe = sqlite3_column_int(query, 3)});
    }
    if (status != SQLITE_DONE)
        rc = database_error(k->source.sql, "cannot read", k->asked.url);
    sqlite3_finalize(query);
    return rc;
}

/* Those that have no more rows than the backup. */
static int mark(void *keep, const struct prov_kept_runs *runs, const char *list, uint64_t *n)
{
    struct pg_keep *k = keep;
    const char *before = "";
    char *sql = NULL;
    size_t size;
    FILE *text = text_open(&sql, &size);
    PGresult *result;
    int rc = 0;

    (void)list;
    database_close(&k->source);
    fprintf(text,
            "UPDATE run SET backed_up_ns = %" PRIu64 ", backed_up = run.stored FROM (VALUES ",
            text_now_ns());
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].is_chosen) {
            fprintf(text, "%s(%" PRId64 ", %" PRId64 ")", before, runs->at[i].id,
                    runs->at[i].stored);
            before = ", ";
        }
    fputs(") copied (id, stored) WHERE run.id = copied.id AND run.stored = copied.stored",
          text);
    fclose(text);
    result = PQexec(k->connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        rc = pg_error(k->connection, result, "mark what is backed up in");
    else
        *n = strtoull(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    free(sql);
    return rc;
}

/* ------------------------------------------------------------------------------------ prune */

/* With what their rows take, which is all that is known of what there is. */
static int runs_to_drop(void *keep, bool is_weighed, struct prov_kept_runs *runs,
                        uint64_t *used)
{
    struct pg_keep *k = keep;
    char sql[1024], range[120];
    PGresult *rows;
    double sum = 0;
    int rc = read_alive(k->connection, &k->alive);

    (void)is_weighed;
    if (rc < 0)
        return rc;
    range_of(&k->asked, "id", range);
    snprintf(sql, sizeof sql,
             "SELECT id, coalesce(ended_ns, began_ns), ended_ns IS NOT NULL, "
             "backed_up IS NOT DISTINCT FROM stored, coalesce(r.bytes, 0) + coalesce(c.bytes, "
             "0) FROM run LEFT JOIN (SELECT run, sum(" PROV_PG_RECORD_BYTES ") AS bytes FROM "
             "record GROUP BY run) r ON r.run = id LEFT JOIN (SELECT run, 150 * count(*) AS "
             "bytes FROM cost_row GROUP BY run) c ON c.run = id%s%s dropped_ns IS NULL "
             "ORDER BY 2, 1",
             range, *range ? " AND" : " WHERE");
    rows = PQexec(k->connection, sql);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        rc = pg_error(k->connection, rows, "read");
    for (int i = 0; rc == 0 && i < PQntuples(rows); i++) {
        uint64_t id = strtoull(PQgetvalue(rows, i, 0), NULL, 10);
        bool is_over = *PQgetvalue(rows, i, 2) == 't' || !is_alive(k, id);
        double bytes = strtod(PQgetvalue(rows, i, 4), NULL);

        prov_kept_runs_add(
            runs, (struct prov_kept_run){.id = (int64_t)id,
                                         .last_ns = strtoull(PQgetvalue(rows, i, 1), NULL, 10),
                                         .is_over = is_over,
                                         .is_safe = is_over && *PQgetvalue(rows, i, 3) == 't',
                                         .bytes = bytes});
        sum += bytes;
    }
    PQclear(rows);
    *used = (uint64_t)sum;
    return rc;
}

/* Runs with rows in a partition that do not go. */
static int others_in(const struct pg_keep *k, int64_t partition, int64_t *n)
{
    char *sql = NULL;
    int rc;

    sql = sqlite3_mprintf("SELECT count(*) FROM run WHERE id >= %lld AND id < %lld AND "
                          "dropped_ns IS NULL AND id NOT IN %s",
                          (long long)(partition * PROV_PG_RUNS),
                          (long long)((partition + 1) * PROV_PG_RUNS), k->list);
    rc = pg_number(k->connection, sql, n);
    sqlite3_free(sql);
    return rc;
}

/* All of a partition, when nobody else has rows there, looks at them or writes some. */
static bool empty_partition(const struct pg_keep *k, int64_t partition)
{
    int64_t n = 1;
    char sql[400];

    if (others_in(k, partition, &n) < 0 || n > 0)
        return false;
    snprintf(sql, sizeof sql,
             "SAVEPOINT whole; SET LOCAL lock_timeout = '1s'; LOCK TABLE record_%" PRId64
             ", cost_row_%" PRId64 " IN ACCESS EXCLUSIVE MODE",
             partition, partition);
    if (pg_run(k->connection, sql) == 0 && others_in(k, partition, &n) == 0 && n == 0) {
        snprintf(sql, sizeof sql,
                 "TRUNCATE record_%" PRId64 ", cost_row_%" PRId64
                 "; SET LOCAL lock_timeout = DEFAULT; RELEASE whole",
                 partition, partition);
        if (pg_run(k->connection, sql) == 0)
            return true;
    }
    pg_run(k->connection, "ROLLBACK TO whole");
    return false;
}

static int drop_of(const struct pg_keep *k, const char *table, const char *more)
{
    char *sql = sqlite3_mprintf("DELETE FROM %s WHERE run IN %s%s", table, k->list, more);
    int rc = pg_run(k->connection, sql);

    sqlite3_free(sql);
    return rc;
}

static int drop_partition(struct pg_keep *k, int64_t partition)
{
    char more[100];
    int rc;

    if (empty_partition(k, partition))
        return 0;
    k->is_given_back = false;
    snprintf(more, sizeof more, " AND run >= %" PRId64 " AND run < %" PRId64,
             partition * PROV_PG_RUNS, (partition + 1) * PROV_PG_RUNS);
    rc = drop_of(k, "record", more);
    return rc < 0 ? rc : drop_of(k, "cost_row", more);
}

/* Nobody adds to them from now on; false when they are no longer as they were chosen. */
static int hold(const struct pg_keep *k, uint64_t n, bool *is_held)
{
    int64_t held = 0;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT 1 FROM run WHERE id IN %s AND "
                                "backed_up = stored AND dropped_ns IS NULL FOR UPDATE) held",
                                k->list);
    int rc = pg_run(k->connection, "BEGIN");

    if (rc == 0)
        rc = pg_number(k->connection, sql, &held);
    sqlite3_free(sql);
    *is_held = (uint64_t)held == n;
    return rc;
}

static int drop_held(struct pg_keep *k, const struct prov_kept_runs *runs, uint64_t now_ns)
{
    struct idmap done = {0};
    char *sql;
    int rc = 0;

    for (size_t i = 0; i < runs->n && rc == 0; i++) {
        int64_t partition = runs->at[i].id / PROV_PG_RUNS;

        if (!runs->at[i].is_chosen ||
            idmap_find(&done, key_pair(0, (uint64_t)partition)) != IDMAP_NONE)
            continue;
        idmap_add(&done, key_pair(0, (uint64_t)partition));
        rc = drop_partition(k, partition);
    }
    idmap_release(&done);
    for (int t = PROV_TABLE_METADATA; t < N_PROV_TABLES && rc == 0;
         t++) /* have no partitions */
        rc = drop_of(k, prov_tables[t].name, "");
    sql = sqlite3_mprintf("UPDATE run SET dropped_ns = %llu WHERE id IN %s; COMMIT",
                          (unsigned long long)now_ns, k->list);
    if (rc == 0)
        rc = pg_run(k->connection, sql);
    sqlite3_free(sql);
    return rc;
}

static int drop(void *keep, const struct prov_kept_runs *runs, const char *list,
                uint64_t now_ns, uint64_t *n)
{
    struct pg_keep *k = keep;
    bool is_held = false;
    int rc;

    k->list = list;
    rc = hold(k, *n, &is_held);
    if (rc == 0 && is_held)
        rc = drop_held(k, runs, now_ns);
    if (rc < 0 || !is_held) {
        PQclear(PQexec(k->connection, "ROLLBACK"));
        *n = 0;
    }
    return rc;
}

static int give_back(void *keep, bool *is_given_back)
{
    *is_given_back = ((const struct pg_keep *)keep)->is_given_back;
    return 0;
}

const struct prov_keep_ops prov_pg_keep = {.open = open_keep,
                                           .close = close_keep,
                                           .runs_to_copy = runs_to_copy,
                                           .copy = copy_all,
                                           .mark = mark,
                                           .runs_to_drop = runs_to_drop,
                                           .drop = drop,
                                           .give_back = give_back};
