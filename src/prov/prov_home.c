/* Numbers that are claimed: program * 2^32 + rank. */
#include "prov/prov_home.h"

#include "base/err.h"
#include "prov/prov_shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK "lock"
#define RANKS ((uint64_t)1 << 32)

int prov_home_open(struct prov_home *home, const struct prov_place *place, uint32_t program,
                   const uint32_t *rank)
{
    uint64_t first = program * RANKS + (rank ? *rank : 0);
    int rc;

    *home = (struct prov_home){.is_open = false};
    if (mkdir(place->dir, 0777) != 0 && errno != EEXIST)
        return err_set(ERR_IO, "cannot create '%s': %s", place->dir, strerror(errno));
    rc = prov_place_open(place, &home->dir);
    if (rc < 0)
        return rc == ERR_NOT_FOUND
                   ? err_set(ERR_EXISTS, "'%s' is there and is no directory", place->dir)
                   : rc;
    home->is_open = true;
    if (faccessat(home->dir, "run.db", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        rc = err_set(ERR_EXISTS, "'%s' is a run: a store needs a directory of its own",
                     place->dir);
    if (rc == 0)
        rc = claim_take(&home->claim, home->dir, LOCK, place->dir, first, rank ? 1 : RANKS);
    if (rc < 0)
        prov_home_close(home);
    return rc;
}

void prov_home_close(struct prov_home *home)
{
    if (!home->is_open)
        return;
    claim_release(&home->claim);
    close(home->dir);
    *home = (struct prov_home){.is_open = false};
}

int prov_home_claim(struct claim *claim, int dir, const struct prov_place *place)
{
    return claim_take(claim, dir, LOCK, place->dir, 0, CLAIM_ALL);
}

bool prov_home_is_written(const char *url)
{
    struct prov_place place;
    bool is_written;
    int dir;

    if (prov_place_parse(url, &place) < 0 || prov_place_open(&place, &dir) < 0)
        return false;
    is_written = claim_is_taken(dir, LOCK);
    close(dir);
    return is_written;
}

static bool is_empty(const struct prov_place *place, int dir, uint32_t n)
{
    bool is_all_empty = n > 0;

    for (uint32_t i = 0; i < n && is_all_empty; i++) {
        struct database d = {0};
        struct prov_file file;
        int rc = database_open(&d, prov_place_file(place, dir, i, &file), DATABASE_READ);

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
    struct prov_place place;
    struct claim claim = {0};
    uint32_t n;
    int dir;

    if (prov_place_parse(url, &place) < 0 || prov_place_open(&place, &dir) < 0)
        return;
    n = prov_shard_count(&place, dir);
    if (prov_home_claim(&claim, dir, &place) == 0) {
        if (is_empty(&place, dir, n))
            for (uint32_t i = n; i-- > 0;) /* what is left half-way is still no store */
                remove_shard(dir, i);
        claim_release(&claim);
        rmdir(place.dir); /* if nothing else is in it */
    }
    close(dir);
}
