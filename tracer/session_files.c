/* Only rank 0 touches these files. */
#include "session_files.h"

#include "complain.h"
#include "memory.h"
#include "python.h"
#include "quiet.h"
#include "state.h"
#include "team.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPICAL_DIRECTORY "snag-trace"
#define PATH_SIZE (PATH_MAX + 64) /* with what is added to a name */
#define MAX_PROCESSES 10000

static bool exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static bool holds_archive(const char *directory)
{
    static const char *const name[] = {"traces", "traces.otf2", STATE_DIRECTORY};
    char path[PATH_SIZE];

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, name[i]);
        if (exists(path))
            return true;
    }
    return false;
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

/* From the root, without slashes at its end, and with all above it made. */
static bool begin_path(const char *directory, char path[PATH_MAX])
{
    const char *said = directory && *directory ? directory : TYPICAL_DIRECTORY;
    char here[PATH_MAX] = "";
    size_t length;

    if (*said != '/' && getcwd(here, sizeof here) == NULL) {
        complain("it is not known what directory this is: %s; nothing is recorded",
                 strerror(errno));
        return false;
    }
    length = (size_t)snprintf(path, PATH_MAX, "%s%s%s", here, *here ? "/" : "", said);
    while (length > 1 && length < PATH_MAX && path[length - 1] == '/')
        path[--length] = '\0';
    if (length > PATH_MAX - 128) {
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

/* Only one process can make it: the recording there is its own. */
static bool take_directory(const char *directory)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/" STATE_DIRECTORY, directory);
    return mkdir(path, 0777) == 0;
}

/* The first of path/name-2, path/name-3, ... that is not there. */
static bool take_below(char path[PATH_MAX])
{
    char own[PATH_SIZE];

    errno = EEXIST;
    for (int i = 2; i < MAX_PROCESSES && errno == EEXIST; i++) {
        snprintf(own, sizeof own, "%s/process-%d", path, i);
        if (mkdir(own, 0777) != 0)
            continue;
        if (!python_is_recorded()) /* who runs it may read what it says */
            complain("the trace of process %d is in '%s'", (int)getpid(), own);
        return snprintf(path, PATH_MAX, "%s", own) < PATH_MAX;
    }
    complain("cannot make directory '%s': %s; nothing is recorded", own, strerror(errno));
    return false;
}

static bool take(char path[PATH_MAX])
{
    if (team_is_spawned())
        return make_directory(path) && take_below(path);
    if (team_is_mpi())
        return (!holds_archive(path) || move_away(path)) && make_directory(path);
    return make_directory(path) &&
           ((!holds_archive(path) && take_directory(path)) || take_below(path));
}

char *session_files_prepare(const char *directory)
{
    char path[PATH_MAX];
    struct quiet q;
    bool is_good;

    quiet_begin(&q);
    is_good = begin_path(directory, path) && take(path);
    quiet_end(&q);
    return is_good ? memory_copy(path) : NULL;
}

/* ----------------------------------------------------------------------------------- ranks */

struct rank_line {
    int pid, core;
    char host[64];
};

static bool write_lines(int fd, const struct rank_line *line, int n)
{
    char text[160];
    bool is_good = true;

    for (int i = 0; i < n && is_good; i++) {
        int bytes = snprintf(text, sizeof text, "%d %d %d %s\n", i, line[i].pid, line[i].core,
                             line[i].host);

        is_good = write(fd, text, (size_t)bytes) == bytes;
    }
    return close(fd) == 0 && is_good;
}

static void write_list(const char *path, const struct rank_line *line, int n)
{
    char temporary[PATH_SIZE];
    int fd;

    snprintf(temporary, sizeof temporary, "%s.new", path);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !write_lines(fd, line, n) || rename(temporary, path) != 0)
        complain("cannot write '%s': %s", path, strerror(errno));
}

void session_files_list_ranks(const char *path)
{
    struct rank_line own = {.pid = (int)getpid(), .core = sched_getcpu()}, *all;
    int is_wanted = path && path[0];
    struct quiet q;

    team_broadcast(&is_wanted, sizeof is_wanted);
    if (!is_wanted)
        return;
    gethostname(own.host, sizeof own.host - 1);
    all = memory_resize(NULL, (size_t)team_size(), sizeof *all);
    is_wanted = team_all(all != NULL); /* rank 0 needs it */
    if (is_wanted)
        team_gather(&own, sizeof own, all);
    quiet_begin(&q);
    if (is_wanted && team_rank() == 0)
        write_list(path, all, team_size());
    quiet_end(&q);
    memory_free(all);
}
