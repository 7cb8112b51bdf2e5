/*
 * Whatever a path in a journal says, it is not there: names are taken apart and compared with
 * the one form there is. A name is not resolved, and the last part of a path is never followed,
 * as SQLite opens with O_NOFOLLOW.
 */
#include "base/database_files.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        return refuse(file->path, suffix, "is no file");
    if (is_written && info->st_nlink > 1)
        return refuse(file->path, suffix, "is another file, too, by a second name");
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

int database_files_check(const struct database_file *file, bool is_written, bool *is_there,
                         uint64_t *bytes)
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

/* The usual one would follow the handle to a path, which may be another directory's tomorrow.
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

int database_files_have_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_vfs);
    return below ? 0 : err_set(ERR_DATABASE, "SQLite has no file system");
}

void database_files_path(int dir, const char *name, char out[DATABASE_NAME_SIZE])
{
    snprintf(out, DATABASE_NAME_SIZE, HANDLES "%d/%s", dir, name);
}

bool database_files_are_settled(const struct database_file *file)
{
    struct stat log = {0}, journal = {0};

    return check_file(file, "-wal", false, &log) == 0 && log.st_size == 0 &&
           check_file(file, "-journal", false, &journal) == 0 && journal.st_size == 0;
}
