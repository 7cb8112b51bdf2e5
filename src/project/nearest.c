/*
 * Rows are copied in the order of their lists, centred, so that a list is a contiguous block.
 * Of two that are equally far, the one with the lower position in that order is kept.
 */
#include "project/nearest.h"

#include "base/blas.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES 64 /* rows of a block of products */
#define POINTS 512 /* and its columns */

struct near_point {
    double square;
    uint32_t at; /* position, then row */
};

struct nearest_search {
    struct matrix x; /* sorted by list, centred */
    double *norm;    /* [rows] squared */
    uint32_t *row;   /* [rows] which one it was */
    size_t n_lists;
    size_t *first;    /* [n_lists + 1] */
    uint32_t *pivot;  /* [n_lists] row of x as given */
    uint32_t *nearby; /* (n_lists, n_lists) lists by distance of their pivots */
    size_t k, n_looked_at;
    struct nearest *out;
    double **product;          /* [worker] */
    struct near_point **heaps; /* [worker] */
};

/* ---------------------------------------------------------------------------------- lists */

static void centre(struct nearest_search *s, struct matrix x)
{
    double *mean = mem_alloc(x.cols + 1, sizeof *mean);

    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            mean[c] += matrix_row(x, i)[c] / (double)x.rows;
    s->x = (struct matrix){NULL, x.rows, x.cols, x.cols};
    s->x.x = mem_resize(NULL, x.rows * x.cols + 1, sizeof *s->x.x);
    s->norm = mem_alloc(x.rows, sizeof *s->norm);
    for (size_t i = 0; i < x.rows; i++) {
        double *to = matrix_row(s->x, i);

        for (size_t c = 0; c < x.cols; c++) {
            to[c] = matrix_row(x, s->row[i])[c] - mean[c];
            s->norm[i] += to[c] * to[c];
        }
    }
    free(mean);
}

struct assignment {
    struct matrix x, pivots;
    uint32_t *list; /* [rows] */
};

static void assign_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct assignment *a = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double best = INFINITY;

        for (size_t p = 0; p < a->pivots.rows; p++) {
            double square =
                matrix_square_between(matrix_row(a->x, i), matrix_row(a->pivots, p), a->x.cols);

            if (square < best) {
                best = square;
                a->list[i] = (uint32_t)p;
            }
        }
    }
}

/* Different rows, the same for the same seed. */
static void choose_pivots(struct nearest_search *s, struct matrix x, uint64_t seed)
{
    uint32_t *row = mem_resize(NULL, x.rows, sizeof *row);
    struct rng rng = {seed};

    s->pivot = mem_resize(NULL, s->n_lists, sizeof *s->pivot);
    for (size_t i = 0; i < x.rows; i++)
        row[i] = (uint32_t)i;
    for (size_t p = 0; p < s->n_lists; p++) {
        size_t other = p + rng_below(&rng, x.rows - p);

        s->pivot[p] = row[other];
        row[other] = row[p];
    }
    free(row);
}

static int by_distance(const void *a, const void *b)
{
    const struct near_point *p = a, *q = b;

    return ORDER(p->square, q->square) ?: ORDER(p->at, q->at);
}

static void sort_nearby(struct nearest_search *s, struct matrix pivots)
{
    struct near_point *other = mem_resize(NULL, s->n_lists, sizeof *other);

    s->nearby = mem_resize(NULL, s->n_lists * s->n_lists, sizeof *s->nearby);
    for (size_t p = 0; p < s->n_lists; p++) {
        for (size_t q = 0; q < s->n_lists; q++)
            other[q] = (struct near_point){p == q ? -1
                                                  : matrix_square_between(matrix_row(pivots, p),
                                                                          matrix_row(pivots, q),
                                                                          pivots.cols),
                                           (uint32_t)q};
        qsort(other, s->n_lists, sizeof *other, by_distance);
        for (size_t q = 0; q < s->n_lists; q++)
            s->nearby[p * s->n_lists + q] = other[q].at;
    }
    free(other);
}

/* Counting sort: the order of rows within a list is kept. */
static void sort_rows(struct nearest_search *s, const uint32_t *list, size_t rows)
{
    size_t *at = mem_alloc(s->n_lists + 1, sizeof *at);

    s->first = mem_alloc(s->n_lists + 1, sizeof *s->first);
    s->row = mem_resize(NULL, rows, sizeof *s->row);
    for (size_t i = 0; i < rows; i++)
        s->first[list[i] + 1]++;
    for (size_t l = 0; l < s->n_lists; l++)
        s->first[l + 1] += s->first[l];
    memcpy(at, s->first, s->n_lists * sizeof *at);
    for (size_t i = 0; i < rows; i++)
        s->row[at[list[i]]++] = (uint32_t)i;
    free(at);
}

static void make_lists(struct nearest_search *s, struct matrix x, uint64_t seed,
                       struct pool *pool)
{
    struct assignment a = {.x = x, .list = mem_alloc(x.rows, sizeof *a.list)};

    choose_pivots(s, x, seed);
    a.pivots = (struct matrix){NULL, s->n_lists, x.cols, x.cols};
    a.pivots.x = mem_resize(NULL, s->n_lists * x.cols + 1, sizeof *a.pivots.x);
    for (size_t p = 0; p < s->n_lists; p++)
        memcpy(matrix_row(a.pivots, p), matrix_row(x, s->pivot[p]), x.cols * sizeof(double));
    if (s->n_lists > 1)
        pool_for(pool, x.rows, QUERIES, assign_rows, &a);
    sort_rows(s, a.list, x.rows);
    sort_nearby(s, a.pivots);
    centre(s, x);
    free(a.pivots.x);
    free(a.list);
}

