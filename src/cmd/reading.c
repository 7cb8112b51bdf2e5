/*
 * The child runs the whole command; the parent only waits, cleans up and passes on the status.
 *
 *     parent --fork--> child: open, ingest, then()         with --together: one child in each process,
 *        |               |                                  and process 0 goes on with what all have read
 *        '--- waits -----'  dies: a new one reads less of the location it was at
 *
 * A command that needs a run of a trace for a while has it made in a directory of its own, in
 * the same way.
 */
#include "cmd/reading.h"

#include "analysis/run_maker.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process_group.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/launcher.h"
#include "cmd/print.h"
#include "run/rundir.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What processes do together. */
enum { SHARES_NOTHING, SHARES_READING, SHARES_ALL };

struct child {
    struct reading reading;
    const struct reading_task *task;
    struct launched launched;
    struct process_group *process_group; /* NULL: alone */
    uint8_t shares;                      /* with the others, where there are any */
    const char *path, *dir;              /* path: the first file of the trace */
    char their_dir[FS_PATH_SIZE];
    atomic_bool *has_parted; /* where the parent sees it: nobody waits for this process */
};

#define OPENING (UINT32_MAX - 1) /* the guard's item while definitions are read */

static void on_definitions(void *guard, uint64_t n)
{
    guard_at(guard, 0, n);
}

/* Definitions can crash or hang the libraries too; then there is nothing to read. */
static int open_trace(struct child *child, struct guard *guard)
{
    const struct settings *settings = child->reading.settings;
    struct source_opts opts = {.wants_counters = true,
                               .wants_arguments = true,
                               .more = settings->args + 1,
                               .n_more = (size_t)settings->n_args - 1,
                               .links = settings->links};
    const struct guard_bad *bad = guard_find(guard, OPENING);
    int rc;

    if (bad)
        return err_set(ERR_FORMAT, "cannot read '%s': its definitions %s the reading library",
                       child->path, bad->signal ? "crash" : "hang");
    if (!source_opens_quickly(child->path))
        return source_open_as(&child->reading.source, child->path, &opts);
    opts.on_definitions = on_definitions;
    opts.ctx = guard;
    guard_begin(guard, 0, OPENING);
    rc = source_open_as(&child->reading.source, child->path, &opts);
    guard_end(guard, 0);
    return rc;
}

/* ------------------------------------------------------------------- several processes */

/* What each has come with, and where process 0 writes to: by a path that holds in every
 * directory. */
static int compare_notes(struct child *child)
{
    int rc = child->task->rc;

    if (rc == 0 && child->dir && process_group_me(child->process_group) == 0 &&
        realpath(child->dir, child->their_dir) == NULL)
        rc = err_set(ERR_IO, "cannot find '%s': %s", child->dir, strerror(errno));
    rc = process_group_agree(child->process_group, rc);
    if (rc < 0 || child->dir == NULL)
        return rc;
    process_group_broadcast(child->process_group, child->their_dir, sizeof child->their_dir);
    child->dir = child->their_dir;
    return 0;
}

static bool has_several_nodes(const struct child *child)
{
    unsigned n_processes, n_processors;

    process_group_share(child->process_group, &n_processes, &n_processors);
    return n_processes < process_group_size(child->process_group);
}

/* Several nodes see each other's writes to one file only when it is closed. */
static bool is_nfs_of_several_nodes(const struct child *child)
{
    struct statfs info;

    return has_several_nodes(child) && child->dir && statfs(child->dir, &info) == 0 &&
           info.f_type == NFS_SUPER_MAGIC;
}

/* Why not all of them read a part of it, but process 0 alone; NULL if they can. */
static const char *obstacle(const struct child *child)
{
    if (!source_opens_quickly(child->path))
        return "all of it is sorted first";
    if (is_nfs_of_several_nodes(child))
        return "the run is on NFS, where several nodes cannot write one file";
    return NULL;
}

