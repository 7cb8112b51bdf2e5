#include "prov/prov_place.h"

#include "base/err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_scheme(const char *url, size_t length)
{
    if (strncmp(url, "postgres", 8) == 0)
        return err_set(
            ERR_UNSUPPORTED,
            "PostgreSQL is not supported by this build: '%s'; sqlite:DIR?shards=N is", url);
    return err_set(ERR_USAGE, "no such kind of store: '%.*s'; there is sqlite:DIR?shards=N",
                   (int)length, url);
}

static int parse_shards(const char *url, const char *query, uint32_t *n)
{
    char *end = NULL;
    unsigned long value = 0;

    if (strncmp(query, "shards=", 7) == 0 && isdigit((unsigned char)query[7]))
        value = strtoul(query + 7, &end, 10);
    if (end == NULL || *end != '\0' || value < 1 || value > PROV_MOST_SHARDS)
        return err_set(ERR_USAGE, "a store takes ?shards=N, N from 1 to %u, not '%s'",
                       PROV_MOST_SHARDS, url);
    *n = (uint32_t)value;
    return 0;
}

int prov_place_parse(const char *url, struct prov_place *place)
{
    bool is_url = strncmp(url, "sqlite:", 7) == 0;
    const char *dir = is_url ? url + 7 : url;
    const char *query = is_url ? strchr(dir, '?') : NULL;
    size_t length = query ? (size_t)(query - dir) : strlen(dir);
    const char *scheme = strstr(url, "://");

    *place = (struct prov_place){.n_shards = 0};
    if (!is_url && scheme && strcspn(url, "/.") > (size_t)(scheme - url))
        return refuse_scheme(url, (size_t)(scheme - url));
    if (length == 0 || length >= sizeof place->dir - 32)
        return err_set(ERR_USAGE, "a store is a directory, not '%s'", url);
    memcpy(place->dir, dir, length);
    return query ? parse_shards(url, query + 1, &place->n_shards) : 0;
}

int prov_place_shard(const struct prov_place *place, uint32_t shard, char path[FS_PATH_SIZE])
{
    char name[32];

    snprintf(name, sizeof name, "shard-%04u.db", shard);
    return fs_join(path, place->dir, name);
}

bool prov_place_is_store(const char *url)
{
    struct prov_place place;
    char path[FS_PATH_SIZE];

    return prov_place_parse(url, &place) == 0 && prov_place_shard(&place, 0, path) == 0 &&
           fs_exists(path);
}
