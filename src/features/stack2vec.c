/*
 * Here: which words a model has, what a tree's target frequencies are, and the order of the
 * stages. Units are medians over trees, and a tree counts with at most MOST_TYPICAL typical
 * trees' frequencies in the negatives: one tree that took a thousand times longer than all
 * others does not change what the others are compared with.
 */
#include "features/stack2vec.h"

#include "base/err.h"
#include "base/mem.h"
#include "features/distinct.h"
#include "features/robust.h"
#include "features/stack2vec_solve.h"
#include "features/stack2vec_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEGATIVE_POWER 0.75 /* of a word's frequency, as word2vec */
#define MOST_TYPICAL 2.0

struct stack2vec_opts stack2vec_default(void)
{
    return (struct stack2vec_opts){
        .dims = 128,
        .epochs = 20,
        .steps = 24,
        .most_words = 4096,
        .learning_rate = 0.02,
        .negatives = 5,
        .count_share = 0.25,
        .ridge = 0.03,
        .seed = 1,
    };
}

void stack2vec_override(struct stack2vec_opts *opts, const struct stack2vec_opts *said)
{
    if (said->dims > 0)
        opts->dims = said->dims;
    if (said->epochs > 0)
        opts->epochs = said->epochs;
    if (said->learning_rate > 0)
        opts->learning_rate = said->learning_rate;
    if (said->negatives > 0)
        opts->negatives = said->negatives;
}

void stack2vec_release(struct stack2vec *m)
{
    idmap_release(&m->label);
    free(m->negative);
    free(m->curvature);
    free(m->output);
    free(m->precondition);
    *m = (struct stack2vec){0};
}

int stack2vec_check(const struct stack2vec_opts *o)
{
    if (o->dims < 1 || o->dims > STACK2VEC_MOST_DIMS)
        return err_set(ERR_RANGE, "stack2vec cannot have %u dimensions, only 1 to %u", o->dims,
                       STACK2VEC_MOST_DIMS);
    if (o->epochs > STACK2VEC_MOST_EPOCHS)
        return err_set(ERR_RANGE, "stack2vec cannot train for %u epochs, only up to %u",
                       o->epochs, STACK2VEC_MOST_EPOCHS);
    if (o->steps > STACK2VEC_MOST_STEPS)
        return err_set(ERR_RANGE, "stack2vec cannot fit in %u steps, only in up to %u",
                       o->steps, STACK2VEC_MOST_STEPS);
    if (!(o->learning_rate > 0 && o->learning_rate <= 1) ||
        !(o->ridge > 0 && o->ridge <= 1e9) ||
        !(o->negatives > 0 && o->negatives <= STACK2VEC_MOST_NEGATIVES))
        return err_set(ERR_RANGE,
                       "stack2vec: a learning rate, a number of negatives or a ridge "
                       "that cannot be");
    if (!(o->count_share >= 0 && o->count_share <= 1))
        return err_set(ERR_RANGE, "stack2vec: the share of counts is not within 0 to 1");
    if (o->most_words < 1)
        return err_set(ERR_RANGE, "stack2vec needs at least one word");
    return 0;
}

/* ------------------------------------------------------------------------------- words */

struct frequency {
    uint32_t n_trees, word;
};

static int by_trees(const void *a, const void *b)
{
    const struct frequency *p = a, *q = b;

    if (p->n_trees != q->n_trees)
        return p->n_trees > q->n_trees ? -1 : 1;
    return p->word < q->word ? -1 : p->word > q->word;
}

/* Numbers the words that are in the most trees, in their old order. Returns word -> number. */
static uint32_t *choose_words(struct stack2vec *m, const struct vocab *vocab,
                              const struct bags *bags)
{
    uint32_t n = vocab->label.n, n_kept = n < m->opts.most_words ? n : m->opts.most_words;
    struct frequency *frequency = mem_alloc(n, sizeof *frequency);
    uint32_t *number = mem_alloc(n, sizeof *number);

    for (uint32_t w = 0; w < n; w++) {
        frequency[w].word = w;
        number[w] = WORD_NONE;
    }
    for (size_t i = 0; i < bags->first[bags->n_trees]; i++)
        frequency[bags->word[i]].n_trees++;
    qsort(frequency, n, sizeof *frequency, by_trees);
    for (uint32_t k = 0; k < n_kept; k++)
        number[frequency[k].word] = 0;
    for (uint32_t w = 0; w < n; w++)
        if (number[w] != WORD_NONE)
            number[w] = idmap_add(&m->label, vocab->label.key[w]);
    m->n_left_out = n - n_kept;
    free(frequency);
    return number;
}

