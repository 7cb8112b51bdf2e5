/* snag project -- the executions of a run as points on a plane, for the page and for plots. */
#include "analysis/projection.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "run/run_summary.h"
#include "run/rundir.h"
#include "view/executions.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define EVERY 10 /* iterations between two looks at the signals, and two lines of progress */

static atomic_int stopped_by; /* by a handler, which runs in any of the threads */

static void stop(int signal_number)
{
    stopped_by = signal_number;
}

/* The first one ends the iterations; another one ends us. */
static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void unwatch_signals(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

struct project_show {
    const struct project_method *method;
    bool is_shown;
};

static bool on_step(const struct project_step *step, void *ctx)
{
    const struct project_show *show = ctx;

    if (show->is_shown)
        fprintf(stderr, "\r\033[K%s  %u of %u iterations  %s %.4f", show->method->name,
                step->iteration, step->n_iterations, show->method->cost_name, step->cost);
    return stopped_by == 0;
}

static int choose(const struct settings *settings, struct projection_opts *opts)
{
    const char *features = settings->vectors.features;

    opts->method = project_find(settings->plane.method);
    opts->features = features ? feature_find(features) : NULL; /* NULL: those of the scores */
    if (!(settings->plane.perplexity >= 1))
        return err_set(ERR_USAGE, "--perplexity takes 1 or more, not %g",
                       settings->plane.perplexity);
    opts->project.perplexity = settings->plane.perplexity;
    opts->project.iterations = settings->plane.iterations;
    opts->project.seed = settings->seed;
    opts->project.every = EVERY;
    return learning_embedding(settings, &opts->embedding);
}

static void print_result(const struct projection *p, const struct projection_opts *opts,
                         bool is_json)
{
    char count[TEXT_SIZE];

    if (is_json) {
        print_json(json_pack("{s:s, s:s, s:I, s:I, s:f}", "method", opts->method->name,
                             "features", opts->features->name, "executions", (json_int_t)p->n,
                             "iterations", (json_int_t)p->result.n_iterations, "cost",
                             p->result.cost),
                   false);
        return;
    }
    print("%s executions, %s of their %s features: %s %.4f", text_count(p->n, count),
          opts->method->name, opts->features->name, opts->method->cost_name, p->result.cost);
    if (p->result.n_iterations > 0)
        print(" after %u iterations", p->result.n_iterations);
    putchar('\n');
}

static int project(const struct run *run, int64_t foi, const struct settings *settings,
                   struct projection_opts *opts)
{
    struct project_show show = {opts->method, !settings->is_quiet && isatty(STDERR_FILENO)};
    struct projection projection = {0};
    int rc;

    opts->project.on_step = on_step;
    opts->project.ctx = &show;
    watch_signals();
    rc = projection_make(&projection, run->db, &run->columns, &run->defs, foi, opts);
    if (show.is_shown)
        fputs("\r\033[K", stderr);
    if (rc == 0 && stopped_by)
        rc = err_set(ERR_INTERRUPTED, "interrupted; nothing was written to '%s'", run->path);
    unwatch_signals();
    if (rc == 0)
        rc = projection_save(run->db, foi, &projection, opts);
    if (rc == 0)
        print_result(&projection, opts, settings->is_json);
    projection_release(&projection);
    return rc;
}

int cmd_project(const struct settings *settings)
{
    struct projection_opts opts = {.project = {.pool = NULL}};
    struct run run = {.db = NULL};
    int64_t foi;
    int rc = choose(settings, &opts);

    if (rc < 0)
        return rc;
    opts.project.pool = pool_new(settings->threads);
    rc = run_open(&run, settings->args[0], true);
    if (rc == 0)
        rc = executions_foi(run.db, settings_foi(settings), &foi);
    if (rc == 0 && opts.features == NULL)
        rc = retrain_features(run.db, foi, &opts.features);
    if (rc == 0)
        rc = project(&run, foi, settings, &opts);
    run_close(&run);
    pool_free(opts.project.pool);
    if (rc == ERR_INTERRUPTED && stopped_by) {
        status_of(rc);
        raise(stopped_by); /* end as the signal would have ended us */
    }
    return rc < 0 ? rc : STATUS_DONE;
}
