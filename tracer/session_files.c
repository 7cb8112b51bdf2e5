/* Only rank 0 touches these files. */
#include "session_files.h"

#include "archive.h"
#include "complain.h"
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE (PATH_MAX + 64) /* with what is added to a name */
#define MOST_PROCESSES 10000

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

/* Without slashes at its end, and with all above it made. Returns false after a complaint. */
static bool begin_path(const char *directory, char path[PATH_MAX])
{
    size_t length = (size_t)snprintf(path, PATH_MAX, "%s", directory);

    while (length > 1 && length < PATH_MAX && path[length - 1] == '/')
        path[--length] = '\0';
    if (length == 0 || length > PATH_MAX - 64) {
        complain("the name of the archive's directory is too long; nothing is recorded");
        return false;
    }
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(path, 0777);
            *slash = '/';
        }
    return true;
}

static bool make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    complain("cannot make directory '%s': %s; nothing is recorded", path, strerror(errno));
    return false;
}

bool session_files_prepare(const char *directory)
{
    char path[PATH_MAX];

    return begin_path(directory, path) && (!holds_archive(path) || move_away(path)) &&
           make_directory(path);
}

/* Only one process can make DIRECTORY/traces.pid: the archive there is its own. */
static bool claim(const char *directory)
{
    char path[PATH_SIZE];
    int fd;

    snprintf(path, sizeof path, "%s/%s.pid", directory, ARCHIVE_NAME);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    dprintf(fd, "%d\n", (int)getpid());
    close(fd);
    return true;
}

/* The first of path/name-2, path/name-3, ... that is not there. */
static bool claim_below(char **directory, const char *path, const char *name)
{
    char own[PATH_SIZE];

    errno = EEXIST;
    for (int i = 2; i < MOST_PROCESSES && errno == EEXIST; i++) {
        snprintf(own, sizeof own, "%s/%s-%d", path, name, i);
        if (mkdir(own, 0777) != 0)
            continue;
        complain("the trace of process %d is in '%s'", (int)getpid(), own);
        free(*directory);
        *directory = must_copy(own);
        return true;
    }
    complain("cannot make directory '%s': %s; nothing is recorded", own, strerror(errno));
    return false;
}

bool session_files_claim(char **directory)
{
    char path[PATH_MAX];

    if (!begin_path(*directory, path) || !make_directory(path))
        return false;
    return (!holds_archive(path) && claim(path)) || claim_below(directory, path, "process");
}

bool session_files_claim_spawned(char **directory)
{
    char path[PATH_MAX];

    return begin_path(*directory, path) && make_directory(path) &&
           claim_below(directory, path, "process");
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

void session_files_list_ranks(const char *path)
{
    struct rank_line own = {.pid = (int)getpid(), .core = sched_getcpu()}, *all;
    int is_wanted = path && path[0];

    team_broadcast(&is_wanted, sizeof is_wanted);
    if (!is_wanted)
        return;
    gethostname(own.host, sizeof own.host - 1);
    all = must_resize(NULL, (size_t)team_size(), sizeof *all);
    team_gather(&own, sizeof own, all);
    if (team_rank() == 0)
        write_lines(path, all, team_size());
    free(all);
}
