/*
 * Every connection is told the same: what a schema may do, how large things may be, and how
 * much work a statement.
 *
 * The files of a database are seen through a file system of our own (a VFS that passes on to
 * the default one) which knows a file by the handle of its directory,
 *
 *     /proc/self/fd/HANDLE/NAME
 *
 * and no others, and looks at each before it is opened. Whatever a path in a journal says, it
 * is not there: names are taken apart and compared with the one form there is. A name is not
 * resolved, and the last part of a path is never followed, as SQLite opens with O_NOFOLLOW.
 */
#include "base/database.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/pack.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE_FILES_VFS "snag"
#define DATABASE_NAME_SIZE 128 /* of a path by handle */

#define HANDLES "/proc/self/fd/"

/* Files that SQLite puts beside a database. */
static const char *const beside[] = {"-journal", "-wal", "-shm"};

/* --------------------------------------------------------------------------------- looking */

static int refuse(const char *path, const char *suffix, const char *what)
{
    return err_set(ERR_FORMAT, "'%s%s' %s: it is left alone", path, suffix, what);
}

/* One of the files: it need not be there. is_written: what it is a second name of would be
 * changed. */
static int check_file(const struct database_file *file, const char *suffix, bool is_written,
                      struct stat *info)
{
    char name[DATABASE_NAME_SIZE];

