/*
 * An iteration is one pass over the leaves of the tree (push), one over the rows (pull), and
 * one that moves the points. Each row's sums are its own, so threads do not matter.
 */
#include "project/tsne.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "project/pca.h"
#include "project/project.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6 /* of the entropy, nats */
#define STEPS 100
#define EXAGGERATION 12.0
#define EXAGGERATED 250 /* iterations, or a quarter of a shorter run */
#define START_SCALE 1e-4
#define START_NOISE 1e-2 /* of the start: rows that look alike on it must be able to part */
#define MIN_GAIN 0.01

/* ------------------------------------------------------------------------------- affinities */

/*
 * The width is searched in units of the row's own mean distance, from which one step of the
 * common search (double or halve until it is bracketed, then bisect) does not get far.
 */

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

/* ---------------------------------------------------------------------------------- descent */

void affinity_release(struct affinity *a)
{
    free(a->first);
    free(a->to);
    free(a->p);
    *a = (struct affinity){0};
}

struct tsne {
    const struct project_opts *opts;
    uint32_t n_iterations;
    size_t n;
    struct affinity affinity;
    struct quadtree *tree;
    struct tsne_forces forces;
    double *y, *step, *gain; /* (n, 2) each */
};

/* --------------------------------------------------------------------------------- forces */

void tsne_forces_init(struct tsne_forces *f, size_t n)
{
    f->pull = mem_alloc(2 * n, sizeof *f->pull);
    f->push = mem_alloc(2 * n, sizeof *f->push);
    f->log1 = mem_alloc(n, sizeof *f->log1);
}

void tsne_forces_release(struct tsne_forces *f)
{
    free(f->pull);
    free(f->push);
    free(f->log1);
    *f = (struct tsne_forces){0};
}

struct pull {
    const struct affinity *a;
    const double *y;
    struct tsne_forces *f;
    bool with_cost;
};

static void pull_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct pull *p = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double y0 = p->y[2 * i], y1 = p->y[2 * i + 1], sum0 = 0, sum1 = 0;

        for (size_t e = p->a->first[i]; e < p->a->first[i + 1]; e++) {
            const double *other = p->y + 2 * (size_t)p->a->to[e];
            double d0 = y0 - other[0], d1 = y1 - other[1];
            double pq = (double)p->a->p[e] / (1 + (d0 * d0 + d1 * d1));

            sum0 += pq * d0;
            sum1 += pq * d1;
        }
        p->f->pull[2 * i] = sum0;
        p->f->pull[2 * i + 1] = sum1;
    }
}

static void log_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct pull *p = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double sum = 0;

        for (size_t e = p->a->first[i]; e < p->a->first[i + 1]; e++) {
            const double *other = p->y + 2 * (size_t)p->a->to[e];
            double d0 = p->y[2 * i] - other[0], d1 = p->y[2 * i + 1] - other[1];

            sum += (double)p->a->p[e] * log1p(d0 * d0 + d1 * d1);
        }
        p->f->log1[i] = sum;
    }
}

void tsne_forces_at(struct tsne_forces *f, const struct affinity *a, const double *y,
                    double theta, bool with_cost, struct quadtree *tree, struct pool *pool)
{
    struct pull pull = {a, y, f, with_cost};

    f->sum_q = quadtree_repel(tree, y, a->n, theta, f->push);
    pool_for(pool, a->n, 256, pull_rows, &pull);
    if (with_cost)
        pool_for(pool, a->n, 256, log_rows, &pull);
}

double tsne_cost(const struct tsne_forces *f, const struct affinity *a)
{
    double cost = a->entropy + log(f->sum_q); /* P sums to 1 */

    for (size_t i = 0; i < a->n; i++)
        cost += f->log1[i];
    return cost;
}

/* ---------------------------------------------------------------------------- the descent */

/* Principal components, of deviation START_SCALE, with a little noise. */
static int start(struct tsne *t, struct matrix x)
{
    struct rng rng = {t->opts->seed};
    double square = 0, scale;
    int rc = pca_run(x, t->opts, t->y, &(struct project_result){0});

    for (size_t i = 0; i < t->n; i++)
        square += t->y[2 * i] * t->y[2 * i] / (double)t->n;
    scale = square > 0 ? START_SCALE / sqrt(square) : 0;
    for (size_t i = 0; i < 2 * t->n; i++)
        t->y[i] = t->y[i] * scale + START_SCALE * START_NOISE * rng_normal(&rng);
    return rc;
}

