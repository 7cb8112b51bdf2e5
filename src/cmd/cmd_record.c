/*
 * snag record -- run a program under the tracer, and say what was recorded.
 *
 *     this process --spawns--> PROGRAM, with the tracer's library in LD_PRELOAD
 *                  --forks---> snag watch, with --watch: its page, at the tracer's socket
 *
 * Standard output belongs to the program; what we have to say goes to standard error. Ctrl-C
 * reaches all three, as they are one group of the terminal, and we wait for the others; a
 * signal that was sent to us alone is passed on.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/left_out.h"
#include "cmd/options.h"
#include "cmd/status.h"
#include "cmd/store_name.h"
#include "cmd/trace_kind.h"
#include "cmd/tracer_library.h"
#include "prov/prov_store.h"
#include "trace/source.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USUAL_DIRECTORY "snag-trace"
#define SOCKET_WAIT_MS 20
#define MUCH 0.05          /* of the processor time for recording is worth a hint, */
#define LITTLE 0.005       /* less is not worth saying what it was for */
#define MUCH_NS 50000000u  /* if it is more than this */
#define MOST_LEFT_OUT 5    /* functions, by name */
#define LAST_WAIT_MS 60000 /* for the page to have read what was sent, with --once */

struct recording {
    const struct settings *settings;
    struct tracer_program program;
    char dir[FS_PATH_SIZE];   /* of the trace, as it is said */
    char where[FS_PATH_SIZE]; /* the same from the root: programs may go elsewhere */
    char library[FS_PATH_SIZE];
    char socket_dir[64], socket[80]; /* of --watch; "" without */
    char store[FS_PATH_SIZE];
    int status; /* of the program */
};

static volatile sig_atomic_t program_pid, watch_pid;

/* A line on standard error, as all that is ours here. */
__attribute__((format(printf, 2, 3))) static void say(const struct settings *settings,
                                                      const char *fmt, ...)
{
    char text[2 * FS_PATH_SIZE];
    va_list args;

    if (settings->is_quiet)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "snag: %s\n", text_printable(text));
}

/* --------------------------------------------------------------------------- before the run */

static bool is_taken(const char *dir)
{
    DIR *open = opendir(dir);
    bool has_any = false;

    if (open == NULL)
        return fs_exists(dir);
    for (struct dirent *entry; !has_any && (entry = readdir(open)) != NULL;)
        has_any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return has_any;
}

/* What -o says must be free; without it snag-trace is, or snag-trace-2 and so on. */
static int choose_directory(struct recording *r)
{
    const char *output = r->settings->output;
    char here[FS_PATH_SIZE];

    if (output && is_taken(output))
        return err_set(ERR_EXISTS, "'%s' is there already: say another -o", output);
    snprintf(r->dir, sizeof r->dir, "%s", output ? output : USUAL_DIRECTORY);
    for (int i = 2; is_taken(r->dir); i++)
        snprintf(r->dir, sizeof r->dir, USUAL_DIRECTORY "-%d", i);
    if (*r->dir == '/')
        snprintf(r->where, sizeof r->where, "%s", r->dir);
    else if (getcwd(here, sizeof here) == NULL ||
             snprintf(r->where, sizeof r->where, "%s/%s", here, r->dir) >= (int)sizeof r->where)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", r->dir);
    return 0;
}

