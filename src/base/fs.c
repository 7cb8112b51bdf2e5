/* Thin wrappers that turn errno into one sentence with the path in it. */
#include "base/fs.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int fs_join(char out[FS_PATH_SIZE], const char *dir, const char *name)
{
    if (snprintf(out, FS_PATH_SIZE, "%s/%s", dir, name) >= FS_PATH_SIZE)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", dir);
    return 0;
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

int fs_map(const char *path, const void **data, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    int rc = 0;

    *data = NULL;
    *bytes = 0;
    if (fd < 0)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (fstat(fd, &info) != 0) {
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    } else if (info.st_size > 0) {
        void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);

        if (at == MAP_FAILED) {
            rc = err_set(ERR_IO, "cannot map '%s': %s", path, strerror(errno));
        } else {
            *data = at;
            *bytes = (size_t)info.st_size;
        }
    }
    close(fd);
    return rc;
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

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

int fs_remove_tree(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return err_set(ERR_IO, "cannot remove '%s': %s", path, strerror(errno));
    return 0;
}

int fs_exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}
