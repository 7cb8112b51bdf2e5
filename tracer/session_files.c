/* Only rank 0 touches these files. */
#include "session_files.h"

#include "archive.h"
#include "complain.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE (PATH_MAX + 64) /* with what is added to a name */

static bool exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static bool holds_archive(const char *directory)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s", directory, ARCHIVE_NAME);
    if (exists(path))
        return true;
    snprintf(path, sizeof path, "%s/%s.otf2", directory, ARCHIVE_NAME);
    return exists(path);
}

static bool move_away(const char *directory)
{
    char path[PATH_SIZE];
    int n = 1;

    do
        snprintf(path, sizeof path, "%s.%d", directory, n);
    while (exists(path) && n++ < 10000);
    if (rename(directory, path) != 0) {
        complain("cannot rename '%s' to '%s': %s; nothing is recorded", directory, path,
                 strerror(errno));
        return false;
    }
    complain("'%s' held a trace, which now is in '%s'", directory, path);
    return true;
}

bool session_files_prepare(const char *directory)
{
    char path[PATH_MAX];
    size_t length = (size_t)snprintf(path, sizeof path, "%s", directory);

    while (length > 1 && length < sizeof path && path[length - 1] == '/')
        path[--length] = '\0';
    if (length == 0 || length > sizeof path - 64) {
        complain("the name of the archive's directory is too long; nothing is recorded");
        return false;
    }
    if (holds_archive(path) && !move_away(path))
        return false;
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(path, 0777);
            *slash = '/';
        }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    complain("cannot make directory '%s': %s; nothing is recorded", path, strerror(errno));
    return false;
}

/* ----------------------------------------------------------------------------------- ranks */

struct rank_line {
    int pid, core;
    char host[64];
};

static void write_lines(const char *path, const struct rank_line *line, int n)
{
    char temporary[PATH_SIZE];
    FILE *file;

    snprintf(temporary, sizeof temporary, "%s.new", path);
    file = fopen(temporary, "we");
    if (file == NULL) {
        complain("cannot write '%s': %s", temporary, strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++)
        fprintf(file, "%d %d %d %s\n", i, line[i].pid, line[i].core, line[i].host);
    if (fclose(file) != 0 || rename(temporary, path) != 0)
        complain("cannot write '%s': %s", path, strerror(errno));
}

void session_files_list_ranks(const char *path, MPI_Comm comm)
{
    struct rank_line own = {.pid = (int)getpid(), .core = sched_getcpu()}, *all;
    int rank, size, is_wanted = path && path[0];

    PMPI_Bcast(&is_wanted, 1, MPI_INT, 0, comm);
    if (!is_wanted)
        return;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    gethostname(own.host, sizeof own.host - 1);
    all = must_resize(NULL, (size_t)size, sizeof *all);
    PMPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, comm);
    if (rank == 0)
        write_lines(path, all, size);
    free(all);
}
