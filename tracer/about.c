#include "about.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MPI_VERSION_BYTES 8192 /* as long as any library's; MPICH's, then Open MPI's 256 */

/* The n bytes of text as one line: ends of words and of lines become blanks. */
static void one_line(char *text, size_t n)
{
    while (n > 0 && (text[n - 1] == '\0' || text[n - 1] == '\n'))
        n--;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    text[n] = '\0';
}

static size_t command_line(char text[MAX_ABOUT_BYTES])
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, MAX_ABOUT_BYTES - 1);

    if (file >= 0)
        close(file);
    one_line(text, n > 0 ? (size_t)n : 0);
    return strlen(text);
}

/* The first text of the section .comment, which GCC, Clang and others leave there. */
static size_t comment_of(const char *file, size_t n, char text[MAX_ABOUT_BYTES])
{
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) * section;
    size_t names;

    if (n < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof *section || head->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
        head->e_shoff > n || head->e_shnum > (n - head->e_shoff) / sizeof *section ||
        head->e_shstrndx >= head->e_shnum)
        return 0;
    section = (const void *)(file + head->e_shoff);
    names = section[head->e_shstrndx].sh_offset;
    for (size_t i = 0; i < head->e_shnum; i++) {
        size_t name = names + section[i].sh_name, at = section[i].sh_offset, bytes;

        if (name > n || n - name < sizeof ".comment" ||
            memcmp(file + name, ".comment", sizeof ".comment") != 0 || at >= n)
            continue;
        bytes = section[i].sh_size < n - at ? section[i].sh_size : n - at;
        bytes = strnlen(file + at, bytes < MAX_ABOUT_BYTES ? bytes : MAX_ABOUT_BYTES - 1);
        memcpy(text, file + at, bytes);
        one_line(text, bytes);
        return bytes;
    }
    return 0;
}

static size_t compiler(char text[MAX_ABOUT_BYTES])
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    struct stat stat;
    size_t n = 0;

    if (file < 0)
        return 0;
    if (fstat(file, &stat) == 0 && stat.st_size > 0)
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
        n = comment_of(bytes, (size_t)stat.st_size, text);
        munmap(bytes, (size_t)stat.st_size);
    }
    close(file);
    return n;
}

/* Up to the first comma or end of line: the rest says how the library was built. */
static size_t mpi_library(char text[MAX_ABOUT_BYTES])
{
    static char version[MPI_VERSION_BYTES];
    int (*ask)(char *, int *) =
        (int (*)(char *, int *))(uintptr_t)dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    int length = 0;
    size_t n;

    if (ask == NULL || ask(version, &length) != 0 || length <= 0)
        return 0;
    n = strcspn(version, ",\n");
    n = n < MAX_ABOUT_BYTES ? n : MAX_ABOUT_BYTES - 1;
    memcpy(text, version, n);
    one_line(text, n);
    return n;
}

/* What was said of this run, or the job of the batch system that it is part of. */
static const char *run_id(void)
{
    static const char *const known[] = {"SNAG_TRACER_RUN_ID", "SLURM_JOB_ID", "PBS_JOBID",
                                        "LSB_JOBID"};
    const char *id = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known && !(id && *id); i++)
        id = getenv(known[i]);
    return id;
}

void about_each(void (*fn)(void *ctx, const char *key, const char *value), void *ctx)
{
    const char *threads = getenv("OMP_NUM_THREADS"), *run = run_id();
    char text[MAX_ABOUT_BYTES];

    if (command_line(text) > 0)
        fn(ctx, "Command Line", text);
    if (compiler(text) > 0)
        fn(ctx, "Compiler", text);
    if (mpi_library(text) > 0)
        fn(ctx, "MPI Library", text);
    if (threads && *threads)
        fn(ctx, "OMP_NUM_THREADS", threads);
    if (run && *run)
        fn(ctx, "run_id", run);
}