static int choose_library(struct recording *r)
{
    const struct settings *s = r->settings;

    r->program = tracer_program_look(s->args, (size_t)s->n_args);
    if (s->tracer)
        r->program.kind = tracer_kind_find(s->tracer);
    else if (r->program.obstacle == TRACER_STATIC)
        return err_set(ERR_UNSUPPORTED,
                       "'%s' is linked statically, and the tracer is a library: nothing would "
                       "be recorded. Link it dynamically; if it only starts other programs, "
                       "say which --tracer they need",
                       r->program.name);
    else if (r->program.obstacle == TRACER_SET_UID)
        return err_set(ERR_UNSUPPORTED,
                       "'%s' runs with other rights than yours (set-uid, set-gid or "
                       "capabilities), so no library is loaded into it: nothing would be "
                       "recorded. Run a copy without them, or as its owner",
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

static int set_environment(const struct recording *r)
{
    const char *structure = structure_said(r->settings);
    const char *others = getenv("LD_PRELOAD");
    char preload[2 * FS_PATH_SIZE], overhead[32];

    snprintf(overhead, sizeof overhead, "%.9g%%", 100 * r->settings->overhead);
    if (snprintf(preload, sizeof preload, "%s%s%s", r->library, others && *others ? ":" : "",
                 others ? others : "") >= (int)sizeof preload)
        return err_set(ERR_RANGE, "LD_PRELOAD is too long");
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

/* ---------------------------------------------------------------------------------- signals */

static void pass_on(int signal_number)
{
    if (program_pid > 0)
        kill((pid_t)program_pid, signal_number);
    if (watch_pid > 0)
        kill((pid_t)watch_pid, signal_number);
}

static void listen_to_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};

    sigaction(SIGINT, &ignore, NULL); /* the terminal sends these to all of us */
    sigaction(SIGQUIT, &ignore, NULL);
    sigaction(SIGTERM, &pass, NULL);
    sigaction(SIGHUP, &pass, NULL);
}

/* As a shell has it: what it returned, or 128 and the signal that ended it. */
static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---------------------------------------------------------------------------------- the page
 */

static int run_watch(const struct recording *r)
{
    const struct settings *said = r->settings;
    struct settings watched;
    char source[100];
    const char *args[] = {source};
    int rc = options_usual(command_find("watch"), &watched);

    snprintf(source, sizeof source, "tracer:%s", r->socket);
    watched.foi = said->foi;
    watched.model = said->model;
    watched.least_lost_ns = said->least_lost_ns;
    watched.live.false_alarms = said->live.false_alarms;
    watched.listen = said->listen;
    watched.run_id = said->run_id;
    watched.page = said->page;
    watched.live.store = said->live.store ? said->live.store : r->store;
    watched.live.spool = said->live.spool;
    watched.live.spool_mib = said->live.spool_mib;
    watched.is_quiet = said->is_quiet;
    watched.is_verbose = said->is_verbose;
    watched.args = args;
    watched.n_args = 1;
    return status_of(rc < 0 ? rc : cmd_watch(&watched));
}

static void pause_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

/* The program may begin when somebody listens. */
static int wait_for_socket(const struct recording *r)
{
    while (!fs_exists(r->socket)) {
        if (waitpid((pid_t)watch_pid, NULL, WNOHANG) != 0) {
            watch_pid = 0;
            return err_set(ERR_IO, "the page could not be opened; the program was not run");
        }
        pause_ms(SOCKET_WAIT_MS);
    }
    return 0;
}

static int start_watch(struct recording *r)
{
    const char *top = getenv("TMPDIR");
    pid_t pid;
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
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        exit(run_watch(r));
    }
    watch_pid = pid;
    return wait_for_socket(r);
}

/* With --once the page goes when it has read all. */
static void wait_for_page(void)
{
    for (unsigned ms = 0; waitpid((pid_t)watch_pid, NULL, WNOHANG) == 0; ms += SOCKET_WAIT_MS) {
        if (ms == LAST_WAIT_MS)
            kill((pid_t)watch_pid, SIGTERM);
        pause_ms(SOCKET_WAIT_MS);
    }
}

/* The page stays until it is told to go, or is sent away when nothing will come. */
static void end_watch(const struct recording *r, bool has_run, bool has_recorded)
{
    if (watch_pid == 0)
        return;
    if (!has_run || (!has_recorded && r->settings->page.is_once))
        kill((pid_t)watch_pid, SIGTERM);
    else if (!r->settings->page.is_once)
        say(r->settings, "the page stays until Ctrl-C");
    if (has_run && has_recorded && r->settings->page.is_once)
        wait_for_page();
    else
        wait_for((pid_t)watch_pid);
    watch_pid = 0;
    if (!has_run && r->settings->live.store == NULL)
        prov_store_discard(r->store);
}

