/*
 * snag record -- run a program under the tracer, make a trace of what it left, and say what was
 * recorded.
 *
 *     this process --spawns--> PROGRAM, with the tracer's library in LD_PRELOAD
 *                  --forks---> snag watch, with --watch: its page, at the tracer's socket
 *
 * Standard output belongs to the program; what we have to say goes to standard error. Ctrl-C
 * reaches all three, as they are one group of the terminal, and we wait for the others; a
 * signal that was sent to us alone is passed on (program_run.h).
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/progress.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/program_run.h"
#include "cmd/recorded.h"
#include "cmd/status.h"
#include "cmd/store_name.h"
#include "cmd/trace_place.h"
#include "cmd/tracer_library.h"
#include "prov/prov_store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USUAL_DIRECTORY "snag-trace"
#define SOCKET_WAIT_MS 20
#define LAST_WAIT_MS 60000 /* for the page to have read what was sent, with --once */

struct recording {
    const struct settings *settings;
    struct tracer_program program;
    char dir[FS_PATH_SIZE];   /* of the trace, as it is said */
    char where[FS_PATH_SIZE]; /* the same from the root: programs may go elsewhere */
    char library[FS_PATH_SIZE];
    char socket_dir[64], socket[80]; /* of --watch; "" without */
    char store[FS_PATH_SIZE];
    struct trace_place place;
    struct program_run run;
    pid_t page; /* of --watch; 0: there is none any more */
};

/* --------------------------------------------------------------------------- before the run */

/* What -o says must be free; without it snag-trace is, or snag-trace-2 and so on. */
static int choose_directory(struct recording *r)
{
    const char *output = r->settings->output;
    char here[FS_PATH_SIZE];

    if (output && trace_place_is_taken(output))
        return err_set(ERR_EXISTS, "'%s' is there already: say another -o", output);
    snprintf(r->dir, sizeof r->dir, "%s", output ? output : USUAL_DIRECTORY);
    for (int i = 2; trace_place_is_taken(r->dir); i++)
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
static int wait_for_socket(struct recording *r)
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

static void remove_socket(const struct recording *r)
{
    if (*r->socket) {
        unlink(r->socket);
        rmdir(r->socket_dir);
    }
}

/* It goes when we do, however that comes. */
static void be_page(const struct recording *r, pid_t parent)
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

static int start_watch(struct recording *r)
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
static void end_watch(struct recording *r, bool has_run, bool has_recorded)
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

/* ------------------------------------------------------------------------------- the command
 */

#define MAX_HZ 10000 /* the tracer's, which is told the text */

static bool is_rate(const char *text)
{
    char *end;
    double hz = strtod(text, &end);

    return end != text && hz > 0 && hz <= MAX_HZ && (*end == '\0' || strcmp(end, "Hz") == 0);
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
                       MAX_HZ, s->sample);
    if (s->live_socket && (s->output || s->page.is_watched))
        return err_set(ERR_USAGE, "--live is without --output and --watch");
    return is_of_page && !s->page.is_watched
               ? err_set(ERR_USAGE, "--foi, --model, --store and what is about the page need "
                                    "--watch")
               : 0;
}

/* An earlier recording is made a trace of. */
static int finish_earlier(const struct settings *s)
{
    struct recorded recorded = {.settings = s, .dir = s->finish};

    if (s->n_args > 0 || s->output || s->page.is_watched || s->live_socket)
        return err_set(ERR_USAGE, "--finish is without a program to run");
    return recorded_finish(&recorded) == RECORDED ? STATUS_DONE : STATUS_FAILED;
}

/* Where the directory is now, as somebody may have moved or removed it. */
static enum recorded_outcome finish_trace(struct recording *r)
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
    if (trace_place_find(&r->place, r->dir, why))
        record_say(&loud, "'%s' was moved to '%s' while the program ran", before, r->dir);
    recorded.why_none = *why ? why : NULL;
    return recorded_finish(&recorded);
}

/* Returns the exit status, if the program could be run. */
static int record(struct recording *r)
{
    enum recorded_outcome outcome = RECORDED_NOTHING;
    int status = 0, rc = choose_directory(r);

    if (rc == 0)
        rc = choose_library(r);
    program_run_begin(&r->run);
    trace_place_make(&r->place, rc == 0 ? r->where : "");
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
    trace_place_close(&r->place);
    end_watch(r, rc == 0, outcome == RECORDED || outcome == RECORDED_UNFINISHED);
    remove_socket(r);
    return rc < 0 ? rc : status == 0 && outcome != RECORDED ? STATUS_FAILED : status;
}

int cmd_record(const struct settings *settings)
{
    struct recording r = {.settings = settings};
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
