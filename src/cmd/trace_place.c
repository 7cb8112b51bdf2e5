#include "cmd/trace_place.h"

#include "trace/tracer/finish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------- before */

bool trace_place_is_taken(const char *path)
{
    DIR *open = opendir(path);
    bool has_any = false;

    if (open == NULL)
        return fs_exists(path);
    for (struct dirent *entry; !has_any && (entry = readdir(open)) != NULL;)
        has_any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return has_any;
}

/* All of the path, as far as it is not there. */
static int make_all(struct trace_place *p)
{
    size_t n = strlen(p->path), last = 0; /* `last`: where the part before ends */

    p->n_there = n;
    for (size_t i = 1; i <= n; i++) {
        char end = p->path[i];

        if (end != '/' && end != '\0')
            continue;
        p->path[i] = '\0';
        if (mkdir(p->path, 0777) == 0)
            p->n_there = p->n_there < last ? p->n_there : last;
        else if (end == '\0' && errno != EEXIST)
            return errno;
        p->path[i] = end;
        last = i;
    }
    return 0;
}

void trace_place_make(struct trace_place *p, const char *path)
{
    struct stat info;

    *p = (struct trace_place){.fd = -1};
    snprintf(p->path, sizeof p->path, "%s", path);
    p->error = make_all(p);
    if (p->error != 0)
        return;
    p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->fd < 0)
        p->error = errno;
    else if (fstat(p->fd, &info) == 0)
        p->made = info.st_mtim;
}

/* --------------------------------------------------------------------------------- after */

static bool is_at(const struct stat *ours, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && now.st_dev == ours->st_dev && now.st_ino == ours->st_ino;
}

/* Where the system says that the directory is. */
static bool find_moved(const struct trace_place *p, const struct stat *ours,
                       char path[FS_PATH_SIZE])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", p->fd);
    n = readlink(link, path, FS_PATH_SIZE - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_at(ours, path);
}

static bool has(const char *path, const char *name)
{
    char part[FS_PATH_SIZE];

    return fs_join(part, path, name) == 0 && fs_exists(part);
}

/* What the tracer made in it is not there any more, or only events without what explains them.
 */
static bool is_emptied(const struct trace_place *p, const struct stat *ours, const char *path)
{
    bool has_changed =
        ours->st_mtim.tv_sec != p->made.tv_sec || ours->st_mtim.tv_nsec != p->made.tv_nsec;

    return has_changed && !finish_is_wanted(path) && !has(path, "traces.otf2") &&
           (has(path, "traces") || !trace_place_is_taken(path));
}

bool trace_place_find(const struct trace_place *p, char path[FS_PATH_SIZE],
                      char why[2 * FS_PATH_SIZE])
{
    char moved[FS_PATH_SIZE];
    struct stat ours;
    size_t n = 2 * FS_PATH_SIZE;
    bool is_there;

    *why = '\0';
    if (p->fd < 0) {
        if (!finish_is_wanted(path))
            snprintf(why, n, "cannot make '%s': %s", path, strerror(p->error));
        return false;
    }
    if (fstat(p->fd, &ours) != 0 || ours.st_nlink == 0) {
        snprintf(why, n, "'%s' was removed while the program ran", path);
        return false;
    }
    is_there = is_at(&ours, path);
    if (!is_there && !find_moved(p, &ours, moved))
        snprintf(why, n, "'%s' was removed or moved while the program ran", path);
    else if (is_emptied(p, &ours, is_there ? path : moved))
        snprintf(why, n, "files in '%s' were removed while the program ran", path);
    if (is_there || *why)
        return false;
    memcpy(path, moved, sizeof moved);
    return true;
}

void trace_place_close(struct trace_place *p)
{
    struct stat ours;
    size_t n = strlen(p->path);

    if (p->fd < 0 || fstat(p->fd, &ours) != 0 || !is_at(&ours, p->path))
        n = 0;
    while (n > p->n_there && rmdir(p->path) == 0) {
        while (n > 0 && p->path[n - 1] != '/')
            n--;
        while (n > 0 && p->path[n - 1] == '/')
            n--;
        p->path[n] = '\0';
    }
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}
