/*
 * Preconditioned nonlinear conjugate gradients (Polak-Ribiere+), PART trees at a time, as
 * matrix products. Z = X O^T is carried along, so a step costs two of them: one for the
 * gradient, one for the change of Z along the direction.
 *
 * How far to go along a direction is found by minimising a parabola that lies above the loss
 * (Jaakkola, Jordan: Bayesian parameter estimation via variational methods, 2000): where
 * Newton's step overshoots on logistic losses, this one never makes the loss larger.
 *
 * Letters as in stack2vec.h; V = D O^T for the directions D. What is found for a tree does not
 * depend on the trees that are solved with it (base/products.h).
 */
#include "features/stack2vec_solve.h"

#include "base/mem.h"
#include "base/products.h"
#include "features/logistic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#define PART 64u
#define PARABOLAS 3 /* per step along a direction */
#define LANES STACK2VEC_LANES

struct part {
    float *p, *z, *v, *g;                   /* (PART, n_padded) */
    float *x, *d, *gradient, *last, *slope; /* (PART, n_dims) */
    float product[PART]; /* gradient times slope of the step before; 0 before the first */
    size_t n;            /* rows, rounded up */
};

struct solving {
    const struct stack2vec *model;
    const struct distinct *bags;
    float *vector;
    float *output;     /* (n_dims, n_padded) of the model, the other way round */
    struct part *part; /* per worker */
};

static void part_init(struct part *s, size_t words, size_t dims)
{
    float **wide[] = {&s->p, &s->z, &s->v, &s->g};
    float **narrow[] = {&s->x, &s->d, &s->gradient, &s->last, &s->slope};

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = mem_alloc(PART * words, sizeof(float));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        *narrow[i] = mem_alloc(PART * dims, sizeof(float));
}

static void part_release(struct part *s)
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
static void begin_part(const struct solving *s, struct part *part, size_t begin, size_t end)
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
static void find_gradient(const struct stack2vec *m, struct part *s)
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
static void turn_row(struct part *s, size_t i, size_t dims)
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

static void step_row(const struct stack2vec *m, struct part *s, size_t i)
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

static void solve_part(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct solving *s = ctx;
    const struct stack2vec *m = s->model;
    struct part *part = &s->part[worker];

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

void stack2vec_solve(const struct stack2vec *m, const struct distinct *bags, struct pool *pool,
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
    pool_for(pool, bags->n, PART, solve_part, &s);
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
            h[i * n + j] -= cblas_ddot((int)j, h + i * n, 1, h + j * n, 1);
        h[j * n + j] = sqrt(fmax(h[j * n + j], ridge));
        for (size_t i = j + 1; i < n; i++)
            h[i * n + j] /= h[j * n + j];
    }
}

void stack2vec_precondition(struct stack2vec *m)
{
    int n = (int)m->n_dims;
    double *h = typical_hessian(m), *inverse = mem_alloc(m->n_dims * m->n_dims, sizeof *h);

    openblas_set_num_threads(1);
    factor(h, m->n_dims, m->opts.ridge);
    for (size_t i = 0; i < m->n_dims; i++)
        inverse[i * m->n_dims + i] = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, n, 1, h, n,
                inverse, n);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, h, n,
                inverse, n);
    free(m->precondition);
    m->precondition = mem_alloc(m->n_dims * m->n_dims, sizeof *m->precondition);
    for (size_t i = 0; i < m->n_dims * m->n_dims; i++)
        m->precondition[i] = (float)inverse[i];
    free(inverse);
    free(h);
}
