/*
 * Three stages: which words a model has and what a tree's target frequencies are; training,
 * which yields the output layer; and, with that fixed, the vectors of trees.
 *
 * Letters as in stack2vec.h: X vectors of a part of the trees (PART, n_dims), O output
 * (n_padded, n_dims), Z = X O^T, G the derivative of the loss by Z. What pads a row is zero and
 * stays it.
 */
#include "features/stack2vec.h"

#include "base/blas.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/products.h"
#include "base/rng.h"
#include "features/logistic.h"
#include "features/robust.h"
#include "features/wl.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LANES STACK2VEC_LANES
#define PART 64u /* trees that are worked on at once */

#define NEGATIVE_POWER 0.75 /* of a word's frequency, as word2vec */
#define MAX_TYPICAL 2.0
#define MAX_RIDGE 1e9

/* Of training. */
#define PARTS 4u
#define BATCH (PART * PARTS)
#define CHUNK 2048u /* numbers of the output layer that are updated at once */
#define DECAY 0.9f  /* of the first and second moments */
#define DECAY_SQUARE 0.999f
#define TINY 1e-8f

#define PARABOLAS 3 /* of solving, per step along a direction */

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
    if (o->dims < 1 || o->dims > STACK2VEC_MAX_DIMS)
        return err_set(ERR_RANGE, "stack2vec cannot have %u dimensions, only 1 to %u", o->dims,
                       STACK2VEC_MAX_DIMS);
    if (o->epochs > STACK2VEC_MAX_EPOCHS)
        return err_set(ERR_RANGE, "stack2vec cannot train for %u epochs, only up to %u",
                       o->epochs, STACK2VEC_MAX_EPOCHS);
    if (o->steps > STACK2VEC_MAX_STEPS)
        return err_set(ERR_RANGE, "stack2vec cannot fit in %u steps, only in up to %u",
                       o->steps, STACK2VEC_MAX_STEPS);
    if (!(o->learning_rate > 0 && o->learning_rate <= 1) ||
        !(o->ridge > 0 && o->ridge <= MAX_RIDGE) ||
        !(o->negatives > 0 && o->negatives <= STACK2VEC_MAX_NEGATIVES))
        return err_set(
            ERR_RANGE,
            "stack2vec: the learning rate must be above 0 and at most 1, negatives above 0 and "
            "at most %g, the ridge above 0 and at most %g, not %g, %g and %g",
            STACK2VEC_MAX_NEGATIVES, MAX_RIDGE, o->learning_rate, o->negatives, o->ridge);
    if (!(o->count_share >= 0 && o->count_share <= 1))
        return err_set(ERR_RANGE, "stack2vec: the share of counts is not within 0 to 1");
    if (o->most_words < 1)
        return err_set(ERR_RANGE, "stack2vec needs at least one word");
    return 0;
}

/* ------------------------------------------------------------------------------- words */

struct word_frequency {
    uint32_t n_trees, word;
};

static int by_trees(const void *a, const void *b)
{
    const struct word_frequency *p = a, *q = b;

    return ORDER(q->n_trees, p->n_trees) ?: ORDER(p->word, q->word);
}

