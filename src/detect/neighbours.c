/*
 * Rows are taken in blocks of QUERIES, each compared with all rows in blocks of POINTS. For
 * each query the best candidates so far are a heap with the worst on top. Columns are centred,
 * which leaves distances as they are and keeps |x|^2 small.
 *
 * This is done up to three times, each for the rows that the one before left in doubt: with
 * products in single precision, which takes half the time and is enough for most rows; in
 * double precision; and with the distances themselves. A row is beyond doubt when nothing that
 * was turned away, be it nearer by all the digits lost, could be among its k.
 *
 * Single precision works on rows scaled by a power of two so that the longest has a length of
 * about 1: nothing overflows, and what underflows is far below the digits lost.
 */
#include "detect/neighbours.h"

#include "base/blas.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "detect/centred.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES 256u
#define POINTS 512u
#define SPARE 8u  /* candidates kept beyond k */
#define LANES 16u /* compared at once */
#define SUMS 8u
#define MIN_DISTANCE 1e-10

struct near_row {
    double square; /* of the distance */
    uint32_t index;
};

struct neighbour_worker {
    struct near_row *heap; /* (QUERIES, n_kept) */
    double *query;         /* (QUERIES, cols) */
    union {
        double *of_double;
        float *of_float;
    } product; /* (QUERIES, POINTS) */
};

struct neighbour_search {
    struct matrix x; /* as it came: centring rounds */
    struct centred points;
    float *short_x, *short_norm; /* scaled rows and their squared lengths, rounded */
    double scale;
    size_t k, n_kept;
    struct neighbours *out;
    bool *is_doubtful;  /* [rows] */
    uint32_t *doubtful; /* rows to be searched in double precision */
    struct neighbour_worker *worker;
};

static bool is_worse(const struct near_row *a, const struct near_row *b)
{
    return a->square > b->square || (a->square == b->square && a->index > b->index);
}

static int by_distance(const void *a, const void *b)
{
    const struct near_row *p = a, *q = b;

    return ORDER(p->square, q->square) ?: ORDER(p->index, q->index);
}

