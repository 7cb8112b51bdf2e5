#include "cmd/store_name.h"

#include "base/err.h"
#include "postgres/pg_url.h"
#include "prov/prov_place.h"

#include <stdio.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define MAX_STORES 1000
#define NO_STORE "none"

int store_name_free(const char *stem, const char *rest, int from, char store[FS_PATH_SIZE])
{
    for (int i = from; i < MAX_STORES; i++) {
        struct prov_place place;
        char number[16] = "";

        if (i > 1)
            snprintf(number, sizeof number, "-%d", i);
        if (snprintf(store, FS_PATH_SIZE, "%s%s%s", stem, number, rest) >= FS_PATH_SIZE)
            return err_set(ERR_RANGE, "path too long: '%.200s...'", stem);
        if (prov_place_parse(store, &place) == 0 && !fs_exists(place.dir))
            return 0;
    }
    return err_set(ERR_EXISTS, "there are '%s%s' and many like it: say --store", stem, rest);
}

int store_name_said(const char **store)
{
    if (*store == NULL || strcmp(*store, NO_STORE) != 0)
        return 0;
    if (prov_place_is_store(NO_STORE))
        return err_set(ERR_USAGE,
                       "--store %s is no store, and there is one of that name: say "
                       "./%s for it, or nothing",
                       NO_STORE, NO_STORE);
    *store = NULL;
    return 0;
}

int store_name_of(const char *source, char store[FS_PATH_SIZE])
{
    const char *colon = strchr(source, ':');
    char name[128] = "watch";
    size_t end, begin;

    if (colon == NULL || strncmp(source, "replay:", 7) == 0) {
        source = colon ? colon + 1 : source;
        for (end = strlen(source); end > 0 && source[end - 1] == '/'; end--)
            ;
        for (begin = end; begin > 0 && source[begin - 1] != '/'; begin--)
            ;
        if (strspn(source + begin, NAME_CHARACTERS) >= end - begin && end > begin)
            snprintf(name, sizeof name, "%.*s", (int)(end - begin), source + begin);
    }
    return store_name_free(name, ".store", 1, store);
}

int store_name_next(const char *url, char store[FS_PATH_SIZE])
{
    const char *query = strncmp(url, "sqlite:", 7) == 0 ? strchr(url, '?') : NULL;
    size_t n = query ? (size_t)(query - url) : strlen(url);
    char stem[FS_PATH_SIZE], rest[FS_PATH_SIZE];

    if (pg_url_is(url)) /* a database takes the runs of everybody */
        return snprintf(store, FS_PATH_SIZE, "%s", url) < FS_PATH_SIZE
                   ? 0
                   : err_set(ERR_RANGE, "URL too long: '%.200s...'", url);
    while (n > 1 && url[n - 1] == '/')
        n--;
    if (n > 6 && strncmp(url + n - 6, ".store", 6) == 0)
        n -= 6;
    snprintf(stem, sizeof stem, "%.*s", (int)n, url);
    snprintf(rest, sizeof rest, "%s", url + n + strspn(url + n, "/"));
    return store_name_free(stem, rest, 2, store);
}
