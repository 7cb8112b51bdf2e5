/* Every connection is told the same: what a schema may do, how large things may be, and how
 * much work a statement. */
#include "base/database.h"

#include "base/database_files.h"
#include "base/err.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY 4096                 /* instructions between looks at how many they are */
#define PER_BYTE 64                /* instructions that a byte of a file may cost */
#define ALWAYS ((uint64_t)4 << 20) /* bytes that are granted whatever the size */

/* --------------------------------------------------------------------------------- errors */

int database_error(sqlite3 *sql, const char *what, const char *path)
{
    switch (sqlite3_errcode(sql) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(ERR_FORMAT, "%s '%s': damaged, or no database", what, path);
    case SQLITE_INTERRUPT:
        return err_set(ERR_FORMAT, "%s '%s': damaged, reading it does not end", what, path);
    case SQLITE_FULL:
        return err_set(ERR_IO, "%s '%s': no space left", what, path);
    case SQLITE_READONLY:
        return err_set(ERR_IO, "%s '%s': it is read-only", what, path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        errno = sqlite3_system_errno(sql);
        return err_set(ERR_IO, "%s '%s': %s", what, path,
                       errno ? strerror(errno) : sqlite3_errmsg(sql));
    default:
        return err_set(ERR_DATABASE, "%s '%s': %s", what, path, sqlite3_errmsg(sql));
    }
}

/* --------------------------------------------------------------------------------- bounds */

static int count_work(void *ctx)
{
    struct database *d = ctx;

    d->spent += EVERY;
    return d->spent > d->most;
}

static int begin_statement(unsigned event, void *ctx, void *statement, void *text)
{
    struct database *d = ctx;

    (void)event, (void)statement, (void)text;
    d->spent = 0;
    return 0;
}

static void grant(struct database *d, uint64_t bytes)
{
    d->most = d->most < UINT64_MAX - PER_BYTE * bytes ? d->most + PER_BYTE * bytes : UINT64_MAX;
}

void database_unbound(struct database *d)
{
    d->most = UINT64_MAX;
}

bool database_spend(struct database *d, uint64_t bytes)
{
    d->spent += bytes / 16;
    return d->spent <= d->most;
}

/* What a file may say that is run, believed or made room for. */
static void defend(struct database *d, int n_attached)
{
    static const struct {
        int what, value;
    } flags[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                 {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                 {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                 {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                 {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}},
      limits[] = {{SQLITE_LIMIT_LENGTH, 256 << 20}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                  {SQLITE_LIMIT_VDBE_OP, 1 << 20},  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                  {SQLITE_LIMIT_WORKER_THREADS, 0}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096}};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        sqlite3_db_config(d->sql, flags[i].what, flags[i].value, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(d->sql, limits[i].what, limits[i].value);
    sqlite3_limit(d->sql, SQLITE_LIMIT_ATTACHED, n_attached);
    sqlite3_busy_timeout(d->sql, DATABASE_BUSY_MS);
    sqlite3_progress_handler(d->sql, EVERY, count_work, d);
    sqlite3_trace_v2(d->sql, SQLITE_TRACE_STMT, begin_statement, d);
    d->most = d->spent = 0;
    grant(d, ALWAYS);
}

/* Questions; what tables and columns there are; whether the file is whole. */
static int only_questions(void *ctx, int action, const char *what, const char *b, const char *c,
                          const char *d)
{
    bool is_list = action == SQLITE_PRAGMA &&
                   (strncmp(what, "table_", 6) == 0 || strcmp(what, "integrity_check") == 0);
    /* What SQLite asks for to make json_each; the schema itself cannot be changed. */
    bool is_own = action == SQLITE_UPDATE && strcmp(what, "sqlite_master") == 0;

    (void)ctx, (void)b, (void)c, (void)d;
    return is_list || is_own || action == SQLITE_SELECT || action == SQLITE_READ ||
                   action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

void database_read_only(struct database *d)
{
    sqlite3_set_authorizer(d->sql, only_questions, NULL);
}

/* -------------------------------------------------------------------------------- opening */

/* Where nothing can be written SQLite cannot make the files by which it talks to writers. */
static bool is_fixed(const struct database_file *file)
{
    return faccessat(file->dir, ".", W_OK, AT_EACCESS) != 0 && database_files_are_settled(file);
}

static bool is_for_want_of_room(int status)
{
    status &= 0xff;
    return status == SQLITE_IOERR || status == SQLITE_FULL || status == SQLITE_CANTOPEN ||
           status == SQLITE_READONLY;
}

/* Gives the database its own handle of the directory. */
static int hold(struct database *d, int dir, const char *path)
{
    d->dir = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    return d->dir >= 0 ? database_files_have_vfs()
                       : err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

static int open_sql(struct database *d, const char *name, int flags, const char *more)
{
    char path[DATABASE_NAME_SIZE], uri[2 * DATABASE_NAME_SIZE];

    database_files_path(d->dir, name, path);
    snprintf(uri, sizeof uri, "file:%s%s", path, more);
    return sqlite3_open_v2(uri, &d->sql, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                           DATABASE_FILES_VFS);
}

static int settings(struct database *d)
{
    return sqlite3_exec(d->sql, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL,
                        NULL);
}

/* For reading, and a look into it. */
static int open_to_read(struct database *d, const struct database_file *file, bool is_immutable,
                        uint64_t bytes)
{
    int status =
        open_sql(d, file->name, SQLITE_OPEN_READONLY, is_immutable ? "?immutable=1" : "");

    if (status == SQLITE_OK) {
        defend(d, 0);
        grant(d, bytes);
        status = settings(d);
    }
    return status == SQLITE_OK
               ? sqlite3_exec(d->sql, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL)
               : status;
}

static int open_to_write(struct database *d, const struct database_file *file, uint64_t bytes)
{
    int status = open_sql(d, file->name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");

    if (status != SQLITE_OK)
        return status;
    defend(d, 0);
    grant(d, bytes);
    return settings(d);
}

static int open_checked(struct database *d, const struct database_file *file,
                        enum database_access access, uint64_t bytes)
{
    bool is_immutable = access == DATABASE_READ && is_fixed(file);
    int status = access == DATABASE_READ ? open_to_read(d, file, is_immutable, bytes)
                                         : open_to_write(d, file, bytes);

    if (access == DATABASE_READ && !is_immutable && is_for_want_of_room(status) &&
        database_files_are_settled(file)) {
        sqlite3_close(d->sql);
        status = open_to_read(d, file, true, bytes);
    }
    if (access == DATABASE_MAKE)
        database_unbound(d);
    return status == SQLITE_OK ? 0 : database_error(d->sql, "cannot open", file->path);
}

int database_open(struct database *d, const struct database_file *file,
                  enum database_access access)
{
    bool is_there;
    uint64_t bytes;
    int rc = database_files_check(file, access != DATABASE_READ, &is_there, &bytes);

    assert(strlen(file->name) < DATABASE_NAME_SIZE - 32 && strpbrk(file->name, "/?#%") == NULL);
    *d = (struct database){.dir = -1};
    if (rc == 0 && !is_there && access != DATABASE_MAKE)
        rc = err_set(ERR_NOT_FOUND, "'%s' is missing", file->path);
    if (rc == 0)
        rc = hold(d, file->dir, file->path);
    if (rc == 0)
        rc = open_checked(d, file, access, bytes);
    if (rc < 0)
        database_close(d);
    return rc;
}

void database_close(struct database *d)
{
    if (d->sql || d->dir > 0) {
        sqlite3_close(d->sql);
        close(d->dir);
    }
    *d = (struct database){.dir = -1};
}

int database_memory(struct database *d, int dir)
{
    int rc;

    *d = (struct database){.dir = -1};
    rc = hold(d, dir, "a directory");
    if (rc == 0 &&
        sqlite3_open_v2(":memory:", &d->sql, /* SQLITE_OPEN_MEMORY would be of all attached */
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                        DATABASE_FILES_VFS) != SQLITE_OK)
        rc = database_error(d->sql, "cannot open", ":memory:");
    if (rc == 0)
        defend(d, sqlite3_limit(d->sql, SQLITE_LIMIT_ATTACHED, -1));
    else
        database_close(d);
    return rc;
}

static int attach(struct database *d, const struct database_file *file, const char *as,
                  bool is_immutable)
{
    char path[DATABASE_NAME_SIZE];
    char *sql;
    int status;

    database_files_path(d->dir, file->name, path);
    sql = sqlite3_mprintf("ATTACH 'file:%q?mode=ro%s' AS %w; PRAGMA %w.cell_size_check = ON; "
                          "PRAGMA %w.mmap_size = 0; SELECT 1 FROM %w.sqlite_schema",
                          path, is_immutable ? "&immutable=1" : "", as, as, as, as);
    status = sqlite3_exec(d->sql, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return status;
}

static void detach(struct database *d, const char *as)
{
    char *sql = sqlite3_mprintf("DETACH %w", as);

    sqlite3_exec(d->sql, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
}

int database_attach(struct database *d, const char *name, const char *path, const char *as)
{
    struct database_file file = {.dir = d->dir, .name = name, .path = path};
    bool is_there, is_immutable = is_fixed(&file);
    uint64_t bytes;
    int rc = database_files_check(&file, false, &is_there, &bytes), status;

    if (rc == 0 && !is_there)
        rc = err_set(ERR_NOT_FOUND, "'%s' is missing", path);
    if (rc < 0)
        return rc;
    grant(d, bytes);
    status = attach(d, &file, as, is_immutable);
    if (!is_immutable && is_for_want_of_room(status) && database_files_are_settled(&file)) {
        detach(d, as);
        status = attach(d, &file, as, true);
    }
    return status == SQLITE_OK ? 0 : database_error(d->sql, "cannot open", path);
}

bool database_is_moved(const struct database *d)
{
    int is_moved = 0;

    sqlite3_file_control(d->sql, "main", SQLITE_FCNTL_HAS_MOVED, &is_moved);
    return is_moved;
}

/* --------------------------------------------------------------------------------- schema */

/* The next character that matters: a comment or any white space is one blank. */
static char next_of(const char **at)
{
    bool is_blank = false;

    for (;; is_blank = true) {
        if (strncmp(*at, "--", 2) == 0)
            *at += strcspn(*at, "\n");
        else if (isspace((unsigned char)**at))
            ++*at;
        else
            break;
    }
    return is_blank && **at ? ' ' : **at ? *(*at)++ : '\0';
}

static bool is_same_sql(const char *a, const char *b)
{
    char x, y;

    do {
        x = next_of(&a);
        y = next_of(&b);
    } while (x == y && x != '\0');
    return x == y;
}

static const char *text(sqlite3_stmt *row, int column)
{
    const char *value = (const char *)sqlite3_column_text(row, column);

    return value ? value : "";
}

static bool is_same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (int c = 0; c < 3; c++)
        if (strcmp(text(a, c), text(b, c)) != 0)
            return false;
    return is_same_sql(text(a, 3), text(b, 3));
}

static sqlite3_stmt *list_schema(sqlite3 *sql, const char *as)
{
    char *question = sqlite3_mprintf("SELECT type, name, tbl_name, sql FROM %w.sqlite_schema "
                                     "ORDER BY type, name",
                                     as);
    sqlite3_stmt *list = NULL;

    sqlite3_prepare_v2(sql, question, -1, &list, NULL);
    sqlite3_free(question);
    return list;
}

static int compare_schemas(sqlite3_stmt *there, sqlite3_stmt *ours, const char *path)
{
    int a, b;

    do {
        a = sqlite3_step(there);
        b = sqlite3_step(ours);
    } while (a == SQLITE_ROW && b == SQLITE_ROW && is_same_row(there, ours));
    if (a != SQLITE_ROW && a != SQLITE_DONE)
        return database_error(sqlite3_db_handle(there), "cannot read", path);
    if (a == SQLITE_DONE && b == SQLITE_DONE)
        return 0;
    if (a == SQLITE_DONE)
        return err_set(ERR_FORMAT,
                       "'%s' has no %s '%s': it is damaged, or was not written by snag", path,
                       text(ours, 0), text(ours, 1));
    return err_set(ERR_FORMAT, "'%s' has a %.40s '%.100s' that snag does not write", path,
                   text(there, 0), text(there, 1));
}

int database_check(struct database *d, const char *as, const char *made, const char *path)
{
    sqlite3_stmt *there = list_schema(d->sql, as), *ours = NULL;
    sqlite3 *model = NULL;
    int rc;

    if (there == NULL)
        return database_error(d->sql, "cannot read", path);
    if (sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) ==
            SQLITE_OK &&
        sqlite3_exec(model, made, NULL, NULL, NULL) == SQLITE_OK)
        ours = list_schema(model, "main");
    rc = ours ? compare_schemas(there, ours, path)
              : database_error(model, "cannot make the tables of", path);
    sqlite3_finalize(there);
    sqlite3_finalize(ours);
    sqlite3_close(model);
    return rc;
}
