/*
 * snag record -- run a program under the tracer, make a trace of what it left, and say what
 * was recorded.
 *
 *     this process --spawns--> PROGRAM, with the tracer's library in LD_PRELOAD
 *                  --forks---> snag watch, with --watch: its page, at the tracer's socket
 *                  --forks---> a witness, which has got the signals that all got
 *
 * Standard output belongs to the program; what we have to say goes to standard error.
 *
 * The directory is made before the program runs, and held open meanwhile: somebody may remove
 * or move it, and the tracer, which may be on another machine, learns of that late or never.
 *
 * The program runs as if its user had started it himself. Signals that ask a job to end (INT,
 * QUIT, TERM, HUP) are blocked here and taken one by one. Mostly they go to all of it: a
 * terminal's, and timeout(1)'s, to the process group, a batch system's to each process; then
 * the program has got them and is not to get them twice, as launchers of MPI take the second
 * one for an order to kill at once. One that was sent to us alone is passed on. Which of the
 * two it was the witness knows, a process of our group that does nothing and has all signals
 * blocked, so that those it was sent are to be seen.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/progress.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/own_library.h"
#include "cmd/print.h"
#include "cmd/recorded.h"
#include "cmd/settings.h"
#include "prov/prov_store.h"
#include "trace/tracer/finish.h"
#include "trace/tracer/tracer_numbers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------- the directory */

struct trace_directory {
    char path[FS_PATH_SIZE]; /* from the root */
    size_t n_there;          /* of it, what was there before: bytes */
    int fd;                  /* -1: it could not be made, */
    int error;               /* which is why */
    struct timespec made;    /* when it was, empty */
};

/* -------------------------------------------------------------------------------- before */

/* Whether there is anything of that name but an empty directory. */
static bool trace_directory_is_taken(const char *path)
{
    DIR *open = opendir(path);
    bool has_any = false;

    if (open == NULL)
        return fs_exists(path);
    for (struct dirent *entry; !has_any && (entry = readdir(open)) != NULL;)
        has_any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return has_any;
}

/* All of the path, as far as it is not there. */
static int make_all(struct trace_directory *p)
{
    size_t n = strlen(p->path), last = 0; /* `last`: where the part before ends */

    p->n_there = n;
    for (size_t i = 1; i <= n; i++) {
        char end = p->path[i];

        if (end != '/' && end != '\0')
            continue;
        p->path[i] = '\0';
        if (mkdir(p->path, 0777) == 0)
            p->n_there = p->n_there < last ? p->n_there : last;
        else if (end == '\0' && errno != EEXIST)
            return errno;
        p->path[i] = end;
        last = i;
    }
    return 0;
}

/* path: from the root. If it cannot be made, the tracer may still do it. */
static void trace_directory_make(struct trace_directory *p, const char *path)
{
    struct stat info;

    *p = (struct trace_directory){.fd = -1};
    snprintf(p->path, sizeof p->path, "%s", path);
    p->error = make_all(p);
    if (p->error != 0)
        return;
    p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->fd < 0)
        p->error = errno;
    else if (fstat(p->fd, &info) == 0)
        p->made = info.st_mtim;
}

/* --------------------------------------------------------------------------------- after */

static bool is_at(const struct stat *ours, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 && fs_is_same(&now, ours);
}

/* Where the system says that the directory is. */
static bool find_moved(const struct trace_directory *p, const struct stat *ours,
                       char path[FS_PATH_SIZE])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", p->fd);
    n = readlink(link, path, FS_PATH_SIZE - 1);
    path[n > 0 ? n : 0] = '\0';
    return is_at(ours, path);
}

static bool has(const char *path, const char *name)
{
    char part[FS_PATH_SIZE];

    return fs_join(part, path, name) == 0 && fs_exists(part);
}

/* What the tracer made in it is not there any more, or only events without what explains them.
 */
static bool is_emptied(const struct trace_directory *p, const struct stat *ours,
                       const char *path)
{
    bool has_changed =
        ours->st_mtim.tv_sec != p->made.tv_sec || ours->st_mtim.tv_nsec != p->made.tv_nsec;

    return has_changed && !finish_is_wanted(path) && !has(path, "traces.otf2") &&
           (has(path, "traces") || !trace_directory_is_taken(path));
}

