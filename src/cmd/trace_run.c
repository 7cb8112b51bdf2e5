#include "cmd/trace_run.h"

#include "analysis/run_maker.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/reading.h"
#include "cmd/status.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct making {
    struct rundir dir;
    const char *foi;
};

/* In the child, with the columns written. */
static int finish(struct reading *r)
{
    struct making *m = r->ctx;
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

static void remove_part(void *ctx)
{
    rundir_abandon(&((struct making *)ctx)->dir);
}

static int make_directory(char dir[FS_PATH_SIZE])
{
    const char *place = getenv("TMPDIR");

    snprintf(dir, FS_PATH_SIZE, "%.4000s/snag-XXXXXX", place && *place ? place : "/tmp");
    if (mkdtemp(dir) != NULL)
        return 0;
    *dir = '\0';
    return err_set(ERR_IO, "cannot make a directory in '%s': %s",
                   place && *place ? place : "/tmp", strerror(errno));
}

int trace_run_make(const struct settings *settings, const char *trace, const char *foi,
                   char dir[FS_PATH_SIZE])
{
    struct settings of_trace = *settings;
    struct making m = {.foi = foi};
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
        log_warn("compare", "'%s' is damaged: what is missing is left out", trace);
    return rundir_is_run(path) ? 0 : STATUS_FAILED;
}

void trace_run_remove(const char *dir)
{
    if (*dir)
        fs_remove_tree(dir);
}
