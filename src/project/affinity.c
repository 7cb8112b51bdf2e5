/*
 * The width is searched in units of the row's own mean distance, from which one step of the
 * usual search (double or halve until it is bracketed, then bisect) does not get far.
 */
#include "project/affinity.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6 /* of the entropy, nats */
#define STEPS 100

/* Sets p for this precision and returns its entropy. */
static double try(const double *square, size_t k, double beta, double *p)
{
    double sum = 0, weighted = 0;

    for (size_t j = 0; j < k; j++) {
        p[j] = exp(-beta * (square[j] - square[0]));
        sum += p[j];
        weighted += p[j] * (square[j] - square[0]);
    }
    for (size_t j = 0; j < k; j++)
        p[j] /= sum;
    return log(sum) + beta * weighted / sum;
}

void affinity_row(const double *square, size_t k, double perplexity, double *p)
{
    double wanted = log(perplexity), low = 0, high = INFINITY, mean = 0, beta;

    for (size_t j = 0; j < k; j++)
        mean += (square[j] - square[0]) / (double)k;
    beta = mean > 0 ? 1 / mean : 0;
    for (int step = 0; step < STEPS && isfinite(beta); step++) {
        double off = try(square, k, beta, p) - wanted;

        if (fabs(off) < TOLERANCE || beta == 0)
            return;
        *(off > 0 ? &low : &high) = beta;
        beta = isinf(high) ? 2 * beta : (low + high) / 2;
    }
}

struct affinity_rows {
    const struct nearest *nearest;
    double perplexity;
    double *p; /* (rows, k) p_j|i */
    bool *is_mutual;
    const struct affinity *a;
};

static void fill_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct affinity_rows *r = ctx;
    size_t k = r->nearest->k;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        affinity_row(r->nearest->square + i * k, k, r->perplexity, r->p + i * k);
}

/* The place of i among the neighbours of j, or k. */
static size_t place_of(const struct nearest *nearest, size_t j, size_t i)
{
    const uint32_t *index = nearest->index + j * nearest->k;
    size_t c = 0;

    while (c < nearest->k && index[c] != i)
        c++;
    return c;
}

/* Which pairs are each other's neighbours. */
static void find_mutual(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct affinity_rows *r = ctx;
    size_t k = r->nearest->k;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        for (size_t c = 0; c < k; c++) {
            size_t j = r->nearest->index[i * k + c];

            r->is_mutual[i * k + c] = place_of(r->nearest, j, i) < k;
        }
}

/* Entries of one direction only appear in both rows, mutual ones are in both already. */
static void count(struct affinity *a, const struct affinity_rows *r)
{
    size_t k = r->nearest->k;

    for (size_t i = 0; i < a->n; i++) {
        a->first[i + 1] += k;
        for (size_t c = 0; c < k; c++)
            a->first[r->nearest->index[i * k + c] + 1] += !r->is_mutual[i * k + c];
    }
    for (size_t i = 0; i < a->n; i++)
        a->first[i + 1] += a->first[i];
}

static void scatter(struct affinity *a, const struct affinity_rows *r)
{
    size_t *at = mem_resize(NULL, a->n, sizeof *at), k = r->nearest->k;

    for (size_t i = 0; i < a->n; i++)
        at[i] = a->first[i] + k;
    for (size_t i = 0; i < a->n; i++)
        for (size_t c = 0; c < k; c++) {
            size_t j = r->nearest->index[i * k + c], here = a->first[i] + c;
            double p = r->p[i * k + c];

            if (r->is_mutual[i * k + c])
                p += r->p[j * k + place_of(r->nearest, j, i)];
            a->to[here] = (uint32_t)j;
            a->p[here] = (float)(p / 2 / (double)a->n);
            if (r->is_mutual[i * k + c])
                continue;
            a->to[at[j]] = (uint32_t)i;
            a->p[at[j]++] = a->p[here];
        }
    free(at);
}

void affinity_init(struct affinity *a, const struct nearest *nearest, double perplexity,
                   struct pool *pool)
{
    size_t n = nearest->rows, k = nearest->k;
    struct affinity_rows r = {.nearest = nearest, .perplexity = perplexity};

    r.p = mem_resize(NULL, n * k, sizeof *r.p);
    r.is_mutual = mem_resize(NULL, n * k, sizeof *r.is_mutual);
    *a = (struct affinity){.n = n, .first = mem_alloc(n + 1, sizeof *a->first)};
    pool_for(pool, n, 64, fill_rows, &r);
    pool_for(pool, n, 64, find_mutual, &r);
    count(a, &r);
    a->to = mem_resize(NULL, a->first[n], sizeof *a->to);
    a->p = mem_resize(NULL, a->first[n], sizeof *a->p);
    scatter(a, &r);
    for (size_t e = 0; e < a->first[n]; e++)
        if (a->p[e] > 0)
            a->entropy += (double)a->p[e] * log((double)a->p[e]);
    free(r.p);
    free(r.is_mutual);
}

void affinity_release(struct affinity *a)
{
    free(a->first);
    free(a->to);
    free(a->p);
    *a = (struct affinity){0};
}
