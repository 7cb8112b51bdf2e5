#include "prov/prov_place.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int prov_place_open(const struct prov_place *place, int *dir)
{
    *dir = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir >= 0)
        return 0;
    return errno == ENOENT || errno == ENOTDIR
               ? err_set(ERR_NOT_FOUND, "no provenance store: '%s'", place->dir)
               : err_set(ERR_IO, "cannot open '%s': %s", place->dir, strerror(errno));
}

const struct database_file *prov_place_file(const struct prov_place *place, int dir,
                                            uint32_t shard, struct prov_file *out)
{
    snprintf(out->name, sizeof out->name, "shard-%04u.db", shard);
    snprintf(out->path, sizeof out->path, "%.*s/%s", FS_PATH_SIZE - 40, place->dir, out->name);
    out->file = (struct database_file){.dir = dir, .name = out->name, .path = out->path};
    return &out->file;
}

bool prov_place_is_store(const char *url)
{
    struct prov_place place;
    struct prov_file file;

    return prov_place_parse(url, &place) == 0 &&
           fs_exists(prov_place_file(&place, -1, 0, &file)->path);
}