void stack2vec_size(struct stack2vec *m)
{
    m->n_words = m->label.n;
    m->n_padded = (m->n_words + STACK2VEC_LANES - 1) / STACK2VEC_LANES * STACK2VEC_LANES;
    m->n_dims = (m->opts.dims + STACK2VEC_LANES - 1) / STACK2VEC_LANES * STACK2VEC_LANES;
}

/* ----------------------------------------------------------------------------- targets */

/* 1 / the median of the trees' sums that are not 0; 0 if all are. */
static double per_typical(const double *sum, uint32_t n)
{
    double *positive = mem_alloc(n, sizeof *positive), typical = 0;
    size_t n_positive = 0;

    for (uint32_t t = 0; t < n; t++)
        if (sum[t] > 0)
            positive[n_positive++] = sum[t];
    if (n_positive > 0)
        typical = robust_quantile(positive, n_positive, 0.5);
    free(positive);
    return typical > 0 ? 1 / typical : 0;
}

/* Where no call takes any time, counts are all there is. */
static void choose_units(struct stack2vec *m, const struct distinct *bags)
{
    double *weight = mem_alloc(bags->n_trees, sizeof *weight);
    double *count = mem_alloc(bags->n_trees, sizeof *count);
    double share = m->opts.count_share;

    for (uint32_t t = 0; t < bags->n_trees; t++)
        for (size_t i = bags->first[bags->row[t]]; i < bags->first[bags->row[t] + 1]; i++) {
            weight[t] += (double)bags->entry[i].weight_ns;
            count[t] += bags->entry[i].count;
        }
    m->per_ns = per_typical(weight, bags->n_trees);
    m->per_count = per_typical(count, bags->n_trees);
    if (m->per_ns > 0) {
        m->per_ns *= 1 - share;
        m->per_count *= share;
    }
    free(weight);
    free(count);
}

/* mean[w]: target frequency of a word in the mean tree, see the top. */
static void mean_targets(const struct stack2vec *m, const struct distinct *bags, double *mean)
{
    for (uint32_t row = 0; row < bags->n; row++) {
        size_t begin = bags->first[row], end = bags->first[row + 1];
        double sum = 0, share = bags->copies[row] / (double)bags->n_trees;

        for (size_t i = begin; i < end; i++)
            sum += stack2vec_target(m, &bags->entry[i]);
        if (sum > MOST_TYPICAL)
            share *= MOST_TYPICAL / sum;
        for (size_t i = begin; i < end; i++)
            mean[bags->entry[i].word] += share * stack2vec_target(m, &bags->entry[i]);
    }
}

static void choose_negatives(struct stack2vec *m, const struct distinct *bags)
{
    double *mean = mem_alloc(m->n_words, sizeof *mean), sum = 0;

    mean_targets(m, bags, mean);
    m->negative = mem_alloc(m->n_padded, sizeof *m->negative);
    m->curvature = mem_alloc(m->n_padded, sizeof *m->curvature);
    for (size_t w = 0; w < m->n_words; w++)
        sum += pow(mean[w], NEGATIVE_POWER);
    for (size_t w = 0; w < m->n_words; w++) {
        double negative = m->opts.negatives * pow(mean[w], NEGATIVE_POWER) / sum;

        m->negative[w] = (float)negative;
        m->curvature[w] = (float)((mean[w] + negative) / 4);
    }
    free(mean);
}

/* ----------------------------------------------------------------------------- vectors */

static void solve_all(const struct stack2vec *m, const struct distinct *bags, struct pool *pool,
                      struct matrix x)
{
    float *vector = mem_resize(NULL, bags->n * m->n_dims, sizeof *vector);

    stack2vec_solve(m, bags, pool, vector);
    for (uint32_t t = 0; t < bags->n_trees; t++)
        for (size_t c = 0; c < x.cols; c++)
            matrix_row(x, t)[c] = vector[bags->row[t] * m->n_dims + c];
    free(vector);
}

int stack2vec_fit(struct stack2vec *m, const struct stack2vec_opts *opts,
                  const struct vocab *vocab, const struct bags *bags, struct pool *pool,
                  struct matrix x)
{
    struct distinct distinct;
    uint32_t *number;
    int rc = stack2vec_check(opts);

    *m = (struct stack2vec){.opts = *opts};
    if (rc < 0)
        return rc;
    number = choose_words(m, vocab, bags);
    stack2vec_size(m);
    distinct_init(&distinct, bags, number);
    choose_units(m, &distinct);
    choose_negatives(m, &distinct);
    stack2vec_train(m, &distinct, pool);
    stack2vec_precondition(m);
    solve_all(m, &distinct, pool, x);
    distinct_release(&distinct);
    free(number);
    return 0;
}

