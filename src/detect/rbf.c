/*
 * Blocks of at most TALL x WIDE products, one after the other per worker; their borders depend
 * on the sizes of the matrices alone. The exponential is 2^y: the whole part of y goes into the
 * exponent, and a Taylor polynomial of degree 7 is good to the last bit of a float for the
 * rest. Loops have a fixed length LANES so that the compiler makes vectors of them.
 */
#include "detect/rbf.h"

#include "base/blas.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TALL 128u
#define WIDE 256u
#define LANES 16u
#define NONE UINT32_MAX

struct kernel_job {
    const struct rbf *rbf;
    const double *tall, *tall_norm; /* rows: (n_tall, cols) packed, and squared lengths */
    size_t n_tall;
    float *const *row;
    const double *weight;
    struct matrix x;
    double *sum;
    void **scratch; /* per worker */
};

double rbf_gamma(struct matrix x)
{
    double mean = 0, square = 0, n = (double)x.rows * (double)x.cols;

    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            mean += matrix_row(x, i)[c] / n;
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            square += (matrix_row(x, i)[c] - mean) * (matrix_row(x, i)[c] - mean);
    /* less than the mean's own rounding is no variance */
    return square > n * 1e-28 * mean * mean ? (double)x.rows / square : 1;
}

/* 2^-y for y >= 0; below the smallest normal float it stays there. */
static inline void exp2_minus(const double *y, float *out)
{
    const double to_whole = 0x1.8p52; /* adding it rounds to an integer */
    float fraction[LANES], p;
    int32_t whole[LANES], bits[LANES];

    for (unsigned l = 0; l < LANES; l++) {
        double v = y[l] < 126 ? -y[l] : -126;
        double rounded = (v + to_whole) - to_whole;

        whole[l] = (int32_t)rounded;
        fraction[l] = (float)(v - rounded);
    }
    for (unsigned l = 0; l < LANES; l++) {
        float f = fraction[l];

        p = 1.5252733e-5f;
        p = p * f + 1.5403530e-4f;
        p = p * f + 1.3333558e-3f;
        p = p * f + 9.6181291e-3f;
        p = p * f + 5.5504109e-2f;
        p = p * f + 2.4022651e-1f;
        p = p * f + 6.9314718e-1f;
        out[l] = p * f + 1;
    }
    memcpy(bits, out, sizeof bits);
    for (unsigned l = 0; l < LANES; l++)
        bits[l] += whole[l] * (1 << 23);
    memcpy(out, bits, sizeof bits);
}

/* out[j] = exp(-gamma (a + b[j] - 2 product[j])), n of them. */
static void kernel_values(double gamma, double a, const double *b, const double *product,
                          size_t n, float *out)
{
    double scale = gamma * 1.4426950408889634, y[LANES]; /* 1 / ln 2 */
    float rest[LANES];
    size_t j = 0;

    for (; j + LANES <= n; j += LANES) {
        for (unsigned l = 0; l < LANES; l++) {
            double square = a + b[j + l] - 2 * product[j + l];

            y[l] = square > 0 ? square * scale : 0;
        }
        exp2_minus(y, out + j);
    }
    if (j == n)
        return;
    for (unsigned l = 0; l < LANES; l++) {
        size_t at = j + l < n ? j + l : n - 1;
        double square = a + b[at] - 2 * product[at];

        y[l] = square > 0 ? square * scale : 0;
    }
    exp2_minus(y, rest);
    memcpy(out + j, rest, (n - j) * sizeof *out);
}

static void **scratch_new(struct pool *pool, size_t n_doubles)
{
    unsigned n = pool_threads(pool);
    void **scratch = mem_alloc(n, sizeof *scratch);

    for (unsigned w = 0; w < n; w++)
        scratch[w] = mem_alloc(n_doubles, sizeof(double));
    return scratch;
}

static void scratch_free(struct pool *pool, void **scratch)
{
    for (unsigned w = 0; w < pool_threads(pool); w++)
        free(scratch[w]);
    free(scratch);
}

static void fill_columns(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct kernel_job *job = ctx;
    const struct centred *points = job->rbf->points;
    double *product = job->scratch[worker];
    int cols = (int)points->x.cols;

    blas()->cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)job->n_tall,
                        (int)(end - begin), cols, 1, job->tall, cols,
                        matrix_row(points->x, begin), cols, 0, product, WIDE);
    for (size_t i = 0; i < job->n_tall; i++)
        kernel_values(job->rbf->gamma, job->tall_norm[i], points->norm + begin,
                      product + i * WIDE, end - begin, job->row[i] + begin);
}

void rbf_rows(const struct rbf *rbf, const uint32_t *which, size_t n, float *const *row)
{
    const struct centred *points = rbf->points;
    size_t cols = points->x.cols;
    double *tall = mem_alloc(TALL * cols, sizeof *tall), norm[TALL];
    struct kernel_job job = {.rbf = rbf, .tall = tall, .tall_norm = norm};

    job.scratch = scratch_new(rbf->pool, (size_t)TALL * WIDE);
    for (size_t from = 0; from < n; from += TALL) {
        job.n_tall = n - from < TALL ? n - from : TALL;
        job.row = row + from;
        for (size_t i = 0; i < job.n_tall; i++) {
            memcpy(tall + i * cols, matrix_row(points->x, which[from + i]),
                   cols * sizeof *tall);
            norm[i] = points->norm[which[from + i]];
        }
        pool_for(rbf->pool, points->x.rows, WIDE, fill_columns, &job);
    }
    scratch_free(rbf->pool, job.scratch);
    free(tall);
}

/*
 * The products of one row with n_wide others. BLAS sums in another order where there are more
 * rows or fewer; here that of a product depends on nothing else, so that a score does not
 * depend on what is scored with it.
 */
