/*
 * A file's symbol table is read once, when the first name is looked for in it: the file is
 * mapped, and an index of its functions sorted by address is made. Everything the file says is
 * checked against its size.
 */
#include "symbols.h"

#include "complain.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol {
    uintptr_t value; /* address less what the object was moved by */
    bool is_global;
    const char *name;
};

struct object {
    struct object *next;
    const struct link_map *map;
    const unsigned char *file; /* NULL if it could not be read */
    size_t bytes;
    struct symbol *symbol; /* [n], by value */
    size_t n;
};

static struct object *objects;

static int by_value(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->is_global != b->is_global)
        return a->is_global ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool has_room(const struct object *o, uint64_t offset, uint64_t bytes)
{
    return offset <= o->bytes && bytes <= o->bytes - offset;
}

/* The functions of one symbol table section. */
static void add_table(struct object *o, const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
    const ElfW(Sym) *from = (const void *)(o->file + table->sh_offset);
    const char *text = (const char *)o->file + strings->sh_offset;
    size_t n = table->sh_size / sizeof *from;

    if (!has_room(o, table->sh_offset, table->sh_size) ||
        !has_room(o, strings->sh_offset, strings->sh_size) || strings->sh_size == 0 ||
        text[strings->sh_size - 1] != '\0' || table->sh_offset % _Alignof(ElfW(Sym)) != 0)
        return;
    o->symbol = must_resize(NULL, n, sizeof *o->symbol);
    for (size_t i = 0; i < n; i++) {
        unsigned type = ELF64_ST_TYPE(from[i].st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || from[i].st_shndx == SHN_UNDEF ||
            from[i].st_name >= strings->sh_size || text[from[i].st_name] == '\0')
            continue;
        o->symbol[o->n++] = (struct symbol){
            .value = from[i].st_value,
            .is_global = ELF64_ST_BIND(from[i].st_info) != STB_LOCAL,
            .name = text + from[i].st_name,
        };
    }
    qsort(o->symbol, o->n, sizeof *o->symbol, by_value);
}

static void read_symbols(struct object *o)
{
    const ElfW(Ehdr) *header = (const void *)o->file;
    const ElfW(Shdr) * section;

    if (o->bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_shentsize != sizeof *section ||
        !has_room(o, header->e_shoff, (uint64_t)header->e_shnum * sizeof *section) ||
        header->e_shoff % _Alignof(ElfW(Shdr)) != 0)
        return;
    section = (const void *)(o->file + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB && section[i].sh_link < header->e_shnum) {
            add_table(o, &section[i], &section[section[i].sh_link]);
            return;
        }
}

static void map_file(struct object *o, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    void *data = MAP_FAILED;

    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && info.st_size > 0)
        data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data == MAP_FAILED)
        return;
    o->file = data;
    o->bytes = (size_t)info.st_size;
    read_symbols(o);
}

/* The object with this link map; its file is read when it is met for the first time. */
static const struct object *object_of(const struct link_map *map)
{
    struct object *o;

    for (o = objects; o; o = o->next)
        if (o->map == map)
            return o;
    o = must_resize(NULL, 1, sizeof *o);
    *o = (struct object){.next = objects, .map = map};
    objects = o;
    map_file(o, map->l_name && map->l_name[0] ? map->l_name : "/proc/self/exe");
    return o;
}

/* The first symbol that is not before a value. */
static size_t lower_bound(const struct object *o, uintptr_t value)
{
    size_t low = 0, high = o->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (o->symbol[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *find(const struct object *o, uintptr_t value)
{
    size_t at = lower_bound(o, value);

    return at < o->n && o->symbol[at].value == value ? o->symbol[at].name : NULL;
}

static struct link_map *map_of(uintptr_t address, Dl_info *info)
{
    struct link_map *map = NULL;

    return dladdr1((void *)address, info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

uintptr_t symbol_whole(uintptr_t address)
{
    Dl_info info;
    const struct link_map *map = map_of(address, &info);
    const struct object *o = map ? object_of(map) : NULL;
    const char *name = o ? find(o, address - map->l_addr) : NULL;
    const char *cold = name ? strstr(name, ".cold") : NULL;

    for (size_t i = 0; cold && i < o->n; i++)
        if (strncmp(o->symbol[i].name, name, (size_t)(cold - name)) == 0 &&
            o->symbol[i].name[cold - name] == '\0')
            return map->l_addr + o->symbol[i].value;
    return address;
}

/* An address without a name. */
static char *in_file(uintptr_t address, const struct link_map *map, const Dl_info *info)
{
    const char *slash = map ? strrchr(info->dli_fname, '/') : NULL;
    char text[320];

    if (map == NULL)
        snprintf(text, sizeof text, "0x%lx", (unsigned long)address);
    else
        snprintf(text, sizeof text, "%.255s+0x%lx", slash ? slash + 1 : info->dli_fname,
                 (unsigned long)(address - map->l_addr));
    return must_copy(text);
}

char *symbol_name(uintptr_t address)
{
    Dl_info info;
    const struct link_map *map = map_of(address, &info);
    const char *name;

    if (map == NULL)
        return in_file(address, NULL, NULL);
    if (info.dli_sname && (uintptr_t)info.dli_saddr == address)
        return must_copy(info.dli_sname);
    name = find(object_of(map), address - map->l_addr);
    if (name)
        return must_copy(name);
    return in_file(address, map, &info);
}

/* The symbol table knows more than the dynamic linker, if the file has one. */
char *symbol_place(uintptr_t address)
{
    char text[320];
    Dl_info info;
    const struct link_map *map = map_of(address, &info);
    const struct object *o = map ? object_of(map) : NULL;
    size_t at = o ? lower_bound(o, address - map->l_addr) : 0;
    const char *name = at > 0 ? o->symbol[at - 1].name : map ? info.dli_sname : NULL;
    uintptr_t begin = at > 0 ? map->l_addr + o->symbol[at - 1].value
                      : map  ? (uintptr_t)info.dli_saddr
                             : 0;

    if (name == NULL)
        return in_file(address, map, &info);
    snprintf(text, sizeof text, "%.255s+0x%lx", name, (unsigned long)(address - begin));
    return must_copy(text);
}
