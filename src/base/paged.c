/*
 * The file has its blocks before it is mapped: a full disk is found out then, not by a signal
 * when a page is written back. What is mapped is noted in a list, which is short.
 */
#include "base/paged.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20            /* between looks at how much is in memory */
#define PAGED_MIN_OBJECTS 64u /* objects in an array that grows */
#define MAX_FD 512            /* what is above is left for others */

struct paged_mapping {
    void *data;
    size_t bytes;
    int fd; /* of its file; -1: it cannot grow where it is */
};

struct paged {
    char dir[FS_PATH_SIZE];
    size_t least;
    pthread_mutex_t lock; /* guards all below: what is in the list stays mapped meanwhile */
    pthread_cond_t over;
    struct paged_mapping *mapping; /* [n] */
    size_t n, cap;
    pthread_t thread;
    bool has_thread, is_over;
};

struct paged *paged_new(const char *dir, size_t least)
{
    struct paged *p;

    if (dir == NULL || strlen(dir) >= sizeof p->dir)
        return NULL;
    p = mem_alloc(1, sizeof *p);
    strcpy(p->dir, dir);
    p->least = least;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->over, NULL);
    return p;
}

void paged_free(struct paged *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_over = true;
    pthread_cond_signal(&p->over);
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread)
        pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->over);
    pthread_mutex_destroy(&p->lock);
    free(p->mapping);
    free(p);
}

/* ------------------------------------------------------------------------- giving back */

/* Of all files that this process has mapped. */
static size_t bytes_in_memory(void)
{
    unsigned long size, resident, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu %lu %lu", &size, &resident, &shared) != 3)
        shared = 0;
    fclose(file);
    return shared * (size_t)sysconf(_SC_PAGESIZE);
}

static void drop_all(const struct paged *p)
{
    for (size_t i = 0; i < p->n; i++)
        fs_advise(p->mapping[i].data, p->mapping[i].bytes, MADV_DONTNEED);
}

static void *watch(void *ctx)
{
    struct paged *p = ctx;

    pthread_mutex_lock(&p->lock);
    while (!p->is_over) {
        struct timespec until = clock_after_ms(CLOCK_REALTIME, LOOK_MS);

        pthread_cond_timedwait(&p->over, &p->lock, &until);
        if (!p->is_over && p->n > 0 && bytes_in_memory() > PAGED_KEPT_BYTES)
            drop_all(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void add(struct paged *p, struct paged_mapping mapping)
{
    pthread_mutex_lock(&p->lock);
    *mem_push(&p->mapping, &p->n, &p->cap) = mapping;
    if (!p->has_thread)
        thread_start(&p->thread, &p->has_thread, "snag-paged", watch, p);
    pthread_mutex_unlock(&p->lock);
}

/* Takes what begins at data out of the list: it has no bytes if it was not in it. */
static struct paged_mapping take(struct paged *p, const void *data)
{
    struct paged_mapping found = {.fd = -1};

    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n && found.data == NULL; i++)
        if (p->mapping[i].data == data) {
            found = p->mapping[i];
            p->mapping[i] = p->mapping[--p->n];
        }
    pthread_mutex_unlock(&p->lock);
    return found;
}

void paged_drop(struct paged *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    drop_all(p);
    pthread_mutex_unlock(&p->lock);
}

void paged_share(struct paged *p, const void *data, size_t bytes)
{
    if (p && bytes >= p->least)
        add(p, (struct paged_mapping){(void *)data, bytes, -1});
}

void paged_unshare(struct paged *p, const void *data)
{
    if (p && data)
        take(p, data);
}

/* ------------------------------------------------------------------------------ arrays */

/* A file with so many bytes and no name; -1 when it cannot be. */
static int open_unnamed(const struct paged *p, size_t bytes)
{
    char path[FS_PATH_SIZE];
    int fd;

    if (fs_join(path, p->dir, ".paged-XXXXXX") < 0)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -1;
    unlink(path);
    if (posix_fallocate(fd, 0, (off_t)bytes) == 0)
        return fd;
    close(fd);
    return -1;
}

/* With so many bytes of old in it. They are written: pages that are mapped would be cleared
 * first. */
static void *map_unnamed(struct paged *p, size_t bytes, const void *old, size_t n_old)
{
    int fd = open_unnamed(p, bytes);
    void *data = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (n_old == 0 || fs_write_at(fd, old, n_old, 0, p->dir) == 0)
        data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED || fd > MAX_FD) {
        close(fd);
        fd = -1;
    }
    if (data == MAP_FAILED)
        return NULL;
    add(p, (struct paged_mapping){data, bytes, fd});
    return data;
}

/* NULL if it cannot have so many bytes where it is. */
static void *grow_mapped(struct paged *p, struct paged_mapping mapped, size_t bytes)
{
    void *data;

    if (mapped.fd < 0 || posix_fallocate(mapped.fd, 0, (off_t)bytes) != 0)
        return NULL;
    data = mremap(mapped.data, mapped.bytes, bytes, MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
        return NULL;
    add(p, (struct paged_mapping){data, bytes, mapped.fd});
    return data;
}

void *paged_alloc(struct paged *p, size_t n, size_t width)
{
    size_t bytes;
    void *data = NULL;

    if (p && !__builtin_mul_overflow(n, width, &bytes) && bytes >= p->least)
        data = map_unnamed(p, bytes, NULL, 0);
    return data ? data : mem_resize(NULL, n, width);
}

static void release(struct paged_mapping mapped, void *data)
{
    if (mapped.data)
        munmap(mapped.data, mapped.bytes);
    else
        free(data);
    if (mapped.fd >= 0)
        close(mapped.fd);
}

void paged_release(struct paged *p, void *data)
{
    release(p && data ? take(p, data) : (struct paged_mapping){.fd = -1}, data);
}

/* Plain memory that stays plain can grow where it is. */
void *paged_resize(struct paged *p, void *old, size_t n_old, size_t n, size_t width)
{
    struct paged_mapping mapped = p && old ? take(p, old) : (struct paged_mapping){.fd = -1};
    size_t bytes, n_kept = n < n_old ? n : n_old;
    bool is_file = p && !__builtin_mul_overflow(n, width, &bytes) && bytes >= p->least;
    void *data = NULL;

    if (mapped.data == NULL && !is_file)
        return mem_resize(old, n, width);
    if (mapped.data && is_file)
        data = grow_mapped(p, mapped, bytes);
    if (data)
        return data;
    if (is_file)
        data = map_unnamed(p, bytes, old, n_kept * width);
    if (data == NULL) {
        data = mem_resize(NULL, n, width);
        if (n_kept > 0)
            memcpy(data, old, n_kept * width);
    }
    release(mapped, old);
    return data;
}

void *paged_grow(struct paged *p, void *data, size_t n, size_t *cap, size_t need, size_t width)
{
    if (need <= *cap)
        return data;
    if (p == NULL)
        return mem_grow_slow(data, cap, need, width);
    *cap = need > 2 * *cap ? need : 2 * *cap;
    *cap = *cap > PAGED_MIN_OBJECTS ? *cap : PAGED_MIN_OBJECTS;
    return paged_resize(p, data, n, *cap, width);
}