static void remove_socket(const struct recording *r)
{
    if (*r->socket) {
        unlink(r->socket);
        rmdir(r->socket_dir);
    }
}

/* ------------------------------------------------------------------------------- the program
 */

static int run_program(struct recording *r)
{
    char **argv = (char **)(uintptr_t)r->settings->args;
    posix_spawnattr_t attributes;
    sigset_t usual;
    pid_t pid;
    int error;

    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    error = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return err_set(ERR_NOT_FOUND, "cannot run '%s': %s", argv[0], strerror(error));
    program_pid = pid;
    r->status = wait_for(pid);
    program_pid = 0;
    return 0;
}

/* With --live: this process becomes the program, so that launchers see it alone. */
static int become_program(struct recording *r)
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

/* ---------------------------------------------------------------------------- what there is */

/* Whose calls there are, besides those of the program's own functions. */
static const char *runtimes(const struct trace_kind *found)
{
    if (found->n_openmp == 0)
        return "MPI";
    return found->n_mpi > 0 ? "MPI and OpenMP" : "OpenMP";
}

static uint64_t count_events(const struct definitions *defs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < defs->n_locations; i++)
        n += defs->location[i].n_events_said;
    return n;
}

/* Of all threads. */
struct cost {
    uint64_t recording_ns, program_ns; /* the latter without the former; 0: unknown */
    uint64_t once_ns;                  /* of recording, for what is done once a process */
    double ratio;
};

static struct cost cost_of(const struct definitions *defs)
{
    struct cost cost = {0};

    for (uint32_t i = 0; i < defs->n_locations; i++) {
        const struct location *l = &defs->location[i];
        uint64_t ns = l->processor_ns ? l->processor_ns : l->recorded_ns;

        cost.recording_ns += l->cost_ns;
        cost.once_ns += l->once_ns;
        cost.program_ns += ns > l->cost_ns ? ns - l->cost_ns : 0;
    }
    if (cost.program_ns > 0)
        cost.ratio = (double)cost.recording_ns / (double)cost.program_ns;
    return cost;
}

/* A line of it on standard error. */
static void put_json(json_t *json)
{
    json_put(stderr, json, JSON_COMPACT);
    fputc('\n', stderr);
    json_decref(json);
}

static void put_recorded(const struct recording *r, const struct definitions *defs)
{
    struct trace_kind found = trace_kind_of(defs);
    struct cost cost = cost_of(defs);

    put_json(json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:i}", "trace",
        json_text(r->dir), "ranks", json_count(defs->n_ranks), "threads",
        json_count(defs->n_locations), "events", json_count(count_events(defs)), "functions",
        json_count(found.n_functions), "has_mpi", (int)(found.n_mpi > 0), "has_openmp",
        (int)(found.n_openmp > 0), "is_sampled", (int)(found.n_sampled > 0), "cost",
        cost.program_ns ? json_number(cost.ratio) : json_null(), "once_ns",
        json_count(cost.once_ns), "left_out", left_out_json(defs), "status", r->status));
}

/* There are calls of MPI or OpenMP alone: what can be done with them, and how there would be
 * more. */
static void say_functions_missing(const struct recording *r, const struct trace_kind *found)
{
    const struct settings *s = r->settings;

    if (s->is_functions)
        say(s, "missing are the program's own functions: it was not compiled with "
               "-finstrument-functions. Without --functions they are found on its stacks");
    else if (!s->is_mpi_alone)
        say(s, "missing are the program's own functions: none was found on its stacks");
    say(s, "%s%s%sits loops are found in its calls of %s: snag analyze %s --foi loop",
        s->is_mpi_alone ? "--stacks would record the functions that call " : "",
        s->is_mpi_alone ? runtimes(found) : "", s->is_mpi_alone ? ", too; " : "",
        runtimes(found), r->dir);
}