/*
 * Where it is when the program has ended.
 *   path  in: as it is called; out: where it is now, if it was moved
 *   why   out: a clause that says why there cannot be a trace; "" if there can be one
 * Returns whether it was moved, and can be read there.
 */
static bool trace_directory_find(const struct trace_directory *p, char path[FS_PATH_SIZE],
                                 char why[2 * FS_PATH_SIZE])
{
    char moved[FS_PATH_SIZE];
    struct stat ours;
    size_t n = 2 * FS_PATH_SIZE;
    bool is_there;

    *why = '\0';
    if (p->fd < 0) {
        if (!finish_is_wanted(path))
            snprintf(why, n, "cannot make '%s': %s", path, strerror(p->error));
        return false;
    }
    if (fstat(p->fd, &ours) != 0 || ours.st_nlink == 0) {
        snprintf(why, n, "'%s' was removed while the program ran", path);
        return false;
    }
    is_there = is_at(&ours, path);
    if (!is_there && !find_moved(p, &ours, moved))
        snprintf(why, n, "'%s' was removed or moved while the program ran", path);
    else if (is_emptied(p, &ours, is_there ? path : moved))
        snprintf(why, n, "files in '%s' were removed while the program ran", path);
    if (is_there || *why)
        return false;
    memcpy(path, moved, sizeof moved);
    return true;
}

/* What was made for it goes if nothing is in it. */
static void trace_directory_close(struct trace_directory *p)
{
    struct stat ours;
    size_t n = strlen(p->path);

    if (p->fd < 0 || fstat(p->fd, &ours) != 0 || !is_at(&ours, p->path))
        n = 0;
    while (n > p->n_there && rmdir(p->path) == 0) {
        while (n > 0 && p->path[n - 1] != '/')
            n--;
        while (n > 0 && p->path[n - 1] == '/')
            n--;
        p->path[n] = '\0';
    }
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* ------------------------------------------------------------------------------ the program */

struct program_run {
    sigset_t before; /* signals that were blocked */
    pid_t witness;   /* 0: there is none */
    int status;      /* of the program: what it returned, or 128 and the signal that ended it */
    uint64_t ended_ns; /* CLOCK_MONOTONIC */
};

#define SAME_MS 100 /* a process and its group are signalled one after the other */
#define LOOK_MS 50  /* whether the patience is over */

static const int to_end[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define N_TO_END (sizeof to_end / sizeof *to_end)

static sigset_t set_of(const int *signals, size_t n)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < n; i++)
        sigaddset(&set, signals[i]);
    return set;
}

/* --------------------------------------------------------------------------------- the witness
 */

static void start_witness(struct program_run *run)
{
    pid_t parent = getpid();
    sigset_t all;

    fflush(NULL);
    run->witness = fork();
    if (run->witness < 0)
        run->witness = 0;
    if (run->witness != 0 || getpid() == parent)
        return;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 0; fd < 3; fd++)
        close(fd); /* who waits for the end of our output does not wait for it */
    while (getppid() == parent)
        pause();
    _exit(0);
}

static void stop_witness(struct program_run *run)
{
    if (run->witness == 0)
        return;
    kill(run->witness, SIGKILL);
    while (waitpid(run->witness, NULL, 0) < 0 && errno == EINTR)
        ;
    run->witness = 0;
}

/* Whether the witness has got the signal, too; false if that cannot be told. */
static bool was_for_all(const struct program_run *run, int number)
{
    char path[64], line[256];
    unsigned long long pending = 0;
    FILE *file;

    if (run->witness == 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)run->witness);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "ShdPnd:", 7) == 0)
            pending = strtoull(line + 7, NULL, 16);
    if (file)
        fclose(file);
    return pending >> (number - 1) & 1;
}

/* ----------------------------------------------------------------------------------- running
 */

/* From now on signals are kept. */
static void program_run_begin(struct program_run *run)
{
    sigset_t kept = set_of(to_end, N_TO_END);

    *run = (struct program_run){0};
    signal(SIGCHLD, SIG_DFL);
    sigaddset(&kept, SIGCHLD);
    sigprocmask(SIG_BLOCK, &kept, &run->before);
    start_witness(run);
}

/* In a process that was forked since: they are what they were. */
static void program_run_child(const struct program_run *run)
{
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}

