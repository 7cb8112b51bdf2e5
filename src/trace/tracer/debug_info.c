/*
 * The debug information of a file is opened when it is asked for first. Where the compiler
 * wrote no list of address ranges, all units are gone through. The functions of a unit are
 * listed when the first one is asked for: those of a Fortran module, or in another function,
 * are found nowhere else.
 *
 * When libdw has no memory it calls a handler that must not return: it goes back to the last
 * debug_safely, and what it leaves behind is not touched again.
 */
#include "trace/tracer/debug_info.h"

#include "base/order.h"
#include "base/search.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NESTED 16 /* namespaces, modules, functions */

struct debug_functions {
    struct debug_functions *next;
    const void *unit;                /* where its entry is */
    struct debug_function *function; /* [n] by address */
    size_t n, cap;
};

struct debug_file {
    struct debug_file *next;
    char *path, *build_id;
    Dwarf *dwarf; /* NULL if there is none */
    struct debug_functions *units;
};

static struct debug_file *files;

/* ----------------------------------------------------------------------------------- safely */

static _Thread_local jmp_buf *way_out;
static atomic_bool is_out_of_memory;

void debug_give_up(void)
{
    if (way_out == NULL)
        return;
    atomic_store(&is_out_of_memory, true);
    longjmp(*way_out, 1);
}

bool debug_is_asked(void)
{
    return way_out != NULL;
}

static void __attribute__((noreturn)) no_memory(void)
{
    debug_give_up();
    abort();
}

bool debug_safely(void (*fn)(void *ctx), void *ctx)
{
    jmp_buf *volatile before = way_out;
    jmp_buf own;

    if (atomic_load(&is_out_of_memory) || !debug_prepare())
        return false;
    if (_setjmp(own) == 0) {
        way_out = &own;
        fn(ctx);
    }
    way_out = before;
    return !atomic_load(&is_out_of_memory);
}

/* ------------------------------------------------------------------------------------ files */

static bool is_of_build(Elf *elf, const char *build_id)
{
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
    char text[3];

    for (ssize_t i = 0; i < n; i++, build_id += 2) {
        snprintf(text, sizeof text, "%02x", ((const unsigned char *)id)[i]);
        if (strncmp(text, build_id, 2) != 0)
            return false;
    }
    return *build_id == '\0';
}

/* libelf would read what it has not mapped by the number of a descriptor, which may be that of
 * another file by then. */
Elf *debug_elf(const char *path, const char *build_id)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    void *at = MAP_FAILED;
    Elf *elf;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
        at = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return NULL;
    elf_version(EV_CURRENT);
    elf = elf_memory(at, (size_t)info.st_size);
    if (elf && is_of_build(elf, build_id))
        return elf;
    elf_end(elf);
    munmap(at, (size_t)info.st_size);
    return NULL;
}

static Dwarf *open_dwarf(const char *path, const char *build_id)
{
    Elf *elf = debug_elf(path, build_id);
    Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

    if (dwarf)
        dwarf_new_oom_handler(dwarf, no_memory);
    return dwarf;
}

/* Where debug information was put that was taken out of the file with this build id. */
static Dwarf *open_apart(const char *build_id)
{
    char path[320];

    if (strlen(build_id) < 3)
        return NULL;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%.255s.debug", build_id,
             build_id + 2);
    return open_dwarf(path, build_id);
}

static struct debug_file *new_file(const char *path, const char *build_id)
{
    struct debug_file *f = calloc(1, sizeof *f);

    if (f) {
        f->path = strdup(path);
        f->build_id = strdup(build_id);
    }
    if (f && f->path && f->build_id)
        return f;
    if (f) {
        free(f->path);
        free(f->build_id);
    }
    free(f);
    return NULL;
}

struct debug_file *debug_file(const char *path, const char *build_id)
{
    struct debug_file *f;

    for (f = files; f; f = f->next)
        if (strcmp(f->path, path) == 0 && strcmp(f->build_id, build_id) == 0)
            return f->dwarf ? f : NULL;
    f = new_file(path, build_id);
    if (f == NULL)
        return NULL;
    f->next = files;
    files = f;
    f->dwarf = open_dwarf(path, build_id);
    if (f->dwarf == NULL)
        f->dwarf = open_apart(build_id);
    return f->dwarf ? f : NULL;
}

/* ------------------------------------------------------------------------------------ units */

bool debug_unit(struct debug_file *file, Dwarf_Addr address, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0, next;
    size_t header;

    if (dwarf_addrdie(file->dwarf, address, unit) != NULL)
        return true;
    for (; dwarf_nextcu(file->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0;
         offset = next)
        if (dwarf_offdie(file->dwarf, offset + header, unit) && dwarf_haspc(unit, address) == 1)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------- functions */

static void add_function(struct debug_functions *of, Dwarf_Die *die)
{
    Dwarf_Addr base, begin, end;

    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
        if (of->n == of->cap) {
            size_t cap = of->cap ? 2 * of->cap : 64;
            void *grown = reallocarray(of->function, cap, sizeof *of->function);

            if (grown == NULL)
                return;
            of->function = grown;
            of->cap = cap;
        }
        of->function[of->n++] = (struct debug_function){begin, end, *die, NULL};
    }
}

static void list_functions(struct debug_functions *of, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth == MAX_NESTED || dwarf_child(parent, &die) != 0)
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

    return ORDER(a->begin, b->begin);
}

/* NULL if there is no memory. */
static struct debug_functions *functions_of(struct debug_file *file, Dwarf_Die *unit)
{
    struct debug_functions *u;

    for (u = file->units; u; u = u->next)
        if (u->unit == unit->addr)
            return u;
    u = calloc(1, sizeof *u);
    if (u == NULL)
        return NULL;
    u->unit = unit->addr;
    list_functions(u, unit, 0);
    if (u->n > 0)
        qsort(u->function, u->n, sizeof *u->function, by_begin);
    u->next = file->units;
    file->units = u;
    return u;
}

struct debug_function *debug_function(struct debug_file *file, Dwarf_Addr address)
{
    struct debug_functions *u;
    Dwarf_Die unit;
    size_t n;

    if (!debug_unit(file, address, &unit))
        return NULL;
    u = functions_of(file, &unit);
    n = FIRST_NOT(i, 0, u ? u->n : 0, u->function[i].begin <= address);
    return n > 0 && address < u->function[n - 1].end ? &u->function[n - 1] : NULL;
}
