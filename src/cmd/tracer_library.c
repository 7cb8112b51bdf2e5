/*
 * A program is asked for its libraries as ldd does: the loader prints them when
 * LD_TRACE_LOADED_OBJECTS is set, and ends. A program without a loader would run instead, so
 * its head is looked at first.
 */
#include "cmd/tracer_library.h"

#include "base/err.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_SEGMENTS 128

static const char *const kinds[] = {[TRACER_MPI] = "mpi", [TRACER_SERIAL] = "serial"};
static const char *const files[] = {
    [TRACER_MPI] = "libsnag-tracer.so." SNAG_VERSION_MAJOR,
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

enum linkage { LINK_OTHER, LINK_STATIC, LINK_DYNAMIC }; /* OTHER: a script, say */

static enum linkage linkage_of(const char *path)
{
    enum linkage found = LINK_OTHER;
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, &head, sizeof head) == sizeof head &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
        head.e_phentsize == sizeof segment && head.e_phnum <= MOST_SEGMENTS) {
        found = LINK_STATIC;
        for (unsigned i = 0; i < head.e_phnum; i++)
            if (pread(fd, &segment, sizeof segment,
                      (off_t)(head.e_phoff + i * sizeof segment)) == sizeof segment &&
                segment.p_type == PT_INTERP)
                found = LINK_DYNAMIC;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* One of the libraries that the loader names is one of MPI. */
static bool lists_mpi(int fd)
{
    FILE *in = fdopen(fd, "r");
    char line[4096];
    bool has_mpi = false;

    while (in && fgets(line, sizeof line, in))
        has_mpi |= strncmp(line + strspn(line, " \t"), "libmpi", 6) == 0;
    if (in)
        fclose(in);
    return has_mpi;
}

static bool is_linked_with_mpi(const char *path)
{
    char *argv[] = {(char *)(uintptr_t)path, NULL};
    char *environment[] = {"LD_TRACE_LOADED_OBJECTS=1", NULL, NULL};
    char libraries[FS_PATH_SIZE];
    posix_spawn_file_actions_t actions;
    int pipes[2];
    pid_t pid;
    bool has_mpi = false;

    if (getenv("LD_LIBRARY_PATH") &&
        snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH")) <
            (int)sizeof libraries)
        environment[1] = libraries;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, path, &actions, NULL, argv, environment) != 0)
        pid = 0;
    close(pipes[1]);
    has_mpi = lists_mpi(pipes[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    return has_mpi;
}

struct tracer_program tracer_program_look(const char *program)
{
    struct tracer_program known = {.kind = is_launcher(program) ? TRACER_MPI : TRACER_SERIAL};
    char path[FS_PATH_SIZE];
    enum linkage linkage = find_program(program, path) ? linkage_of(path) : LINK_OTHER;

    known.is_static = linkage == LINK_STATIC;
    if (linkage == LINK_DYNAMIC && known.kind != TRACER_MPI && is_linked_with_mpi(path))
        known.kind = TRACER_MPI;
    return known;
}

/* ----------------------------------------------------------------------------- the library */

/* Relative to where this program is: as installed, and as built. */
static const char *const places[] = {SNAG_BIN_TO_LIB, "tracer"};

int tracer_library_find(enum tracer_kind kind, char path[FS_PATH_SIZE])
{
    char program[FS_PATH_SIZE], found[FS_PATH_SIZE];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    program[n > 0 ? n : 0] = '\0';
    *(strrchr(program, '/') ? strrchr(program, '/') : program) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (snprintf(found, sizeof found, "%s/%s/%s", program, places[i], files[kind]) >=
                (int)sizeof found ||
            realpath(found, path) == NULL)
            continue;
        if (strpbrk(path, " :") != NULL)
            return err_set(ERR_UNSUPPORTED,
                           "'%s' cannot be loaded: its path has a space or a colon", path);
        return 0;
    }
    return err_set(ERR_NOT_FOUND, "%s is not installed: %s", files[kind],
                   kind == TRACER_MPI ? "snag was built without MPI"
                                      : "snag was built without its tracer");
}
