/* Build ids are in memory: notes of type NT_GNU_BUILD_ID, of name "GNU". */
#include "loaded.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Of the program, for which the linker has no name. */
#define PROGRAM "/proc/self/exe"

static size_t padded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* In the notes of n bytes. */
static bool find_id(const char *note, size_t n, char id[BUILD_ID_TEXT])
{
    static const char digit[] = "0123456789abcdef";

    while (n >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *head = (const void *)note;
        size_t name = sizeof *head, bytes = name + padded(head->n_namesz),
               end = bytes + padded(head->n_descsz);

        if (end > n)
            return false;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
            memcmp(note + name, "GNU", 4) == 0 && head->n_descsz <= MAX_BUILD_ID_BYTES) {
            for (size_t i = 0; i < head->n_descsz; i++) {
                id[2 * i] = digit[(unsigned char)note[bytes + i] >> 4];
                id[2 * i + 1] = digit[(unsigned char)note[bytes + i] & 15];
            }
            id[2 * head->n_descsz] = '\0';
            return head->n_descsz > 0;
        }
        note += end;
        n -= end;
    }
    return false;
}

static void fill(struct loaded *l, const struct dl_phdr_info *info)
{
    bool is_program = info->dlpi_name == NULL || *info->dlpi_name == '\0';
    const char *slash;

    l->to = info->dlpi_addr;
    l->path = is_program ? PROGRAM : info->dlpi_name;
    l->name = is_program ? program_invocation_name : info->dlpi_name;
    slash = strrchr(l->name, '/');
    l->name = slash ? slash + 1 : l->name;
    l->build_id[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_NOTE && find_id((const char *)(info->dlpi_addr + part->p_vaddr),
                                               part->p_memsz, l->build_id))
            return;
    }
}

struct loaded_search {
    uintptr_t code;
    struct loaded *loaded;
};

static int look_in(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    struct loaded_search *s = ctx;

    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD &&
            s->code - (info->dlpi_addr + part->p_vaddr) < part->p_memsz) {
            fill(s->loaded, info);
            return 1;
        }
    }
    return 0;
}

bool loaded_at(uintptr_t code, struct loaded *loaded)
{
    struct loaded_search search = {code, loaded};

    return dl_iterate_phdr(look_in, &search) != 0;
}

/* What is read of /proc/self/maps, character by character. */
struct maps_reader {
    uintptr_t bound[2], address;
    int which; /* 0: the first number of a line, 1: the second, 2: what is behind it */
    bool is_found;
};

static void read_digit(struct maps_reader *m, char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = m->which < 2 ? memchr(digits, c, 16) : NULL;

    if (c == '\n') {
        m->which = 0;
        m->bound[0] = m->bound[1] = 0;
    } else if (digit) {
        m->bound[m->which] = m->bound[m->which] * 16 + (uintptr_t)(digit - digits);
    } else if (m->which < 2 && m->which++ == 1) {
        m->is_found = m->address >= m->bound[0] && m->address < m->bound[1];
    }
}

void loaded_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    struct maps_reader m = {.address = address};
    char text[512];
    ssize_t n = 0;

    *low = *high = 1;
    while (fd >= 0 && !m.is_found && (n = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n && !m.is_found; i++)
            read_digit(&m, text[i]);
    if (fd >= 0)
        close(fd);
    if (m.is_found) {
        *low = m.bound[0];
        *high = m.bound[1];
    }
}

void loaded_stack(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attributes;
    size_t bytes;
    void *lowest;

    *low = *high = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        *low = (uintptr_t)lowest;
        *high = (uintptr_t)lowest + bytes;
    }
    pthread_attr_destroy(&attributes);
}

struct visit {
    void (*fn)(void *ctx, const struct loaded *loaded);
    void *ctx;
    bool has_begun;
};

/* What has no name, and is not the first, is the kernel's own. */
static int visit_one(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    struct visit *v = ctx;
    struct loaded loaded;

    (void)bytes;
    if (!v->has_begun || (info->dlpi_name && *info->dlpi_name)) {
        fill(&loaded, info);
        v->fn(v->ctx, &loaded);
    }
    v->has_begun = true;
    return 0;
}

void loaded_each(void (*fn)(void *ctx, const struct loaded *loaded), void *ctx)
{
    dl_iterate_phdr(visit_one, &(struct visit){fn, ctx, false});
}