static void multiply_alone(const double *row, const double *wide, size_t n_wide, size_t cols,
                           double *product)
{
    for (size_t j = 0; j < n_wide; j++) {
        const double *other = wide + j * cols;
        double lane[LANES] = {0};
        size_t c = 0;

        for (; c + LANES <= cols; c += LANES)
            for (unsigned l = 0; l < LANES; l++)
                lane[l] += row[c + l] * other[c + l];
        for (; c < cols; c++)
            lane[c % LANES] += row[c] * other[c];
        for (unsigned half = LANES / 2; half > 0; half /= 2)
            for (unsigned l = 0; l < half; l++)
                lane[l] += lane[l + half];
        product[j] = lane[0];
    }
}

static void add_block(const struct kernel_job *job, double norm, const double *product,
                      size_t from, size_t n, double *sum)
{
    float value[WIDE];

    kernel_values(job->rbf->gamma, norm, job->rbf->points->norm + from, product, n, value);
    for (size_t j = 0; j < n; j++)
        *sum += job->weight[from + j] * (double)value[j];
}

static void sum_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct kernel_job *job = ctx;
    const struct centred *points = job->rbf->points;
    size_t cols = points->x.cols, n = end - begin;
    double *product = job->scratch[worker], *tall = product + WIDE, norm[TALL];

    for (size_t i = 0; i < n; i++) {
        norm[i] =
            centred_row(points->mean, matrix_row(job->x, begin + i), cols, tall + i * cols);
        job->sum[begin + i] = 0;
    }
    for (size_t from = 0; from < points->x.rows; from += WIDE) {
        size_t n_wide = points->x.rows - from < WIDE ? points->x.rows - from : WIDE;

        for (size_t i = 0; i < n; i++) {
            multiply_alone(tall + i * cols, matrix_row(points->x, from), n_wide, cols, product);
            add_block(job, norm[i], product, from, n_wide, &job->sum[begin + i]);
        }
    }
}

void rbf_sums(const struct rbf *rbf, const double *weight, struct matrix x, double *sum)
{
    struct kernel_job job = {.rbf = rbf, .weight = weight, .x = x, .sum = sum};

    job.scratch = scratch_new(rbf->pool, WIDE + (size_t)TALL * x.cols);
    pool_for(rbf->pool, x.rows, TALL, sum_rows, &job);
    scratch_free(rbf->pool, job.scratch);
}

/* ----------------------------------------------------------------------- rows that are kept */

/* What is thrown out is found as by a clock's hand, passing over what the fetch itself wants.
 */

struct kept_row {
    uint32_t point;
    uint64_t fetch; /* the last one that wanted it */
    float *row;
};

struct rbf_cache {
    const struct rbf *rbf;
    size_t room, n_slots, hand, n_computed;
    uint64_t fetch;
    struct kept_row *slot; /* [room], n_slots in use */
    uint32_t *slot_of;     /* [points], or NONE */
};

struct rbf_cache *rbf_cache_new(const struct rbf *rbf, size_t bytes, size_t least_rows)
{
    struct rbf_cache *cache = mem_alloc(1, sizeof *cache);
    size_t n = rbf->points->x.rows, room = n ? bytes / (n * sizeof(float)) : 0;

    room = room > least_rows ? room : least_rows;
    cache->rbf = rbf;
    cache->room = room < n ? room : n;
    cache->slot = mem_alloc(cache->room, sizeof *cache->slot);
    cache->slot_of = mem_resize(NULL, n, sizeof *cache->slot_of);
    for (size_t i = 0; i < n; i++)
        cache->slot_of[i] = NONE;
    return cache;
}

void rbf_cache_free(struct rbf_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->n_slots; i++)
        free(cache->slot[i].row);
    free(cache->slot);
    free(cache->slot_of);
    free(cache);
}

size_t rbf_cache_room(const struct rbf_cache *cache)
{
    return cache->room;
}

size_t rbf_cache_computed(const struct rbf_cache *cache)
{
    return cache->n_computed;
}

/* A slot for a row that is not there; an older row may lose it. */
static uint32_t take_slot(struct rbf_cache *cache, uint32_t point)
{
    struct kept_row *slot;
    size_t at;

    if (cache->n_slots < cache->room) {
        at = cache->n_slots++;
        cache->slot[at].row = mem_resize(NULL, cache->rbf->points->x.rows, sizeof(float));
    } else {
        while (cache->slot[cache->hand].fetch == cache->fetch)
            cache->hand = (cache->hand + 1) % cache->room;
        at = cache->hand;
        cache->slot_of[cache->slot[at].point] = NONE;
    }
    slot = &cache->slot[at];
    slot->point = point;
    slot->fetch = cache->fetch;
    return (uint32_t)at;
}

void rbf_cache_fetch(struct rbf_cache *cache, const uint32_t *which, size_t n,
                     const float **row)
{
    uint32_t *missing = mem_alloc(n, sizeof *missing);
    float **to = mem_alloc(n, sizeof *to);
    size_t n_missing = 0;

    assert(n <= cache->room);
    cache->fetch++;
    for (size_t i = 0; i < n; i++)
        if (cache->slot_of[which[i]] != NONE)
            cache->slot[cache->slot_of[which[i]]].fetch = cache->fetch;
    for (size_t i = 0; i < n; i++) {
        if (cache->slot_of[which[i]] == NONE) {
            cache->slot_of[which[i]] = take_slot(cache, which[i]);
            missing[n_missing] = which[i];
            to[n_missing++] = cache->slot[cache->slot_of[which[i]]].row;
        }
        row[i] = cache->slot[cache->slot_of[which[i]]].row;
    }
    rbf_rows(cache->rbf, missing, n_missing, to);
    cache->n_computed += n_missing;
    free(missing);
    free(to);
}
