/*
 * Small pieces are cut from slabs, large ones are mappings of their own; the list of both says
 * what is ours.
 *
 * Functions are exchanged in the tables by which the two libraries call others. Those tables
 * are of the whole process, so a program that uses libdw itself goes through here, too: what it
 * allocates is of its own malloc, as ever, and what is freed goes back to where it came from.
 */
#include "debug_memory.h"

#include "debug_library.h"
#include "slabs.h"
#include "trace/tracer/debug_info.h"

#include <assert.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_RANGES 4096

/* ----------------------------------------------------------------------------------- memory */

struct memory_range {
    char *at;
    size_t bytes;
};

static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct memory_range range[MAX_RANGES];
static size_t n_ranges;

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        sched_yield();
}

static void leave(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* Of these functions: with the lock held. */
static void *map(size_t bytes)
{
    void *at = MAP_FAILED;

    if (n_ranges < MAX_RANGES)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    range[n_ranges++] = (struct memory_range){at, bytes};
    return at;
}

static struct memory_range *range_of(const void *at)
{
    for (size_t i = 0; i < n_ranges; i++)
        if ((uintptr_t)at - (uintptr_t)range[i].at < range[i].bytes)
            return &range[i];
    return NULL;
}

static struct slabs slabs = {.map = map};

static void *take(size_t bytes)
{
    struct piece *p;

    if (__builtin_add_overflow(bytes, sizeof *p, &bytes))
        return NULL;
    enter();
    if (bytes > SLABS_MAX_BYTES) {
        p = map(bytes);
    } else {
        unsigned shift = slabs_shift(bytes);

        bytes = (size_t)1 << shift;
        p = slabs_take(&slabs, shift);
    }
    leave();
    if (p == NULL)
        return NULL;
    p->bytes = bytes;
    return p + 1;
}

/* False if it is not ours. */
static bool give_back(void *memory)
{
    struct piece *p = (struct piece *)memory - 1;
    struct memory_range *of;

    enter();
    of = range_of(memory);
    if (of && p->bytes > SLABS_MAX_BYTES) {
        munmap(of->at, of->bytes);
        *of = range[--n_ranges];
    } else if (of) {
        slabs_give_back(&slabs, p);
    }
    leave();
    return of != NULL;
}

static bool is_ours(const void *memory)
{
    bool is;

    enter();
    is = range_of(memory) != NULL;
    leave();
    return is;
}

/* ------------------------------------------------------------------- in place of the others */

static void *allocate(size_t bytes)
{
    void *at;

    if (!debug_is_asked())
        return malloc(bytes);
    at = take(bytes);
    if (at == NULL)
        debug_give_up();
    return at;
}

static void *allocate_zeroed(size_t n, size_t width)
{
    size_t bytes;
    void *at;

    if (!debug_is_asked() || __builtin_mul_overflow(n, width, &bytes))
        return calloc(n, width);
    at = allocate(bytes);
    return at ? memset(at, 0, bytes) : NULL;
}

static void *resize(void *old, size_t bytes)
{
    size_t before;
    void *at;

    if (old ? !is_ours(old) : !debug_is_asked())
        return realloc(old, bytes);
    before = old ? ((struct piece *)old - 1)->bytes - sizeof(struct piece) : 0;
    if (old && bytes <= before)
        return old;
    at = allocate(bytes);
    if (at && old) {
        memcpy(at, old, before);
        give_back(old);
    }
    return at;
}

static void *resize_array(void *old, size_t n, size_t width)
{
    size_t bytes;

    return __builtin_mul_overflow(n, width, &bytes) ? reallocarray(old, n, width)
                                                    : resize(old, bytes);
}

static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *at = allocate(bytes);

    return at ? memcpy(at, text, bytes) : NULL;
}

void debug_memory_free(void *memory)
{
    if (memory && !give_back(memory))
        free(memory);
}

/* Where it should look whether it got memory. */
static void assertion_failed(const char *what, const char *file, unsigned line,
                             const char *function)
{
    debug_give_up();
    __assert_fail(what, file, line, function);
}

static void give_up(void)
{
    debug_give_up();
    abort();
}

/* ------------------------------------------------------------------------------- the tables */

