/* A directory is locked by numbers: program * 2^32 + rank. */
#include "prov/prov_dir.h"

#include "base/err.h"
#include "prov/prov_shard.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------- the URL */

static int refuse_scheme(const char *url, size_t length)
{
    return err_set(ERR_USAGE,
                   "no such kind of store: '%.*s'; there are sqlite:DIR?shards=N and "
                   "postgresql://...",
                   (int)length, url);
}

static int parse_shards(const char *url, const char *query, uint32_t *n)
{
    char *end = NULL;
    unsigned long value = 0;

    if (strncmp(query, "shards=", 7) == 0 && isdigit((unsigned char)query[7]))
        value = strtoul(query + 7, &end, 10);
    if (end == NULL || *end != '\0' || value < 1 || value > PROV_MAX_SHARDS)
        return err_set(ERR_USAGE, "a store takes ?shards=N, N from 1 to %u, not '%s'",
                       PROV_MAX_SHARDS, url);
    *n = (uint32_t)value;
    return 0;
}

int prov_dir_parse(const char *url, struct prov_dir *place)
{
    bool is_url = strncmp(url, "sqlite:", 7) == 0;
    const char *dir = is_url ? url + 7 : url;
    const char *query = is_url ? strchr(dir, '?') : NULL;
    size_t length = query ? (size_t)(query - dir) : strlen(dir);
    const char *scheme = strstr(url, "://");

    *place = (struct prov_dir){.n_shards = 0};
    if (!is_url && scheme && strcspn(url, "/.") > (size_t)(scheme - url))
        return refuse_scheme(url, (size_t)(scheme - url));
    if (length == 0 || length >= sizeof place->dir - 32)
        return err_set(ERR_USAGE, "a store is a directory, not '%s'", url);
    memcpy(place->dir, dir, length);
    return query ? parse_shards(url, query + 1, &place->n_shards) : 0;
}

int prov_dir_missing(const char *dir)
{
    return err_set(ERR_NOT_FOUND,
                   "no provenance store: '%s' (snag ad --store DIR and snag watch make one)",
                   dir);
}

int prov_dir_open(const struct prov_dir *place, int *dir)
{
    *dir = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir >= 0)
        return 0;
    return errno == ENOENT || errno == ENOTDIR
               ? prov_dir_missing(place->dir)
               : err_set(ERR_IO, "cannot open '%s': %s", place->dir, strerror(errno));
}

const struct database_file *prov_dir_file(const struct prov_dir *place, int dir, uint32_t shard,
                                          struct prov_file *out)
{
    snprintf(out->name, sizeof out->name, "shard-%04u.db", shard);
    snprintf(out->path, sizeof out->path, "%.*s/%s", FS_PATH_SIZE - 40, place->dir, out->name);
    out->file = (struct database_file){.dir = dir, .name = out->name, .path = out->path};
    return &out->file;
}

bool prov_dir_is_store(const char *url)
{
    struct prov_dir place;
    struct prov_file file;

    return prov_dir_parse(url, &place) == 0 &&
           fs_exists(prov_dir_file(&place, -1, 0, &file)->path);
}

/* ---------------------------------------------------------------------------- the directory */

#define LOCK "lock"
#define RANKS ((uint64_t)1 << 32)

int prov_home_open(struct prov_home *home, const struct prov_dir *place, uint32_t program,
                   const uint32_t *rank)
{
    uint64_t first = program * RANKS + (rank ? *rank : 0);
    int rc;

    *home = (struct prov_home){.is_open = false};
    if (mkdir(place->dir, 0777) != 0 && errno != EEXIST)
        return err_set(ERR_IO, "cannot create '%s': %s", place->dir, strerror(errno));
    rc = prov_dir_open(place, &home->dir);
    if (rc < 0)
        return rc == ERR_NOT_FOUND
                   ? err_set(ERR_EXISTS, "'%s' is there and is no directory", place->dir)
                   : rc;
    home->is_open = true;
    if (faccessat(home->dir, "run.db", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        rc = err_set(ERR_EXISTS, "'%s' is a run: a store needs a directory of its own",
                     place->dir);
    if (rc == 0)
        rc = lock_file_take(&home->lock_file, home->dir, LOCK, place->dir, first,
                            rank ? 1 : RANKS);
    if (rc < 0)
        prov_home_close(home);
    return rc;
}

void prov_home_close(struct prov_home *home)
{
    if (!home->is_open)
        return;
    lock_file_release(&home->lock_file);
    close(home->dir);
    *home = (struct prov_home){.is_open = false};
}

int prov_home_lock(struct lock_file *lock_file, int dir, const struct prov_dir *place)
{
    return lock_file_take(lock_file, dir, LOCK, place->dir, 0, LOCK_FILE_ALL);
}

bool prov_home_is_written(const char *url)
{
    struct prov_dir place;
    bool is_written;
    int dir;

    if (prov_dir_parse(url, &place) < 0 || prov_dir_open(&place, &dir) < 0)
        return false;
    is_written = lock_file_is_taken(dir, LOCK);
    close(dir);
    return is_written;
}

static bool is_empty(const struct prov_dir *place, int dir, uint32_t n)
{
    bool is_all_empty = n > 0;

    for (uint32_t i = 0; i < n && is_all_empty; i++) {
        struct database d = {0};
        struct prov_file file;
        int rc = database_open(&d, prov_dir_file(place, dir, i, &file), DATABASE_READ);

        is_all_empty = rc == ERR_NOT_FOUND || (rc == 0 && prov_shard_is_empty(&d));
        database_close(&d);
    }
    return is_all_empty;
}

static void remove_shard(int dir, uint32_t shard)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[64];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(name, sizeof name, "shard-%04u.db%s", shard, suffixes[i]);
        unlinkat(dir, name, 0);
    }
}

void prov_home_discard(const char *url)
{
    struct prov_dir place;
    struct lock_file lock_file = {0};
    uint32_t n;
    int dir;

    if (prov_dir_parse(url, &place) < 0 || prov_dir_open(&place, &dir) < 0)
        return;
    n = prov_shard_count(&place, dir);
    if (prov_home_lock(&lock_file, dir, &place) == 0) {
        if (is_empty(&place, dir, n))
            for (uint32_t i = n; i-- > 0;) /* what is left half-way is still no store */
                remove_shard(dir, i);
        lock_file_release(&lock_file);
        rmdir(place.dir); /* if nothing else is in it */
    }
    close(dir);
}