/*
 * On one node process 0 is as quick with the processors of all, and nothing need be sent: there
 * the others only read. (Tests have one node.)
 */
static bool may_assist(const struct child *child)
{
    return child->task->assist && (has_several_nodes(child) || getenv("SNAG_ASSIST"));
}

static bool may_share(struct child *child)
{
    const char *why = process_group_me(child->process_group) == 0 ? obstacle(child) : NULL;
    uint8_t what = why ? SHARES_NOTHING : may_assist(child) ? SHARES_ALL : SHARES_READING;

    process_group_broadcast(child->process_group, &what, sizeof what);
    child->shares = what;
    if (why)
        log_warn("analyze", "'%s' is read by process 0 alone: %s", child->path, why);
    return what != SHARES_NOTHING;
}

/* Process 0 goes on, on all processors of its node: what it does alone the others do not wait
 * for with more than a nap now and then. */
static void go_on(struct child *child)
{
    struct reading *r = &child->reading;
    unsigned n_processes, n_processors;

    process_group_share(child->process_group, &n_processes, &n_processors);
    process_group_inherit(child->process_group);
    r->share_pool = r->pool;
    r->pool =
        pool_new(r->settings->threads ? r->settings->threads * n_processes : n_processors);
}

static void part_ways(struct child *child)
{
    struct reading *r = &child->reading;

    if (child->process_group == NULL)
        return;
    process_group_leave(child->process_group);
    child->process_group = r->process_group = NULL;
    atomic_store(child->has_parted, true);
    pool_free(r->share_pool);
    r->share_pool = NULL;
}

static int join_process_group(struct child *child)
{
    const struct launched *launched = &child->launched;
    int rc;

    if (launched->size <= 1)
        return 0;
    rc = process_group_join(&child->process_group, launched->library,
                            launcher_task(child->reading.settings));
    if (rc == 0)
        rc = compare_notes(child);
    if (rc == 0 && !may_share(child)) {
        if (launched->me == 0)
            go_on(child);
        part_ways(child);
    }
    return rc;
}

/* Reads, with others or alone; on process 0 everything is there then. */
static int read_trace(struct child *child, struct guard *guard)
{
    struct reading *r = &child->reading;
    struct ingest_opts opts = {.guard = guard};
    int rc = join_process_group(child);

    if (rc < 0)
        return rc;
    if (child->process_group == NULL && child->launched.me > 0)
        return 0;
    if (r->pool == NULL)
        r->pool = pool_new(launcher_threads(r->settings, child->process_group));
    opts.dir = child->dir;
    opts.pool = r->pool;
    opts.process_group = child->process_group;
    rc = process_group_agree(child->process_group, open_trace(child, guard));
    return rc < 0 ? rc : ingest(&r->source, &opts, &r->ingested);
}

/* With the others, where they have something to do. */
static int then(struct child *child)
{
    struct reading *r = &child->reading;

    if (child->process_group) {
        if (child->launched.me == 0)
            go_on(child);
        if (child->shares != SHARES_ALL)
            part_ways(child);
    }
    r->process_group = child->process_group;
    r->dir = child->dir;
    if (child->launched.me == 0)
        return child->task->then(r);
    if (r->process_group) {
        traffic_release(&r->ingested.traffic);
        child->task->assist(r);
    }
    return 0;
}

static int read_and_go_on(struct child *child, struct guard *guard)
{
    struct reading *r = &child->reading;
    bool is_known;
    int rc;

    r->begin_ns = clock_ns();
    rc = read_trace(child, guard);
    is_known = child->process_group &&
               process_group_me(child->process_group) > 0; /* what went wrong, to process 0 */
    if (rc == 0)
        rc = then(child);
    part_ways(child);
    ingested_release(&r->ingested);
    source_close(&r->source);
    pool_free(r->pool);
    return is_known ? 0 : rc;
}

static int in_child(void *ctx, struct guard *guard)
{
    return status_at_end(status_of(read_and_go_on(ctx, guard)));
}