static void say_left_out(const struct settings *s, const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    char text[4 * TEXT_SIZE];

    for (size_t i = 0; i < n && i < MOST_LEFT_OUT; i++)
        say(s, "left out, as recording it cost too much: %.200s, %s",
            defs->region[of[i].region].short_name, left_out_text(&of[i], text));
    if (n > MOST_LEFT_OUT)
        say(s, "left out are %zu more functions: snag info", n - MOST_LEFT_OUT);
    free(of);
}

static void say_cost(const struct settings *s, const struct definitions *defs,
                     bool has_functions)
{
    struct cost cost = cost_of(defs);
    const char *advice = "";
    char once[128] = "", time[TEXT_SIZE];

    if (cost.program_ns == 0)
        return;
    if (s->overhead > 0 && cost.ratio > s->overhead)
        advice =
            ", more than was allowed: not saved are the begin and the end, some ms of each "
            "thread whenever something is left out, messages, collectives of several "
            "ranks, and counting what is left out";
    else if (s->overhead == 0 && has_functions && cost.ratio > MUCH &&
             cost.recording_ns > MUCH_NS)
        advice = ": --overhead 2% leaves out short functions that are called too often";
    if (2 * cost.once_ns > cost.recording_ns && cost.ratio > LITTLE)
        snprintf(once, sizeof once,
                 ", most of it (%s) for its begin and end, however long the run",
                 text_duration((double)cost.once_ns, time));
    say(s, "recording cost about %.*g %% of the program's processor time%s%s",
        cost.ratio < 1 ? 2 : 4, 100 * cost.ratio, once, advice);
    say_left_out(s, defs);
}

static void say_recorded(const struct recording *r, const struct definitions *defs)
{
    struct trace_kind found = trace_kind_of(defs);
    char text[TEXT_SIZE];

    say(r->settings,
        "recorded in '%s': %s events of %u rank%s, %u thread%s; %u function%s%s%s%s", r->dir,
        text_count(count_events(defs), text), defs->n_ranks, text_plural(defs->n_ranks),
        defs->n_locations, text_plural(defs->n_locations), found.n_functions,
        text_plural(found.n_functions), found.n_sampled ? " from stacks" : "",
        found.n_mpi && found.n_openmp   ? ", "
        : found.n_mpi || found.n_openmp ? " and "
                                        : "",
        found.n_mpi || found.n_openmp ? runtimes(&found) : "");
    say_cost(r->settings, defs, found.n_functions > 0);
    if (found.n_functions == 0)
        say_functions_missing(r, &found);
    if (found.n_sampled > 0 && r->settings->sample)
        say(r->settings,
            "functions were seen when they called %s, and %s of processor time: "
            "when each began, and some ended, is estimated",
            runtimes(&found), r->settings->sample);
    else if (found.n_sampled > 0)
        say(r->settings,
            "functions were seen when they called %s: when each began, and some ended, is "
            "estimated, "
            "and those that do not call it are missing",
            runtimes(&found));
}

/* Definitions can crash the library that reads them: in a child. */
static int look_at_trace(void *ctx, struct guard *guard)
{
    const struct recording *r = ctx;
    struct source source = {0};
    int rc = source_open(&source, r->dir);

    (void)guard;
    if (rc == 0)
        (r->settings->is_json ? put_recorded : say_recorded)(r, &source.defs);
    source_close(&source);
    return status_of(rc);
}

/* Processes without MPI that ran besides the first have a trace each. */
static unsigned count_others(const struct recording *r)
{
    char path[FS_PATH_SIZE + 32];
    unsigned n = 0;

    for (;; n++) {
        snprintf(path, sizeof path, "%s/process-%u", r->dir, n + 2);
        if (!fs_exists(path))
            return n;
    }
}