static void pass_on(struct program_run *run, int number, pid_t pid, pid_t other)
{
    nanosleep(&(struct timespec){.tv_nsec = SAME_MS * 1000000}, NULL);
    if (was_for_all(run, number)) {
        stop_witness(run);
        start_witness(run); /* for the next one */
        return;
    }
    if (pid > 0)
        kill(pid, number);
    if (other > 0)
        kill(other, number);
}

static int wait_for(struct program_run *run, pid_t pid, pid_t other, unsigned patience_ms)
{
    uint64_t end_ns = patience_ms ? clock_ns() + patience_ms * UINT64_C(1000000) : UINT64_MAX;
    const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000};
    sigset_t kept = set_of(to_end, N_TO_END);
    int status = 0, number;
    pid_t ended;

    sigaddset(&kept, SIGCHLD);
    for (;;) {
        ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            break;
        if (clock_ns() > end_ns) {
            kill(pid, SIGTERM);
            end_ns = UINT64_MAX;
        }
        number = end_ns == UINT64_MAX ? sigwaitinfo(&kept, NULL)
                                      : sigtimedwait(&kept, NULL, &moment);
        if (number > 0 && number != SIGCHLD)
            pass_on(run, number, pid, other);
    }
    /* As a shell has it. */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Until a child of ours has ended, which is told to by SIGTERM after so
 * many ms (0: never): its status, as above. */
static int program_run_wait(struct program_run *run, pid_t pid, unsigned patience_ms)
{
    return wait_for(run, pid, 0, patience_ms);
}

/*
 * Run it to its end.
 *   argv   its words, ended by NULL; found by PATH
 *   other  another process that is to get what is passed on, or 0
 * Returns 0, or ERR_NOT_FOUND if it cannot be run.
 */
static int program_run(struct program_run *run, char *const *argv, pid_t other)
{
    static const int typical[] = {SIGXFSZ}; /* which we ignore */
    sigset_t as_typical = set_of(typical, 1);
    posix_spawnattr_t attributes;
    pid_t pid;
    int error;

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &as_typical);
    posix_spawnattr_setsigmask(&attributes, &run->before);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return err_set(ERR_NOT_FOUND, "cannot run '%s': %s", argv[0], strerror(error));
    run->status = wait_for(run, pid, other, 0);
    run->ended_ns = clock_ns();
    return 0;
}

/* Signals that came meanwhile were about the program; later ones are about
 * us. Twice is harmless. */
static void program_run_end(struct program_run *run)
{
    sigset_t kept = set_of(to_end, N_TO_END);

    while (sigtimedwait(&kept, NULL, &(struct timespec){0}) > 0)
        ;
    stop_witness(run);
    sigprocmask(SIG_SETMASK, &run->before, NULL);
}

/* ------------------------------------------------------------------------------ the command */

#define TYPICAL_DIRECTORY "snag-trace"
#define SOCKET_WAIT_MS 20
#define LAST_WAIT_MS 60000 /* for the page to have read what was sent, with --once */

struct record_session {
    const struct settings *settings;
    struct tracer_program program;
    char dir[FS_PATH_SIZE];   /* of the trace, as it is said */
    char where[FS_PATH_SIZE]; /* the same from the root: programs may go elsewhere */
    char library[FS_PATH_SIZE];
    char socket_dir[64], socket[80]; /* of --watch; "" without */
    char store[FS_PATH_SIZE];
    struct trace_directory place;
    struct program_run run;
    pid_t page; /* of --watch; 0: there is none any more */
};

/* --------------------------------------------------------------------------- before the run */

/* What -o says must be free; without it snag-trace is, or snag-trace-2 and so on. */
static int choose_directory(struct record_session *r)
{
    const char *output = r->settings->output;
    char here[FS_PATH_SIZE];

    if (output && trace_directory_is_taken(output))
        return err_set(ERR_EXISTS,
                       "'%s' is there already: choose another directory with --output", output);
    snprintf(r->dir, sizeof r->dir, "%s", output ? output : TYPICAL_DIRECTORY);
    for (int i = 2; trace_directory_is_taken(r->dir); i++)
        snprintf(r->dir, sizeof r->dir, TYPICAL_DIRECTORY "-%d", i);
    if (*r->dir == '/')
        snprintf(r->where, sizeof r->where, "%s", r->dir);
    else if (getcwd(here, sizeof here) == NULL ||
             snprintf(r->where, sizeof r->where, "%s/%s", here, r->dir) >= (int)sizeof r->where)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", r->dir);
    return 0;
}

