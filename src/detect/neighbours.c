/*
 * Rows are taken in blocks of QUERIES, each compared with all rows in blocks of POINTS. For
 * each query the best candidates so far are a heap with the worst on top. Columns are centred,
 * which leaves distances as they are and keeps |x|^2 small.
 */
#include "detect/neighbours.h"

#include "base/err.h"
#include "base/mem.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#define QUERIES 64u
#define POINTS 1024u
#define SPARE 8u /* candidates kept beyond k */

struct candidate {
    double square; /* of the distance */
    uint32_t index;
};

struct search {
    struct matrix x; /* centred, packed */
    double *norm;    /* [rows] squared lengths */
    double longest;  /* the largest of them */
    size_t k, n_kept;
    struct neighbours *out;
    struct candidate **heap; /* per worker [QUERIES * n_kept] */
    double **product;        /* per worker [QUERIES * POINTS] */
};

static bool is_worse(const struct candidate *a, const struct candidate *b)
{
    return a->square > b->square || (a->square == b->square && a->index > b->index);
}

static void sift_down(struct candidate *heap, size_t n, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        struct candidate swap = heap[at];

        if (child >= n)
            return;
        if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
            child++;
        if (!is_worse(&heap[child], &heap[at]))
            return;
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

static int by_distance(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;

    return is_worse(p, q) ? 1 : is_worse(q, p) ? -1 : 0;
}

static double square_between(const struct search *s, size_t i, size_t j)
{
    const double *a = matrix_row(s->x, i), *b = matrix_row(s->x, j);
    double sum = 0;

    for (size_t c = 0; c < s->x.cols; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* Offers points begin..end-1, whose products with query i are given, to its heap. */
static void offer(const struct search *s, size_t i, const double *product, size_t begin,
                  size_t end, struct candidate *heap)
{
    for (size_t j = begin; j < end; j++) {
        double square = s->norm[i] + s->norm[j] - 2 * product[j - begin];

        if (square > heap[0].square || j == i)
            continue;
        heap[0] = (struct candidate){square, (uint32_t)j};
        sift_down(heap, s->n_kept, 0);
    }
}

/* The slow way, for a row whose candidates cannot be trusted. */
static void search_all(const struct search *s, size_t i, struct candidate *heap)
{
    for (size_t c = 0; c < s->n_kept; c++)
        heap[c] = (struct candidate){INFINITY, UINT32_MAX};
    for (size_t j = 0; j < s->x.rows; j++) {
        struct candidate candidate = {square_between(s, i, j), (uint32_t)j};

        if (j == i || !is_worse(&heap[0], &candidate))
            continue;
        heap[0] = candidate;
        sift_down(heap, s->n_kept, 0);
    }
}

static void finish_row(const struct search *s, size_t i, struct candidate *heap)
{
    size_t k = s->k, n = s->n_kept;
    /* the product's rounding, for vectors no longer than these */
    double slack = 4 * DBL_EPSILON * (double)(s->x.cols + 2) * (s->norm[i] + s->longest);
    double farthest = heap[0].square;

    for (size_t c = 0; c < n; c++)
        heap[c].square = square_between(s, i, heap[c].index);
    qsort(heap, n, sizeof *heap, by_distance);
    if (n < s->x.rows - 1 && heap[k - 1].square > 0 && heap[k - 1].square >= farthest - slack) {
        search_all(s, i, heap);
        qsort(heap, n, sizeof *heap, by_distance);
    }
    for (size_t c = 0; c < k; c++) {
        s->out->index[i * k + c] = heap[c].index;
        s->out->distance[i * k + c] = sqrt(heap[c].square);
    }
}

static void search_block(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct search *s = ctx;
    struct candidate *heap = s->heap[worker];
    double *product = s->product[worker];
    int cols = (int)s->x.cols;

    for (size_t c = 0; c < (end - begin) * s->n_kept; c++)
        heap[c] = (struct candidate){INFINITY, UINT32_MAX};
    for (size_t from = 0; from < s->x.rows; from += POINTS) {
        size_t to = s->x.rows - from < POINTS ? s->x.rows : from + POINTS;

        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin),
                    (int)(to - from), cols, 1, matrix_row(s->x, begin), cols,
                    matrix_row(s->x, from), cols, 0, product, POINTS);
        for (size_t i = begin; i < end; i++)
            offer(s, i, product + (i - begin) * POINTS, from, to,
                  heap + (i - begin) * s->n_kept);
    }
    for (size_t i = begin; i < end; i++)
        finish_row(s, i, heap + (i - begin) * s->n_kept);
}

/* A packed copy with the mean of every column taken away. */
static void centre(struct search *s, struct matrix x)
{
    double *mean = mem_alloc(x.cols, sizeof *mean);

    s->x = (struct matrix){mem_resize(NULL, x.rows * x.cols, sizeof(double)), x.rows, x.cols,
                           x.cols};
    s->norm = mem_resize(NULL, x.rows, sizeof *s->norm);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            mean[c] += matrix_row(x, i)[c] / (double)x.rows;
    for (size_t i = 0; i < x.rows; i++) {
        double *to = matrix_row(s->x, i);

        s->norm[i] = 0;
        for (size_t c = 0; c < x.cols; c++) {
            to[c] = matrix_row(x, i)[c] - mean[c];
            s->norm[i] += to[c] * to[c];
        }
        if (s->norm[i] > s->longest)
            s->longest = s->norm[i];
    }
    free(mean);
}

int neighbours_find(struct matrix x, size_t k, struct pool *pool, struct neighbours *out)
{
    unsigned n_workers = pool_threads(pool);
    struct search s = {.k = k, .out = out};

    *out = (struct neighbours){0};
    if (k < 1 || k >= x.rows || x.rows >= UINT32_MAX)
        return err_set(ERR_RANGE, "cannot find %zu nearest neighbours among %zu executions", k,
                       x.rows);
    out->rows = x.rows;
    out->k = k;
    out->index = mem_resize(NULL, x.rows * k, sizeof *out->index);
    out->distance = mem_resize(NULL, x.rows * k, sizeof *out->distance);
    s.n_kept = k + SPARE < x.rows - 1 ? k + SPARE : x.rows - 1;
    s.heap = mem_alloc(n_workers, sizeof *s.heap);
    s.product = mem_alloc(n_workers, sizeof *s.product);
    for (unsigned w = 0; w < n_workers; w++) {
        s.heap[w] = mem_alloc(QUERIES * s.n_kept, sizeof **s.heap);
        s.product[w] = mem_alloc(QUERIES * POINTS, sizeof **s.product);
    }
    centre(&s, x);
    openblas_set_num_threads(1); /* the blocks are shared out here */
    pool_for(pool, x.rows, QUERIES, search_block, &s);
    for (unsigned w = 0; w < n_workers; w++) {
        free(s.heap[w]);
        free(s.product[w]);
    }
    free(s.heap);
    free(s.product);
    free(s.norm);
    free(s.x.x);
    return 0;
}

void neighbours_release(struct neighbours *neighbours)
{
    free(neighbours->index);
    free(neighbours->distance);
    *neighbours = (struct neighbours){0};
}
