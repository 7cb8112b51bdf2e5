/*
 * Cells lie in preorder, each with the place of the first cell after its subtree, so that a
 * walk is a loop: next = far ? cell.skip : this + 1.
 */
#include "project/quadtree.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 16 /* bits of a key per direction */
#define LEAF 16   /* points that are not divided any further */
#define LANES 8

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

struct quad_cell {
    float x, y; /* centre of mass */
    float mass, size;
    uint32_t first, n; /* points */
    uint32_t skip;
    bool is_leaf;
};

/* What pulls at a leaf. */
struct list {
    float *x, *y, *mass; /* [cap] aligned, [n] used, padded with mass 0 */
    size_t n;
};

struct keyed_point {
    uint32_t key, point;
};

struct quadtree {
    struct pool *pool;
    size_t n;
    struct keyed_point *entry, *spare; /* [n] sorted by key */
    float *x, *y;                      /* [n] in that order */
    double *q;                         /* [n] sum of q of each, in that order */
    struct quad_cell *cell;
    uint32_t n_cells, *leaf, n_leaves;
    size_t cell_cap, leaf_cap;
    struct list *list; /* [threads] */

    float theta;
    double *force;
    bool is_wide; /* this processor has 256-bit registers */
};

/* ---------------------------------------------------------------------------- building it */

/* Spreads 16 bits out to every second bit. */
static uint32_t spread(uint32_t v)
{
    v = (v | v << 8) & 0x00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f;
    v = (v | v << 2) & 0x33333333;
    return (v | v << 1) & 0x55555555;
}

static void make_keys(struct quadtree *t, const double *y, size_t n)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, scale;

    for (size_t i = 0; i < 2 * n; i++) {
        low[i & 1] = fmin(low[i & 1], y[i]);
        high[i & 1] = fmax(high[i & 1], y[i]);
    }
    scale = fmax(high[0] - low[0], high[1] - low[1]);
    scale = scale > 0 ? ((1 << LEVELS) - 1) / scale : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t a = (uint32_t)((y[2 * i] - low[0]) * scale);
        uint32_t b = (uint32_t)((y[2 * i + 1] - low[1]) * scale);

        t->entry[i] = (struct keyed_point){spread(a) | spread(b) << 1, (uint32_t)i};
    }
}

/* By key; equal keys stay in the order of the points. */
static void sort_keys(struct quadtree *t, size_t n)
{
    for (int shift = 0; shift < 32; shift += 8) {
        uint32_t at[257] = {0};
        struct keyed_point *swap = t->entry;

        for (size_t i = 0; i < n; i++)
            at[(t->entry[i].key >> shift & 0xff) + 1]++;
        for (int b = 0; b < 256; b++)
            at[b + 1] += at[b];
        for (size_t i = 0; i < n; i++)
            t->spare[at[t->entry[i].key >> shift & 0xff]++] = t->entry[i];
        t->entry = t->spare;
        t->spare = swap;
    }
}

static void measure(struct quadtree *t, struct quad_cell *cell)
{
    float low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    double x = 0, y = 0;

    for (uint32_t i = cell->first; i < cell->first + cell->n; i++) {
        low_x = t->x[i] < low_x ? t->x[i] : low_x;
        high_x = t->x[i] > high_x ? t->x[i] : high_x;
        low_y = t->y[i] < low_y ? t->y[i] : low_y;
        high_y = t->y[i] > high_y ? t->y[i] : high_y;
        x += (double)t->x[i];
        y += (double)t->y[i];
    }
    cell->mass = (float)cell->n;
    cell->x = (float)(x / cell->n);
    cell->y = (float)(y / cell->n);
    cell->size = fmaxf(high_x - low_x, high_y - low_y);
}

/* Adds the cell of points first..end-1, which agree in all bits above `bits`, and what is in
 * it. Not deeper than LEVELS. */
static void add_cell(struct quadtree *t, uint32_t first, uint32_t end, int bits)
{
    uint32_t self = t->n_cells++, from = first;
    bool is_leaf = end - first <= LEAF || bits == 0;

    mem_grow(&t->cell, &t->cell_cap, (size_t)t->n_cells);
    t->cell[self] = (struct quad_cell){.first = first, .n = end - first, .is_leaf = is_leaf};
    measure(t, &t->cell[self]);
    if (is_leaf) {
        *mem_push(&t->leaf, &t->n_leaves, &t->leaf_cap) = self;
    }
    for (uint32_t part = 0; part < 4 && !is_leaf; part++) {
        uint32_t to = from;

        while (to < end && (t->entry[to].key >> (bits - 2) & 3) == part)
            to++;
        if (to > from)
            add_cell(t, from, to, bits - 2);
        from = to;
    }
    t->cell[self].skip = t->n_cells;
}

static void build(struct quadtree *t, const double *y, size_t n)
{
    make_keys(t, y, n);
    sort_keys(t, n);
    for (size_t i = 0; i < n; i++) {
        t->x[i] = (float)y[2 * (size_t)t->entry[i].point];
        t->y[i] = (float)y[2 * (size_t)t->entry[i].point + 1];
    }
    t->n = n;
    t->n_cells = t->n_leaves = 0;
    add_cell(t, 0, (uint32_t)n, 2 * LEVELS);
}

/* ------------------------------------------------------------------------------- walking it */

static void push(struct list *list, float x, float y, float mass)
{
    list->x[list->n] = x;
    list->y[list->n] = y;
    list->mass[list->n++] = mass;
}

