/* The dynamic linker has them in memory: notes of type NT_GNU_BUILD_ID, of name "GNU". */
#include "builds.h"

#include "complain.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct build *builds;
static size_t n_builds;

static size_t padded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* In the notes of n bytes. */
static bool find(const char *note, size_t n, char id[BUILD_ID_TEXT])
{
    while (n >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *head = (const void *)note;
        size_t name = sizeof *head, bytes = name + padded(head->n_namesz),
               end = bytes + padded(head->n_descsz);

        if (end > n)
            return false;
        if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
            memcmp(note + name, "GNU", 4) == 0 && head->n_descsz <= BUILD_ID_MOST) {
            for (size_t i = 0; i < head->n_descsz; i++)
                snprintf(id + 2 * i, 3, "%02x", (unsigned char)note[bytes + i]);
            return head->n_descsz > 0;
        }
        note += end;
        n -= end;
    }
    return false;
}

static bool id_of(const struct dl_phdr_info *info, char id[BUILD_ID_TEXT])
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_NOTE &&
            find((const char *)(info->dlpi_addr + part->p_vaddr), part->p_memsz, id))
            return true;
    }
    return false;
}

struct wanted {
    uintptr_t loaded_to;
    char *id;
    bool is_found;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    struct wanted *w = ctx;

    (void)bytes;
    if (info->dlpi_addr != w->loaded_to)
        return 0;
    w->is_found = id_of(info, w->id);
    return 1;
}

bool build_id_at(uintptr_t loaded_to, char id[BUILD_ID_TEXT])
{
    struct wanted w = {.loaded_to = loaded_to, .id = id};

    dl_iterate_phdr(look, &w);
    return w.is_found;
}

static void keep(const char *path, const char *id)
{
    for (size_t i = 0; i < n_builds; i++)
        if (strcmp(builds[i].path, path) == 0)
            return;
    builds = must_resize(builds, n_builds + 1, sizeof *builds);
    builds[n_builds++] = (struct build){must_copy(path), must_copy(id)};
}

static int look_at(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
    char id[BUILD_ID_TEXT], path[PATH_MAX];
    bool *is_first = ctx;
    const char *name = info->dlpi_name;
    ssize_t n = 0;

    (void)bytes;
    if (*is_first) { /* the program, which the dynamic linker has no name for */
        n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        name = path;
    }
    *is_first = false;
    if (name && name[0] != '\0' && id_of(info, id))
        keep(name, id);
    return 0;
}

void builds_remember(void)
{
    bool is_first = true;

    dl_iterate_phdr(look_at, &is_first);
}

const struct build *builds_known(size_t *n)
{
    *n = n_builds;
    return builds;
}
