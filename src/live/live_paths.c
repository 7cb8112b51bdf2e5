/* A path is its caller's path and a region. */
#include "live/live_paths.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void live_paths_release(struct live_paths *p)
{
    free(p->path);
    idmap_release(&p->id);
    *p = (struct live_paths){0};
}

uint32_t live_paths_add(struct live_paths *p, uint32_t caller, uint32_t region)
{
    struct key key = key_pair(caller, region);
    uint32_t path = idmap_find(&p->id, key);

    if (path == IDMAP_NONE && caller != NO_PATH && p->n >= LIVE_MAX_PATHS)
        return live_paths_add(p, NO_PATH, region);
    if (path == IDMAP_NONE) {
        path = idmap_add(&p->id, key);
        mem_grow(&p->path, &p->cap, (size_t)p->n + 1, sizeof *p->path);
        p->path[p->n++] = (struct live_path){region, caller, .last_region = UINT32_MAX,
                                             .last_callee = NO_PATH};
    }
    if (caller != NO_PATH) {
        p->path[caller].last_region = region;
        p->path[caller].last_callee = path;
    }
    return path;
}

char *live_paths_name(const struct live_paths *p, uint32_t path, const struct definitions *defs)
{
    size_t length = 0;
    char *name, *at;

    for (uint32_t i = path; i != NO_PATH; i = p->path[i].caller)
        length += strlen(defs->names.name[p->path[i].region]) + 1;
    name = mem_alloc(length, 1);
    at = name + length; /* the last region ends with zero, the others with a slash */
    for (uint32_t i = path; i != NO_PATH; i = p->path[i].caller) {
        const char *part = defs->names.name[p->path[i].region];
        size_t n = strlen(part);

        *--at = i == path ? '\0' : '/';
        at -= n;
        memcpy(at, part, n);
    }
    return name;
}
