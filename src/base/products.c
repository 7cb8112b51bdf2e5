/*
 * Tiles of 4 rows and 24 columns (8 at the right edge) are summed in registers. The loops over
 * a tile have fixed lengths and are unrolled, so that the tile is in registers; the whole is
 * compiled twice, for processors with AVX2 and FMA and for all others.
 */
#include "base/products.h"

#include <assert.h>
#include <stdbool.h>

typedef float lanes __attribute__((vector_size(4 * PRODUCTS_WIDTH), aligned(4)));

#define VECTORS                                                                                \
    3u /* of a tile: 12 sums, 3 columns and a factor are the 16 registers there are */
#define EACH_ROW(r) _Pragma("GCC unroll 4") for (size_t r = 0; r < PRODUCTS_ROWS; r++)
#define EACH_VECTOR(v, n) _Pragma("GCC unroll 3") for (size_t v = 0; v < (n); v++)

/* Columns 0 .. 8 n_vectors - 1 of b and c; n_vectors is a constant where this is used. */
static inline __attribute__((always_inline)) void tile(const float *a, size_t depth,
                                                       const float *b, size_t width, float beta,
                                                       float *c, const size_t n_vectors)
{
    lanes sum[PRODUCTS_ROWS][VECTORS];

    EACH_ROW(r)
    EACH_VECTOR(v, n_vectors)
    sum[r][v] =
        beta == 0 ? (lanes){0} : beta * *(const lanes *)(c + r * width + v * PRODUCTS_WIDTH);
    for (size_t k = 0; k < depth; k++) {
        lanes column[VECTORS];

        EACH_VECTOR(v, n_vectors)
        column[v] = *(const lanes *)(b + k * width + v * PRODUCTS_WIDTH);
        EACH_ROW(r)
        EACH_VECTOR(v, n_vectors) sum[r][v] += a[r * depth + k] * column[v];
    }
    EACH_ROW(r)
    EACH_VECTOR(v, n_vectors) * (lanes *)(c + r * width + v * PRODUCTS_WIDTH) = sum[r][v];
}

static inline __attribute__((always_inline)) void all_tiles(const float *a, size_t n,
                                                            size_t depth, const float *b,
                                                            size_t width, float beta, float *c)
{
    size_t j = 0;

    for (; j + VECTORS * PRODUCTS_WIDTH <= width; j += VECTORS * PRODUCTS_WIDTH)
        for (size_t i = 0; i < n; i += PRODUCTS_ROWS)
            tile(a + i * depth, depth, b + j, width, beta, c + i * width + j, VECTORS);
    for (; j < width; j += PRODUCTS_WIDTH)
        for (size_t i = 0; i < n; i += PRODUCTS_ROWS)
            tile(a + i * depth, depth, b + j, width, beta, c + i * width + j, 1);
}

#ifdef __x86_64__
static __attribute__((target("avx2,fma"))) void with_avx2(const float *a, size_t n,
                                                          size_t depth, const float *b,
                                                          size_t width, float beta, float *c)
{
    all_tiles(a, n, depth, b, width, beta, c);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define with_avx2 with_any
#define has_avx2() false
#endif

static void with_any(const float *a, size_t n, size_t depth, const float *b, size_t width,
                     float beta, float *c)
{
    all_tiles(a, n, depth, b, width, beta, c);
}

void products(const float *a, size_t n, size_t depth, const float *b, size_t width, float beta,
              float *c)
{
    assert(n % PRODUCTS_ROWS == 0 && width % PRODUCTS_WIDTH == 0);
    if (has_avx2())
        with_avx2(a, n, depth, b, width, beta, c);
    else
        with_any(a, n, depth, b, width, beta, c);
}