static int choose_library(struct record_session *r)
{
    const struct settings *s = r->settings;

    r->program = tracer_program_look(s->args, (size_t)s->n_args);
    if (s->tracer)
        r->program.kind = tracer_kind_find(s->tracer);
    else if (r->program.obstacle == TRACER_STATIC)
        return err_set(ERR_UNSUPPORTED,
                       "'%s' is linked statically, and the tracer is a library: nothing would "
                       "be recorded. Link it dynamically; if it only starts other programs, "
                       "name their tracer with --tracer",
                       r->program.name);
    else if (r->program.obstacle == TRACER_MUSL)
        return err_set(
            ERR_UNSUPPORTED,
            "'%s' is linked with the C library musl, and the tracer needs glibc: nothing "
            "would be recorded. Build it where glibc is",
            r->program.name);
    else if (r->program.obstacle == TRACER_SET_UID)
        return err_set(ERR_UNSUPPORTED,
                       "'%s' runs with other rights than yours (set-uid, set-gid or "
                       "capabilities), so no library is loaded into it: nothing would be "
                       "recorded. Run a copy without them, or as its owner",
                       r->program.name);
    if (r->program.kind == TRACER_MPICH_NAMED &&
        (*r->program.mpi == '\0' || strpbrk(r->program.mpi, " :") != NULL))
        return err_set(
            ERR_UNSUPPORTED,
            "'%s' is linked with no library of MPI at a path without spaces and colons, "
            "and the tracer 'mpich-named' is loaded together with that: nothing would "
            "be recorded. Name the program itself, or another --tracer",
            r->program.name);
    return tracer_library_find(r->program.kind, r->library);
}

/* For the tracer; NULL: it finds out. */
static const char *structure_said(const struct settings *s)
{
    return s->is_functions             ? "functions"
           : s->is_mpi_alone           ? "mpi"
           : s->is_stacks || s->sample ? "stacks"
                                       : NULL;
}

/* What starts the program (mpirun, a shell) gets the tracer as well, which needs the library of MPI, and may not know
 * where that is: the program finds it by a path of its own. So it is named behind the tracer, whose functions go
 * first. */
static int preloaded(const struct record_session *r, char *list, size_t size)
{
    const char *others = getenv("LD_PRELOAD");
    bool is_named = r->program.kind != TRACER_SERIAL && strpbrk(r->program.mpi, " :") == NULL;
    const char *mpi = is_named ? r->program.mpi : "";

    if (snprintf(list, size, "%s%s%s%s%s", r->library, *mpi ? ":" : "", mpi,
                 others && *others ? ":" : "", others ? others : "") >= (int)size)
        return err_set(ERR_RANGE, "LD_PRELOAD is too long");
    return 0;
}

static int set_environment(const struct record_session *r)
{
    const char *structure = structure_said(r->settings);
    char preload[3 * FS_PATH_SIZE], overhead[32];
    int rc = preloaded(r, preload, sizeof preload);

    snprintf(overhead, sizeof overhead, "%.9g%%", 100 * r->settings->overhead);
    if (rc < 0)
        return rc;
    if (setenv("SNAG_TRACER_DIR", r->where, 1) != 0 ||
        (r->settings->said_run_id &&
         setenv("SNAG_TRACER_RUN_ID", r->settings->said_run_id, 1) != 0) ||
        (structure && setenv("SNAG_TRACER_STRUCTURE", structure, 1) != 0) ||
        (r->settings->has_no_call_sites && setenv("SNAG_TRACER_CALL_SITES", "0", 1) != 0) ||
        (r->settings->sample && setenv("SNAG_TRACER_SAMPLE", r->settings->sample, 1) != 0) ||
        (r->settings->overhead > 0 && setenv("SNAG_TRACER_OVERHEAD", overhead, 1) != 0) ||
        (*r->socket && setenv("SNAG_TRACER_LIVE", r->socket, 1) != 0) ||
        (r->settings->live_socket &&
         setenv("SNAG_TRACER_LIVE", r->settings->live_socket, 1) != 0) ||
        (r->settings->live_socket && setenv("SNAG_TRACER_ARCHIVE", "0", 1) != 0) ||
        setenv("LD_PRELOAD", preload, 1) != 0)
        return err_set(ERR_IO, "cannot set the environment: %s", strerror(errno));
    return 0;
}