/* In as many sums as one vector register or two hold, so that they are done side by side. */
static double square_between(const struct neighbour_search *s, size_t i, size_t j)
{
    const double *a = matrix_row(s->x, i), *b = matrix_row(s->x, j);
    size_t cols = s->x.cols, c = 0;
    double part[SUMS] = {0}, sum = 0;

    for (; c + SUMS <= cols; c += SUMS)
        for (unsigned l = 0; l < SUMS; l++)
            part[l] += (a[c + l] - b[c + l]) * (a[c + l] - b[c + l]);
    for (unsigned l = 0; l < SUMS; l++)
        sum += part[l];
    for (; c < cols; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

static void empty_heap(const struct neighbour_search *s, struct near_row *heap, size_t n_rows)
{
    for (size_t c = 0; c < n_rows * s->n_kept; c++)
        heap[c] = (struct near_row){INFINITY, UINT32_MAX};
}

static void offer(const struct neighbour_search *s, struct near_row *heap, double square,
                  size_t j)
{
    struct near_row candidate = {square, (uint32_t)j};

    if (!is_worse(&heap[0], &candidate))
        return;
    heap[0] = candidate;
    HEAP_SINK(heap, 0, s->n_kept, is_worse);
}

/* The slow way, for a row whose candidates cannot be trusted. */
static void search_all(const struct neighbour_search *s, size_t i, struct near_row *heap)
{
    empty_heap(s, heap, 1);
    for (size_t j = 0; j < s->points.x.rows; j++)
        if (j != i)
            offer(s, heap, square_between(s, i, j), j);
    qsort(heap, s->n_kept, sizeof *heap, by_distance);
}

/*
 * Gives the candidates of row i their true distances and sorts them. True if a row that was
 * turned away may yet be one of the k: it is then nearer than the k-th of them, so not longer
 * than |x| plus that distance, which bounds the digits its product lost.
 *   unit  the rounding of the products, of which there are fewer than cols + 16 (centring,
 *         shortening and adding up included)
 *   tiny  what underflow may add to it
 */
static bool is_in_doubt(const struct neighbour_search *s, size_t i, double unit, double tiny,
                        struct near_row *heap)
{
    double farthest = heap[0].square, longest, slack;

    for (size_t c = 0; c < s->n_kept; c++)
        heap[c].square = square_between(s, i, heap[c].index);
    qsort(heap, s->n_kept, sizeof *heap, by_distance);
    if (s->n_kept == s->points.x.rows - 1 || heap[s->k - 1].square == 0)
        return false;
    longest = pow(sqrt(s->points.norm[i]) + sqrt(heap[s->k - 1].square), 2);
    slack = unit * (double)(s->points.x.cols + 16) * (s->points.norm[i] + longest) + tiny;
    return !(heap[s->k - 1].square < farthest - slack);
}

static void keep(const struct neighbour_search *s, size_t i, const struct near_row *heap)
{
    for (size_t c = 0; c < s->k; c++) {
        s->out->index[i * s->k + c] = heap[c].index;
        s->out->distance[i * s->k + c] = sqrt(heap[c].square);
    }
}

/* ----------------------------------------------------------------------- single precision */

/* What norm - 2 xy may be for a row to come into the heap, rounded up. */
static float limit_of(const struct near_row *heap, double own)
{
    return nextafterf((float)(heap[0].square - own), INFINITY);
}

static bool is_any_below(const float *norm, const float *product, float limit)
{
    int n_below = 0;

    for (unsigned l = 0; l < LANES; l++)
        n_below += norm[l] + product[l] <= limit;
    return n_below > 0;
}

/* Offers points begin..end-1 to the heap of query i; product is -2 xy. */
static void offer_floats(const struct neighbour_search *s, size_t i, const float *product,
                         size_t begin, size_t end, struct near_row *heap)
{
    const float *norm = s->short_norm + begin;
    double own = (double)s->short_norm[i];
    float limit = limit_of(heap, own);
    size_t n = end - begin;

    for (size_t j = 0; j < n; j += LANES) {
        size_t last = n - j < LANES ? n : j + LANES;

        if (last == j + LANES && !is_any_below(norm + j, product + j, limit))
            continue;
        for (size_t at = j; at < last; at++)
            if (norm[at] + product[at] <= limit && begin + at != i)
                offer(s, heap, own + (double)(norm[at] + product[at]), begin + at);
        limit = limit_of(heap, own);
    }
}

static void search_floats(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct neighbour_search *s = ctx;
    struct near_row *heap = s->worker[worker].heap;
    float *product = s->worker[worker].product.of_float;
    size_t rows = s->points.x.rows, cols = s->points.x.cols;
    double unscale = 1 / (s->scale * s->scale);

    empty_heap(s, heap, end - begin);
    for (size_t from = 0; from < rows; from += POINTS) {
        size_t to = rows - from < POINTS ? rows : from + POINTS;

        blas()->cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(end - begin),
                            (int)(to - from), (int)cols, -2, s->short_x + begin * cols,
                            (int)cols, s->short_x + from * cols, (int)cols, 0, product, POINTS);
        for (size_t i = begin; i < end; i++)
            offer_floats(s, i, product + (i - begin) * POINTS, from, to,
                         heap + (i - begin) * s->n_kept);
    }
    for (size_t i = begin; i < end; i++, heap += s->n_kept) {
        heap[0].square *= unscale;
        s->is_doubtful[i] = is_in_doubt(s, i, FLT_EPSILON, FLT_MIN * unscale, heap);
        keep(s, i, heap);
    }
}

/* ----------------------------------------------------------------------- double precision */

static void offer_doubles(const struct neighbour_search *s, size_t i, const double *product,
                          size_t begin, size_t end, struct near_row *heap)
{
    for (size_t j = begin; j < end; j++) {
        double square = s->points.norm[i] + s->points.norm[j] - 2 * product[j - begin];

        if (square <= heap[0].square && j != i)
            offer(s, heap, square, j);
    }
}

static void search_doubles(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct neighbour_search *s = ctx;
    struct near_row *heap = s->worker[worker].heap;
    double *product = s->worker[worker].product.of_double, *query = s->worker[worker].query;
    size_t rows = s->points.x.rows, cols = s->points.x.cols, n = end - begin;
    const uint32_t *which = s->doubtful + begin;

    empty_heap(s, heap, n);
    for (size_t q = 0; q < n; q++)
        memcpy(query + q * cols, matrix_row(s->points.x, which[q]), cols * sizeof *query);
    for (size_t from = 0; from < rows; from += POINTS) {
        size_t to = rows - from < POINTS ? rows : from + POINTS;

        blas()->cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)(to - from),
                            (int)cols, 1, query, (int)cols, matrix_row(s->points.x, from),
                            (int)cols, 0, product, POINTS);
        for (size_t q = 0; q < n; q++)
            offer_doubles(s, which[q], product + q * POINTS, from, to, heap + q * s->n_kept);
    }
    for (size_t q = 0; q < n; q++, heap += s->n_kept) {
        if (is_in_doubt(s, which[q], DBL_EPSILON, DBL_MIN, heap))
            search_all(s, which[q], heap);
        keep(s, which[q], heap);
    }
}

/* ---------------------------------------------------------------------------- the search */

