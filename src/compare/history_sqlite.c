/*
 * A history in a file of SQLite. Each change is one transaction: who is killed in it has
 * changed nothing.
 */
#include "compare/history_kind.h"

#include "base/err.h"
#include "base/fs.h"

#include <stdio.h>
#include <unistd.h>

static const char schema[] =
#include "compare/history.inc"
    ;

static int failed(struct history *h, const char *what)
{
    return database_error(h->database.sql, what, "the history");
}

static int exec(struct history *h, const char *sql)
{
    if (sqlite3_exec(h->database.sql, sql, NULL, NULL, NULL) != SQLITE_OK)
        return failed(h, "cannot write");
    return 0;
}

static int prepare(struct history *h, const char *sql, sqlite3_stmt **out)
{
    *out = NULL;
    if (sqlite3_prepare_v2(h->database.sql, sql, -1, out, NULL) != SQLITE_OK)
        return failed(h, "cannot write");
    return 0;
}

/* Runs a statement that gives no rows, and ends it. */
static int run_once(struct history *h, sqlite3_stmt *statement)
{
    bool is_good = sqlite3_step(statement) == SQLITE_DONE;
    int rc = is_good ? 0 : failed(h, "cannot write");

    sqlite3_finalize(statement);
    return rc;
}

/* ------------------------------------------------------------------------------- opening */

static bool is_empty(struct history *h)
{
    sqlite3_stmt *statement = NULL;
    bool is_one = sqlite3_prepare_v2(h->database.sql, "SELECT 1 FROM sqlite_schema LIMIT 1", -1,
                                     &statement, NULL) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_finalize(statement);
    return is_one;
}

static int make_tables(struct history *h)
{
    char sql[100];
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc == 0 && is_empty(h)) {
        snprintf(sql, sizeof sql, "INSERT INTO meta VALUES ('format', %d)", HISTORY_FORMAT);
        rc = exec(h, schema);
        if (rc == 0)
            rc = exec(h, sql);
    }
    if (rc == 0)
        rc = exec(h, "COMMIT");
    return rc;
}

static int check(struct history *h, const char *path)
{
    long long format =
        database_number(&h->database, 0, "SELECT value FROM meta WHERE key = 'format'");

    if (format == 0)
        return err_set(ERR_FORMAT, "'%s' is no history (snag history add FILE RUN makes one)",
                       path);
    if (format != HISTORY_FORMAT)
        return err_set(ERR_FORMAT,
                       "'%s' was written by another version (format %lld, this one reads %d)",
                       path, format, HISTORY_FORMAT);
    return database_check(&h->database, "main", schema, path);
}

static int open_file(struct history *h, const char *path, enum database_access access)
{
    struct database_file file = {.path = path};
    int rc = fs_open_parent(path, &file.dir, &file.name);

    if (rc < 0)
        return rc;
    if (fs_is_directory(path))
        rc = err_set(ERR_FORMAT, "'%s' is a directory, and no history", path);
    if (rc == 0)
        rc = database_open(&h->database, &file, access);
    close(file.dir);
    if (rc == 0 && access == DATABASE_MAKE && is_empty(h))
        rc = make_tables(h);
    return rc == 0 ? check(h, path) : rc;
}

/* -------------------------------------------------------------------------------- adding */