/* ---------------------------------------------------------------------------------- the page
 */

static int run_watch(const struct record_session *r)
{
    const struct settings *said = r->settings;
    struct settings watched;
    char source[100];
    const char *args[] = {source};
    int rc = options_typical(command_find("watch"), &watched);

    snprintf(source, sizeof source, "tracer:%s", r->socket);
    watched.foi = said->foi;
    watched.guesses_foi = true;
    watched.model = said->model;
    watched.least_lost_ns = said->least_lost_ns;
    watched.takes_short = said->takes_short;
    watched.live.false_alarms = said->live.false_alarms;
    watched.listen = said->listen;
    watched.run_id = said->run_id;
    watched.page = said->page;
    watched.live.store = said->live.store ? said->live.store : r->store;
    watched.live.store_mib = said->live.store_mib;
    watched.live.spool = said->live.spool;
    watched.live.spool_mib = said->live.spool_mib;
    watched.is_quiet = said->is_quiet;
    watched.is_verbose = said->is_verbose;
    watched.args = args;
    watched.n_args = 1;
    return status_of(rc < 0 ? rc : cmd_watch(&watched));
}

/* The program may begin when somebody listens. */
static int wait_for_socket(struct record_session *r)
{
    while (!fs_exists(r->socket)) {
        if (waitpid(r->page, NULL, WNOHANG) != 0) {
            r->page = 0;
            return err_set(ERR_IO, "the page could not be opened; the program was not run");
        }
        nanosleep(&(struct timespec){.tv_nsec = SOCKET_WAIT_MS * 1000000}, NULL);
    }
    return 0;
}

static void remove_socket(const struct record_session *r)
{
    if (*r->socket) {
        unlink(r->socket);
        rmdir(r->socket_dir);
    }
}

/* It goes when we do, however that comes. */
static void be_page(const struct record_session *r, pid_t parent)
{
    int status;

    program_run_child(&r->run);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        exit(STATUS_FAILED);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    status = run_watch(r);
    if (getppid() != parent)
        remove_socket(r);
    exit(status);
}

static int start_watch(struct record_session *r)
{
    const char *top = getenv("TMPDIR");
    pid_t parent = getpid(), pid;
    int rc;

    snprintf(r->socket_dir, sizeof r->socket_dir, "%s/snag-XXXXXX",
             top && strlen(top) < 40 ? top : "/tmp"); /* paths of sockets are short */
    if (mkdtemp(r->socket_dir) == NULL)
        return err_set(ERR_IO, "cannot make '%s': %s", r->socket_dir, strerror(errno));
    snprintf(r->socket, sizeof r->socket, "%s/socket", r->socket_dir);
    rc = r->settings->live.store ? 0 : store_name_free(r->dir, ".store", 1, r->store);
    if (rc < 0)
        return rc;
    fflush(stdout);
    pid = fork();
    if (pid < 0)
        return err_set(ERR_IO, "cannot start the page: %s", strerror(errno));
    if (pid == 0)
        be_page(r, parent);
    r->page = pid;
    return wait_for_socket(r);
}

/* The page stays until it is told to go; with --once it goes when it has read all, or is sent
 * away when nothing will come. */
static void end_watch(struct record_session *r, bool has_run, bool has_recorded)
{
    bool is_once = r->settings->page.is_once;

    if (r->page == 0)
        return;
    program_run_begin(&r->run);
    if (!has_run || (!has_recorded && is_once))
        kill(r->page, SIGTERM);
    else if (!is_once)
        record_say(r->settings, "the page stays until Ctrl-C");
    program_run_wait(&r->run, r->page, has_recorded && is_once ? LAST_WAIT_MS : 0);
    program_run_end(&r->run);
    r->page = 0;
    if (!has_run && r->settings->live.store == NULL)
        prov_store_discard(r->store);
}

/* ------------------------------------------------------------------------------- the program
 */

