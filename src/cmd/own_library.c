/*
 * A library is looked for by where this program is: as installed, and as built. Where that is
 * /proc/self/exe does not say, if a loader was told to run it (dist/starter.c), but
 * /proc/self/maps does in any case.
 *
 * A program is asked for its libraries as ldd does: the loader prints them when
 * LD_TRACE_LOADED_OBJECTS is set, and ends. A program without a loader would run instead, so
 * its head is looked at first. What the loader would run with other rights it says all the
 * same.
 */
#include "cmd/own_library.h"

#include "base/err.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The directory of the file that this code was loaded from; "" if that cannot be found out. */
static void find_directory(char directory[FS_PATH_SIZE])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[FS_PATH_SIZE + 128];
    uintptr_t begin, end, here = (uintptr_t)find_directory;
    int n;

    directory[0] = '\0';
    while (maps && directory[0] == '\0' && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end, &n) ==
                2 &&
            here >= begin && here < end && line[n] == '/') {
            *strrchr(line + n, '/') = '\0';
            snprintf(directory, FS_PATH_SIZE, "%s", line + n);
        }
    if (maps)
        fclose(maps);
}

int own_library_find(const char *built, const char *file, char path[FS_PATH_SIZE])
{
    const char *places[] = {SNAG_BIN_TO_LIB, built};
    char program[FS_PATH_SIZE], found[FS_PATH_SIZE];

    find_directory(program);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(found, sizeof found, "%s/%s/%s", program, places[i], file) <
                (int)sizeof found &&
            realpath(found, path) != NULL)
            return 0;
    return ERR_NOT_FOUND;
}

/* ------------------------------------------------------------------------------- the tracer */

#define MAX_SEGMENTS 128

static const char *const kinds[] = {[TRACER_OPEN_MPI] = "openmpi",
                                    [TRACER_MPICH] = "mpich",
                                    [TRACER_MPICH_ABI] = "mpich-abi",
                                    [TRACER_MPICH_NAMED] = "mpich-named",
                                    [TRACER_SERIAL] = "serial"};
static const char *const files[] = {
    [TRACER_OPEN_MPI] = "libsnag-tracer.so." SNAG_VERSION_MAJOR,
    [TRACER_MPICH] = "libsnag-tracer-mpich.so." SNAG_VERSION_MAJOR,
    [TRACER_MPICH_ABI] = "libsnag-tracer-mpich-abi.so." SNAG_VERSION_MAJOR,
    [TRACER_MPICH_NAMED] = "libsnag-tracer-mpich-named.so." SNAG_VERSION_MAJOR,
    [TRACER_SERIAL] = "libsnag-tracer-serial.so." SNAG_VERSION_MAJOR,
};

enum tracer_kind tracer_kind_find(const char *name)
{
    for (enum tracer_kind k = 0; k < TRACER_KINDS; k++)
        if (strcmp(kinds[k], name) == 0)
            return k;
    return TRACER_KINDS;
}

/* ----------------------------------------------------------------------------- the program */

