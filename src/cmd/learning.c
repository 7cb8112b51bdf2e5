/* Opening is instant; only ranking needs the columns. */
#include "cmd/learning.h"

#include "base/err.h"
#include "view/executions.h"

#include <pwd.h>
#include <unistd.h>

int learning_open(struct learning *l, const struct settings *settings, bool is_writable)
{
    int rc = run_open(&l->run, settings->args[0], is_writable);

    return rc < 0 ? rc
                  : executions_foi(l->run.db,
                                   settings->foi.n > 0 ? settings->foi.text[0] : NULL, &l->foi);
}

void learning_close(struct learning *l)
{
    ranking_close(&l->ranking);
    pool_free(l->pool);
    run_close(&l->run);
}

int learning_embedding(const struct settings *settings, struct stack2vec_opts *said)
{
    *said = (struct stack2vec_opts){.dims = settings->vectors.dimensions,
                                    .epochs = settings->vectors.epochs,
                                    .learning_rate = settings->vectors.learning_rate,
                                    .negatives = settings->vectors.negatives};
    if (said->dims > STACK2VEC_MAX_DIMS)
        return err_set(ERR_USAGE, "--dimensions takes 1 to %u, not %u", STACK2VEC_MAX_DIMS,
                       said->dims);
    if (said->epochs > STACK2VEC_MAX_EPOCHS)
        return err_set(ERR_USAGE, "--epochs takes 1 to %u, not %u", STACK2VEC_MAX_EPOCHS,
                       said->epochs);
    if (said->learning_rate > 1)
        return err_set(ERR_USAGE, "--learning-rate takes up to 1, not %g", said->learning_rate);
    if (said->negatives > STACK2VEC_MAX_NEGATIVES)
        return err_set(ERR_USAGE, "--negatives takes up to %g, not %g", STACK2VEC_MAX_NEGATIVES,
                       said->negatives);
    return 0;
}

int learning_opts(struct learning *l, const struct settings *settings,
                  struct ranking_opts *opts)
{
    if (l->pool == NULL)
        l->pool = pool_new(settings->threads);
    *opts = (struct ranking_opts){.learner = settings->learning.learner,
                                  .features = settings->vectors.features,
                                  .gamma = settings->vectors.gamma,
                                  .nu = settings->vectors.nu,
                                  .seed = settings->seed,
                                  .pool = l->pool};
    return learning_embedding(settings, &opts->embedding);
}

static int rank(struct learning *l, const struct ranking_opts *opts)
{
    return ranking_open(&l->ranking, l->run.db, &l->run.columns, &l->run.defs, l->foi, opts);
}

static bool is_said(const struct stack2vec_opts *embedding)
{
    return embedding->dims || embedding->epochs || embedding->learning_rate > 0 ||
           embedding->negatives > 0;
}

/* What is not said of how to rank. */
static int go_on(struct learning *l, struct ranking_opts *opts)
{
    struct retrain_settings *as = &l->as;
    int rc;

    snprintf(as->learner, sizeof as->learner, "%s", opts->learner ? opts->learner : "");
    snprintf(as->features, sizeof as->features, "%s", opts->features ? opts->features : "");
    rc = retrain_next(l->run.db, l->foi, as);
    opts->learner = *as->learner ? as->learner : NULL;
    opts->features = *as->features ? as->features : NULL;
    opts->nu = opts->nu > 0 ? opts->nu : as->learnt.nu;
    if (!is_said(&opts->embedding)) {
        opts->embedding = as->learnt.embedding;
        opts->gamma = opts->gamma > 0 ? opts->gamma : as->learnt.gamma;
    }
    return rc;
}

int learning_rank(struct learning *l, const struct settings *settings)
{
    struct ranking_opts opts;
    int rc = learning_opts(l, settings, &opts);

    if (rc == 0)
        rc = go_on(l, &opts);
    return rc < 0 ? rc : rank(l, &opts);
}

int learning_rank_as(struct learning *l, const struct settings *settings,
                     const struct retrain_settings *as)
{
    struct ranking_opts opts;
    int rc = learning_opts(l, settings, &opts);

    opts = retrain_opts(as, l->pool);
    return rc < 0 ? rc : rank(l, &opts);
}

const char *learning_author(const struct settings *settings)
{
    const struct passwd *user = settings->learning.author ? NULL : getpwuid(geteuid());

    return settings->learning.author ? settings->learning.author
           : user                    ? user->pw_name
                                     : "unknown";
}
