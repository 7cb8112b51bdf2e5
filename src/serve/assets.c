/* The table is made by cmake/assets.cmake. */
#include "serve/assets.h"

#include <string.h>

#define OPENAPI ":openapi.json" /* these are no paths */
#define REPORT ":report.html"

#include "serve/assets_table.inc"

const struct asset *asset_find(const char *path)
{
    for (const struct asset *asset = assets; asset->path; asset++)
        if (*path == '/' && strcmp(asset->path, path) == 0)
            return asset;
    return NULL;
}

static const struct asset *find_unserved(const char *name)
{
    const struct asset *asset = assets;

    while (strcmp(asset->path, name) != 0)
        asset++;
    return asset;
}

const struct asset *asset_openapi(void)
{
    return find_unserved(OPENAPI);
}

const struct asset *asset_report(void)
{
    return find_unserved(REPORT);
}
