/* Thin wrappers that turn errno into one sentence with the path in it. */
#include "base/fs.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 64    /* of what is removed: a handle is open for each level */
#define PART ".part-" /* between the name of a file and a random number, until it is whole */

int fs_join(char out[FS_PATH_SIZE], const char *dir, const char *name)
{
    if (snprintf(out, FS_PATH_SIZE, "%s/%s", dir, name) >= FS_PATH_SIZE)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", dir);
    return 0;
}

const char *fs_temporary_dir(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/tmp";
}

int fs_write_at(int fd, const void *data, size_t bytes, uint64_t offset, const char *path)
{
    const char *from = data;

    while (bytes > 0) {
        ssize_t done = pwrite(fd, from, bytes, (off_t)offset);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
        from += done;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

size_t fs_read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;

    errno = 0;
    while (done < bytes) {
        ssize_t got = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR) {
            errno = 0;
            continue;
        }
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* ------------------------------------------------------------------------------- mapping */

int fs_map_fd(int fd, const char *path, const void **data, size_t *bytes)
{
    struct stat info;
    void *at;

    *data = NULL;
    *bytes = 0;
    if (fstat(fd, &info) != 0)
        return err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return err_set(ERR_FORMAT, "'%s' is %s, not a file", path,
                       S_ISDIR(info.st_mode) ? "a directory" : "a device or a pipe");
    if (info.st_size == 0)
        return 0;
    at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return err_set(ERR_IO, "cannot map '%s': %s", path, strerror(errno));
    *data = at;
    *bytes = (size_t)info.st_size;
    return 0;
}

static int open_and_map(int dir, const char *name, int flags, const char *path,
                        const void **data, size_t *bytes)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags), rc;

    *data = NULL;
    *bytes = 0;
    if (fd < 0)
        return errno == ELOOP ? err_set(ERR_FORMAT, "'%s' is a link: it is left alone", path)
                              : err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    rc = fs_map_fd(fd, path, data, bytes);
    close(fd);
    return rc;
}

int fs_map(const char *path, const void **data, size_t *bytes)
{
    return open_and_map(AT_FDCWD, path, 0, path, data, bytes);
}

int fs_map_at(int dir, const char *name, const char *path, const void **data, size_t *bytes)
{
    return open_and_map(dir, name, O_NOFOLLOW, path, data, bytes);
}

void fs_unmap(const void *data, size_t bytes)
{
    if (data)
        munmap((void *)(uintptr_t)data, bytes);
}

void fs_advise(const void *data, size_t bytes, int advice)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)data / page * page;

    if (bytes > 0)
        madvise((void *)begin, (uintptr_t)data + bytes - begin, advice);
}

/* --------------------------------------------------------------------------- directories */