/* Numbers the words that are in the most trees, in their old order. Returns word -> number. */
static uint32_t *choose_words(struct stack2vec *m, const struct vocab *vocab,
                              const struct bags *bags)
{
    uint32_t n = vocab->label.n, n_kept = n < m->opts.most_words ? n : m->opts.most_words;
    struct word_frequency *frequency = mem_alloc(n, sizeof *frequency);
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

/*
 * Units are medians over trees, and a tree counts with at most MAX_TYPICAL typical trees'
 * frequencies in the negatives: one tree that took a thousand times longer than all others does
 * not change what the others are compared with.
 */

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
        if (sum > MAX_TYPICAL)
            share *= MAX_TYPICAL / sum;
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

/* ---------------------------------------------------------------------------- training */

/*
 * Adam on minibatches of trees, which have vectors of their own meanwhile, dropped at the end.
 * A batch is cut into parts of fixed size, each with a gradient of the output layer of its own;
 * these are added in the order of the parts, so the number of threads does not show.
 */

/* Numbers that Adam moves, with their moments. */
struct moving {
    float *x, *mean, *square;
};

struct train_scratch {
    float *x, *gradient; /* (PART, n_dims) */
    float *g;            /* (PART, n_padded) */
    float *positive;     /* [n_padded] */
};

struct training {
    struct stack2vec *model;
    const struct distinct *bags;
    struct moving tree, word;
    const uint32_t *batch; /* [n] rows of bags */
    size_t n;
    float *part_gradient[PARTS];   /* (n_padded, n_dims) each */
    struct train_scratch *scratch; /* per worker */
    float tree_rate, word_rate;    /* of this step, the moments' start corrected */
    float tree_unbias, word_unbias;
};

static void moving_free(struct moving *m)
{
    free(m->x);
    free(m->mean);
    free(m->square);
}

/* n numbers from i on, against their gradient. unbias: 1 / (1 - DECAY_SQUARE^step). */
static void adam(const struct moving *m, size_t i, size_t n, const float *gradient, float rate,
                 float unbias)
{
    float *restrict x = m->x + i, *restrict mean = m->mean + i;
    float *restrict square = m->square + i;

    for (size_t j = 0; j < n; j++) {
        float g = gradient[j];

        mean[j] = DECAY * mean[j] + (1 - DECAY) * g;
        square[j] = DECAY_SQUARE * square[j] + (1 - DECAY_SQUARE) * g * g;
        x[j] -= rate * mean[j] / (sqrtf(square[j] * unbias) + TINY);
    }
}

/* What is Z becomes G: sigma (P + N) - P. Most P are 0. */
static void derive(const struct training *t, uint32_t row, float *z, float *positive)
{
    const struct stack2vec *m = t->model;
    const struct distinct *bags = t->bags;
    size_t begin = bags->first[row], end = bags->first[row + 1];

    for (size_t i = begin; i < end; i++)
        positive[i - begin] =
            (logistic(z[bags->entry[i].word]) - 1) * stack2vec_target(m, &bags->entry[i]);
    for (size_t w = 0; w < m->n_padded; w++)
        z[w] = logistic(z[w]) * m->negative[w];
    for (size_t i = begin; i < end; i++)
        z[bags->entry[i].word] += positive[i - begin];
}

/* Moves the vectors of the trees of a part; the gradient of the output layer goes to out. */
static void step_part(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct training *t = ctx;
    const struct stack2vec *m = t->model;
    struct train_scratch *s = &t->scratch[worker];
    int n = (int)(end - begin), dims = (int)m->n_dims, words = (int)m->n_padded;
    const uint32_t *row = t->batch + begin;

    for (int i = 0; i < n; i++)
        memcpy(s->x + i * dims, t->tree.x + row[i] * m->n_dims, m->n_dims * sizeof(float));
    blas()->cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, words, dims, 1, s->x, dims,
                        m->output, dims, 0, s->g, words);
    for (int i = 0; i < n; i++)
        derive(t, row[i], s->g + i * words, s->positive);
    blas()->cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, dims, words, 1, s->g,
                        words, m->output, dims, 0, s->gradient, dims);
    for (int i = 0; i < n; i++) {
        adam(&t->tree, row[i] * m->n_dims, m->n_dims, s->gradient + i * dims, t->tree_rate,
             t->tree_unbias);
        blas()->cblas_sscal(words, (float)t->bags->copies[row[i]], s->g + i * words, 1);
    }
    blas()->cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, words, dims, n, 1, s->g, words,
                        s->x, dims, 0, t->part_gradient[begin / PART], dims);
}

/* Moves a chunk of the output layer. */
static void step_words(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct training *t = ctx;
    float *sum = t->part_gradient[0] + begin;

    (void)worker;
    for (size_t p = 1; p * PART < t->n; p++)
        for (size_t i = 0; i < end - begin; i++)
            sum[i] += t->part_gradient[p][begin + i];
    adam(&t->word, begin, end - begin, sum, t->word_rate, t->word_unbias);
}