static void count_unseen(const struct bags *bags, const uint32_t *number,
                         struct stack2vec_unseen *unseen)
{
    for (uint32_t t = 0; t < bags->n_trees; t++) {
        bool has_any = false;

        for (size_t i = bags->first[t]; i < bags->first[t + 1]; i++)
            if (number[bags->word[i]] == WORD_NONE) {
                unseen->n_calls += bags->count[i];
                has_any = true;
            }
        unseen->n_trees += has_any;
    }
}

void stack2vec_infer(const struct stack2vec *m, const struct vocab *vocab,
                     const struct bags *bags, struct pool *pool, struct matrix x,
                     struct stack2vec_unseen *unseen)
{
    uint32_t *number = mem_alloc(vocab->label.n, sizeof *number);
    struct distinct distinct;

    *unseen = (struct stack2vec_unseen){0};
    for (uint32_t w = 0; w < vocab->label.n; w++) {
        uint32_t known = idmap_find(&m->label, vocab->label.key[w]);

        number[w] = known == IDMAP_NONE ? WORD_NONE : known;
        unseen->n_words += known == IDMAP_NONE;
    }
    count_unseen(bags, number, unseen);
    distinct_init(&distinct, bags, number);
    solve_all(m, &distinct, pool, x);
    distinct_release(&distinct);
    free(number);
}

/* ------------------------------------------------------------------------------ bytes */

/* What follows from the rest (sizes, precondition) is not kept, but made again. */
#define FORMAT 1u /* of the bytes */

void stack2vec_pack(const struct stack2vec *m, struct pack *p)
{
    const struct stack2vec_opts *o = &m->opts;

    pack_u32(p, FORMAT);
    pack_u32(p, o->dims);
    pack_u32(p, o->epochs);
    pack_u32(p, o->steps);
    pack_u32(p, o->most_words);
    pack_f64(p, o->learning_rate);
    pack_f64(p, o->negatives);
    pack_f64(p, o->count_share);
    pack_f64(p, o->ridge);
    pack_u64(p, o->seed);
    pack_f64(p, m->per_ns);
    pack_f64(p, m->per_count);
    pack_u64(p, m->n_left_out);
    pack_array(p, m->label.key, m->label.n, sizeof *m->label.key);
    pack_array(p, m->negative, m->n_padded, sizeof *m->negative);
    pack_array(p, m->curvature, m->n_padded, sizeof *m->curvature);
    pack_array(p, m->output, m->n_padded * m->n_dims, sizeof *m->output);
}

static void unpack_opts(struct stack2vec_opts *o, struct pack *p)
{
    o->dims = unpack_u32(p);
    o->epochs = unpack_u32(p);
    o->steps = unpack_u32(p);
    o->most_words = unpack_u32(p);
    o->learning_rate = unpack_f64(p);
    o->negatives = unpack_f64(p);
    o->count_share = unpack_f64(p);
    o->ridge = unpack_f64(p);
    o->seed = unpack_u64(p);
    if (!p->is_bad)
        p->is_bad = stack2vec_check(o) < 0;
}

static void unpack_labels(struct idmap *map, struct pack *p)
{
    size_t n = unpack_count(p, sizeof(struct key));
    struct key *key = unpack_array(p, n, sizeof *key);

    for (size_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= idmap_add(map, key[i]) != i;
    free(key);
}

/* An array of so many numbers, none below least. */
static float *unpack_floats(struct pack *p, size_t n, float least)
{
    float *x;

    if (unpack_count(p, sizeof *x) != n) {
        p->is_bad = true;
        n = 0;
    }
    x = unpack_array(p, n, sizeof *x);
    for (size_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= !isfinite(x[i]) || x[i] < least;
    return x;
}

int stack2vec_unpack(struct stack2vec *m, struct pack *p)
{
    *m = (struct stack2vec){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the stack2vec model is of another version");
    unpack_opts(&m->opts, p);
    m->per_ns = unpack_f64(p);
    m->per_count = unpack_f64(p);
    m->n_left_out = unpack_u64(p);
    unpack_labels(&m->label, p);
    stack2vec_size(m);
    m->negative = unpack_floats(p, m->n_padded, 0);
    m->curvature = unpack_floats(p, m->n_padded, 0);
    m->output = unpack_floats(p, m->n_padded * m->n_dims, -INFINITY);
    p->is_bad |=
        !(m->per_ns >= 0) || !(m->per_count >= 0) || !isfinite(m->per_ns + m->per_count);
    if (p->is_bad)
        return err_set(ERR_FORMAT, "the stack2vec model is damaged");
    stack2vec_precondition(m);
    return 0;
}
