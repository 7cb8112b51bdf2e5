/*
 * Who goes last removes the file while it has all of it locked. Who has opened it just before
 * that holds a file without a name, sees that, and begins again; who tries its lock in that
 * moment waits a little.
 */
#include "base/claim.h"

#include "base/err.h"
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
static bool has_name(const struct claim *claim)
{
    struct stat open, named;

    return fstat(claim->fd, &open) == 0 &&
           fstatat(claim->dir, claim->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev &&
           S_ISREG(open.st_mode) && open.st_nlink == 1;
}

static int open_file(struct claim *claim, const char *what)
{
    claim->fd = openat(claim->dir, claim->name,
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return claim->fd >= 0 ? 0
                          : err_set(ERR_IO, "cannot write '%s' ('%s' beside it): %s", what,
                                    claim->name, strerror(errno));
}

/* Returns 0, ERR_EXISTS, ERR_IO, or 1 to be called again. */
static int take_once(struct claim *claim, const char *what, uint64_t first, uint64_t length)
{
    int rc = open_file(claim, what);
    long holder;

    if (rc < 0)
        return rc;
    holder = try_lock(claim->fd, first, length);
    if (holder < 0 && (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP))
        log_warn("claim",
                 "'%s' is on a file system without locks: nobody can tell whether "
                 "another process writes it, too",
                 what);
    else if (holder < 0)
        return err_set(ERR_IO, "cannot lock '%s': %s", what, strerror(errno));
    else if (holder > 0)
        return err_set(ERR_EXISTS, "process %ld is writing '%s' already", holder, what);
    claim->is_held = holder == 0;
    return has_name(claim) ? 0 : 1;
}

int claim_take(struct claim *claim, int dir, const char *name, const char *what, uint64_t first,
               uint64_t length)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int rc = 1;

    *claim = (struct claim){.fd = -1, .dir = fcntl(dir, F_DUPFD_CLOEXEC, 3)};
    snprintf(claim->name, sizeof claim->name, "%s", name);
    for (int i = 0; i < TRIES && (rc == 1 || rc == ERR_EXISTS); i++) {
        if (i > 0)
            nanosleep(&nap, NULL);
        if (claim->fd >= 0)
            close(claim->fd);
        rc = take_once(claim, what, first, length);
    }
    if (rc == 1)
        rc = err_set(ERR_IO, "cannot lock '%s': '%s' beside it is no file of its own", what,
                     name);
    if (rc < 0) {
        claim->is_held = false;
        claim_release(claim);
    }
    return rc;
}

bool claim_is_taken(int dir, const char *name)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_taken = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

    if (fd >= 0)
        close(fd);
    return is_taken;
}

void claim_release(struct claim *claim)
{
    if (claim->dir <= 0)
        return;
    if (claim->is_held && try_lock(claim->fd, 0, CLAIM_ALL) == 0 && has_name(claim))
        unlinkat(claim->dir, claim->name, 0);
    if (claim->fd >= 0)
        close(claim->fd);
    close(claim->dir);
    *claim = (struct claim){.fd = -1};
}