static void shorten(struct neighbour_search *s)
{
    size_t rows = s->points.x.rows, cols = s->points.x.cols;
    double longest = s->points.longest;

    s->scale = longest > 0 ? exp2(-round(log2(longest) / 2)) : 1;
    s->short_x = mem_resize(NULL, rows * cols, sizeof *s->short_x);
    s->short_norm = mem_resize(NULL, rows, sizeof *s->short_norm);
    for (size_t i = 0; i < rows * cols; i++)
        s->short_x[i] = (float)(s->points.x.x[i] * s->scale);
    for (size_t i = 0; i < rows; i++)
        s->short_norm[i] = (float)(s->points.norm[i] * s->scale * s->scale);
}

static void open_search(struct neighbour_search *s, struct matrix x, unsigned n_workers)
{
    s->n_kept = s->k + SPARE < x.rows - 1 ? s->k + SPARE : x.rows - 1;
    s->worker = mem_alloc(n_workers, sizeof *s->worker);
    for (unsigned w = 0; w < n_workers; w++) {
        s->worker[w].heap = mem_alloc(QUERIES * s->n_kept, sizeof(struct near_row));
        s->worker[w].query = mem_alloc(QUERIES * x.cols, sizeof(double));
        s->worker[w].product.of_double = mem_alloc((size_t)QUERIES * POINTS, sizeof(double));
    }
    s->is_doubtful = mem_alloc(x.rows, sizeof *s->is_doubtful);
    s->doubtful = mem_alloc(x.rows, sizeof *s->doubtful);
    centred_init(&s->points, x);
    shorten(s);
}

static void close_search(struct neighbour_search *s, unsigned n_workers)
{
    for (unsigned w = 0; w < n_workers; w++) {
        free(s->worker[w].heap);
        free(s->worker[w].query);
        free(s->worker[w].product.of_double);
    }
    free(s->worker);
    free(s->is_doubtful);
    free(s->doubtful);
    free(s->short_x);
    free(s->short_norm);
    centred_release(&s->points);
}

int neighbours_find(struct matrix x, size_t k, struct pool *pool, struct neighbours *out)
{
    unsigned n_workers = pool_threads(pool);
    struct neighbour_search s = {.x = x, .k = k, .out = out};
    size_t n_doubtful = 0;
    int rc;

    *out = (struct neighbours){0};
    if (k < 1 || k >= x.rows || x.rows >= UINT32_MAX)
        return err_set(ERR_RANGE, "cannot find %zu nearest neighbours among %zu executions", k,
                       x.rows);
    rc = centred_check_products(x);
    if (rc < 0)
        return rc;
    out->rows = x.rows;
    out->k = k;
    out->index = mem_resize(NULL, x.rows * k, sizeof *out->index);
    out->distance = mem_resize(NULL, x.rows * k, sizeof *out->distance);
    open_search(&s, x, n_workers);
    pool_for(pool, x.rows, QUERIES, search_floats, &s);
    for (size_t i = 0; i < x.rows; i++)
        if (s.is_doubtful[i])
            s.doubtful[n_doubtful++] = (uint32_t)i;
    pool_for(pool, n_doubtful, QUERIES, search_doubles, &s);
    close_search(&s, n_workers);
    return 0;
}

void neighbours_release(struct neighbours *neighbours)
{
    free(neighbours->index);
    free(neighbours->distance);
    *neighbours = (struct neighbours){0};
}

/* ----------------------------------------------------------------------------------- scores */

/* Letters as in the paper: lrd is the local reachability density. */
void lof_score(const struct neighbours *neighbours, double *score)
{
    size_t k = neighbours->k;
    double *lrd = mem_alloc(neighbours->rows, sizeof *lrd);

    for (size_t p = 0; p < neighbours->rows; p++) {
        double reach = 0;

        for (size_t c = 0; c < k; c++) {
            double d = neighbours->distance[p * k + c];
            uint32_t o = neighbours->index[p * k + c];
            double k_distance = neighbours->distance[o * k + k - 1];

            reach += d > k_distance ? d : k_distance;
        }
        lrd[p] = 1 / (reach / (double)k + MIN_DISTANCE);
    }
    for (size_t p = 0; p < neighbours->rows; p++) {
        double sum = 0;

        for (size_t c = 0; c < k; c++)
            sum += lrd[neighbours->index[p * k + c]];
        score[p] = sum / (double)k / lrd[p];
    }
    free(lrd);
}

/* The sum of the distances is the paper's weight; the mean of them orders rows the same way. */
void knn_score(const struct neighbours *neighbours, double *score)
{
    size_t k = neighbours->k;

    for (size_t p = 0; p < neighbours->rows; p++) {
        double sum = 0;

        for (size_t c = 0; c < k; c++)
            sum += neighbours->distance[p * k + c];
        score[p] = sum / (double)k;
    }
}