static void move(struct tsne *t, double exaggeration, double momentum)
{
    double rate = (double)t->n / exaggeration, mean[2] = {0};

    for (size_t i = 0; i < 2 * t->n; i++) {
        double slope = exaggeration * t->forces.pull[i] - t->forces.push[i] / t->forces.sum_q;
        bool is_turning = (slope > 0) == (t->step[i] > 0);

        t->gain[i] = is_turning ? fmax(0.8 * t->gain[i], MIN_GAIN) : t->gain[i] + 0.2;
        t->step[i] = momentum * t->step[i] - rate * t->gain[i] * slope;
        t->y[i] += t->step[i];
        mean[i & 1] += t->y[i] / (double)t->n;
    }
    for (size_t i = 0; i < 2 * t->n; i++)
        t->y[i] -= mean[i & 1];
}

static void descend(struct tsne *t, const struct unique_rows *d, size_t rows, double *points,
                    struct project_result *result)
{
    uint32_t n = t->n_iterations;
    uint32_t n_exaggerated = n / 4 < EXAGGERATED ? n / 4 : EXAGGERATED;

    for (uint32_t i = 0; i <= n; i++) {
        bool is_due = i == n || project_due(t->opts, i);

        result->n_iterations = i;
        tsne_forces_at(&t->forces, &t->affinity, t->y, TSNE_THETA, is_due, t->tree,
                       t->opts->pool);
        if (is_due) {
            struct project_step step = {i, n, 0, points, rows};

            step.cost = result->cost = tsne_cost(&t->forces, &t->affinity);
            unique_rows_spread(d, rows, t->y, points);
            if (!project_tell(t->opts, &step)) {
                result->is_cancelled = i < n;
                return;
            }
        }
        if (i < n)
            move(t, i < n_exaggerated ? EXAGGERATION : 1, i < n_exaggerated ? 0.5 : 0.8);
    }
}

static void prepare(struct tsne *t, struct matrix x)
{
    double most = (double)(t->n - 1) / 3;
    double wanted = t->opts->perplexity > 0 ? t->opts->perplexity : PROJECT_PERPLEXITY;
    double perplexity = wanted < most ? wanted : most;
    struct nearest nearest;

    nearest_find(x, (size_t)(3 * perplexity), NEAREST_EXACT, t->opts->seed, t->opts->pool,
                 &nearest);
    affinity_init(&t->affinity, &nearest, perplexity, t->opts->pool);
    nearest_release(&nearest);
    t->tree = quadtree_new(t->n, t->opts->pool);
    tsne_forces_init(&t->forces, t->n);
    t->step = mem_alloc(2 * t->n, sizeof *t->step);
    t->gain = mem_resize(NULL, 2 * t->n, sizeof *t->gain);
    for (size_t i = 0; i < 2 * t->n; i++)
        t->gain[i] = 1;
}

int tsne_run(struct matrix x, const struct project_opts *opts, double *points,
             struct project_result *result)
{
    struct tsne t = {.opts = opts};
    struct unique_rows d;
    int rc;

    if (opts->perplexity != 0 && !(opts->perplexity >= 1))
        return err_set(ERR_RANGE, "a perplexity of %g is not 1 or more", opts->perplexity);
    unique_rows_init(&d, x);
    t.n = d.n;
    t.n_iterations = opts->iterations ? opts->iterations : TSNE_ITERATIONS;
    if (t.n <= 3) {
        rc = pca_run(x, opts, points, result);
        result->cost = 0;
        goto out;
    }
    t.y = mem_alloc(2 * t.n, sizeof *t.y);
    rc = start(&t, d.x);
    if (rc < 0)
        goto out;
    prepare(&t, d.x);
    descend(&t, &d, x.rows, points, result);
out:
    affinity_release(&t.affinity);
    quadtree_free(t.tree);
    tsne_forces_release(&t.forces);
    free(t.y);
    free(t.step);
    free(t.gain);
    unique_rows_release(&d);
    return rc;
}
