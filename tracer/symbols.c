/*
 * A file's symbol table is read once, when the first name is looked for in it: the file is
 * mapped, and an index of its functions sorted by address is made. Everything the file says is
 * checked against its size. What is left in a stripped file are the names that the dynamic
 * linker needs: there what is behind a function is of another one, whose name is not known.
 */
#include "symbols.h"

#include "loaded.h"
#include "memory.h"

#include "base/order.h"
#include "base/search.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbol {
    uintptr_t value; /* address less what the object was moved by */
    uint64_t bytes;
    bool is_global;
    const char *name;
};

struct symbol_file {
    struct symbol_file *next;
    uintptr_t loaded_to;
    char *path;
    const unsigned char *file; /* NULL if it could not be read */
    size_t bytes;
    struct symbol *symbol; /* [n], by value */
    size_t n;
    bool is_stripped;
};

static struct symbol_file *objects;

static bool is_after(const struct symbol *a, const struct symbol *b)
{
    return (ORDER(a->value, b->value) ?:
            ORDER(b->is_global, a->is_global) ?:
            strcmp(a->name, b->name)) > 0;
}

/* A heap, as qsort takes memory of the program's malloc. */
static void sort(struct symbol *symbol, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        HEAP_SINK(symbol, i, n, is_after);
    for (size_t i = n; i-- > 1;) {
        struct symbol last = symbol[i];

        symbol[i] = symbol[0];
        symbol[0] = last;
        HEAP_SINK(symbol, 0, i, is_after);
    }
}

static bool has_room(const struct symbol_file *o, uint64_t offset, uint64_t bytes)
{
    return offset <= o->bytes && bytes <= o->bytes - offset;
}

/* The functions of one symbol table section. */
static void add_table(struct symbol_file *o, const ElfW(Shdr) * table,
                      const ElfW(Shdr) * strings)
{
    const ElfW(Sym) *from = (const void *)(o->file + table->sh_offset);
    const char *text = (const char *)o->file + strings->sh_offset;
    size_t n = table->sh_size / sizeof *from;

    if (!has_room(o, table->sh_offset, table->sh_size) ||
        !has_room(o, strings->sh_offset, strings->sh_size) || strings->sh_size == 0 ||
        text[strings->sh_size - 1] != '\0' || table->sh_offset % _Alignof(ElfW(Sym)) != 0)
        return;
    o->symbol = memory_resize(NULL, n, sizeof *o->symbol);
    for (size_t i = 0; o->symbol && i < n; i++) {
        unsigned type = ELF64_ST_TYPE(from[i].st_info);

        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || from[i].st_shndx == SHN_UNDEF ||
            from[i].st_name >= strings->sh_size || text[from[i].st_name] == '\0')
            continue;
        o->symbol[o->n++] = (struct symbol){
            .value = from[i].st_value,
            .bytes = from[i].st_size,
            .is_global = ELF64_ST_BIND(from[i].st_info) != STB_LOCAL,
            .name = text + from[i].st_name,
        };
    }
    sort(o->symbol, o->n);
}

static void read_symbols(struct symbol_file *o)
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
    for (int k = 0; k < 2 && o->n == 0; k++) {
        o->is_stripped = k == 1;
        for (size_t i = 0; i < header->e_shnum && o->n == 0; i++)
            if (section[i].sh_type == (o->is_stripped ? SHT_DYNSYM : SHT_SYMTAB) &&
                section[i].sh_link < header->e_shnum)
                add_table(o, &section[i], &section[section[i].sh_link]);
    }
}

static void map_file(struct symbol_file *o, const char *path)
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

/* The object that was loaded; its file is read when it is met for the first time. */
static const struct symbol_file *object_of(const struct loaded *loaded)
{
    struct symbol_file *o;

    for (o = objects; o; o = o->next)
        if (o->loaded_to == loaded->to && strcmp(o->path, loaded->path) == 0)
            return o;
    o = memory_resize(NULL, 1, sizeof *o);
    *o = (struct symbol_file){
        .next = objects, .loaded_to = loaded->to, .path = memory_copy(loaded->path)};
    objects = o;
    map_file(o, o->path);
    return o;
}

/* The first symbol that is not before a value. */
static size_t lower_bound(const struct symbol_file *o, uintptr_t value)
{
    return FIRST_NOT(i, 0, o->n, o->symbol[i].value < value);
}

static const char *find(const struct symbol_file *o, uintptr_t value)
{
    size_t at = lower_bound(o, value);

    return at < o->n && o->symbol[at].value == value ? o->symbol[at].name : NULL;
}

uintptr_t symbol_whole(uintptr_t address)
{
    struct loaded in;
    const struct symbol_file *o = loaded_at(address, &in) ? object_of(&in) : NULL;
    const char *name = o ? find(o, address - in.to) : NULL;
    const char *cold = name ? strstr(name, ".cold") : NULL;

    for (size_t i = 0; cold && i < o->n; i++)
        if (strncmp(o->symbol[i].name, name, (size_t)(cold - name)) == 0 &&
            o->symbol[i].name[cold - name] == '\0')
            return in.to + o->symbol[i].value;
    return address;
}

/* An address without a name; NULL: it is in no file. */
static char *in_file(uintptr_t address, const struct loaded *in)
{
    char text[320];

    if (in == NULL)
        snprintf(text, sizeof text, "0x%lx", (unsigned long)address);
    else
        snprintf(text, sizeof text, "%.255s+0x%lx", in->name,
                 (unsigned long)(address - in->to));
    return memory_copy(text);
}

char *symbol_name(uintptr_t address)
{
    struct loaded in;
    const char *name;

    if (!loaded_at(address, &in))
        return in_file(address, NULL);
    name = find(object_of(&in), address - in.to);
    return name ? memory_copy(name) : in_file(address, &in);
}

char *symbol_place(uintptr_t address)
{
    char text[320];
    struct loaded in;
    const struct symbol_file *o = loaded_at(address, &in) ? object_of(&in) : NULL;
    size_t at = o ? lower_bound(o, address - in.to) : 0;
    const struct symbol *before = at > 0 ? &o->symbol[at - 1] : NULL;

    if (before == NULL || (o->is_stripped && address - in.to - before->value >= before->bytes))
        return in_file(address, o ? &in : NULL);
    snprintf(text, sizeof text, "%.255s+0x%lx", before->name,
             (unsigned long)(address - in.to - before->value));
    return memory_copy(text);
}
