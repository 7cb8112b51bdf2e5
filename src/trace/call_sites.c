/* What is before and behind the line says which function, or which file. */
#include "trace/call_sites.h"

#include "base/mem.h"
#include "trace/region_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_line(const char *name)
{
    return name[region_name_line(name).begin] != '\0';
}

/* Whether all but the line is the same. */
static bool is_like(const char *a, struct region_line at, const char *b, struct region_line bt)
{
    return at.begin == bt.begin && strncmp(a, b, at.begin) == 0 &&
           strcmp(a + at.end, b + bt.end) == 0;
}

static unsigned long number(const char *at)
{
    return strtoul(at, NULL, at[-1] == 'x' ? 16 : 10);
}

/* One place, and which name it is of. */
struct place {
    unsigned long at;
    uint32_t name;
};

static int by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    return (p->at > q->at) - (p->at < q->at);
}

/* The places like `site` that are in these names and not in the others, in their order, to be
 * freed; how many. */
static size_t places_like(const char *site, const struct names *names, uint32_t n,
                          const struct names *others, uint32_t n_others, struct place **out)
{
    struct region_line line = region_name_line(site);
    size_t n_places = 0, cap = 0;

    *out = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = names->name[i];
        struct region_line other = region_name_line(name);

        if (!is_like(site, line, name, other) || names_find(others, name) < n_others)
            continue;
        mem_grow(out, &cap, n_places + 1, sizeof **out);
        (*out)[n_places++] = (struct place){number(name + other.number), i};
    }
    if (n_places > 0)
        qsort(*out, n_places, sizeof **out, by_place);
    return n_places;
}

uint32_t call_sites_same(const struct names *from, uint32_t n_from, uint32_t i,
                         const struct names *to, uint32_t n)
{
    const char *name = from->name[i];
    uint32_t same = names_find(to, name);
    struct place *here, *there;
    size_t n_here, n_there, k = 0;

    if (same < n)
        return same;
    if (!has_line(name))
        return NAMES_NONE;
    n_here = places_like(name, from, n_from, to, n, &here);
    n_there = places_like(name, to, n, from, n_from, &there);
    while (k < n_here && here[k].name != i)
        k++;
    same = n_here == n_there && k < n_there ? there[k].name : NAMES_NONE;
    free(here);
    free(there);
    return same;
}