/* Why, and what to do. */
static void say_nothing(const struct recording *r)
{
    if (r->settings->is_json)
        put_json(json_pack("{s:n, s:i}", "trace", "status", r->status));
    else if (r->program.kind != TRACER_SERIAL)
        say(r->settings,
            "nothing was recorded: MPI was not started, or is another one than %s (--tracer "
            "%s), "
            "or no rank got to its end. Programs without MPI: --tracer serial",
            r->program.kind == TRACER_MPICH ? "MPICH" : "Open MPI",
            r->program.kind == TRACER_MPICH ? "openmpi" : "mpich");
    else if (r->settings->sample)
        say(r->settings,
            "nothing was recorded: '%s' computed for too short a time to be sampled, and is no "
            "program of MPI (if it starts one: --tracer openmpi or mpich)",
            r->program.name);
    else
        say(r->settings,
            "nothing was recorded: '%s' was not compiled with -finstrument-functions, and is "
            "no program of MPI (if it starts one: --tracer openmpi or mpich). --sample 200Hz "
            "finds what computes",
            r->program.name);
}

/* Returns whether there is a trace. */
static bool say_what_is_there(struct recording *r)
{
    char anchor[FS_PATH_SIZE + 32];
    unsigned n_others;

    snprintf(anchor, sizeof anchor, "%s/traces.otf2", r->dir);
    if (!fs_exists(anchor)) {
        say_nothing(r);
        return false;
    }
    guard_run(look_at_trace, r, NULL, NULL);
    if (r->settings->is_json)
        return true;
    n_others = count_others(r);
    if (n_others > 0)
        say(r->settings, "%u more process%s: '%s/process-2'%s", n_others,
            n_others == 1 ? "" : "es", r->dir, n_others == 1 ? "" : " and so on");
    say(r->settings, "next: snag analyze %s", r->dir);
    return true;
}

/* ------------------------------------------------------------------------------- the command
 */

#define MOST_HZ 10000 /* the tracer's, which is told the text */

static bool is_rate(const char *text)
{
    char *end;
    double hz = strtod(text, &end);

    return end != text && hz > 0 && hz <= MOST_HZ && (*end == '\0' || strcmp(end, "Hz") == 0);
}

static int check(const struct settings *s)
{
    bool is_of_page = s->foi.n > 0 || s->model || s->live.store || s->page.port || s->listen ||
                      s->page.is_tunnel || s->page.is_once;

    if (s->is_functions + s->is_stacks + s->is_mpi_alone > 1)
        return err_set(ERR_USAGE, "--functions, --stacks and --mpi: one of them");
    if (s->sample && (s->is_functions || s->is_mpi_alone))
        return err_set(ERR_USAGE, "--sample finds functions on stacks, not by --functions, and "
                                  "not with --mpi");
    if (s->sample && !is_rate(s->sample))
        return err_set(ERR_USAGE, "--sample wants a rate, say 200Hz, of %d at most, not '%s'",
                       MOST_HZ, s->sample);
    if (s->live_socket && (s->output || s->page.is_watched))
        return err_set(ERR_USAGE, "--live is without --output and --watch");
    return is_of_page && !s->page.is_watched
               ? err_set(ERR_USAGE, "--foi, --model, --store and what is about the page need "
                                    "--watch")
               : 0;
}

int cmd_record(const struct settings *settings)
{
    struct recording r = {.settings = settings};
    int rc = check(settings);
    bool has_recorded = false, has_run = false;

    if (rc == 0 && settings->live_socket)
        return become_program(&r);
    if (rc == 0)
        rc = choose_directory(&r);
    if (rc == 0)
        rc = choose_library(&r);
    listen_to_signals();
    if (rc == 0 && settings->page.is_watched)
        rc = start_watch(&r);
    if (rc == 0)
        rc = set_environment(&r);
    if (rc == 0) {
        rc = run_program(&r);
        has_run = rc == 0;
    }
    if (has_run)
        has_recorded = say_what_is_there(&r);
    end_watch(&r, has_run, has_recorded);
    remove_socket(&r);
    if (has_run && !has_recorded && r.status == 0)
        return STATUS_FAILED;
    return rc < 0 ? rc : r.status;
}
