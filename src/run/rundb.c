/* While a run is made its database has no journal: if anything goes wrong it is thrown away. */
#include "run/rundb.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/run_sql.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of pages, and of what is sorted for an index, that need not go to files while a run is made.
 */
#define MAKING_KIB "65536"

static const char schema[] =
#include "run/schema.inc"
    ;

int rundb_error(sqlite3 *db, const char *what)
{
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_FULL:
        return err_set(ERR_IO, "%s: no space left", what);
    case SQLITE_READONLY:
        return err_set(ERR_IO, "%s: it is read-only", what);
    case SQLITE_IOERR:
        return err_set(ERR_IO, "%s: %s", what, sqlite3_errmsg(db));
    case SQLITE_CORRUPT:
    case SQLITE_INTERRUPT: /* a tree of pages that does not end */
        return err_set(ERR_FORMAT, "%s: it is damaged", what);
    default:
        return err_set(ERR_DATABASE, "%s: %s", what, sqlite3_errmsg(db));
    }
}

int rundb_exec(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return rundb_error(db, "cannot write the run's database");
    return 0;
}

/* One row of text of a query with a table's name in it, to be freed; NULL if there is none. */
static int ask_of_table(sqlite3 *db, const char *query, const char *table, char **text)
{
    sqlite3_stmt *statement;
    int rc = rundb_query(db, &statement, query, "t", table);

    *text = NULL;
    if (rc == 0 && sqlite3_step(statement) == SQLITE_ROW)
        *text = mem_copy_string(rundb_text(statement, 0));
    sqlite3_finalize(statement);
    return rc;
}

/* Those with SQL of their own: others come with the table's keys. Those of few rows stay, as to
 * make them later would go through all. */
#define INDEXES_OF                                                                             \
    "FROM (SELECT name, sql FROM sqlite_master WHERE type = 'index' AND "                      \
    "tbl_name = ? AND sql IS NOT NULL AND sql NOT LIKE '% WHERE %' ORDER BY rowid)"

int rundb_drop_indexes(sqlite3 *db, const char *table, char **sql)
{
    char *drop = NULL;
    int rc =
        ask_of_table(db, "SELECT coalesce(group_concat(sql, ';'), '') " INDEXES_OF, table, sql);

    if (rc == 0)
        rc = ask_of_table(
            db, "SELECT coalesce(group_concat('DROP INDEX ' || name, ';'), '') " INDEXES_OF,
            table, &drop);
    if (rc == 0)
        rc = rundb_exec(db, drop);
    free(drop);
    return rc;
}

#define SET_TYPE "rundb_set"

static void in_set(sqlite3_context *context, int n, sqlite3_value **value)
{
    const struct rundb_set *set = sqlite3_value_pointer(value[0], SET_TYPE);
    int64_t tree = sqlite3_value_int64(value[1]), marks = sqlite3_value_int64(value[2]);

    (void)n;
    sqlite3_result_int(context, set == NULL || (tree >= 0 && tree < set->n &&
                                                (set->marks[tree] & marks) == marks));
}

/* What the schema holds is ours: its view may be used. */
static int use_what_is_ours(struct database *db)
{
    if (sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL) != SQLITE_OK ||
        sqlite3_create_function(db->sql, "in_set", 3,
                                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                in_set, NULL, NULL) != SQLITE_OK)
        return rundb_error(db->sql, "cannot prepare the run's database");
    return 0;
}

int rundb_bind_set(sqlite3 *db, sqlite3_stmt *statement, int parameter,
                   const struct rundb_set *set)
{
    if (sqlite3_bind_pointer(statement, parameter, (void *)(uintptr_t)set, SET_TYPE, NULL) !=
        SQLITE_OK)
        return rundb_error(db, "cannot query the run's database");
    return 0;
}

int rundb_create(const char *dir, struct database *db)
{
    char path[FS_PATH_SIZE];
    struct database_file file = {.name = RUNDB_NAME, .path = path};
    int rc = fs_open_dir(dir, &file.dir);

    *db = (struct database){.dir = -1};
    if (rc < 0)
        return rc;
    rc = fs_join(path, dir, RUNDB_NAME);
    if (rc == 0)
        rc = database_open(db, &file, DATABASE_MAKE);
    close(file.dir);
    if (rc == 0)
        rc = rundb_exec(db->sql, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                                 "PRAGMA cache_size = -" MAKING_KIB "; BEGIN");
    if (rc == 0)
        rc = rundb_exec(db->sql, schema);
    if (rc == 0)
        rc = rundb_set(db->sql, "format", RUNDB_FORMAT);
    return rc < 0 ? rc : use_what_is_ours(db);
}