static int open_dir(int dir, const char *name, int flags, const char *path, int *out)
{
    *out = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (*out >= 0)
        return 0;
    if (errno == ENOENT)
        return err_set(ERR_NOT_FOUND, "'%s' is not there", path);
    if (errno == ELOOP || errno == ENOTDIR)
        return err_set(ERR_FORMAT, "'%s' is no directory", path);
    return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

int fs_open_dir(const char *path, int *out)
{
    return open_dir(AT_FDCWD, path, 0, path, out);
}

int fs_open_parent(const char *path, int *out, const char **name)
{
    const char *slash = strrchr(path, '/');
    char dir[FS_PATH_SIZE];

    *out = -1;
    *name = slash ? slash + 1 : path;
    if (strlen(path) >= sizeof dir) {
        errno = ENAMETOOLONG;
        return err_set(ERR_RANGE, "path too long: '%.200s...'", path);
    }
    snprintf(dir, sizeof dir, "%.*s", slash > path ? (int)(slash - path) : 1,
             slash ? path : ".");
    return fs_open_dir(dir, out);
}

int fs_open_dir_at(int dir, const char *name, const char *path, int *out)
{
    return open_dir(dir, name, O_NOFOLLOW, path, out);
}

/* Goes down into a directory, or removes what is no directory. Returns false with errno. */
static bool remove_at(int dir, const char *name, int depth)
{
    DIR *files;
    struct dirent *file;
    bool is_done = true;
    int fd;

    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    files = fd < 0 ? NULL : fdopendir(fd);
    if (files == NULL || depth == 0) {
        if (files)
            closedir(files);
        return false;
    }
    while (is_done && (file = readdir(files)) != NULL)
        if (strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0)
            is_done = remove_at(fd, file->d_name, depth - 1);
    closedir(files);
    return is_done && (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

int fs_remove_tree(const char *path)
{
    if (!remove_at(AT_FDCWD, path, DEEPEST))
        return err_set(ERR_IO, "cannot remove '%s': %s", path, strerror(errno));
    return 0;
}

uint64_t fs_bytes(const char *path)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    uint64_t sum = 0;
    FTSENT *file;

    while (tree && (file = fts_read(tree)) != NULL)
        if (file->fts_info == FTS_F)
            sum += (uint64_t)file->fts_statp->st_size;
    if (tree)
        fts_close(tree);
    return sum;
}

int fs_exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

bool fs_is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ------------------------------------------------------------------------------ new files */

int fs_new_open_at(struct fs_new *file, int dir, const char *name, const char *path)
{
    uint64_t number = 0;

    *file = (struct fs_new){.dir = dir, .fd = -1};
    if (strlen(name) >= sizeof file->name || strlen(path) >= sizeof file->path)
        return err_set(ERR_RANGE, "name too long: '%.200s...'", name);
    strcpy(file->name, name);
    strcpy(file->path, path);
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return err_set(ERR_IO, "cannot draw a random number: %s", strerror(errno));
    snprintf(file->part, sizeof file->part, ".%s" PART "%016" PRIx64, name, number);
    file->fd =
        openat(dir, file->part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file->fd >= 0)
        return 0;
    file->part[0] = '\0';
    return err_set(ERR_IO, "cannot create '%s': %s", path, strerror(errno));
}

int fs_new_open(struct fs_new *file, const char *path)
{
    const char *name;
    int dir, rc;

    *file = (struct fs_new){.dir = -1, .fd = -1};
    rc = fs_open_parent(path, &dir, &name);
    if (rc < 0)
        return err_set(rc, "cannot create '%s': %s", path, strerror(errno));
    rc = fs_new_open_at(file, dir, name, path);
    if (rc < 0)
        close(dir);
    file->owns_dir = rc == 0;
    return rc;
}

/* A zeroed one is of no file: what has a name under which it is written is. */
static void let_go(struct fs_new *file)
{
    if (file->part[0] && file->fd >= 0)
        close(file->fd);
    if (file->part[0] && file->owns_dir)
        close(file->dir);
    file->dir = file->fd = -1;
    file->part[0] = '\0';
}

int fs_new_commit(struct fs_new *file)
{
    bool is_done =
        fsync(file->fd) == 0 && renameat(file->dir, file->part, file->dir, file->name) == 0;
    int rc = 0;

    if (is_done) {
        fsync(file->dir);
    } else {
        rc = err_set(ERR_IO, "cannot write '%s': %s", file->path, strerror(errno));
        unlinkat(file->dir, file->part, 0);
    }
    let_go(file);
    return rc;
}

void fs_new_abandon(struct fs_new *file)
{
    if (file->part[0])
        unlinkat(file->dir, file->part, 0);
    let_go(file);
}

static bool is_part(const char *file, const char *name)
{
    size_t n = strlen(name);

    return file[0] == '.' && strncmp(file + 1, name, n) == 0 &&
           strncmp(file + 1 + n, PART, strlen(PART)) == 0 &&
           strspn(file + 1 + n + strlen(PART), "0123456789abcdef") == 16 &&
           file[1 + n + strlen(PART) + 16] == '\0';
}

void fs_new_clean(int dir, const char *name)
{
    DIR *files = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct dirent *file;

    while (files && (file = readdir(files)) != NULL)
        if (is_part(file->d_name, name))
            unlinkat(dir, file->d_name, 0);
    if (files)
        closedir(files);
}

bool fs_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool fs_begins_with(const char *path, const void *begin, size_t n)
{
    unsigned char found[32];
    struct stat info;
    int fd = -1;
    bool is;

    /* a pipe is not opened: who writes to it would take that for its reader */
    if (n <= sizeof found && stat(path, &info) == 0 && S_ISREG(info.st_mode))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    is = fd >= 0 && read(fd, found, n) == (ssize_t)n && memcmp(found, begin, n) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

uint64_t fs_allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

bool fs_is_out_of(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}