static void shuffle(uint32_t *row, uint32_t n, struct rng *rng)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(rng, i), swap = row[i - 1];

        row[i - 1] = row[j];
        row[j] = swap;
    }
}

static void run_epochs(struct training *t, struct rng *rng, struct pool *pool)
{
    uint32_t n = t->bags->n, *order = mem_alloc(n, sizeof *order);
    size_t n_numbers = t->model->n_padded * t->model->n_dims;
    double rate = t->model->opts.learning_rate;
    uint64_t step = 0;

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t epoch = 1; epoch <= t->model->opts.epochs; epoch++) {
        shuffle(order, n, rng);
        t->tree_rate = (float)(rate / (1 - pow(DECAY, epoch)));
        t->tree_unbias = (float)(1 / (1 - pow(DECAY_SQUARE, epoch)));
        for (uint32_t begin = 0; begin < n; begin += BATCH) {
            t->batch = order + begin;
            t->n = n - begin < BATCH ? n - begin : BATCH;
            step++;
            t->word_rate = (float)(rate / (1 - pow(DECAY, (double)step)));
            t->word_unbias = (float)(1 / (1 - pow(DECAY_SQUARE, (double)step)));
            pool_for(pool, t->n, PART, step_part, t);
            pool_for(pool, n_numbers, CHUNK, step_words, t);
        }
    }
    free(order);
}

/*
 * The output layer, from a random start; everything else but the preconditioner is there. A row
 * of bags counts as often as it has copies. Source: Kingma, Ba: Adam: A Method for Stochastic
 * Optimization, ICLR 2015, algorithm 1, with moments of a tree's vector moving only when the
 * tree is in the batch.
 */
static void train(struct stack2vec *m, const struct distinct *bags, struct pool *pool)
{
    size_t n_numbers = m->n_padded * m->n_dims;
    unsigned n_workers = pool_threads(pool);
    struct training t = {.model = m, .bags = bags};
    struct rng rng = {m->opts.seed};
    double scale = 1 / sqrt(m->opts.dims);

    m->output = mem_alloc(n_numbers, sizeof *m->output);
    t.tree = (struct moving){mem_alloc(bags->n * m->n_dims, sizeof(float)),
                             mem_alloc(bags->n * m->n_dims, sizeof(float)),
                             mem_alloc(bags->n * m->n_dims, sizeof(float))};
    t.word = (struct moving){m->output, mem_alloc(n_numbers, sizeof(float)),
                             mem_alloc(n_numbers, sizeof(float))};
    t.scratch = mem_alloc(n_workers, sizeof *t.scratch);
    for (unsigned w = 0; w < n_workers; w++)
        t.scratch[w] = (struct train_scratch){mem_alloc(PART * m->n_dims, sizeof(float)),
                                              mem_alloc(PART * m->n_dims, sizeof(float)),
                                              mem_alloc(PART * m->n_padded, sizeof(float)),
                                              mem_alloc(m->n_padded, sizeof(float))};
    for (unsigned p = 0; p < PARTS; p++)
        t.part_gradient[p] = mem_alloc(n_numbers, sizeof(float));
    for (size_t w = 0; w < m->n_words; w++) /* of length about 1; the padding is zero */
        for (size_t c = 0; c < m->opts.dims; c++)
            m->output[w * m->n_dims + c] = (float)(scale * rng_normal(&rng));
    run_epochs(&t, &rng, pool);
    for (unsigned p = 0; p < PARTS; p++)
        free(t.part_gradient[p]);
    for (unsigned w = 0; w < n_workers; w++) {
        free(t.scratch[w].x);
        free(t.scratch[w].gradient);
        free(t.scratch[w].g);
        free(t.scratch[w].positive);
    }
    free(t.scratch);
    moving_free(&t.tree);
    t.word.x = NULL; /* the model's */
    moving_free(&t.word);
}