/* As execvp finds it. */
static bool find_program(const char *program, char path[FS_PATH_SIZE])
{
    const char *at = getenv("PATH");

    if (strchr(program, '/'))
        return snprintf(path, FS_PATH_SIZE, "%s", program) < FS_PATH_SIZE;
    for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int n = (int)strcspn(at, ":");

        if (snprintf(path, FS_PATH_SIZE, "%.*s/%s", n ? n : 1, n ? at : ".", program) <
                FS_PATH_SIZE &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

enum linkage { LINK_OTHER, LINK_STATIC, LINK_DYNAMIC, LINK_MUSL }; /* OTHER: a script, say */

static bool is_of_musl(const char *loader)
{
    const char *slash = strrchr(loader, '/');

    return strncmp(slash ? slash + 1 : loader, "ld-musl-", strlen("ld-musl-")) == 0;
}

static enum linkage linkage_of(const char *path)
{
    enum linkage found = LINK_OTHER;
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    char loader[FS_PATH_SIZE] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, &head, sizeof head) == sizeof head &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_phentsize == sizeof segment && head.e_phnum <= MAX_SEGMENTS) {
        found = LINK_STATIC;
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (pread(fd, &segment, sizeof segment,
                      (off_t)(head.e_phoff + i * sizeof segment)) == sizeof segment &&
                segment.p_type == PT_INTERP)
                found = pread(fd, loader, sizeof loader - 1, (off_t)segment.p_offset) > 0 &&
                                is_of_musl(loader)
                            ? LINK_MUSL
                            : LINK_DYNAMIC;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Cray's MPICH has a library for each compiler: libmpi_cray.so.12, libmpi_gnu_123.so.12; until its version 7 they were
 * libmpich_gnu_51.so.3. Open MPI's libmpi_cxx.so.40 is none of these. */
static bool is_of_a_compiler(const char *name)
{
    const char *number = strstr(name, ".so.");

    return strncmp(name, "libmpich_", 9) == 0 ||
           (strncmp(name, "libmpi_", 7) == 0 && number && atoi(number + strlen(".so.")) == 12);
}

/* Which MPI a library that the loader names is one of; TRACER_SERIAL for none. Open MPI has
 * libmpi.so.20 and up; MPICH, Intel's and others that have it inside libmpi.so.12, which
 * distributions call libmpich.so.12. */
static enum tracer_kind kind_of_library(const char *name)
{
    static const char number[] = "libmpi.so.";

    if (strncmp(name, "libopen-rte", 11) == 0 || strncmp(name, "libopen-pal", 11) == 0 ||
        strncmp(name, "libmpi_mpifh", 12) == 0 || strncmp(name, "libprrte", 8) == 0)
        return TRACER_OPEN_MPI;
    if (strncmp(name, number, strlen(number)) == 0)
        return atoi(name + strlen(number)) >= 20 ? TRACER_OPEN_MPI : TRACER_MPICH_ABI;
    if (is_of_a_compiler(name))
        return TRACER_MPICH_NAMED;
    if (strncmp(name, "libmpich", 8) == 0)
        return TRACER_MPICH;
    if (strncmp(name, "libmpifort.", 11) == 0)
        return TRACER_MPICH_ABI;
    return TRACER_SERIAL;
}

/* The loader's list, "NAME => PATH (ADDRESS)" a line. Where the library of MPI itself is: library, or "" if it is
 * not among them. */
static enum tracer_kind kind_of_list(int fd, char library[FS_PATH_SIZE])
{
    FILE *in = fdopen(fd, "r");
    char line[4096];
    enum tracer_kind found = TRACER_SERIAL;

    library[0] = '\0';
    while (in && fgets(line, sizeof line, in)) {
        char *name = line + strspn(line, " \t"), *path = strstr(name, " => /"), *end;
        enum tracer_kind one = kind_of_library(name);

        if (one < found) { /* an old Open MPI also has a library of MPICH's name */
            found = one;
            library[0] = '\0';
        }
        if (one != found || one == TRACER_SERIAL || path == NULL || library[0] ||
            (strncmp(name, "libmpi.so.", 10) != 0 && strncmp(name, "libmpich.so.", 12) != 0 &&
             !is_of_a_compiler(name)))
            continue;
        path += strlen(" => ");
        end = strstr(path, " (0x");
        if (end)
            snprintf(library, FS_PATH_SIZE, "%.*s", (int)(end - path), path);
    }
    if (in)
        fclose(in);
    return found;
}

/* Only the loader of glibc lists libraries instead of running the program: that of musl, or of the shell of a script,
 * may be another. */
static enum tracer_kind kind_of_program(const char *path, enum linkage linkage,
                                        char library[FS_PATH_SIZE])
{
    char *argv[] = {(char *)(uintptr_t)path, NULL};
    char *environment[] = {"LD_TRACE_LOADED_OBJECTS=1", NULL, NULL};
    char directories[FS_PATH_SIZE];
    posix_spawn_file_actions_t actions;
    int pipes[2];
    pid_t pid;
    enum tracer_kind found;

    if (getenv("LD_LIBRARY_PATH") &&
        snprintf(directories, sizeof directories, "LD_LIBRARY_PATH=%s",
                 getenv("LD_LIBRARY_PATH")) < (int)sizeof directories)
        environment[1] = directories;
    library[0] = '\0';
    if (linkage != LINK_DYNAMIC || pipe2(pipes, O_CLOEXEC) != 0)
        return TRACER_SERIAL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, path, &actions, NULL, argv, environment) != 0)
        pid = 0;
    close(pipes[1]);
    found = kind_of_list(pipes[0], library);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    return found;
}

/* The loader takes no library for who runs with other rights than the caller has. */
static bool has_other_rights(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 &&
           (((info.st_mode & S_ISUID) && info.st_uid != geteuid()) ||
            ((info.st_mode & S_ISGID) && info.st_gid != getegid()) ||
            (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0));
}