int rundb_finish(sqlite3 *db)
{
    int rc = rundb_exec(db, "COMMIT");

    if (rc == 0)
        rc = rundb_exec(db, "PRAGMA journal_mode = WAL");
    return rc;
}

/* One of another version has other tables, so this is asked first. */
static int check_format(struct database *db, const char *path)
{
    long long format = rundb_get(db->sql, "format");
    int error = sqlite3_errcode(db->sql) & 0xff;

    if (format == RUNDB_FORMAT)
        return 0;
    if (format == 0 && (error == SQLITE_READONLY || error == SQLITE_CANTOPEN))
        return err_set(ERR_IO, "cannot write '%s': it is read-only", path);
    if (format == 0)
        return err_set(ERR_FORMAT, "'%s' is not of a run, or is damaged", path);
    return err_set(
        ERR_FORMAT,
        "'%s' was written by another version of snag (format %lld, this one reads "
        "%d): analyze its trace again, into another run, or by --force in its place, "
        "with its labels",
        path, format, RUNDB_FORMAT);
}

static int check_ours(struct database *db, const char *path)
{
    int rc = check_format(db, path);

    if (rc == 0)
        rc = database_check(db, "main", schema, path);
    return rc < 0 ? rc : use_what_is_ours(db);
}

/* Views are not used, so that nothing but tables can be meant; one that has them otherwise has
 * labels that would be lost. */
static int check_labels(struct database *db, const char *path, long long format)
{
    const char *const sql[] = {run_sql_given_labels, run_sql_n_held_labels};
    int rc = 0;

    for (size_t i = 0; i < sizeof sql / sizeof *sql && rc == 0; i++) {
        sqlite3_stmt *query = NULL;

        rc = rundb_prepare(db->sql, sql[i], &query);
        sqlite3_finalize(query);
    }
    return rc == 0
               ? 0
               : err_set(ERR_FORMAT,
                         "'%s' was written by another version of snag (format %lld), and its "
                         "labels cannot be read: analyze into another run, or remove this "
                         "one with its labels",
                         path, format);
}

static int open_file(int dir, const char *run, bool is_writable, struct database *db,
                     char path[FS_PATH_SIZE])
{
    struct database_file file = {.dir = dir, .name = RUNDB_NAME, .path = path};
    int rc = fs_join(path, run, RUNDB_NAME);

    *db = (struct database){.dir = -1};
    return rc < 0 ? rc : database_open(db, &file, is_writable ? DATABASE_WRITE : DATABASE_READ);
}

int rundb_open(int dir, const char *run, bool is_writable, struct database *db)
{
    char path[FS_PATH_SIZE];
    int rc = open_file(dir, run, is_writable, db, path);

    if (rc == 0)
        rc = check_ours(db, path);
    if (rc < 0)
        database_close(db);
    return rc;
}

int rundb_open_labels(int dir, const char *run, struct database *db)
{
    char path[FS_PATH_SIZE];
    int rc = open_file(dir, run, false, db, path);

    if (rc == ERR_FORMAT)
        rc = err_set(rc,
                     "%s; labels in it cannot be kept: write into another run, or remove '%s'",
                     err_message(), run);
    if (rc == 0) {
        long long format = rundb_get(db->sql, "format");

        rc = format > 0 && format != RUNDB_FORMAT ? check_labels(db, path, format)
                                                  : check_ours(db, path);
    }
    if (rc < 0)
        database_close(db);
    return rc;
}

int rundb_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
    *out = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, out, NULL) != SQLITE_OK)
        return rundb_error(db, "cannot query the run's database");
    return 0;
}

