/* Opening is instant; only ranking needs the columns. */
#include "cmd/learning.h"

#include "cmd/executions.h"
#include "run/run_summary.h"

#include <pwd.h>
#include <unistd.h>

int learning_open(struct learning *l, const struct settings *settings, bool is_writable)
{
    int rc = run_open(&l->run, settings->args[0], is_writable);

    return rc < 0 ? rc
                  : executions_foi(l->run.db, settings->n_foi > 0 ? settings->foi[0] : NULL,
                                   &l->foi);
}

void learning_close(struct learning *l)
{
    ranking_close(&l->ranking);
    pool_free(l->pool);
    definitions_release(&l->defs);
    run_close(&l->run);
}

static int rank(struct learning *l, const struct settings *settings, struct ranking_opts *opts)
{
    int rc = run_summary_definitions(l->run.db, &l->defs);

    opts->pool = l->pool = pool_new(settings->threads);
    return rc < 0
               ? rc
               : ranking_open(&l->ranking, l->run.db, &l->run.columns, &l->defs, l->foi, opts);
}

int learning_rank(struct learning *l, const struct settings *settings)
{
    struct ranking_opts opts = {
        .learner = settings->learner, .features = settings->features, .seed = settings->seed};

    return rank(l, settings, &opts);
}

int learning_rank_as(struct learning *l, const struct settings *settings,
                     const struct retrain_settings *as)
{
    struct ranking_opts opts = {
        .learner = as->learner, .features = as->features, .seed = as->seed};

    return rank(l, settings, &opts);
}

const char *learning_author(const struct settings *settings)
{
    const struct passwd *user = settings->author ? NULL : getpwuid(geteuid());

    return settings->author ? settings->author : user ? user->pw_name : "unknown";
}
