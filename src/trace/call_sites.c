/* The place is the number that a name ends in; what is before it says which file or function.
 */
#include "trace/call_sites.h"

#include "base/mem.h"
#include "trace/region_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_site(const char *name)
{
    return name[region_name_plain(name)] == '@';
}

static const char *number_of(const char *name)
{
    const char *end = name + strlen(name), *offset = NULL, *next = name;

    while ((next = strstr(next, "+0x")) != NULL)
        offset = next += 3;
    while (offset == NULL && end > name && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return offset ? offset : end;
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
    size_t n_same = (size_t)(number_of(site) - site), n_places = 0, cap = 0;

    *out = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = names->name[i];

        if (strncmp(name, site, n_same) != 0 || (size_t)(number_of(name) - name) != n_same ||
            names_find(others, name) < n_others)
            continue;
        mem_grow(out, &cap, n_places + 1, sizeof **out);
        (*out)[n_places++] = (struct place){number(name + n_same), i};
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
    if (!is_site(name))
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
