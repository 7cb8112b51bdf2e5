/* A history in a file of SQLite. */
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

/* ------------------------------------------------------------------------------ changing */

static int begin(struct history *h)
{
    return exec(h, "BEGIN IMMEDIATE");
}

static int end(struct history *h, int rc)
{
    if (rc == 0)
        rc = exec(h, "COMMIT");
    if (rc < 0)
        sqlite3_exec(h->database.sql, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static void bind(sqlite3_stmt *statement, int at, const struct history_value *value)
{
    if (value->text)
        sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC);
    else if (value->bytes)
        sqlite3_bind_blob64(statement, at, value->bytes, value->n_bytes, SQLITE_STATIC);
    else
        sqlite3_bind_int64(statement, at, value->number);
}

static int change(struct history *h, const struct history_change *change, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = 0;
    int rc = 0, step = SQLITE_ERROR;

    if (sqlite3_prepare_v2(h->database.sql, change->sql, -1, &statement, NULL) == SQLITE_OK) {
        for (int i = 0; i < change->n; i++)
            bind(statement, i + 1, &change->value[i]);
        step = sqlite3_step(statement);
    }
    if (step == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    else if (step != SQLITE_DONE)
        rc = failed(h, "cannot write");
    else if (sqlite3_column_count(statement) > 0)
        rc = ERR_NOT_FOUND;
    else
        answer = sqlite3_changes(h->database.sql);
    sqlite3_finalize(statement);
    if (number)
        *number = answer;
    return rc;
}

const struct history_kind history_sqlite = {
    .open = open_file, .begin = begin, .change = change, .end = end};
