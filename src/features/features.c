/* One section per kind. */
#include "features/features.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 30)

/* -------------------------------------------------------------------------------- time */

/* Duration, exit time, messages, rank (the paper, section 6.4), each to mean 0, deviation 1. */
static size_t time_columns(const struct feature_input *input)
{
    (void)input;
    return 4;
}

static void standardize(struct matrix x, size_t c)
{
    double mean = 0, square = 0, scale;

    for (size_t i = 0; i < x.rows; i++)
        mean += matrix_row(x, i)[c] / (double)x.rows;
    for (size_t i = 0; i < x.rows; i++)
        square += pow(matrix_row(x, i)[c] - mean, 2) / (double)x.rows;
    scale = sqrt(square);
    for (size_t i = 0; i < x.rows; i++)
        matrix_row(x, i)[c] = (matrix_row(x, i)[c] - mean) / (scale > 0 ? scale : 1);
}

static int fill_time(const struct feature_input *input, struct matrix x)
{
    const struct forest *f = input->forest;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        double *row = matrix_row(x, t);

        row[0] = (double)forest_own_ns(f, t);
        row[1] = (double)(f->enter_ns[t] + f->root_ns[t]);
        row[2] = f->n_messages[t];
        row[3] = input->defs->location[f->location[t]].rank;
    }
    for (size_t c = 0; c < x.cols; c++)
        standardize(x, c);
    return 0;
}

/* ---------------------------------------------------------------------------- subtrees */

/* Summed inclusive time of every subtree, in typical durations of the root. */
static size_t subtree_columns(const struct feature_input *input)
{
    return input->wl->vocab.label.n;
}

static int fill_subtrees(const struct feature_input *input, struct matrix x)
{
    const struct bags *bags = &input->wl->bags;

    for (uint32_t t = 0; t < bags->n_trees; t++)
        for (size_t i = bags->first[t]; i < bags->first[t + 1]; i++)
            matrix_row(x, t)[bags->word[i]] =
                (double)bags->weight_ns[i] / input->model->root_ns;
    return 0;
}

/* ---------------------------------------------------------------------------- residual */

/* Per path: log of the time lost there for certain, and how rare its rarest shape is. */
static size_t residual_columns(const struct feature_input *input)
{
    return 2 * (size_t)input->model->paths.n;
}

static int fill_residual(const struct feature_input *input, struct matrix x)
{
    const struct forest *f = input->forest;
    uint32_t n = input->model->paths.n;
    struct residual_pairs pairs;

    residual_pairs_init(&pairs, input->model);
    for (uint32_t t = 0; t < f->n_trees; t++) {
        double *row = matrix_row(x, t);

        residual_pairs_of(&pairs, input->model, input->place, f, t);
        for (size_t i = 0; i < pairs.n; i++)
            if (pairs.pair[i].path != PATH_NONE)
                row[pairs.pair[i].path] =
                    log1p(pairs.pair[i].sure_ns / input->model->root_ns / RESIDUAL_MATERIAL);
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
            uint32_t path = residual_path(input->place, f, t, v);
            double rarity =
                residual_rarity(input->model, input->place, f, t, v) - RESIDUAL_TYPICAL_RARITY;

            if (path != PATH_NONE && rarity > row[n + path])
                row[n + path] = rarity;
        }
    }
    residual_pairs_release(&pairs);
    return 0;
}

/* --------------------------------------------------------------------------- stack2vec */

static size_t stack2vec_columns(const struct feature_input *input)
{
    return input->embedding->opts.dims;
}

static int fill_stack2vec(const struct feature_input *input, struct matrix x)
{
    const struct vocab *vocab = &input->wl->vocab;
    const struct bags *bags = &input->wl->bags;
    const struct stack2vec_opts opts = input->embedding->opts;

    if (input->embedding->n_words == 0)
        return stack2vec_fit(input->embedding, &opts, vocab, bags, input->pool, x);
    stack2vec_infer(input->embedding, vocab, bags, input->pool, x, input->unseen);
    return 0;
}

static const struct feature_ops kinds[] = {
    {"residual", "time lost and rarity per call path", false, false, true, residual_columns,
     fill_residual},
    {"time", "duration, exit time, messages, rank", false, false, false, time_columns,
     fill_time},
    {"subtrees", "time in every subtree", true, false, false, subtree_columns, fill_subtrees},
    {"stack2vec", "a learned embedding of the subtrees", true, true, true, stack2vec_columns,
     fill_stack2vec},
};

const struct feature_ops *feature_find(const char *name)
{
    return named_find(NAMED(kinds), name);
}

const char *feature_name(size_t i)
{
    return named_at(NAMED(kinds), i);
}

int feature_matrix(const struct feature_ops *ops, const struct feature_input *input,
                   struct matrix *x)
{
    size_t rows = input->forest->n_trees, cols = ops->n_columns(input);
    int rc;

    *x = (struct matrix){.rows = rows, .cols = cols, .stride = cols};
    if (cols > 0 && rows > MAX_BYTES / sizeof(double) / cols)
        return err_set(ERR_RANGE,
                       "the features '%s' of %zu executions have %zu columns, which do "
                       "not fit in memory; take other features",
                       ops->name, rows, cols);
    x->x = mem_alloc(rows * cols, sizeof(double));
    rc = ops->fill(input, *x);
    if (rc < 0) {
        free(x->x);
        *x = (struct matrix){0};
    }
    return rc;
}