/* --------------------------------------------------------------------------------- search */

static bool is_farther(const struct near_point *a, const struct near_point *b)
{
    return by_distance(a, b) > 0;
}

/* Compares the rows begin..end-1 with the points from..to-1. */
static void compare(const struct nearest_search *s, size_t begin, size_t end, size_t from,
                    size_t to, unsigned worker)
{
    double *product = s->product[worker];

    blas()->cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin),
                        (int)(to - from), (int)s->x.cols, 1, matrix_row(s->x, begin),
                        (int)s->x.stride, matrix_row(s->x, from), (int)s->x.stride, 0, product,
                        POINTS);
    for (size_t i = begin; i < end; i++) {
        struct near_point *heap = s->heaps[worker] + (i - begin) * s->k;

        for (size_t j = from; j < to; j++) {
            double square =
                s->norm[i] + s->norm[j] - 2 * product[(i - begin) * POINTS + j - from];

            if (square >= heap[0].square || i == j)
                continue;
            heap[0] = (struct near_point){square, (uint32_t)j};
            HEAP_SINK(heap, 0, s->k, is_farther);
        }
    }
}

static void keep(const struct nearest_search *s, size_t i, struct near_point *heap)
{
    size_t out = s->row[i] * s->k;

    for (size_t c = 0; c < s->k; c++) {
        heap[c].square =
            matrix_square_between(matrix_row(s->x, i), matrix_row(s->x, heap[c].at), s->x.cols);
        heap[c].at = s->row[heap[c].at];
    }
    qsort(heap, s->k, sizeof *heap, by_distance);
    for (size_t c = 0; c < s->k; c++) {
        s->out->index[out + c] = heap[c].at;
        s->out->square[out + c] = heap[c].square;
    }
}

/* The rows begin..end-1, all in one list. */
static void search_block(const struct nearest_search *s, size_t list, size_t begin, size_t end,
                         unsigned worker)
{
    size_t n = 0;

    for (size_t c = 0; c < (end - begin) * s->k; c++)
        s->heaps[worker][c] = (struct near_point){INFINITY, UINT32_MAX};
    for (size_t q = 0; q < s->n_lists && n < s->n_looked_at; q++) {
        uint32_t other = s->nearby[list * s->n_lists + q];
        size_t last = s->first[other + 1];

        for (size_t from = s->first[other]; from < last; from += POINTS)
            compare(s, begin, end, from, last - from < POINTS ? last : from + POINTS, worker);
        n += last - s->first[other];
    }
    for (size_t i = begin; i < end; i++)
        keep(s, i, s->heaps[worker] + (i - begin) * s->k);
}

static void search_lists(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct nearest_search *s = ctx;

    for (size_t list = begin; list < end; list++)
        for (size_t from = s->first[list]; from < s->first[list + 1]; from += QUERIES)
            search_block(s, list, from,
                         s->first[list + 1] - from < QUERIES ? s->first[list + 1]
                                                             : from + QUERIES,
                         worker);
}

static void search_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    search_block(ctx, 0, begin, end, worker);
}

static void run(struct nearest_search *s, struct pool *pool)
{
    unsigned n_workers = pool_threads(pool);

    s->product = mem_alloc(n_workers, sizeof *s->product);
    s->heaps = mem_alloc(n_workers, sizeof *s->heaps);
    for (unsigned w = 0; w < n_workers; w++) {
        s->product[w] = mem_resize(NULL, QUERIES * POINTS, sizeof(double));
        s->heaps[w] = mem_resize(NULL, QUERIES * s->k, sizeof **s->heaps);
    }
    if (s->n_lists == 1)
        pool_for(pool, s->x.rows, QUERIES, search_rows, s);
    else
        pool_for(pool, s->n_lists, 1, search_lists, s);
    for (unsigned w = 0; w < n_workers; w++) {
        free(s->product[w]);
        free(s->heaps[w]);
    }
    free(s->product);
    free(s->heaps);
}

void nearest_find(struct matrix x, size_t k, size_t n_exact, uint64_t seed, struct pool *pool,
                  struct nearest *out)
{
    bool is_exact = x.rows <= n_exact;
    struct nearest_search s = {.k = k, .out = out};

    *out = (struct nearest){.rows = x.rows, .k = k};
    out->index = mem_resize(NULL, x.rows * k, sizeof *out->index);
    out->square = mem_resize(NULL, x.rows * k, sizeof *out->square);
    s.n_lists = is_exact ? 1 : (size_t)sqrt((double)x.rows);
    s.n_looked_at = is_exact ? x.rows : (size_t)(NEAREST_SHARE * (double)x.rows) + 10 * k;
    make_lists(&s, x, seed, pool);
    run(&s, pool);
    free(s.x.x);
    free(s.norm);
    free(s.row);
    free(s.first);
    free(s.pivot);
    free(s.nearby);
}

void nearest_release(struct nearest *nearest)
{
    free(nearest->index);
    free(nearest->square);
    *nearest = (struct nearest){0};
}