static const struct {
    const char *name;
    void (*function)(void);
} replaced[] = {
    {"malloc", (void (*)(void))allocate},
    {"calloc", (void (*)(void))allocate_zeroed},
    {"realloc", (void (*)(void))resize},
    {"reallocarray", (void (*)(void))resize_array},
    {"strdup", (void (*)(void))copy},
    {"free", (void (*)(void))debug_memory_free},
    {"__assert_fail", (void (*)(void))assertion_failed},
    {"abort", (void (*)(void))give_up},
};

/* What a library says of itself. */
struct library {
    uintptr_t to; /* by how much its addresses were moved */
    const ElfW(Sym) * symbol;
    const char *text;
    const ElfW(Rela) * table[2]; /* of calls, and of other addresses */
    size_t bytes[2];
    uintptr_t fixed_begin, fixed_end; /* is read only once it is loaded */
};

/* The linker has moved these addresses, or not. */
static const void *moved(const struct library *l, uintptr_t address)
{
    return (const void *)(address < l->to ? l->to + address : address);
}

static void read_dynamic(struct library *l, const ElfW(Dyn) * at)
{
    for (; at->d_tag != DT_NULL; at++)
        switch (at->d_tag) {
        case DT_SYMTAB:
            l->symbol = moved(l, at->d_un.d_ptr);
            break;
        case DT_STRTAB:
            l->text = moved(l, at->d_un.d_ptr);
            break;
        case DT_JMPREL:
            l->table[0] = moved(l, at->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            l->bytes[0] = at->d_un.d_val;
            break;
        case DT_RELA:
            l->table[1] = moved(l, at->d_un.d_ptr);
            break;
        case DT_RELASZ:
            l->bytes[1] = at->d_un.d_val;
            break;
        }
}

static bool exchange(const struct library *l, uintptr_t address, void (*function)(void))
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = address & ~(page - 1);
    bool is_fixed = address >= l->fixed_begin && address < l->fixed_end;

    if (is_fixed && mprotect((void *)first, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    atomic_store((_Atomic uintptr_t *)address, (uintptr_t)function);
    if (is_fixed)
        mprotect((void *)first, page, PROT_READ);
    return true;
}

static bool exchange_all(const struct library *l)
{
    bool is_good = l->symbol && l->text;

    for (int k = 0; k < 2 && is_good; k++)
        for (size_t i = 0; l->table[k] && i < l->bytes[k] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *r = &l->table[k][i];
            uint64_t type = ELF64_R_TYPE(r->r_info);
            const char *name = l->text + l->symbol[ELF64_R_SYM(r->r_info)].st_name;

            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
                continue;
            for (size_t n = 0; n < sizeof replaced / sizeof *replaced; n++)
                if (strcmp(name, replaced[n].name) == 0)
                    is_good &= exchange(l, l->to + r->r_offset, replaced[n].function);
        }
    return is_good;
}

struct library_search {
    uintptr_t code;
    bool is_done;
};

static int look_in(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    struct library l = {.to = info->dlpi_addr};
    struct library_search *s = ctx;
    bool is_meant = false;

    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = l.to + part->p_vaddr;

        if (part->p_type == PT_LOAD)
            is_meant |= s->code - begin < part->p_memsz;
        if (part->p_type == PT_DYNAMIC)
            read_dynamic(&l, (const void *)begin);
        if (part->p_type == PT_GNU_RELRO) {
            l.fixed_begin = begin;
            l.fixed_end = begin + part->p_memsz;
        }
    }
    if (!is_meant)
        return 0;
    s->is_done = exchange_all(&l);
    return 1;
}

static bool exchange_in(uintptr_t code)
{
    struct library_search s = {.code = code};

    dl_iterate_phdr(look_in, &s);
    return s.is_done;
}

bool debug_prepare(void)
{
    static atomic_int is_done; /* -1: it cannot be */
    uintptr_t of_libdw, of_libelf;

    if (atomic_load(&is_done) == 0)
        atomic_store(&is_done, debug_library_code(&of_libdw, &of_libelf) &&
                                       exchange_in(of_libdw) && exchange_in(of_libelf)
                                   ? 1
                                   : -1);
    return atomic_load(&is_done) > 0;
}