static void clean_up(void *ctx)
{
    struct child *child = ctx;

    if (child->task->clean_up)
        child->task->clean_up(child->task->ctx);
}

/* Runs the child. Returns its exit status, or ERR_*; a signal that ended it ends us. */
static int guard_child(struct child *child)
{
    const char *patience = getenv("SNAG_PATIENCE"); /* seconds; for tests of hanging readers */
    struct guard_opts opts = {.patience_s = patience ? (unsigned)atoi(patience) : 0,
                              .is_last = child->launched.size > 1,
                              .clean_up = clean_up};
    int sig = 0, rc = guard_run(in_child, child, &opts, &sig);

    if (sig) { /* end as the signal would have ended us */
        signal(sig, SIG_DFL);
        raise(sig);
    }
    if (rc == ERR_FORMAT)
        rc = err_set(rc, "cannot read '%s': %s", child->path, err_message());
    return rc;
}

/* An error that is found before the processes meet is taken to the meeting: nobody waits for
 * one that never comes, and one line tells of it. */
static int run_together(struct child *child)
{
    atomic_bool *has_parted = mmap(NULL, sizeof *has_parted, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc;

    if (has_parted == MAP_FAILED)
        launcher_break_off(&child->launched,
                           err_set(ERR_IO, "cannot share memory: %s", strerror(errno)));
    child->has_parted = has_parted;
    rc = guard_child(child);
    if (rc != 0 && !atomic_load(has_parted))
        launcher_break_off(&child->launched, rc);
    munmap(has_parted, sizeof *has_parted);
    return rc < 0 ? launcher_error(&child->launched, rc) : rc;
}

int reading_run(const struct settings *settings, const struct reading_task *task)
{
    const char *path = settings->args[0];
    struct reading_task own = *task;
    struct child child = {
        .reading = {.settings = settings, .ctx = task->ctx},
        .task = &own,
        .path = path,
        .dir = task->dir,
    };
    int rc = launcher_look(settings, &child.launched);

    if (rc < 0)
        launcher_break_off(&child.launched, rc);
    if (own.rc == 0 && own.begin)
        own.rc = own.begin(own.ctx, &child.launched);
    if (own.rc == 0 && rundir_is_run(path))
        own.rc = err_set(ERR_FORMAT,
                         "'%s' is a run, not a trace (snag list, show, query read it)", path);
    if (child.launched.size > 1)
        return run_together(&child);
    return own.rc < 0 ? own.rc : guard_child(&child);
}

struct table *reading_quality_table(const struct quality *quality)
{
    char n[TEXT_SIZE];
    struct table *t = NULL;

    for (int k = 0; k < QUALITY_N; k++) {
        if (quality->n[k] == 0)
            continue;
        if (t == NULL)
            t = table_new("rl", "count", "trace quality");
        table_cell(t, "%s", text_count(quality->n[k], n));
        table_cell(t, "%s%s", quality_text(k), quality_kind_is_damage(k) ? "" : " (no damage)");
    }
    return t;
}

void reading_clock_text(const struct clock_report *clock, char *text, size_t size)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];

    *text = '\0';
    if (clock->n_wrong_before > 0)
        snprintf(text, size,
                 "clocks: %zu of %zu messages and collectives were in an impossible order, by "
                 "up to %s; %zu still are, by up to %s",
                 clock->n_wrong_before, clock->n_checked,
                 text_duration((double)clock->worst_before_ns, before),
                 clock->n_wrong_messages + clock->n_wrong_collectives,
                 text_duration((double)clock->worst_ns, after));
}

void reading_print_quality(const struct quality *quality, const struct clock_report *clock)
{
    struct table *t = reading_quality_table(quality);
    char text[256];

    if (t) {
        fputc('\n', stdout);
        table_print(t, stdout);
    }
    reading_clock_text(clock, text, sizeof text);
    if (*text)
        print("\n%s\n", text);
}