    *info = (struct stat){0};
    snprintf(name, sizeof name, "%s%s", file->name, suffix);
    if (fstatat(file->dir, name, info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0
                               : err_set(ERR_IO, "cannot open '%s%s': %s", file->path, suffix,
                                         strerror(errno));
    if (S_ISLNK(info->st_mode))
        return refuse(file->path, suffix, "is a link to somewhere else");
    if (!S_ISREG(info->st_mode))
        return refuse(file->path, suffix, "is not a regular file");
    if (is_written && info->st_nlink > 1)
        return refuse(file->path, suffix, "has a second name (a hard link)");
    return 0;
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/*
 * A journal that ends with the name of a super-journal: SQLite would remove that file. We
 * change one database at a time, so it is not ours.
 *
 *     ... name | length 4 | sum 4 | magic 8
 */
static int check_journal(const struct database_file *file)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[16] = {0};
    char name[DATABASE_NAME_SIZE];
    struct stat info;
    int fd;

    snprintf(name, sizeof name, "%s-journal", file->name);
    fd = openat(file->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0
                               : err_set(ERR_IO, "cannot open '%s-journal': %s", file->path,
                                         strerror(errno));
    if (fstat(fd, &info) != 0 || info.st_size < 16 ||
        pread(fd, end, 16, info.st_size - 16) != 16)
        end[8] = 0; /* no magic */
    close(fd);
    return memcmp(end + 8, magic, 8) == 0 && big_endian(end) > 0
               ? refuse(file->path, "-journal", "names another file to be removed")
               : 0;
}

/*
 * Look at the file and those beside it: each must be a plain file, if
 * it is there, and those that SQLite will write no second name of another one.
 *   is_written  the database itself will be written
 *   is_there    out: the database is
 *   bytes       out: of all of them
 * Returns 0, ERR_FORMAT or ERR_IO.
 */
static int database_files_check(const struct database_file *file, bool is_written,
                                bool *is_there, uint64_t *bytes)
{
    struct stat info, other;
    int rc = check_file(file, "", is_written, &info);

    *is_there = rc == 0 && S_ISREG(info.st_mode);
    *bytes = (uint64_t)info.st_size;
    for (size_t i = 0; i < sizeof beside / sizeof *beside && rc == 0; i++) {
        rc = check_file(file, beside[i], true, &other);
        *bytes += (uint64_t)other.st_size;
        if (rc == 0 && *is_there && S_ISREG(other.st_mode) && other.st_uid != info.st_uid &&
            other.st_uid != geteuid() && other.st_uid != 0)
            rc = refuse(file->path, beside[i], "belongs to somebody else");
    }
    return rc == 0 ? check_journal(file) : rc;
}

/* ---------------------------------------------------------------------------- file system */

static sqlite3_vfs *below;
static sqlite3_vfs vfs;

/* Takes "/proc/self/fd/17/NAME" apart. Returns NAME, or NULL for any other path. */
static const char *name_in_handle(const char *path, int *dir)
{
    char *end;

    if (strncmp(path, HANDLES, strlen(HANDLES)) != 0 ||
        !isdigit((unsigned char)path[strlen(HANDLES)]))
        return NULL;
    *dir = (int)strtol(path + strlen(HANDLES), &end, 10);
    return *end == '/' && end[1] != '\0' && strchr(end + 1, '/') == NULL ? end + 1 : NULL;
}

/* As the files were when the database was opened they may not be any more. */
static bool may_open(const char *path, int flags)
{
    const int kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    bool is_written = (flags & SQLITE_OPEN_READWRITE) != 0;
    struct database_file file = {.path = path};
    struct stat info;

    file.name = name_in_handle(path, &file.dir);
    return file.name && (flags & kinds) && check_file(&file, "", is_written, &info) == 0;
}

static int open_file(sqlite3_vfs *self, const char *path, sqlite3_file *out, int flags,
                     int *out_flags)
{
    (void)self;
    out->pMethods = NULL;
    if (path && !may_open(path, flags)) /* without a path: temporary, and nobody else's */
        return SQLITE_CANTOPEN;
    return below->xOpen(below, path, out, flags, out_flags);
}

static int delete_file(sqlite3_vfs *self, const char *path, int sync)
{
    int dir;

    (void)self;
    return name_in_handle(path, &dir) ? below->xDelete(below, path, sync) : SQLITE_PERM;
}

static int access_file(sqlite3_vfs *self, const char *path, int flags, int *result)
{
    int dir;

    (void)self;
    *result = 0;
    return name_in_handle(path, &dir) ? below->xAccess(below, path, flags, result) : SQLITE_OK;
}

/* The default one would follow the handle to a path, which may be another directory's tomorrow.
 */
static int full_path(sqlite3_vfs *self, const char *path, int size, char *out)
{
    (void)self;
    return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void make_vfs(void)
{
    below = sqlite3_vfs_find(NULL);
    if (below == NULL)
        return;
    vfs = *below;
    vfs.pNext = NULL;
    vfs.zName = DATABASE_FILES_VFS;
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    vfs.xAccess = access_file;
    vfs.xFullPathname = full_path;
    sqlite3_vfs_register(&vfs, 0);
}

/* From now on it is there. Returns 0 or ERR_DATABASE. Thread-safe. */
static int database_files_have_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_vfs);
    return below ? 0 : err_set(ERR_DATABASE, "SQLite has no file system");
}

/* What SQLite is to open. */
static void database_files_path(int dir, const char *name, char out[DATABASE_NAME_SIZE])
{
    snprintf(out, DATABASE_NAME_SIZE, HANDLES "%d/%s", dir, name);
}

/* All that was written is in the database itself, which can be
 * read without those beside it. */
static bool database_files_are_settled(const struct database_file *file)
{
    struct stat log = {0}, journal = {0};

    return check_file(file, "-wal", false, &log) == 0 && log.st_size == 0 &&
           check_file(file, "-journal", false, &journal) == 0 && journal.st_size == 0;
}

#define EVERY 4096                 /* instructions between looks at how many they are */
#define PER_BYTE 64                /* instructions that a byte of a file may cost */
#define ALWAYS ((uint64_t)4 << 20) /* bytes that are granted whatever the size */

/* -------------------------------------------------------------------------------- numbers */

int64_t database_number(struct database *d, int64_t otherwise, const char *format, ...)
{
    sqlite3_stmt *query = NULL;
    int64_t value = otherwise;
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (sql && sqlite3_prepare_v2(d->sql, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_free(sql);
    return value;
}

uint64_t database_used_bytes(struct database *d)
{
    int64_t n = database_number(d, 0, "PRAGMA page_count"),
            n_free = database_number(d, 0, "PRAGMA freelist_count");

    return n > n_free ? (uint64_t)((n - n_free) * database_number(d, 0, "PRAGMA page_size"))
                      : 0;
}

/* --------------------------------------------------------------------------------- errors */

int database_error(sqlite3 *sql, const char *what, const char *path)
{
    switch (sqlite3_errcode(sql) & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(ERR_FORMAT, "%s '%s': damaged, or no database", what, path);
    case SQLITE_INTERRUPT:
        return err_set(ERR_FORMAT, "%s '%s': damaged: a search in it never finishes", what,
                       path);
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

    /* One loads libraries, one tells and takes addresses in memory. */
    bool is_function = action == SQLITE_FUNCTION && sqlite3_stricmp(b, "load_extension") != 0 &&
                       sqlite3_stricmp(b, "fts3_tokenizer") != 0;

    (void)ctx, (void)c, (void)d;
    return is_list || is_own || is_function || action == SQLITE_SELECT ||
                   action == SQLITE_READ || action == SQLITE_RECURSIVE
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

/* Gives the database its own handle of the directory, by which SQLite can reach it. */
static int hold(struct database *d, int dir, const char *path)
{
    char by_handle[DATABASE_NAME_SIZE];

    d->dir = fcntl(dir, F_DUPFD_CLOEXEC, 3);
    if (d->dir < 0)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    database_files_path(d->dir, ".", by_handle);
    if (access(by_handle, X_OK) != 0)
        return err_set(ERR_IO, "cannot open '%s': no access to '%s' (is /proc mounted?)", path,
                       by_handle);
    return database_files_have_vfs();
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

/* What a schema should have, one statement after the other, as SQLite keeps them. */
struct expected {
    struct names sql;
    bool *is_there; /* [sql.n] */
};

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

/* A statement up to its semicolon, without what makes no difference; at: out, after it. */
static void write_plain(struct pack *out, const char **at)
{
    static const char unless[] = "IF NOT EXISTS ";
    char c = next_of(at), *found;

    out->n = 0;
    for (c = c == ' ' ? next_of(at) : c; c != '\0' && c != ';'; c = next_of(at))
        pack_bytes(out, &c, 1);
    pack_bytes(out, "", 1);
    found = strstr((char *)out->data, unless);
    if (found && found - (char *)out->data < 32)
        memmove(found, found + strlen(unless), strlen(found + strlen(unless)) + 1);
}

static void expect(struct expected *expected, const char *made, struct pack *scratch)
{
    while (*made) {
        write_plain(scratch, &made);
        if (scratch->data[0])
            names_add(&expected->sql, (char *)scratch->data);
    }
    expected->is_there = mem_alloc(expected->sql.n, sizeof *expected->is_there);
}

static const char *text(sqlite3_stmt *row, int column)
{
    const char *value = (const char *)sqlite3_column_text(row, column);

    return value ? value : "";
}

/* A row of the schema: type, name, sql. Indexes of SQLite itself have none. */
static bool is_ours(struct expected *expected, sqlite3_stmt *row, struct pack *scratch)
{
    const char *sql = text(row, 2);
    uint32_t id;

    if (sqlite3_column_type(row, 2) == SQLITE_NULL)
        return strcmp(text(row, 0), "index") == 0 &&
               strncmp(text(row, 1), "sqlite_autoindex_", 17) == 0;
    write_plain(scratch, &sql);
    id = *sql == '\0' ? names_find(&expected->sql, (char *)scratch->data) : NAMES_NONE;
    if (id == NAMES_NONE || expected->is_there[id])
        return false;
    return expected->is_there[id] = true;
}

static int check_rows(struct expected *expected, sqlite3_stmt *row, struct pack *scratch,
                      const char *path)
{
    int status;

    while ((status = sqlite3_step(row)) == SQLITE_ROW)
        if (!is_ours(expected, row, scratch))
            return err_set(ERR_FORMAT, "'%s' is not what snag writes: it has a %.40s '%.100s'",
                           path, text(row, 0), text(row, 1));
    if (status != SQLITE_DONE)
        return database_error(sqlite3_db_handle(row), "cannot read", path);
    for (uint32_t i = 0; i < expected->sql.n; i++)
        if (!expected->is_there[i])
            return err_set(ERR_FORMAT,
                           "'%s' is damaged, or not what snag writes: this is missing: %.60s",
                           path, expected->sql.name[i]);
    return 0;
}

int database_check(struct database *d, const char *as, const char *made, const char *path)
{
    char *question = sqlite3_mprintf("SELECT type, name, sql FROM %w.sqlite_schema", as);
    struct expected expected = {.is_there = NULL};
    struct pack scratch = {0};
    sqlite3_stmt *row = NULL;
    int rc;

    expect(&expected, made, &scratch);
    rc = sqlite3_prepare_v2(d->sql, question, -1, &row, NULL) == SQLITE_OK
             ? check_rows(&expected, row, &scratch, path)
             : database_error(d->sql, "cannot read", path);
    sqlite3_finalize(row);
    sqlite3_free(question);
    names_release(&expected.sql);
    free(expected.is_there);
    pack_release(&scratch);
    return rc;
}
