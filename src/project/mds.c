/* Each row's step of the majorization reads the old points and writes its own new one. */
#include "project/mds.h"

#include "base/mem.h"
#include "base/rng.h"
#include "project/pca.h"
#include "project/project.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STANDSTILL 1e-6 /* relative improvement of the stress */
#define PLACING 100     /* steps for a row that is no landmark */
#define PLACED 1e-6     /* relative to its distance from the centre */

struct mds {
    const struct project_opts *opts;
    struct matrix x;    /* the different rows */
    size_t n;           /* landmarks */
    uint32_t *landmark; /* [n] row of x */
    double *delta;      /* (n, n) distances of rows */
    double *y, *next;   /* (n, 2) */
    double *row_stress; /* [n] */
    double *all;        /* (x.rows, 2) */
    double **distance;  /* [threads], [n] each: of the row being placed */
};

/*
 * One step of the majorization for a single point: the mean over the others of where each would
 * have it, at the wanted distance in the present direction. Returns the stress at y.
 */
static double guttman(const double *y, const double *others, const double *wanted, size_t n,
                      double *next)
{
    double stress = 0, sum[2] = {0};

    for (size_t j = 0; j < n; j++) {
        double d0 = y[0] - others[2 * j], d1 = y[1] - others[2 * j + 1];
        double d = sqrt(d0 * d0 + d1 * d1), ratio = d > 0 ? wanted[j] / d : 0;

        stress += (d - wanted[j]) * (d - wanted[j]);
        sum[0] += others[2 * j] + ratio * d0;
        sum[1] += others[2 * j + 1] + ratio * d1;
    }
    next[0] = sum[0] / (double)n;
    next[1] = sum[1] / (double)n;
    return stress;
}

static void measure_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct mds *m = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        for (size_t j = 0; j < m->n; j++)
            m->delta[i * m->n + j] = sqrt(matrix_square_between(
                matrix_row(m->x, m->landmark[i]), matrix_row(m->x, m->landmark[j]), m->x.cols));
}

static void step_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct mds *m = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        m->row_stress[i] =
            guttman(m->y + 2 * i, m->y, m->delta + i * m->n, m->n, m->next + 2 * i);
}

static void place_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct mds *m = ctx;
    double *wanted = m->distance[worker];

    for (size_t i = begin; i < end; i++) {
        double *y = m->all + 2 * i, next[2];
        size_t nearest = 0;

        for (size_t j = 0; j < m->n; j++) {
            wanted[j] = sqrt(matrix_square_between(
                matrix_row(m->x, i), matrix_row(m->x, m->landmark[j]), m->x.cols));
            if (wanted[j] < wanted[nearest])
                nearest = j;
        }
        memcpy(y, m->y + 2 * nearest, sizeof next);
        for (int step = 0; step < PLACING && wanted[nearest] > 0; step++) {
            double moved;

            guttman(y, m->y, wanted, m->n, next);
            moved = hypot(next[0] - y[0], next[1] - y[1]);
            memcpy(y, next, sizeof next);
            if (moved <= PLACED * hypot(y[0], y[1]))
                break;
        }
    }
}

/* -------------------------------------------------------------------------------- the whole */

static void choose_landmarks(struct mds *m)
{
    uint32_t *row = mem_resize(NULL, m->x.rows, sizeof *row);
    struct rng rng = {m->opts->seed};
    bool is_all = m->x.rows <= MDS_EXACT;

    m->n = is_all ? m->x.rows : MDS_LANDMARKS;
    for (size_t i = 0; i < m->x.rows; i++)
        row[i] = (uint32_t)i;
    for (size_t i = 0; i < m->n && !is_all; i++) {
        size_t other = i + rng_below(&rng, m->x.rows - i);
        uint32_t swap = row[i];

        row[i] = row[other];
        row[other] = swap;
    }
    m->landmark = row;
}

static void init(struct mds *m)
{
    choose_landmarks(m);
    m->delta = mem_resize(NULL, m->n * m->n, sizeof *m->delta);
    m->y = mem_alloc(2 * m->n, sizeof *m->y);
    m->next = mem_alloc(2 * m->n, sizeof *m->next);
    m->row_stress = mem_alloc(m->n, sizeof *m->row_stress);
    m->distance = mem_alloc(pool_threads(m->opts->pool), sizeof *m->distance);
    for (unsigned w = 0; w < pool_threads(m->opts->pool); w++)
        m->distance[w] = mem_alloc(m->n, sizeof **m->distance);
    for (size_t i = 0; i < m->n; i++)
        memcpy(m->y + 2 * i, m->all + 2 * (size_t)m->landmark[i], 2 * sizeof *m->y);
    pool_for(m->opts->pool, m->n, 8, measure_rows, m);
}

static void release(struct mds *m)
{
    for (unsigned w = 0; m->distance && w < pool_threads(m->opts->pool); w++)
        free(m->distance[w]);
    free(m->distance);
    free(m->landmark);
    free(m->delta);
    free(m->y);
    free(m->next);
    free(m->row_stress);
    free(m->all);
}

static void spread(struct mds *m, const struct unique_rows *d, size_t rows, double *points)
{
    for (size_t i = 0; i < m->n; i++)
        memcpy(m->all + 2 * (size_t)m->landmark[i], m->y + 2 * i, 2 * sizeof *m->y);
    unique_rows_spread(d, rows, m->all, points);
}

/* Until the stress stands still, nobody wants any more, or it has been enough. */
static void majorize(struct mds *m, const struct unique_rows *d, size_t rows, double *points,
                     struct project_result *result)
{
    uint32_t n = m->opts->iterations ? m->opts->iterations : MDS_ITERATIONS;
    double square = 0, before = INFINITY;

    for (size_t i = 0; i < m->n * m->n; i++)
        square += m->delta[i] * m->delta[i];
    for (uint32_t i = 0;; i++) {
        double stress = 0, *swap = m->y;

        pool_for(m->opts->pool, m->n, 8, step_rows, m);
        for (size_t k = 0; k < m->n; k++)
            stress += m->row_stress[k];
        result->n_iterations = i;
        result->cost = square > 0 ? sqrt(stress / square) : 0;
        result->is_cancelled = false;
        if (project_due(m->opts, i)) {
            struct project_step step = {i, n, result->cost, points, rows};

            spread(m, d, rows, points);
            result->is_cancelled = !project_tell(m->opts, &step);
        }
        if (result->is_cancelled || i == n || stress >= before * (1 - STANDSTILL))
            return;
        before = stress;
        m->y = m->next;
        m->next = swap;
    }
}

int mds_run(struct matrix x, const struct project_opts *opts, double *points,
            struct project_result *result)
{
    struct mds m = {.opts = opts};
    struct unique_rows d;
    int rc;

    unique_rows_init(&d, x);
    m.x = d.x;
    m.all = mem_alloc(2 * (size_t)d.n, sizeof *m.all);
    rc = pca_run(d.x, opts, m.all, result);
    if (rc == 0) {
        init(&m);
        majorize(&m, &d, x.rows, points, result);
        if (m.n < d.n && !result->is_cancelled)
            pool_for(opts->pool, d.n, 16, place_rows, &m);
        spread(&m, &d, x.rows, points);
    }
    release(&m);
    unique_rows_release(&d);
    return rc;
}