/* Distance of v from low..high, 0 inside. */
static float outside(float v, float low, float high)
{
    return v < low ? low - v : v > high ? v - high : 0;
}

static void collect(const struct quadtree *t, const struct quad_cell *leaf, struct list *list)
{
    float low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;

    for (uint32_t i = leaf->first; i < leaf->first + leaf->n; i++) {
        low_x = fminf(low_x, t->x[i]);
        high_x = fmaxf(high_x, t->x[i]);
        low_y = fminf(low_y, t->y[i]);
        high_y = fmaxf(high_y, t->y[i]);
    }
    list->n = 0;
    for (uint32_t c = 0; c < t->n_cells;) {
        const struct quad_cell *cell = &t->cell[c];
        float dx = outside(cell->x, low_x, high_x), dy = outside(cell->y, low_y, high_y);

        if (cell->size * cell->size < t->theta * t->theta * (dx * dx + dy * dy)) {
            push(list, cell->x, cell->y, cell->mass);
            c = cell->skip;
            continue;
        }
        for (uint32_t i = cell->first; cell->is_leaf && i < cell->first + cell->n; i++)
            push(list, t->x[i], t->y[i], 1);
        c++;
    }
    for (size_t i = list->n; i % LANES; i++)
        list->x[i] = list->y[i] = list->mass[i] = 0;
}

static inline __attribute__((always_inline)) double sum_of(const lanes *v)
{
    double sum = 0;

    for (int l = 0; l < LANES; l++)
        sum += (double)(*v)[l];
    return sum;
}

/* Without contraction to fused operations, so that both widths below give the same bytes. */
static inline __attribute__((always_inline)) void act(const struct quadtree *t,
                                                      const struct list *list, uint32_t i)
{
    const lanes *x = (const lanes *)list->x, *y = (const lanes *)list->y;
    const lanes *mass = (const lanes *)list->mass;
    double *force = t->force + 2 * (size_t)t->entry[i].point;
    lanes all = {0}, force_x = {0}, force_y = {0};

    for (size_t k = 0; k < (list->n + LANES - 1) / LANES; k++) {
        lanes dx = t->x[i] - x[k], dy = t->y[i] - y[k];
        lanes q = 1 / (1 + (dx * dx + dy * dy)), mq = mass[k] * q, mqq = mq * q;

        all += mq;
        force_x += mqq * dx;
        force_y += mqq * dy;
    }
    t->q[i] = sum_of(&all) - 1; /* without itself */
    force[0] = sum_of(&force_x);
    force[1] = sum_of(&force_y);
}

static void act_on_leaf(const struct quadtree *t, const struct list *list,
                        const struct quad_cell *leaf)
{
    for (uint32_t i = leaf->first; i < leaf->first + leaf->n; i++)
        act(t, list, i);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void act_on_leaf_wide(const struct quadtree *t,
                                                             const struct list *list,
                                                             const struct quad_cell *leaf)
{
    for (uint32_t i = leaf->first; i < leaf->first + leaf->n; i++)
        act(t, list, i);
}

static bool has_wide(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define act_on_leaf_wide act_on_leaf

static bool has_wide(void)
{
    return false;
}
#endif

static void repel_leaves(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct quadtree *t = ctx;
    struct list *list = &t->list[worker];

    for (size_t l = begin; l < end; l++) {
        const struct quad_cell *leaf = &t->cell[t->leaf[l]];

        collect(t, leaf, list);
        (t->is_wide ? act_on_leaf_wide : act_on_leaf)(t, list, leaf);
    }
}

/* ---------------------------------------------------------------------------------- public */

static float *aligned_floats(size_t n)
{
    size_t bytes = (n + LANES) * sizeof(float);
    float *x = aligned_alloc(sizeof(lanes), (bytes + sizeof(lanes) - 1) & -sizeof(lanes));

    if (x == NULL)
        abort();
    return x;
}

struct quadtree *quadtree_new(size_t n, struct pool *pool)
{
    struct quadtree *t = mem_alloc(1, sizeof *t);

    t->pool = pool;
    t->is_wide = has_wide();
    t->entry = mem_resize(NULL, n, sizeof *t->entry);
    t->spare = mem_resize(NULL, n, sizeof *t->spare);
    t->x = mem_resize(NULL, n, sizeof *t->x);
    t->y = mem_resize(NULL, n, sizeof *t->y);
    t->q = mem_resize(NULL, n, sizeof *t->q);
    t->list = mem_alloc(pool_threads(pool), sizeof *t->list);
    for (unsigned w = 0; w < pool_threads(pool); w++)
        t->list[w] = (struct list){aligned_floats(n), aligned_floats(n), aligned_floats(n), 0};
    return t;
}

void quadtree_free(struct quadtree *t)
{
    if (t == NULL)
        return;
    for (unsigned w = 0; w < pool_threads(t->pool); w++) {
        free(t->list[w].x);
        free(t->list[w].y);
        free(t->list[w].mass);
    }
    free(t->list);
    free(t->entry);
    free(t->spare);
    free(t->x);
    free(t->y);
    free(t->q);
    free(t->cell);
    free(t->leaf);
    free(t);
}

double quadtree_repel(struct quadtree *t, const double *y, size_t n, double theta,
                      double *force)
{
    double sum = 0;

    build(t, y, n);
    t->theta = (float)theta;
    t->force = force;
    pool_for(t->pool, t->n_leaves, 8, repel_leaves, t);
    for (size_t i = 0; i < n; i++)
        sum += t->q[i];
    return sum;
}
