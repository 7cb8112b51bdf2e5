/* While a run is made its database has no journal: if anything goes wrong it is thrown away. */
#include "run/rundb.h"

#include "base/err.h"
#include "base/fs.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char schema[] =
#include "run/schema.inc"
    ;

int rundb_error(sqlite3 *db, const char *what)
{
    int code = sqlite3_errcode(db) & 0xff;

    return err_set(code == SQLITE_FULL || code == SQLITE_IOERR ? ERR_IO : ERR_DATABASE,
                   "%s: %s", what, sqlite3_errmsg(db));
}

int rundb_exec(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return rundb_error(db, "cannot write the run's database");
    return 0;
}

int rundb_create(const char *path, sqlite3 **db)
{
    int rc;

    if (sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK) {
        rc = err_set(ERR_IO, "cannot create '%s': %s", path, sqlite3_errmsg(*db));
        sqlite3_close(*db);
        *db = NULL;
        return rc;
    }
    rc = rundb_exec(*db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    if (rc == 0)
        rc = rundb_exec(*db, schema);
    if (rc == 0)
        rc = rundb_set(*db, "format", RUNDB_FORMAT);
    return rc;
}

int rundb_finish(sqlite3 *db)
{
    int rc = rundb_exec(db, "COMMIT");

    if (rc == 0)
        rc = rundb_exec(db, "PRAGMA journal_mode = WAL");
    return rc;
}

/* Percent-encodes what has a meaning in a URI. */
static void encode_path(const char *path, char *out, size_t size)
{
    size_t n = 0;

    for (; *path && n + 4 < size; path++) {
        if (strchr("?#%", *path))
            n += (size_t)sprintf(out + n, "%%%02X", (unsigned char)*path);
        else
            out[n++] = *path;
    }
    out[n] = '\0';
}

/* Opens the file; one that is_fixed without the files that SQLite puts beside it. A connection
 * belongs to one thread, so SQLite need not lock it for every value it hands out. */
static int open_file(const char *path, bool is_writable, bool is_fixed, sqlite3 **db)
{
    char uri[3 * FS_PATH_SIZE], encoded[3 * FS_PATH_SIZE - 32];
    int rc;

    encode_path(path, encoded, sizeof encoded);
    snprintf(uri, sizeof uri, "file:%s%s", encoded, is_fixed ? "?immutable=1" : "");
    rc = sqlite3_open_v2(uri, db,
                         SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                             (is_writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY),
                         NULL);
    if (rc == SQLITE_OK)
        sqlite3_busy_timeout(*db, 10000);
    return rc;
}

static bool is_in_readonly_directory(const char *path)
{
    char dir[FS_PATH_SIZE];
    const char *slash = strrchr(path, '/');

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return access(dir, W_OK) != 0;
}

/* True when all that was written is in the file itself. */
static bool has_empty_log(const char *path)
{
    char log[FS_PATH_SIZE + 8];
    struct stat info;

    snprintf(log, sizeof log, "%s-wal", path);
    return stat(log, &info) != 0 || info.st_size == 0;
}

/* Opens the file and looks into it. Where there is no room for SQLite's own files, as on a full
 * disk, what is in the file can still be read. */
static int open_and_look(const char *path, bool is_writable, sqlite3 **db)
{
    bool is_fixed = !is_writable && is_in_readonly_directory(path);
    int rc = open_file(path, is_writable, is_fixed, db);

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db, "SELECT 1 FROM meta", NULL, NULL, NULL);
    if (rc == SQLITE_OK || is_writable || is_fixed || !has_empty_log(path))
        return rc;
    if (rc != SQLITE_IOERR && rc != SQLITE_FULL && rc != SQLITE_CANTOPEN)
        return rc;
    sqlite3_close(*db);
    rc = open_file(path, false, true, db);
    return rc == SQLITE_OK ? sqlite3_exec(*db, "SELECT 1 FROM meta", NULL, NULL, NULL) : rc;
}

int rundb_open(const char *path, bool is_writable, sqlite3 **db)
{
    long long format;
    int rc = 0, status;

    *db = NULL;
    if (!fs_exists(path))
        return err_set(ERR_NOT_FOUND, "no such run: '%s' is missing", path);
    status = open_and_look(path, is_writable, db);
    if (status == SQLITE_CANTOPEN || status == SQLITE_IOERR || status == SQLITE_FULL)
        rc = err_set(ERR_IO, "cannot open '%s': %s", path, sqlite3_errmsg(*db));
    else if (status != SQLITE_OK)
        rc = err_set(ERR_FORMAT, "damaged run: '%s': %s", path, sqlite3_errmsg(*db));
    if (rc < 0)
        goto out;
    format = rundb_get(*db, "format", 0);
    if (format != RUNDB_FORMAT)
        rc = err_set(ERR_FORMAT,
                     "'%s' was written by another version (format %lld, this one "
                     "reads %d)",
                     path, format, RUNDB_FORMAT);
out:
    if (rc < 0) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}

int rundb_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out)
{
    *out = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, out, NULL) != SQLITE_OK)
        return rundb_error(db, "cannot query the run's database");
    return 0;
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

const char *rundb_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? text : "";
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

static int set(sqlite3 *db, const char *key, const char *type, long long number,
               const char *text)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare(db, "INSERT OR REPLACE INTO meta VALUES (?, ?)", &insert);

    if (rc == 0 && *type == 'i')
        rc = rundb_insert(db, insert, "ti", key, (int64_t)number);
    else if (rc == 0)
        rc = rundb_insert(db, insert, "tt", key, text);
    sqlite3_finalize(insert);
    return rc;
}

int rundb_set(sqlite3 *db, const char *key, long long value)
{
    return set(db, key, "i", value, NULL);
}

int rundb_set_text(sqlite3 *db, const char *key, const char *value)
{
    return set(db, key, "t", 0, value);
}

long long rundb_get(sqlite3 *db, const char *key, long long fallback)
{
    sqlite3_stmt *query;
    long long value = fallback;

    if (rundb_prepare(db, "SELECT value FROM meta WHERE key = ?", &query) == 0 &&
        rundb_bind(db, query, "t", key) == 0 && sqlite3_step(query) == SQLITE_ROW)
        value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}