json_t *reading_quality_json(const struct quality *quality)
{
    json_t *object = json_object();

    for (int k = 0; k < QUALITY_N; k++)
        if (quality->n[k] > 0)
            json_object_set_new(object, quality_name(k), json_count(quality->n[k]));
    return object;
}

void reading_print_accesses(const struct accesses *a)
{
    char transfers[TEXT_SIZE], transferred[TEXT_SIZE], operations[TEXT_SIZE];
    char operated[TEXT_SIZE];

    if (a->n_transfers > 0)
        print("one-sided: %s transfer%s, %s\n", text_count(a->n_transfers, transfers),
              text_plural(a->n_transfers),
              text_bytes((double)a->transferred_bytes, transferred));
    if (a->n_operations > 0)
        print("files: %s operation%s, %s\n", text_count(a->n_operations, operations),
              text_plural(a->n_operations), text_bytes((double)a->operated_bytes, operated));
}

void reading_set_accesses(json_t *json, const struct accesses *a)
{
    json_object_set_new(json, "transfers", json_count(a->n_transfers));
    json_object_set_new(json, "transferred_bytes", json_count(a->transferred_bytes));
    json_object_set_new(json, "file_operations", json_count(a->n_operations));
    json_object_set_new(json, "file_bytes", json_count(a->operated_bytes));
}

/* ------------------------------------------------------ a run as long as a command needs it */

struct reading_run {
    struct rundir dir;
    const char *around; /* the directory that it is in */
    const char *foi;
};

/* In the child, with the columns written. */
static int finish(struct reading *r)
{
    struct reading_run *m = r->ctx;
    struct run_maker_opts opts = {
        .foi = &m->foi,
        .n_foi = m->foi != NULL,
        .analysis = {.threshold = NAN, .seed = r->settings->seed, .pool = r->pool}};
    struct run_made made;
    int rc;

    rc = run_make(&m->dir, &r->source, &r->ingested, &opts, &made);
    return rc < 0                                     ? rc
           : quality_is_damaged(&r->ingested.quality) ? STATUS_DAMAGED
                                                      : STATUS_DONE;
}

/* After a signal nobody else does. */
static void remove_part(void *ctx)
{
    struct reading_run *m = ctx;

    rundir_abandon(&m->dir);
    rmdir(m->around); /* unless there is a run in it */
}

static int make_directory(char dir[FS_PATH_SIZE])
{
    snprintf(dir, FS_PATH_SIZE, "%.4000s/snag-XXXXXX", fs_temporary_dir());
    if (mkdtemp(dir) != NULL)
        return 0;
    *dir = '\0';
    return err_set(ERR_IO, "cannot make a directory in '%s': %s", fs_temporary_dir(),
                   strerror(errno));
}

int trace_run_make(const struct settings *settings, const char *trace, const char *foi,
                   char dir[FS_PATH_SIZE])
{
    struct settings of_trace = *settings;
    struct reading_run m = {.around = dir, .foi = foi};
    struct reading_task task = {.then = finish, .clean_up = remove_part, .ctx = &m};
    char path[FS_PATH_SIZE];
    int rc = make_directory(dir);

    if (rc == 0)
        rc = fs_join(path, dir, TRACE_RUN_NAME);
    if (rc == 0)
        rc = rundir_begin(&m.dir, path, false);
    if (rc < 0)
        return rc;
    of_trace.args = &trace;
    of_trace.n_args = 1;
    task.dir = m.dir.part;
    rc = reading_run(&of_trace, &task);
    remove_part(&m);
    if (rc < 0)
        return rc;
    if (rc == STATUS_DAMAGED)
        log_warn("compare", "'%s' is damaged: the missing part is not in the results", trace);
    return rundir_is_run(path) ? 0 : STATUS_FAILED;
}

void trace_run_remove(const char *dir)
{
    if (*dir)
        fs_remove_tree(dir);
}
