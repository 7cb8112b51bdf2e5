/*
 * Opening is instant; only ranking needs the columns. Of a file of labels the first record
 * names the columns; their order and their case do not matter.
 */
#include "cmd/learning.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "view/csv.h"
#include "view/executions.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int learning_open(struct learning *l, const struct settings *settings, bool is_writable)
{
    int rc = run_open(&l->run, settings->args[0], is_writable);

    return rc < 0 ? rc : executions_foi(l->run.db, settings_foi(settings), &l->foi);
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

/* ------------------------------------------------------------------------- labels in a file */

#define MAX_FIELDS 64

static int find_column(char *const *field, int n, const char *name)
{
    for (int i = 0; i < n && i < MAX_FIELDS; i++)
        if (strcasecmp(field[i], name) == 0)
            return i;
    return -1;
}

static int take_line(const char *id, const char *label, label_line_fn *fn, void *ctx)
{
    char foi[EXECUTION_ID_SIZE];
    struct label_line line = {.id = id, .foi = foi};
    int rc = label_parse(label, &line.label);

    if (rc == 0)
        rc = execution_parse(id, foi, sizeof foi, &line.rank, &line.thread, &line.index);
    return rc < 0 ? rc : fn(ctx, &line);
}

/* What went wrong, with where. */
static int at_line(int rc, const char *path, unsigned long number)
{
    return err_set(rc == ERR_USAGE ? ERR_FORMAT : rc, "%s, record %lu: %s", path, number,
                   err_message());
}

static int read_all(FILE *in, const char *path, label_line_fn *fn, void *ctx)
{
    char *buffer = NULL, *field[MAX_FIELDS];
    size_t size = 0;
    int n = csv_read(in, &buffer, &size, field, MAX_FIELDS), rc = 0;
    int id = find_column(field, n, "id"), label = find_column(field, n, "label");

    if (!ferror(in) && (n <= 0 || id < 0 || label < 0))
        rc = err_set(ERR_FORMAT,
                     "no labels in '%s': its first line must name the columns id and label",
                     path);
    for (unsigned long number = 2; rc == 0 && !ferror(in); number++) {
        n = csv_read(in, &buffer, &size, field, MAX_FIELDS);
        if (n == 0)
            break;
        rc = n < 0 ? err_set(ERR_FORMAT, "longer than %u bytes", CSV_MAX_BYTES)
             : n <= id || n <= label ? err_set(ERR_FORMAT, "too few columns")
                                     : take_line(field[id], field[label], fn, ctx);
        if (rc < 0)
            rc = at_line(rc, path, number);
    }
    if (rc == 0 && ferror(in))
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    free(buffer);
    return rc;
}

int label_file_read(const char *path, label_line_fn *fn, void *ctx)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    int rc;

    if (in == NULL)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    rc = read_all(in, is_stdin ? "standard input" : path, fn, ctx);
    if (!is_stdin)
        fclose(in);
    return rc;
}