/* ----------------------------------------------------------------------------- solving */

/*
 * Minimises loss + ridge/2 |x|^2 for each tree, by a fixed number of steps of preconditioned
 * nonlinear conjugate gradients (Polak-Ribiere+) from x = 0, PART trees at a time, as matrix
 * products. As every step depends continuously on the bag, so does the vector, whether or not
 * the last digit has converged. Z is carried along, so a step costs two products: one for the
 * gradient, one for V = D O^T, the change of Z along the directions D.
 *
 * How far to go along a direction is found by minimising a parabola that lies above the loss
 * (Jaakkola, Jordan: Bayesian parameter estimation via variational methods, 2000): where
 * Newton's step overshoots on logistic losses, this one never makes the loss larger. What is
 * found for a tree does not depend on the trees that are solved with it (base/products.h).
 */

struct solve_part {
    float *p, *z, *v, *g;                   /* (PART, n_padded) */
    float *x, *d, *gradient, *last, *slope; /* (PART, n_dims) */
    float product[PART]; /* gradient times slope of the step before; 0 before the first */
    size_t n;            /* rows, rounded up */
};

struct solving {
    const struct stack2vec *model;
    const struct distinct *bags;
    float *vector;
    float *output;           /* (n_dims, n_padded) of the model, the other way round */
    struct solve_part *part; /* per worker */
};

static void part_init(struct solve_part *s, size_t words, size_t dims)
{
    float **wide[] = {&s->p, &s->z, &s->v, &s->g};
    float **narrow[] = {&s->x, &s->d, &s->gradient, &s->last, &s->slope};

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = mem_alloc(PART * words, sizeof(float));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        *narrow[i] = mem_alloc(PART * dims, sizeof(float));
}