int rundb_prepare_insert(sqlite3 *db, const char *table, const char *columns,
                         sqlite3_stmt **out)
{
    char sql[1024];
    int n = snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (?", table, columns);

    for (const char *at = columns; (at = strchr(at, ',')) != NULL; at++)
        n += snprintf(sql + n, sizeof sql - (size_t)n, ", ?");
    n += snprintf(sql + n, sizeof sql - (size_t)n, ")");
    assert(n < (int)sizeof sql);
    return rundb_prepare(db, sql, out);
}

static int bind_all(sqlite3_stmt *statement, const char *types, va_list args)
{
    int rc = SQLITE_OK;

    sqlite3_reset(statement);
    for (int i = 1; *types && rc == SQLITE_OK; types++, i++) {
        switch (*types) {
        case 'i':
            rc = sqlite3_bind_int64(statement, i, va_arg(args, int64_t));
            break;
        case 'r':
            rc = sqlite3_bind_double(statement, i, va_arg(args, double));
            break;
        case 'o': {
            bool is_set = va_arg(args, int);
            int64_t value = va_arg(args, int64_t);

            rc = is_set ? sqlite3_bind_int64(statement, i, value)
                        : sqlite3_bind_null(statement, i);
            break;
        }
        case 'd': {
            double value = va_arg(args, double);

            rc = isfinite(value) ? sqlite3_bind_double(statement, i, value)
                                 : sqlite3_bind_null(statement, i);
            break;
        }
        case 't':
            rc = sqlite3_bind_text(statement, i, va_arg(args, const char *), -1, SQLITE_STATIC);
            break;
        default:
            assert(!"a letter that is not in the list");
        }
    }
    return rc;
}

int rundb_bind(sqlite3 *db, sqlite3_stmt *statement, const char *types, ...)
{
    va_list args;
    int rc;

    va_start(args, types);
    rc = bind_all(statement, types, args);
    va_end(args);
    return rc == SQLITE_OK ? 0 : rundb_error(db, "cannot query the run's database");
}

static int query(sqlite3 *db, sqlite3_stmt **out, const char *sql, const char *types,
                 va_list args)
{
    int rc = rundb_prepare(db, sql, out);

    if (rc == 0 && bind_all(*out, types, args) != SQLITE_OK)
        rc = rundb_error(db, "cannot query the run's database");
    return rc;
}

int rundb_query(sqlite3 *db, sqlite3_stmt **out, const char *sql, const char *types, ...)
{
    va_list args;
    int rc;

    va_start(args, types);
    rc = query(db, out, sql, types, args);
    va_end(args);
    return rc;
}

int rundb_close_query(sqlite3 *db, sqlite3_stmt *query, int rc, const char *what)
{
    int status = sqlite3_finalize(query);

    return rc == 0 && status != SQLITE_OK ? rundb_error(db, what) : rc;
}

int rundb_run(sqlite3 *db, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list args;
    int rc;

    va_start(args, types);
    rc = query(db, &statement, sql, types, args);
    va_end(args);
    if (rc == 0 && sqlite3_step(statement) != SQLITE_DONE)
        rc = rundb_error(db, "cannot write the run's database");
    sqlite3_finalize(statement);
    return rc;
}

int rundb_number(sqlite3 *db, int64_t *out, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    va_list args;
    int rc;

    va_start(args, types);
    rc = query(db, &statement, sql, types, args);
    va_end(args);
    if (rc == 0 && sqlite3_step(statement) == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc;
}

const char *rundb_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? text : "";
}

const char *rundb_text_or_null(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

int rundb_insert(sqlite3 *db, sqlite3_stmt *statement, const char *types, ...)
{
    va_list args;
    int rc;

    va_start(args, types);
    rc = bind_all(statement, types, args);
    va_end(args);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    return rc == SQLITE_OK || rc == SQLITE_DONE
               ? 0
               : rundb_error(db, "cannot write the run's database");
}

static const char set_meta[] = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)";

int rundb_set(sqlite3 *db, const char *key, long long value)
{
    return rundb_run(db, set_meta, "ti", key, (int64_t)value);
}

int rundb_set_text(sqlite3 *db, const char *key, const char *value)
{
    return rundb_run(db, set_meta, "tt", key, value);
}

/* The row of meta, to be finalized; false if there is none. */
static bool find_meta(sqlite3 *db, const char *key, sqlite3_stmt **query)
{
    return rundb_query(db, query, "SELECT value FROM meta WHERE key = ?", "t", key) == 0 &&
           sqlite3_step(*query) == SQLITE_ROW;
}

long long rundb_get(sqlite3 *db, const char *key)
{
    sqlite3_stmt *query = NULL;
    long long value = find_meta(db, key, &query) ? sqlite3_column_int64(query, 0) : 0;

    sqlite3_finalize(query);
    return value;
}

char *rundb_growth_key(int64_t foi, char out[RUNDB_KEY_SIZE])
{
    snprintf(out, RUNDB_KEY_SIZE, "growth_%lld", (long long)foi);
    return out;
}

char *rundb_get_text(sqlite3 *db, const char *key)
{
    sqlite3_stmt *query = NULL;
    char *text = find_meta(db, key, &query) ? mem_copy_string(rundb_text(query, 0)) : NULL;

    sqlite3_finalize(query);
    return text;
}
