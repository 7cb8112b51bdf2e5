/*
 * Who goes last removes the file while it has all of it locked. Who has opened it just before
 * that holds a file without a name, sees that, and begins again; who tries its lock in that
 * moment waits a little.
 */
#include "base/lock_file.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES 10
#define NAP_NS 20000000

/* One attempt to lock. Returns 0, or the process that has it, -1 on errors. */
static long try_lock(int fd, uint64_t first, uint64_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    lock.l_start = (off_t)(first & INT64_MAX);
    lock.l_len = (off_t)length;
    if (fcntl(fd, F_SETLK, &lock) == 0)
        return 0;
    if (errno != EACCES && errno != EAGAIN)
        return -1;
    return fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK ? 1 : lock.l_pid;
}

/* The file has its name still, and no second one. */
static bool has_name(const struct lock_file *lock_file)
{
    struct stat open, named;

    return fstat(lock_file->fd, &open) == 0 &&
           fstatat(lock_file->dir, lock_file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           fs_is_same(&open, &named) && S_ISREG(open.st_mode) && open.st_nlink == 1;
}

static int open_file(struct lock_file *lock_file, const char *what)
{
    lock_file->fd = openat(lock_file->dir, lock_file->name,
                           O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return lock_file->fd >= 0 ? 0
                              : err_set(ERR_IO, "cannot write '%s' ('%s' beside it): %s", what,
                                        lock_file->name, strerror(errno));
}

/* Returns 0, ERR_EXISTS, ERR_IO, or 1 to be called again. */
static int take_once(struct lock_file *lock_file, const char *what, uint64_t first,
                     uint64_t length)
{
    int rc = open_file(lock_file, what);
    long holder;

    if (rc < 0)
        return rc;
    holder = try_lock(lock_file->fd, first, length);
    if (holder < 0 && (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP))
        log_warn("lock",
                 "'%s' is on a file system without locks: nobody can tell whether "
                 "another process writes it, too",
                 what);
    else if (holder < 0)
        return err_set(ERR_IO, "cannot lock '%s': %s", what, strerror(errno));
    else if (holder > 0)
        return err_set(ERR_EXISTS, "process %ld is writing '%s' already", holder, what);
    lock_file->is_held = holder == 0;
    return has_name(lock_file) ? 0 : 1;
}

int lock_file_take(struct lock_file *lock_file, int dir, const char *name, const char *what,
                   uint64_t first, uint64_t length)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int rc = 1;

    *lock_file = (struct lock_file){.fd = -1, .dir = fcntl(dir, F_DUPFD_CLOEXEC, 3)};
    snprintf(lock_file->name, sizeof lock_file->name, "%s", name);
    for (int i = 0; i < TRIES && (rc == 1 || rc == ERR_EXISTS); i++) {
        if (i > 0)
            nanosleep(&nap, NULL);
        if (lock_file->fd >= 0)
            close(lock_file->fd);
        rc = take_once(lock_file, what, first, length);
    }
    if (rc == 1)
        rc = err_set(ERR_IO, "cannot lock '%s': '%s' beside it is no file of its own", what,
                     name);
    if (rc < 0) {
        lock_file->is_held = false;
        lock_file_release(lock_file);
    }
    return rc;
}

bool lock_file_is_taken(int dir, const char *name)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_taken = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (fd >= 0)
        close(fd);
    return is_taken;
}

void lock_file_release(struct lock_file *lock_file)
{
    if (lock_file->dir <= 0)
        return;
    if (lock_file->is_held && try_lock(lock_file->fd, 0, LOCK_FILE_ALL) == 0 &&
        has_name(lock_file))
        unlinkat(lock_file->dir, lock_file->name, 0);
    if (lock_file->fd >= 0)
        close(lock_file->fd);
    close(lock_file->dir);
    *lock_file = (struct lock_file){.fd = -1};
}
