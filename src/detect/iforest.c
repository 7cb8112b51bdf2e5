/*
 * Trees are grown in parallel, each from its own random numbers, and then rows are scored in
 * parallel, each adding up its depths in the order of the trees. A tree is an array of nodes;
 * the left child follows its parent.
 */
#include "detect/iforest.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "detect/centred.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define DEFAULT_TREES 200u
#define DEFAULT_ROWS 256u
#define LEAF UINT32_MAX
#define SCORE_BLOCK 64u
#define EULER 0.57721566490153286

struct isolation_node {
    uint32_t column; /* LEAF if there is no cut */
    uint32_t right;  /* child; the left one is the next node */
    double value;    /* of the cut: left is < value; of a leaf: the depth it stands for */
};

struct iforest {
    struct matrix x;
    uint32_t n_trees, n_rows, most_depth;
    uint64_t seed;
    struct isolation_node *node; /* (n_trees, 2 n_rows) */
    double *score;
};

struct growing_tree {
    const struct iforest *forest;
    struct rng rng;
    struct isolation_node *node;
    uint32_t n_nodes;
    uint32_t *row;    /* [n_rows] the sample, cut in place */
    uint32_t *column; /* [cols] in any order */
};

/* c(n) of the paper: the mean depth of an unsuccessful search in a binary tree of n. */
static double mean_depth(double n)
{
    if (n <= 1)
        return 0;
    return n == 2 ? 1 : 2 * (log(n - 1) + EULER) - 2 * (n - 1) / n;
}

/* The first n of a random order (Fisher and Yates), without an array of all rows: as each of
 * the last n is drawn from those up to it, one that is taken gives way to the last (Floyd). */
static void draw_sample(struct growing_tree *g, uint32_t n)
{
    size_t rows = g->forest->x.rows;

    for (uint32_t i = 0; i < n; i++) {
        size_t last = rows - n + i;
        uint32_t pick = (uint32_t)rng_below(&g->rng, last + 1);

        for (uint32_t j = 0; j < i; j++)
            if (g->row[j] == pick) {
                pick = (uint32_t)last;
                break;
            }
        g->row[i] = pick;
    }
}

/* A random column in which the rows differ, and its range there; false if there is none. */
static bool choose_column(struct growing_tree *g, uint32_t begin, uint32_t end,
                          uint32_t *column, double *low, double *high)
{
    struct matrix x = g->forest->x;

    for (size_t n = x.cols; n > 0; n--) {
        size_t at = rng_below(&g->rng, n);
        uint32_t c = g->column[at];

        *low = INFINITY;
        *high = -INFINITY;
        for (uint32_t i = begin; i < end; i++) {
            *low = fmin(*low, matrix_row(x, g->row[i])[c]);
            *high = fmax(*high, matrix_row(x, g->row[i])[c]);
        }
        *column = c;
        if (*low < *high)
            return true;
        g->column[at] = g->column[n - 1]; /* not again in this node */
        g->column[n - 1] = c;
    }
    return false;
}

/* Rows below the cut to the front; returns where the others begin. */
static uint32_t part(struct growing_tree *g, uint32_t begin, uint32_t end, uint32_t column,
                     double cut)
{
    uint32_t middle = begin;

    for (uint32_t i = begin; i < end; i++) {
        uint32_t row = g->row[i];

        if (matrix_row(g->forest->x, row)[column] >= cut)
            continue;
        g->row[i] = g->row[middle];
        g->row[middle++] = row;
    }
    return middle;
}

/* Recursion is as deep as the tree: the logarithm of the sample. */
static void grow(struct growing_tree *g, uint32_t begin, uint32_t end, uint32_t depth)
{
    struct isolation_node *node = &g->node[g->n_nodes++];
    uint32_t column, middle;
    double low, high, cut;

    if (end - begin <= 1 || depth >= g->forest->most_depth ||
        !choose_column(g, begin, end, &column, &low, &high)) {
        *node = (struct isolation_node){LEAF, 0, depth + mean_depth(end - begin)};
        return;
    }
    cut = low + (high - low) * (1 - rng_real(&g->rng)); /* in (low, high] */
    if (!(cut > low && cut <= high))
        cut = high;
    middle = part(g, begin, end, column, cut);
    *node = (struct isolation_node){column, 0, cut};
    grow(g, begin, middle, depth + 1);
    node->right = g->n_nodes;
    grow(g, middle, end, depth + 1);
}

static void grow_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct iforest *forest = ctx;
    uint32_t n = forest->n_rows;
    struct growing_tree g = {.forest = forest};

    (void)worker;
    g.row = mem_alloc(n, sizeof *g.row);
    g.column = mem_alloc(forest->x.cols, sizeof *g.column);
    for (size_t t = begin; t < end; t++) {
        struct rng seeds = {forest->seed + t};

        for (uint32_t c = 0; c < forest->x.cols; c++)
            g.column[c] = c;
        g.rng.state = rng_next(&seeds);
        g.node = forest->node + t * 2 * n;
        g.n_nodes = 0;
        draw_sample(&g, n);
        grow(&g, 0, n, 0);
    }
    free(g.row);
    free(g.column);
}

static double depth_of(const struct isolation_node *node, const double *row)
{
    uint32_t at = 0;

    while (node[at].column != LEAF)
        at = row[node[at].column] < node[at].value ? at + 1 : node[at].right;
    return node[at].value;
}

static void score_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct iforest *forest = ctx;
    double typical = mean_depth(forest->n_rows) * forest->n_trees;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        forest->score[i] = 0;
    /* tree by tree, which stays in the cache */
    for (size_t t = 0; t < forest->n_trees; t++)
        for (size_t i = begin; i < end; i++)
            forest->score[i] +=
                depth_of(forest->node + t * 2 * forest->n_rows, matrix_row(forest->x, i));
    for (size_t i = begin; i < end; i++)
        forest->score[i] = exp2(-forest->score[i] / typical);
}

int iforest_score(struct matrix x, const struct iforest_opts *opts, struct pool *pool,
                  double *score)
{
    uint32_t n_rows = opts->n_rows ? opts->n_rows : DEFAULT_ROWS;
    struct rng rng = {opts->seed};
    struct iforest forest = {.x = x, .seed = rng_next(&rng), .score = score};
    int rc;

    if (x.rows < 2 || x.rows >= UINT32_MAX || n_rows < 2)
        return err_set(ERR_RANGE, "cannot grow a forest from %zu of %zu executions",
                       (size_t)n_rows, x.rows);
    rc = centred_check(x);
    if (rc < 0)
        return rc;
    forest.n_trees = opts->n_trees ? opts->n_trees : DEFAULT_TREES;
    forest.n_rows = n_rows < x.rows ? n_rows : (uint32_t)x.rows;
    forest.most_depth = (uint32_t)ceil(log2(forest.n_rows));
    forest.node = mem_alloc((size_t)forest.n_trees * 2 * forest.n_rows, sizeof *forest.node);
    pool_for(pool, forest.n_trees, 1, grow_trees, &forest);
    pool_for(pool, x.rows, SCORE_BLOCK, score_rows, &forest);
    free(forest.node);
    return 0;
}