/* With --live: this process becomes the program, so that launchers see it alone. */
static int become_program(struct record_session *r)
{
    char **argv = (char **)(uintptr_t)r->settings->args;
    int rc = choose_library(r);

    if (rc == 0)
        rc = set_environment(r);
    if (rc < 0)
        return rc;
    execvp(argv[0], argv);
    return err_set(ERR_NOT_FOUND, "cannot run '%s': %s", argv[0], strerror(errno));
}

/* ------------------------------------------------------------------------------- the command
 */

#define OF_WATCH                                                                               \
    "foi model store store-limit spool spool-limit least short false-alarms port listen "      \
    "print-tunnel once"

/* What the environment says may be for other commands: it is no mistake here. */
static int check(const struct settings *s)
{
    if (s->is_functions + s->is_stacks + s->is_mpi_alone > 1)
        return err_set(ERR_USAGE, "only one of --functions, --stacks and --mpi can be given");
    if (s->sample && (s->is_functions || s->is_mpi_alone))
        return err_set(ERR_USAGE, "--sample finds functions on stacks: it cannot be combined "
                                  "with --functions or --mpi");
    if (s->sample && tracer_rate(s->sample) == 0)
        return err_set(ERR_USAGE, "--sample takes a rate such as 200Hz, at most %dHz, not '%s'",
                       TRACER_MAX_HZ, s->sample);
    if (s->live_socket &&
        options_refuse(s, "output watch", "cannot be combined with --live") < 0)
        return ERR_USAGE;
    return s->page.is_watched ? 0 : options_refuse(s, OF_WATCH, "needs --watch");
}

/* An earlier recording is made a trace of. */
static int finish_earlier(const struct settings *s)
{
    struct recorded recorded = {.settings = s, .dir = s->finish};

    if (s->n_args > 0)
        return err_set(ERR_USAGE, "--finish takes no program");
    if (options_refuse(s, "output watch live", "cannot be combined with --finish") < 0)
        return ERR_USAGE;
    return recorded_finish(&recorded) == RECORDED ? STATUS_DONE : STATUS_FAILED;
}

/* Where the directory is now, as somebody may have moved or removed it. */
static enum recorded_outcome finish_trace(struct record_session *r)
{
    char before[FS_PATH_SIZE], why[2 * FS_PATH_SIZE];
    struct settings loud = *r->settings;
    struct recorded recorded = {.settings = r->settings,
                                .dir = r->dir,
                                .program = &r->program,
                                .status = r->run.status,
                                .ended_ns = r->run.ended_ns};

    memcpy(before, r->dir, sizeof before);
    loud.is_quiet = r->settings->is_json; /* which says where the trace is */
    if (trace_directory_find(&r->place, r->dir, why))
        record_say(&loud, "'%s' was moved to '%s' while the program ran", before, r->dir);
    recorded.why_none = *why ? why : NULL;
    return recorded_finish(&recorded);
}

/* Returns the exit status, if the program could be run. */
static int record(struct record_session *r)
{
    enum recorded_outcome outcome = RECORDED_NOTHING;
    int status = 0, rc = choose_directory(r);

    if (rc == 0)
        rc = choose_library(r);
    program_run_begin(&r->run);
    trace_directory_make(&r->place, rc == 0 ? r->where : "");
    if (rc == 0 && r->settings->page.is_watched)
        rc = start_watch(r);
    if (rc == 0)
        rc = set_environment(r);
    if (rc == 0)
        rc = program_run(&r->run, (char **)(uintptr_t)r->settings->args, r->page);
    program_run_end(&r->run);
    status = r->run.status;
    if (rc == 0)
        outcome = finish_trace(r);
    trace_directory_close(&r->place);
    end_watch(r, rc == 0, outcome == RECORDED || outcome == RECORDED_UNFINISHED);
    remove_socket(r);
    return rc < 0 ? rc : status == 0 && outcome != RECORDED ? STATUS_FAILED : status;
}

int cmd_record(const struct settings *settings)
{
    struct record_session r = {.settings = settings};
    int rc = check(settings);

    if (rc < 0)
        return rc;
    if (settings->finish)
        return finish_earlier(settings);
    if (settings->n_args == 0)
        return err_set(ERR_USAGE,
                       "something is missing: snag record [options] PROGRAM [ARGUMENT ...]");
    return settings->live_socket ? become_program(&r) : record(&r);
}
