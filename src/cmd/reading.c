/* The child runs the whole command; the parent only waits, cleans up and passes on the status.
 */
#include "cmd/reading.h"

#include "base/err.h"
#include "base/guard.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/rundir.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct child {
    struct reading reading;
    const char *path, *dir; /* path: the first file of the trace */
    int (*then)(struct reading *reading);
    void (*clean_up)(void *ctx);
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
    struct source_opts opts = {.more = settings->args + 1,
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

static int read_and_go_on(struct child *child, struct guard *guard)
{
    struct reading *r = &child->reading;
    struct ingest_opts opts = {.dir = child->dir, .guard = guard};
    int rc;

    r->begin_ns = clock_ns();
    r->pool = opts.pool = pool_new(r->settings->threads);
    rc = open_trace(child, guard);
    if (rc == 0)
        rc = ingest(&r->source, &opts, &r->ingested);
    if (rc == 0)
        rc = child->then(r);
    ingested_release(&r->ingested);
    source_close(&r->source);
    pool_free(r->pool);
    return rc;
}

static int in_child(void *ctx, struct guard *guard)
{
    int status = status_of(read_and_go_on(ctx, guard));

    if (fflush(stdout) != 0 && status == STATUS_DONE) {
        err_set(ERR_IO, "cannot write to standard output");
        status = status_of(ERR_IO);
    }
    return status;
}

static void clean_up(void *ctx)
{
    struct child *child = ctx;

    if (child->clean_up)
        child->clean_up(child->reading.ctx);
}

int reading_run(const struct settings *settings, const char *dir,
                int (*then)(struct reading *reading), void (*clean)(void *ctx), void *ctx)
{
    const char *path = settings->args[0];
    struct child child = {
        .reading = {.settings = settings, .ctx = ctx},
        .path = path,
        .dir = dir,
        .then = then,
        .clean_up = clean,
    };
    const char *patience = getenv("SNAG_PATIENCE"); /* seconds; for tests of hanging readers */
    struct guard_opts opts = {.patience_s = patience ? (unsigned)atoi(patience) : 0,
                              .clean_up = clean_up};
    int sig = 0, rc;

    if (rundir_is_run(path))
        return err_set(ERR_FORMAT,
                       "'%s' is a run, not a trace (snag list, show, query read it)", path);
    rc = guard_run(in_child, &child, &opts, &sig);
    if (sig) { /* end as the signal would have ended us */
        signal(sig, SIG_DFL);
        raise(sig);
    }
    if (rc == ERR_FORMAT)
        rc = err_set(rc, "cannot read '%s': %s", path, err_message());
    return rc;
}

void reading_print_quality(const struct quality *quality, const struct clock_report *clock)
{
    char n[TEXT_SIZE], before[TEXT_SIZE], after[TEXT_SIZE];
    struct table *t = NULL;

    for (int k = 0; k < QUALITY_N; k++) {
        if (quality->n[k] == 0)
            continue;
        if (t == NULL)
            t = table_new("rl", "count", "trace quality");
        table_cell(t, "%s", text_count(quality->n[k], n));
        table_cell(t, "%s%s", quality_text(k), quality_kind_is_damage(k) ? "" : " (no damage)");
    }
    if (t) {
        fputc('\n', stdout);
        table_print(t, stdout);
    }
    if (clock->n_wrong_before > 0)
        print("\nclocks: %zu of %zu messages and collectives were in an impossible order, by "
              "up to "
              "%s; %zu still are, by up to %s\n",
              clock->n_wrong_before, clock->n_checked,
              text_duration((double)clock->worst_before_ns, before),
              clock->n_wrong_messages + clock->n_wrong_collectives,
              text_duration((double)clock->worst_ns, after));
}

json_t *reading_quality_json(const struct quality *quality)
{
    json_t *object = json_object();

    for (int k = 0; k < QUALITY_N; k++)
        if (quality->n[k] > 0)
            json_object_set_new(object, quality_name(k), json_count(quality->n[k]));
    return object;
}