static int add_tags(struct history *h, int64_t run, const struct history_tags *tags)
{
    int rc = 0;

    for (size_t i = 0; i < tags->n && rc == 0; i++) {
        sqlite3_stmt *insert;

        rc = prepare(h, "INSERT INTO tag (run, key, value) VALUES (?, ?, ?)", &insert);
        if (rc < 0)
            return rc;
        sqlite3_bind_int64(insert, 1, run);
        sqlite3_bind_text(insert, 2, tags->tag[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, tags->tag[i].value, -1, SQLITE_STATIC);
        rc = run_once(h, insert);
    }
    return rc;
}

/* ERR_EXISTS if a run has this very summary. */
static int check_unknown(struct history *h, const char *foi, int64_t hash)
{
    sqlite3_stmt *find;
    int rc = prepare(h, "SELECT run FROM digest WHERE hash = ? AND foi = ?", &find);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(find, 1, hash);
    sqlite3_bind_text(find, 2, foi, -1, SQLITE_STATIC);
    if (sqlite3_step(find) == SQLITE_ROW)
        rc = history_has(sqlite3_column_int64(find, 0));
    sqlite3_finalize(find);
    return rc;
}

static int insert_part(struct history *h, int64_t run, const struct history_row *row)
{
    const struct summary *d = row->part.summary;
    sqlite3_stmt *insert;
    int rc = prepare(h,
                     "INSERT INTO digest (run, foi, ranks, executions, anomalies, time_ns, "
                     "median_ns, p99_ns, hash, bytes, data) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                     &insert);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(insert, 1, run);
    sqlite3_bind_text(insert, 2, row->part.foi, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, d->n_ranks);
    sqlite3_bind_int64(insert, 4, d->n_executions);
    sqlite3_bind_int64(insert, 5, (int64_t)row->part.n_anomalies);
    sqlite3_bind_int64(insert, 6, (int64_t)d->time_ns);
    sqlite3_bind_int64(insert, 7, (int64_t)d->duration_ns[0]);
    sqlite3_bind_int64(insert, 8, (int64_t)d->duration_ns[SUMMARY_QUANTILES - 1]);
    sqlite3_bind_int64(insert, 9, row->hash);
    sqlite3_bind_int64(insert, 10, (int64_t)row->n_plain);
    sqlite3_bind_blob64(insert, 11, row->data, row->n_data, SQLITE_STATIC);
    return run_once(h, insert);
}

static int add_part(struct history *h, int64_t run, const struct history_row *row)
{
    int rc = check_unknown(h, row->part.foi, row->hash);

    return rc == 0 ? insert_part(h, run, row) : rc;
}

static int insert_run(struct history *h, const struct history_new *run, int64_t *id)
{
    sqlite3_stmt *insert;
    int rc = prepare(h, "INSERT INTO run (added_s, source) VALUES (?, ?)", &insert);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(insert, 1, run->added_s);
    sqlite3_bind_text(insert, 2, run->source, -1, SQLITE_STATIC);
    rc = run_once(h, insert);
    *id = sqlite3_last_insert_rowid(h->database.sql);
    return rc;
}

/* All that was done since BEGIN, or nothing of it. */
static int end(struct history *h, int rc)
{
    if (rc == 0)
        rc = exec(h, "COMMIT");
    if (rc < 0)
        sqlite3_exec(h->database.sql, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static int add(struct history *h, const struct history_new *run, int64_t *id)
{
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = insert_run(h, run, id);
    if (rc == 0)
        rc = add_tags(h, *id, run->tags);
    for (size_t i = 0; i < run->n_rows && rc == 0; i++)
        rc = add_part(h, *id, &run->row[i]);
    return end(h, rc);
}

/* ------------------------------------------------------------------------------ removing */

static int remove_from(struct history *h, const char *sql, int64_t number)
{
    sqlite3_stmt *statement;
    int rc = prepare(h, sql, &statement);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(statement, 1, number);
    return run_once(h, statement);
}

static int remove_run(struct history *h, int64_t run)
{
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = remove_from(h, "DELETE FROM digest WHERE run = ?", run);
    if (rc == 0)
        rc = remove_from(h, "DELETE FROM tag WHERE run = ?", run);
    if (rc == 0)
        rc = remove_from(h, "DELETE FROM run WHERE id = ?", run);
    if (rc == 0 && sqlite3_changes(h->database.sql) == 0)
        rc = history_lacks(run);
    return end(h, rc);
}

static int keep(struct history *h, int64_t n, uint64_t *n_removed)
{
    int rc = exec(h, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = remove_from(h,
                     "DELETE FROM run WHERE id NOT IN (SELECT id FROM run ORDER BY id DESC "
                     "LIMIT ?)",
                     n);
    *n_removed = rc == 0 ? (uint64_t)sqlite3_changes(h->database.sql) : 0;
    if (rc == 0)
        rc = exec(h, "DELETE FROM digest WHERE run NOT IN (SELECT id FROM run)");
    if (rc == 0)
        rc = exec(h, "DELETE FROM tag WHERE run NOT IN (SELECT id FROM run)");
    return end(h, rc);
}

const struct history_kind history_sqlite = {
    .open = open_file, .add = add, .remove = remove_run, .keep = keep};