static void part_release(struct solve_part *s)
{
    float *all[] = {s->p, s->z, s->v, s->g, s->x, s->d, s->gradient, s->last, s->slope};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static float sum_lanes(const float lane[LANES])
{
    float sum = 0;

    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* n is a multiple of LANES. */
static float dot(const float *a, const float *b, size_t n)
{
    float lane[LANES] = {0};

    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    return sum_lanes(lane);
}

/* A new part: targets, and everything else as at x = 0. */
static void begin_part(const struct solving *s, struct solve_part *part, size_t begin,
                       size_t end)
{
    const struct stack2vec *m = s->model;
    const struct distinct *bags = s->bags;

    part->n = (end - begin + PRODUCTS_ROWS - 1) / PRODUCTS_ROWS * PRODUCTS_ROWS;
    memset(part->p, 0, PART * m->n_padded * sizeof(float));
    memset(part->z, 0, PART * m->n_padded * sizeof(float));
    memset(part->x, 0, PART * m->n_dims * sizeof(float));
    memset(part->d, 0, PART * m->n_dims * sizeof(float));
    memset(part->last, 0, PART * m->n_dims * sizeof(float));
    memset(part->product, 0, sizeof part->product);
    for (size_t row = begin; row < end; row++)
        for (size_t i = bags->first[row]; i < bags->first[row + 1]; i++)
            part->p[(row - begin) * m->n_padded + bags->entry[i].word] =
                stack2vec_target(m, &bags->entry[i]);
}

/* gradient = (sigma (P + N) - P) O + ridge X, slope = gradient * precondition */
static void find_gradient(const struct stack2vec *m, struct solve_part *s)
{
    size_t words = m->n_padded, dims = m->n_dims;

    for (size_t i = 0; i < s->n * words; i += words)
        for (size_t w = 0; w < words; w++)
            s->g[i + w] = logistic(s->z[i + w]) * (s->p[i + w] + m->negative[w]) - s->p[i + w];
    memcpy(s->gradient, s->x, s->n * dims * sizeof(float));
    products(s->g, s->n, words, m->output, dims, (float)m->opts.ridge, s->gradient);
    products(s->gradient, s->n, dims, m->precondition, dims, 0, s->slope);
}

/* d = -slope + beta d; starts anew where that would not go down. */
static void turn_row(struct solve_part *s, size_t i, size_t dims)
{
    float *d = s->d + i * dims, *gradient = s->gradient + i * dims;
    float *slope = s->slope + i * dims, *last = s->last + i * dims;
    float product = dot(gradient, slope, dims), beta = 0;

    if (s->product[i] > 0)
        beta = (product - dot(last, slope, dims)) / s->product[i];
    if (!(beta > 0))
        beta = 0;
    for (size_t c = 0; c < dims; c++)
        d[c] = beta * d[c] - slope[c];
    if (!(dot(d, gradient, dims) < 0))
        for (size_t c = 0; c < dims; c++)
            d[c] = -slope[c];
    memcpy(last, gradient, dims * sizeof *last);
    s->product[i] = product;
}

/* First derivative of the loss of a row along v, and the second of the parabola above it. */
static void along(const float *p, const float *negative, const float *z, const float *v,
                  float far, size_t n, float *first, float *second)
{
    float one[LANES] = {0}, two[LANES] = {0};

    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES; l++) {
            float at = z[i + l] + far * v[i + l], sigma = logistic(at);
            float all = p[i + l] + negative[i + l];
            bool is_small = fabsf(at) < 1e-2f; /* where the quotient has no digits left */
            float bend = is_small ? 0.25f : (sigma - 0.5f) / (is_small ? 1 : at);

            one[l] += (sigma * all - p[i + l]) * v[i + l];
            two[l] += bend * all * v[i + l] * v[i + l];
        }
    *first = sum_lanes(one);
    *second = sum_lanes(two);
}

static void step_row(const struct stack2vec *m, struct solve_part *s, size_t i)
{
    size_t dims = m->n_dims, words = m->n_padded;
    float *x = s->x + i * dims, *z = s->z + i * words, ridge = (float)m->opts.ridge;
    const float *d = s->d + i * dims, *v = s->v + i * words;
    float xd = ridge * dot(x, d, dims), dd = ridge * dot(d, d, dims), far = 0;

    for (int k = 0; k < PARABOLAS; k++) {
        float first, second;

        along(s->p + i * words, m->negative, z, v, far, words, &first, &second);
        if (!(second + dd > 0))
            break; /* nowhere to go: at the minimum */
        far -= (first + xd + far * dd) / (second + dd);
    }
    for (size_t c = 0; c < dims; c++)
        x[c] += far * d[c];
    for (size_t w = 0; w < words; w++)
        z[w] += far * v[w];
}

static void solve_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct solving *s = ctx;
    const struct stack2vec *m = s->model;
    struct solve_part *part = &s->part[worker];

    begin_part(s, part, begin, end);
    for (uint32_t step = 0; step < m->opts.steps; step++) {
        find_gradient(m, part);
        for (size_t i = 0; i < end - begin; i++)
            turn_row(part, i, m->n_dims);
        products(part->d, part->n, m->n_dims, s->output, m->n_padded, 0, part->v);
        for (size_t i = 0; i < end - begin; i++)
            step_row(m, part, i);
    }
    memcpy(s->vector + begin * m->n_dims, part->x, (end - begin) * m->n_dims * sizeof(float));
}

/* vector: (bags->n, n_dims) out; no row depends on the others, or on the number of threads. */
static void solve(const struct stack2vec *m, const struct distinct *bags, struct pool *pool,
                  float *vector)
{
    unsigned n_workers = pool_threads(pool);
    struct solving s = {.model = m, .bags = bags, .vector = vector};

    s.part = mem_alloc(n_workers, sizeof *s.part);
    for (unsigned w = 0; w < n_workers; w++)
        part_init(&s.part[w], m->n_padded, m->n_dims);
    s.output = mem_alloc(m->n_dims * m->n_padded, sizeof *s.output);
    for (size_t w = 0; w < m->n_padded; w++)
        for (size_t c = 0; c < m->n_dims; c++)
            s.output[c * m->n_padded + w] = m->output[w * m->n_dims + c];
    pool_for(pool, bags->n, PART, solve_trees, &s);
    free(s.output);
    for (unsigned w = 0; w < n_workers; w++)
        part_release(&s.part[w]);
    free(s.part);
}

