/* The best LOOKED_AT times as many are sorted; among them, look-alikes are put off. */
#include "learn/query.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ALIKE 0.6
#define LOOKED_AT 40u

struct candidate {
    double score, tie;
    uint32_t i;
};

static bool is_before(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->tie != b->tie ? a->tie > b->tie : a->i < b->i;
}

static int by_score(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : 1;
}

/* A heap with the last of the best on top. */
static void sink(struct candidate *heap, size_t n, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        struct candidate swap = heap[at];

        if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!is_before(&swap, &heap[child]))
            return;
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

/* The best unlabelled ones, sorted. Returns how many. */
static size_t best(uint32_t n, const double *score, const double *tie, const signed char *label,
                   size_t most, struct candidate *heap)
{
    size_t n_heap = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct candidate candidate = {score[i], tie[i], i};

        if (label[i] != 0)
            continue;
        if (n_heap < most) {
            heap[n_heap++] = candidate;
            if (n_heap == most)
                for (size_t at = most; at-- > 0;)
                    sink(heap, most, at);
        } else if (is_before(&candidate, &heap[0])) {
            heap[0] = candidate;
            sink(heap, most, 0);
        }
    }
    qsort(heap, n_heap, sizeof *heap, by_score);
    return n_heap;
}

/* Whether a row, scattered to dense, looks like one that was chosen. */
static bool is_alike(const struct rows *rows, uint32_t i, const double *dense,
                     const uint32_t *chosen, size_t n, double length)
{
    for (size_t j = 0; j < n; j++) {
        double square = rows->square[i] + rows->square[chosen[j]];

        square -= 2 * rows_dot_dense(rows, chosen[j], dense);
        if (exp(-fmax(square, 0) / (2 * length * length)) >= ALIKE)
            return true;
    }
    return false;
}

size_t query_next(const struct rows *rows, const double *score, const double *tie,
                  const signed char *label, double length, size_t most, uint32_t *next)
{
    size_t room = most > rows->n / LOOKED_AT ? rows->n : most * LOOKED_AT, n, n_chosen = 0;
    struct candidate *heap = mem_alloc(room, sizeof *heap);
    double *dense = mem_alloc(rows->n_cols, sizeof *dense);
    bool *is_chosen = mem_alloc(room, sizeof *is_chosen);

    n = room ? best(rows->n, score, tie, label, room, heap) : 0;
    for (size_t c = 0; c < n && n_chosen < most; c++) {
        rows_scatter(rows, heap[c].i, dense);
        if (!is_alike(rows, heap[c].i, dense, next, n_chosen, length)) {
            next[n_chosen++] = heap[c].i;
            is_chosen[c] = true;
        }
        rows_unscatter(rows, heap[c].i, dense);
    }
    for (size_t c = 0; c < n && n_chosen < most; c++)
        if (!is_chosen[c])
            next[n_chosen++] = heap[c].i;
    free(heap);
    free(dense);
    free(is_chosen);
    return n_chosen;
}
