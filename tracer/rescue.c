/* The meeting place is DIRECTORY/traces.rescue: blobs, each after its length, under flock(2).
 */
#include "rescue.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The whole file, read from where it is open. */
static struct blob read_all(int fd)
{
    struct blob all = {0};
    char buffer[65536];
    ssize_t n;

    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        blob_put(&all, buffer, (size_t)n);
    return all;
}

static bool append(int fd, const struct blob *own)
{
    struct blob out = {0};
    bool is_good;

    blob_put_number(&out, own->n);
    blob_put(&out, own->data, own->n);
    is_good = write(fd, out.data, out.n) == (ssize_t)out.n;
    blob_release(&out);
    return is_good;
}

/* Those who came before. */
static bool add_others(struct unified *u, int fd)
{
    struct blob all = read_all(fd);
    bool is_good = true;

    while (is_good && all.at < all.n) {
        uint64_t n = blob_number(&all);
        struct blob one = {.data = all.data + all.at, .n = n};

        is_good = n <= all.n - all.at && unify_add(u, &one, NULL);
        all.at += n;
    }
    blob_release(&all);
    return is_good;
}

static void remove_definitions(const char *directory)
{
    static const char *const suffix[] = {"def", "otf2"};
    char path[PATH_MAX];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", directory, ARCHIVE_NAME, suffix[i]);
        unlink(path);
    }
}

static bool save(const char *directory, uint32_t n_ranks, const struct rescued *own, int fd)
{
    struct unified u = {0};
    struct unified_map map = {0};
    struct blob mine = *own->knowledge;
    bool is_good = flock(fd, LOCK_EX) == 0 && add_others(&u, fd) && append(fd, &mine) &&
                   unify_add(&u, &mine, &map) &&
                   archive_end_events(own->newest, &map, own->offset, own->n_offsets);

    if (is_good) {
        remove_definitions(directory);
        archive_lead();
        is_good = archive_define(&u, n_ranks);
    }
    unified_map_release(&map);
    unified_release(&u);
    return archive_close() && is_good;
}

void rescue(const char *directory, uint32_t n_ranks, const struct rescued *own)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/%s.rescue", directory, ARCHIVE_NAME);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        complain("cannot write '%s': %s", path, strerror(errno));
        return;
    }
    if (save(directory, n_ranks, own, fd))
        complain("no MPI_Finalize: the trace in '%s' has only the ranks that got to their end",
                 directory);
    else
        complain("no MPI_Finalize, and the trace in '%s' could not be completed", directory);
    close(fd);
}