/* --------------------------------------------------------------------- preconditioning */

/* Lower triangle of h = O^T diag(curvature) O + ridge, the Hessian of a typical tree at 0. */
static double *typical_hessian(const struct stack2vec *m)
{
    size_t n = m->n_dims;
    double *h = mem_alloc(n * n, sizeof *h);

    for (size_t w = 0; w < m->n_words; w++) {
        const float *o = m->output + w * n;

        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                h[i * n + j] += (double)m->curvature[w] * o[i] * o[j];
    }
    for (size_t i = 0; i < n; i++)
        h[i * n + i] += m->opts.ridge;
    return h;
}

/* The lower triangle of h becomes L, h = L L^T. No pivot is below the ridge but by rounding. */
static void factor(double *h, size_t n, double ridge)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++)
            h[i * n + j] -= blas()->cblas_ddot((int)j, h + i * n, 1, h + j * n, 1);
        h[j * n + j] = sqrt(fmax(h[j * n + j], ridge));
        for (size_t i = j + 1; i < n; i++)
            h[i * n + j] /= h[j * n + j];
    }
}

/* Once the output layer is there. */
static void precondition(struct stack2vec *m)
{
    int n = (int)m->n_dims;
    double *h = typical_hessian(m), *inverse = mem_alloc(m->n_dims * m->n_dims, sizeof *h);

    factor(h, m->n_dims, m->opts.ridge);
    for (size_t i = 0; i < m->n_dims; i++)
        inverse[i * m->n_dims + i] = 1;
    blas()->cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n,
                        1, h, n, inverse, n);
    blas()->cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, n, 1,
                        h, n, inverse, n);
    free(m->precondition);
    m->precondition = mem_alloc(m->n_dims * m->n_dims, sizeof *m->precondition);
    for (size_t i = 0; i < m->n_dims * m->n_dims; i++)
        m->precondition[i] = (float)inverse[i];
    free(inverse);
    free(h);
}

/* ----------------------------------------------------------------------------- vectors */

static void solve_all(const struct stack2vec *m, const struct distinct *bags, struct pool *pool,
                      struct matrix x)
{
    float *vector = mem_resize(NULL, bags->n * m->n_dims, sizeof *vector);

    solve(m, bags, pool, vector);
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
    if (rc == 0)
        rc = blas_load();
    if (rc < 0)
        return rc;
    number = choose_words(m, vocab, bags);
    stack2vec_size(m);
    distinct_init(&distinct, bags, number);
    choose_units(m, &distinct);
    choose_negatives(m, &distinct);
    train(m, &distinct, pool);
    precondition(m);
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
    struct key *label;
    size_t n;

    *m = (struct stack2vec){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the stack2vec model is of another version");
    unpack_opts(&m->opts, p);
    m->per_ns = unpack_f64(p);
    m->per_count = unpack_f64(p);
    m->n_left_out = unpack_u64(p);
    n = unpack_count(p, sizeof *label);
    label = unpack_array(p, n, sizeof *label);
    for (size_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= idmap_add(&m->label, label[i]) != i;
    free(label);
    stack2vec_size(m);
    m->negative = unpack_floats(p, m->n_padded, 0);
    m->curvature = unpack_floats(p, m->n_padded, 0);
    m->output = unpack_floats(p, m->n_padded * m->n_dims, -INFINITY);
    p->is_bad |=
        !(m->per_ns >= 0) || !(m->per_count >= 0) || !isfinite(m->per_ns + m->per_count);
    if (p->is_bad)
        return err_set(ERR_FORMAT, "the stack2vec model is damaged");
    if (blas_load() < 0)
        return ERR_UNSUPPORTED;
    precondition(m);
    return 0;
}