/* --------------------------------------------------------------------------- the launcher */

static bool is_launcher(const char *program)
{
    static const char *const launchers[] = {"mpirun",  "mpiexec", "mpiexec.hydra", "orterun",
                                            "prterun", "prun",    "srun",          "aprun",
                                            "jsrun",   "palsrun", "ibrun",         "flux"};
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strncmp(name, launchers[i], strlen(launchers[i])) == 0 &&
            strchr(".-", name[strlen(launchers[i])]) != NULL) /* mpirun, mpirun.openmpi */
            return true;
    return false;
}

/* Beside a launcher's bin directory is the library that it was built with. */
static bool has_abi_name(const char *launcher)
{
    static const char *const libraries[] = {"lib/libmpi.so.12", "lib64/libmpi.so.12",
                                            "lib/release/libmpi.so.12"};
    char path[PATH_MAX + 64];
    const char *slash = strrchr(launcher, '/');

    for (size_t i = 0; slash && i < sizeof libraries / sizeof *libraries; i++) {
        snprintf(path, sizeof path, "%.*s/../%s", (int)(slash - launcher), launcher,
                 libraries[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* A launcher that is called mpirun says by where it leads to whose it is, or by what it is
 * linked with. */
static enum tracer_kind kind_of_launcher(const char *path)
{
    char real[PATH_MAX], library[FS_PATH_SIZE];
    enum tracer_kind linked;

    if (realpath(path, real) == NULL)
        real[0] = '\0';
    if (strstr(real, "hydra") || strstr(real, "mpich"))
        return has_abi_name(real) ? TRACER_MPICH_ABI : TRACER_MPICH;
    linked = kind_of_program(path, linkage_of(path), library);
    if (linked != TRACER_SERIAL)
        return linked;
    return tracer_library_find(TRACER_OPEN_MPI, library) == 0 ? TRACER_OPEN_MPI : TRACER_MPICH;
}

/* An argument that may be the program: true once it is one of MPI, which nothing after it is
 * then. The first that can be run at all may be a script, or only say so. */
static bool look_at(const char *arg, struct tracer_program *known)
{
    char path[FS_PATH_SIZE], library[FS_PATH_SIZE] = "";
    enum linkage linkage;
    enum tracer_kind kind;

    if (!find_program(arg, path) || access(path, X_OK) != 0)
        return false;
    linkage = linkage_of(path);
    kind = kind_of_program(path, linkage, library);
    if (known->name == NULL || kind != TRACER_SERIAL) {
        known->name = arg;
        known->obstacle = linkage == LINK_STATIC   ? TRACER_STATIC
                          : linkage == LINK_MUSL   ? TRACER_MUSL
                          : has_other_rights(path) ? TRACER_SET_UID
                                                   : TRACER_NO_OBSTACLE;
    }
    if (kind != TRACER_SERIAL) {
        known->kind = kind;
        memcpy(known->mpi, library, sizeof library);
    }
    return kind != TRACER_SERIAL;
}

struct tracer_program tracer_program_look(const char *const *args, size_t n)
{
    struct tracer_program known = {.kind = TRACER_SERIAL};
    char path[FS_PATH_SIZE];
    size_t launcher = 0;

    while (launcher < n && !(is_launcher(args[launcher]) && find_program(args[launcher], path)))
        launcher++;
    if (launcher < n) {
        known.kind = kind_of_launcher(path);
        for (size_t i = launcher + 1; i < n && !look_at(args[i], &known); i++)
            ;
    } else {
        look_at(args[0], &known);
    }
    if (known.name == NULL)
        known.name = args[0];
    return known;
}

/* ----------------------------------------------------------------------------- the library */

int tracer_library_find(enum tracer_kind kind, char path[FS_PATH_SIZE])
{
    if (own_library_find("tracer", files[kind], path) == 0) {
        if (strpbrk(path, " :") != NULL)
            return err_set(ERR_UNSUPPORTED,
                           "'%s' cannot be loaded: its path has a space or a colon", path);
        return 0;
    }
    return err_set(ERR_NOT_FOUND, "%s is not installed: snag was built without %s", files[kind],
                   kind == TRACER_OPEN_MPI ? "Open MPI"
                   : kind != TRACER_SERIAL ? "MPICH"
                                           : "its tracer");
}
