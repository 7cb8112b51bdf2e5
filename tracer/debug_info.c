/*
 * The debug information of a file is opened when the first address in it is asked for, and
 * stays so. Where the compiler wrote no list of address ranges, all units are gone through. The
 * functions of a unit are listed when the first one is asked for: those of a Fortran module, or
 * in another function, are found nowhere else.
 */
#include "debug_info.h"

#include "builds.h"
#include "complain.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_NESTED 16 /* namespaces, modules, functions */

struct debug_file {
    struct debug_file *next;
    const struct link_map *map;
    Dwarf *dwarf; /* NULL if there is none */
};

struct debug_functions {
    struct debug_functions *next;
    const void *unit;                /* where its entry is */
    struct debug_function *function; /* [n] by address */
    size_t n, cap;
};

static struct debug_file *files;
static struct debug_functions *units;

/* ------------------------------------------------------------------------------------ files */

static Dwarf *open_dwarf(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf;

    if (fd < 0)
        return NULL;
    dwarf = dwarf_begin(fd, DWARF_C_READ);
    if (dwarf == NULL)
        close(fd);
    return dwarf;
}

/* Where debug information was put that was taken out of the file with this build id. */
static Dwarf *open_apart(const struct link_map *map)
{
    char id[BUILD_ID_TEXT], path[BUILD_ID_TEXT + 64];

    if (!build_id_at(map->l_addr, id))
        return NULL;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    return open_dwarf(path);
}

static Dwarf *dwarf_of(const struct link_map *map)
{
    const char *path = map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
    struct debug_file *f;

    for (f = files; f; f = f->next)
        if (f->map == map)
            return f->dwarf;
    f = must_resize(NULL, 1, sizeof *f);
    *f = (struct debug_file){files, map, open_dwarf(path)};
    if (f->dwarf == NULL)
        f->dwarf = open_apart(map);
    files = f;
    return f->dwarf;
}

/* ------------------------------------------------------------------------------------ units */

static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0, next;
    size_t header;

    if (dwarf_addrdie(dwarf, address, unit) != NULL)
        return true;
    for (; dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0; offset = next)
        if (dwarf_offdie(dwarf, offset + header, unit) && dwarf_haspc(unit, address) == 1)
            return true;
    return false;
}

bool debug_unit(uintptr_t code, Dwarf_Die *unit, Dwarf_Addr *address)
{
    struct link_map *map = NULL;
    Dwarf *dwarf;
    Dl_info info;

    if (dladdr1((const void *)code, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return false;
    *address = code - map->l_addr;
    dwarf = dwarf_of(map);
    return dwarf && find_unit(dwarf, *address, unit);
}

/* -------------------------------------------------------------------------------- functions */

static void add_function(struct debug_functions *of, Dwarf_Die *die)
{
    Dwarf_Addr base, begin, end;

    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
        if (of->n == of->cap) {
            of->cap = of->cap ? 2 * of->cap : 64;
            of->function = must_resize(of->function, of->cap, sizeof *of->function);
        }
        of->function[of->n++] = (struct debug_function){begin, end, *die, NULL};
    }
}

static void list_functions(struct debug_functions *of, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth == MOST_NESTED || dwarf_child(parent, &die) != 0)
        return;
    do
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_function(of, &die); /* fall through */
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            list_functions(of, &die, depth + 1);
        }
    while (dwarf_siblingof(&die, &die) == 0);
}

static int by_begin(const void *left, const void *right)
{
    const struct debug_function *a = left, *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static struct debug_functions *functions_of(Dwarf_Die *unit)
{
    struct debug_functions *u;

    for (u = units; u; u = u->next)
        if (u->unit == unit->addr)
            return u;
    u = must_resize(NULL, 1, sizeof *u);
    *u = (struct debug_functions){.next = units, .unit = unit->addr};
    list_functions(u, unit, 0);
    if (u->n > 0)
        qsort(u->function, u->n, sizeof *u->function, by_begin);
    units = u;
    return u;
}

struct debug_function *debug_function(uintptr_t code, Dwarf_Addr *address)
{
    struct debug_functions *u;
    size_t low = 0, high;
    Dwarf_Die unit;

    if (!debug_unit(code, &unit, address))
        return NULL;
    u = functions_of(&unit);
    for (high = u->n; low < high;) {
        size_t middle = (low + high) / 2;

        if (u->function[middle].begin <= *address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && *address < u->function[low - 1].end ? &u->function[low - 1] : NULL;
}
