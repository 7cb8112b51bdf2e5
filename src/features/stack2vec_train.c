/*
 * A batch is cut into parts of fixed size, each with a gradient of the output layer of its own;
 * these are added in the order of the parts, so the number of threads does not show.
 *
 * Letters as in stack2vec.h: X vectors of the trees of a part (PART, n_dims), O output
 * (n_padded, n_dims), Z = X O^T, G the derivative of the loss by Z. What pads a row is zero and
 * stays it.
 */
#include "features/stack2vec_train.h"

#include "base/mem.h"
#include "base/rng.h"
#include "features/logistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#define PART 64u
#define PARTS 4u
#define BATCH (PART * PARTS)
#define CHUNK 2048u /* numbers of the output layer that are updated at once */

#define DECAY 0.9f /* of the first and second moments */
#define DECAY_SQUARE 0.999f
#define TINY 1e-8f

/* Numbers that Adam moves, with their moments. */
struct moving {
    float *x, *mean, *square;
};

struct scratch {
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
    float *part_gradient[PARTS]; /* (n_padded, n_dims) each */
    struct scratch *scratch;     /* per worker */
    float tree_rate, word_rate;  /* of this step, the moments' start corrected */
    float tree_unbias, word_unbias;
};

static struct moving moving_new(size_t n)
{
    return (struct moving){mem_alloc(n, sizeof(float)), mem_alloc(n, sizeof(float)),
                           mem_alloc(n, sizeof(float))};
}

static void scratch_free(struct scratch *s)
{
    free(s->x);
    free(s->gradient);
    free(s->g);
    free(s->positive);
}

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
    struct scratch *s = &t->scratch[worker];
    int n = (int)(end - begin), dims = (int)m->n_dims, words = (int)m->n_padded;
    const uint32_t *row = t->batch + begin;

    for (int i = 0; i < n; i++)
        memcpy(s->x + i * dims, t->tree.x + row[i] * m->n_dims, m->n_dims * sizeof(float));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, words, dims, 1, s->x, dims,
                m->output, dims, 0, s->g, words);
    for (int i = 0; i < n; i++)
        derive(t, row[i], s->g + i * words, s->positive);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, dims, words, 1, s->g, words,
                m->output, dims, 0, s->gradient, dims);
    for (int i = 0; i < n; i++) {
        adam(&t->tree, row[i] * m->n_dims, m->n_dims, s->gradient + i * dims, t->tree_rate,
             t->tree_unbias);
        cblas_sscal(words, (float)t->bags->copies[row[i]], s->g + i * words, 1);
    }
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, words, dims, n, 1, s->g, words, s->x,
                dims, 0, t->part_gradient[begin / PART], dims);
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

static void set_rates(struct training *t, uint32_t epoch, uint64_t step)
{
    double rate = t->model->opts.learning_rate;

    t->tree_rate = (float)(rate / (1 - pow(DECAY, epoch)));
    t->tree_unbias = (float)(1 / (1 - pow(DECAY_SQUARE, epoch)));
    t->word_rate = (float)(rate / (1 - pow(DECAY, (double)step)));
    t->word_unbias = (float)(1 / (1 - pow(DECAY_SQUARE, (double)step)));
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
    uint64_t step = 0;

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t epoch = 1; epoch <= t->model->opts.epochs; epoch++) {
        shuffle(order, n, rng);
        for (uint32_t begin = 0; begin < n; begin += BATCH) {
            t->batch = order + begin;
            t->n = n - begin < BATCH ? n - begin : BATCH;
            set_rates(t, epoch, ++step);
            pool_for(pool, t->n, PART, step_part, t);
            pool_for(pool, n_numbers, CHUNK, step_words, t);
        }
    }
    free(order);
}

/* Normal, of length about 1; the padding is zero. */
static void start(struct stack2vec *m, struct rng *rng)
{
    double scale = 1 / sqrt(m->opts.dims);

    for (size_t w = 0; w < m->n_words; w++)
        for (size_t c = 0; c < m->opts.dims; c++)
            m->output[w * m->n_dims + c] = (float)(scale * rng_normal(rng));
}

void stack2vec_train(struct stack2vec *m, const struct distinct *bags, struct pool *pool)
{
    size_t n_numbers = m->n_padded * m->n_dims;
    unsigned n_workers = pool_threads(pool);
    struct training t = {.model = m, .bags = bags};
    struct rng rng = {m->opts.seed};

    m->output = mem_alloc(n_numbers, sizeof *m->output);
    t.tree = moving_new(bags->n * m->n_dims);
    t.word = (struct moving){m->output, mem_alloc(n_numbers, sizeof(float)),
                             mem_alloc(n_numbers, sizeof(float))};
    t.scratch = mem_alloc(n_workers, sizeof *t.scratch);
    for (unsigned w = 0; w < n_workers; w++)
        t.scratch[w] = (struct scratch){mem_alloc(PART * m->n_dims, sizeof(float)),
                                        mem_alloc(PART * m->n_dims, sizeof(float)),
                                        mem_alloc(PART * m->n_padded, sizeof(float)),
                                        mem_alloc(m->n_padded, sizeof(float))};
    for (unsigned p = 0; p < PARTS; p++)
        t.part_gradient[p] = mem_alloc(n_numbers, sizeof(float));
    openblas_set_num_threads(1); /* the parts are shared out here */
    start(m, &rng);
    run_epochs(&t, &rng, pool);
    for (unsigned p = 0; p < PARTS; p++)
        free(t.part_gradient[p]);
    for (unsigned w = 0; w < n_workers; w++)
        scratch_free(&t.scratch[w]);
    free(t.scratch);
    moving_free(&t.tree);
    t.word.x = NULL; /* the model's */
    moving_free(&t.word);
}
