/* The debug information of a file is opened when the first address in it is asked for, and
 * stays so. Where the compiler wrote no list of address ranges, all units are gone through. */
#include "lines.h"

#include "builds.h"
#include "complain.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct debug_file {
    struct debug_file *next;
    const struct link_map *map;
    Dwarf *dwarf; /* NULL if there is none */
};

static struct debug_file *files;

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

/* The debug information there is for the code at an address, and the address in its file. */
static Dwarf *dwarf_at(uintptr_t code, Dwarf_Addr *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((const void *)code, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return NULL;
    *address = code - map->l_addr;
    return dwarf_of(map);
}

/* The entry of the function that is not inlined, among those around an address. */
static bool find_function(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *function)
{
    Dwarf_Die unit, *scope = NULL;
    bool is_found = false;
    int n;

    if (!find_unit(dwarf, address, &unit))
        return false;
    n = dwarf_getscopes(&unit, address, &scope);
    for (int i = 0; i < n && !is_found; i++)
        if (dwarf_tag(&scope[i]) == DW_TAG_subprogram) {
            *function = scope[i];
            is_found = true;
        }
    free(scope);
    return is_found;
}

struct line line_of(uintptr_t function)
{
    struct line line = {0};
    Dwarf_Addr address;
    Dwarf *dwarf = dwarf_at(function, &address);
    Dwarf_Die die;
    const char *file;
    int number;

    if (dwarf == NULL || !find_function(dwarf, address, &die))
        return line;
    file = dwarf_decl_file(&die);
    if (file == NULL || dwarf_decl_line(&die, &number) != 0 || number < 0)
        return line;
    line.file = must_copy(file);
    line.number = (uint32_t)number;
    return line;
}

struct line line_of_call(uintptr_t return_address)
{
    const char *path;
    Dwarf_Addr address;
    Dwarf *dwarf = dwarf_at(return_address - 1, &address);
    Dwarf_Die unit;
    Dwarf_Line *at;
    int number;

    if (dwarf == NULL || !find_unit(dwarf, address, &unit) ||
        (at = dwarf_getsrc_die(&unit, address)) == NULL || dwarf_lineno(at, &number) != 0 ||
        number <= 0 || (path = dwarf_linesrc(at, NULL, NULL)) == NULL)
        return (struct line){0};
    return (struct line){must_copy(path), (uint32_t)number};
}

char *line_name(uintptr_t return_address)
{
    struct line line = line_of_call(return_address);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    char text[320];

    if (line.file == NULL)
        return NULL;
    snprintf(text, sizeof text, "%.255s:%u", slash ? slash + 1 : line.file, line.number);
    free(line.file);
    return must_copy(text);
}
