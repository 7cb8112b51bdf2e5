/* The table is made by cmake/assets.cmake. */
#include "serve/assets.h"

#include <string.h>

#define OPENAPI ":openapi.json" /* not a path */

#include "serve/assets_table.inc"

const struct asset *asset_find(const char *path)
{
    for (const struct asset *asset = assets; asset->path; asset++)
        if (*path == '/' && strcmp(asset->path, path) == 0)
            return asset;
    return NULL;
}

const struct asset *asset_openapi(void)
{
    const struct asset *asset = assets;

    while (strcmp(asset->path, OPENAPI) != 0)
        asset++;
    return asset;
}
