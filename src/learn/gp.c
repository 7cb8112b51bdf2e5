/*
 * Points are kept twice: as sparse rows, for the model, and, while scoring, as a dense table by
 * column, so that an entry of a row is one multiply-add over all points.
 */
#include "learn/gp.h"

#include "base/err.h"
#include "base/lapack.h"
#include "base/mem.h"
#include "base/rng.h"
#include "features/robust.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#define BACKGROUND_BELOW 0.95 /* quantile of the prior: what is strange is no background */
#define SAME 0.95             /* labels this similar are one point */
#define MOST_LABELLED 1500u   /* points made from labels; beyond it, the most similar one */
#define LANES 16u             /* points are padded to a multiple */
#define GRAIN 64u

struct gp_opts gp_opts_default(void)
{
    return (struct gp_opts){.length = 1.5,
                            .label_noise = 0.02,
                            .background_noise = 1,
                            .n_background = 300,
                            .floor = 0.2,
                            .seed = 1};
}

void gp_release(struct gp *gp)
{
    rows_release(&gp->points);
    free(gp->alpha);
    *gp = (struct gp){0};
}

/* ------------------------------------------------------------------------ kernel of a row */

/* The points by column, for products with sparse rows. */
struct table {
    const struct rows *points;
    size_t width; /* points, padded */
    float *x;     /* [n_cols][width] */
    double scale; /* -1 / (2 length^2) */
};

static void table_init(struct table *t, const struct rows *points, double length)
{
    *t = (struct table){.points = points, .scale = -1 / (2 * length * length)};
    t->width = ((size_t)points->n + LANES - 1) / LANES * LANES;
    t->x = mem_alloc((size_t)points->n_cols * t->width, sizeof *t->x);
    for (uint32_t p = 0; p < points->n; p++)
        for (size_t e = points->first[p]; e < points->first[p + 1]; e++)
            t->x[points->col[e] * t->width + p] = points->value[e];
}

/*
 * Kernel of row i with every point.
 *   product  [width] scratch
 *   k        [points->n] out
 */
static void table_kernel(const struct table *t, const struct rows *rows, uint32_t i,
                         float *product, double *k)
{
    memset(product, 0, t->width * sizeof *product);
    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        cblas_saxpy((int)t->width, rows->value[e], t->x + rows->col[e] * t->width, 1, product,
                    1);
    for (uint32_t p = 0; p < t->points->n; p++) {
        double square = rows->square[i] + t->points->square[p] - 2.0 * product[p];

        k[p] = exp(t->scale * fmax(square, 0));
    }
}

/* --------------------------------------------------------------------------------- points */

/* Points while they are chosen: what each should have, and how surely. */
struct choice {
    struct rows points;
    double *residual; /* [n] target minus prior, summed over what was merged */
    double *weight;   /* [n] 1 / noise, summed */
    bool *is_abnormal;
    double *dense; /* [n_cols] scratch, zero between uses */
    uint32_t n_labelled;
};

static void add_point(struct choice *c, const struct gp_input *in, uint32_t i, double weight)
{
    uint32_t p = c->points.n;
    bool is_abnormal = in->label[i] > 0;
    double target = is_abnormal ? in->high : 0;

    rows_copy(&c->points, in->rows, i);
    c->residual[p] = weight * (target - fmin(in->prior[i], in->high));
    c->weight[p] = weight;
    c->is_abnormal[p] = is_abnormal;
}

/* The point that row i is most similar to among those with the same label. */
static uint32_t nearest(const struct choice *c, const struct gp_input *in, uint32_t i,
                        double length, double *similarity)
{
    const struct rows *rows = in->rows;
    double least = INFINITY;
    uint32_t best = 0;

    rows_scatter(rows, i, c->dense);
    for (uint32_t p = 0; p < c->points.n; p++) {
        double square = rows->square[i] + c->points.square[p];

        square -= 2 * rows_dot_dense(&c->points, p, c->dense);
        if (square < least && c->is_abnormal[p] == (in->label[i] > 0)) {
            least = square;
            best = p;
        }
    }
    rows_unscatter(rows, i, c->dense);
    *similarity = exp(-fmax(least, 0) / (2 * length * length));
    return best;
}

static void add_label(struct choice *c, const struct gp_input *in, const struct gp_opts *opts,
                      uint32_t i)
{
    double weight = 1 / opts->label_noise, similarity;
    uint32_t p = nearest(c, in, i, opts->length, &similarity);

    if (similarity <= 0 || (similarity < SAME && c->n_labelled < MOST_LABELLED)) {
        add_point(c, in, i, weight);
        c->n_labelled++;
        return;
    }
    c->residual[p] +=
        weight * ((in->label[i] > 0 ? in->high : 0) - fmin(in->prior[i], in->high));
    c->weight[p] += weight;
}

/*
 * A sample of what is neither labelled nor strange. Drawn before labels are looked at, so that
 * a label does not change the rest of the background.
 */
static void add_background(struct choice *c, const struct gp_input *in,
                           const struct gp_opts *opts)
{
    uint32_t n = in->rows->n, n_low = 0, *low = mem_alloc(n, sizeof *low);
    double *copy = mem_alloc(n, sizeof *copy), limit;
    struct rng rng = {opts->seed};

    memcpy(copy, in->prior, n * sizeof *copy);
    limit = robust_quantile(copy, n, BACKGROUND_BELOW);
    for (uint32_t i = 0; i < n; i++)
        if (in->prior[i] <= limit)
            low[n_low++] = i;
    for (uint32_t i = 0; i < n_low && i < opts->n_background; i++) {
        uint32_t j = i + (uint32_t)rng_below(&rng, n_low - i), swap = low[j];

        low[j] = low[i];
        low[i] = swap;
        if (in->label[swap] == 0)
            add_point(c, in, swap, 1 / opts->background_noise);
    }
    free(low);
    free(copy);
}

static void choice_init(struct choice *c, const struct gp_input *in, const struct gp_opts *opts)
{
    size_t most = (size_t)opts->n_background;

    for (uint32_t i = 0; i < in->rows->n; i++)
        most += in->label[i] != 0;
    *c = (struct choice){.residual = mem_alloc(most, sizeof(double)),
                         .weight = mem_alloc(most, sizeof(double)),
                         .is_abnormal = mem_alloc(most, sizeof(bool)),
                         .dense = mem_alloc(in->rows->n_cols, sizeof(double))};
    rows_init(&c->points, in->rows->n_cols);
    for (uint32_t i = 0; i < in->rows->n; i++)
        if (in->label[i] != 0)
            add_label(c, in, opts, i);
    if (c->points.n > 0)
        add_background(c, in, opts);
}

static void choice_release(struct choice *c)
{
    rows_release(&c->points);
    free(c->residual);
    free(c->weight);
    free(c->is_abnormal);
    free(c->dense);
}

/* ------------------------------------------------------------------------------------ fit */

/* alpha = (K + diag(1 / weight))^-1 mean residual. */
static int solve(struct gp *gp, const struct choice *c)
{
    int n = (int)c->points.n, one = 1, info = 0;
    double *k = mem_alloc((size_t)n * (size_t)n, sizeof *k);
    struct table table;
    float *product;

    table_init(&table, &c->points, gp->opts.length);
    product = mem_alloc(table.width, sizeof *product);
    for (int p = 0; p < n; p++) {
        table_kernel(&table, &c->points, (uint32_t)p, product, k + (size_t)p * (size_t)n);
        k[(size_t)p * (size_t)n + (size_t)p] = 1 + 1 / c->weight[p];
        gp->alpha[p] = c->residual[p] / c->weight[p];
    }
    openblas_set_num_threads(1); /* the same sums on any machine of this kind */
    dpotrf_("U", &n, k, &n, &info);
    if (info == 0)
        dpotrs_("U", &n, &one, k, &n, gp->alpha, &n, &info);
    free(product);
    free(table.x);
    free(k);
    return info == 0 ? 0 : err_set(ERR_RANGE, "cannot learn: the labels contradict each other");
}

int gp_fit(struct gp *gp, const struct gp_input *input, const struct gp_opts *opts)
{
    struct choice choice;
    int rc = 0;

    *gp = (struct gp){.opts = *opts};
    for (uint32_t i = 0; i < input->rows->n; i++)
        if (!isfinite(input->rows->square[i]))
            return err_set(ERR_RANGE, "cannot learn: the features of an execution are not "
                                      "finite numbers");
    choice_init(&choice, input, opts);
    gp->alpha = mem_alloc(choice.points.n, sizeof *gp->alpha);
    if (choice.points.n > 0)
        rc = solve(gp, &choice);
    gp->points = choice.points;
    choice.points = (struct rows){0};
    choice_release(&choice);
    return rc;
}

/* ---------------------------------------------------------------------------------- score */

struct gp_scoring {
    const struct gp *gp;
    const struct rows *rows;
    const double *prior;
    struct table table;
    double *score;
};

static void score_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct gp_scoring *s = ctx;
    uint32_t n = s->gp->points.n;
    float *product = mem_alloc(s->table.width, sizeof *product);
    double *k = mem_alloc(n, sizeof *k);

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        double sum = s->prior[i];

        table_kernel(&s->table, s->rows, (uint32_t)i, product, k);
        for (uint32_t p = 0; p < n; p++)
            sum += s->gp->alpha[p] * k[p];
        s->score[i] = fmax(sum, s->gp->opts.floor * s->prior[i]);
    }
    free(product);
    free(k);
}

void gp_score(const struct gp *gp, const struct rows *rows, const double *prior,
              struct pool *pool, double *score)
{
    struct gp_scoring s = {.gp = gp, .rows = rows, .prior = prior, .score = score};

    if (gp->points.n == 0) {
        if (score != prior)
            memcpy(score, prior, rows->n * sizeof *score);
        return;
    }
    table_init(&s.table, &gp->points, gp->opts.length);
    pool_for(pool, rows->n, GRAIN, score_rows, &s);
    free(s.table.x);
}

/* ---------------------------------------------------------------------------------- bytes */

void gp_pack(const struct gp *gp, struct pack *pack)
{
    pack_f64(pack, gp->opts.length);
    pack_f64(pack, gp->opts.floor);
    rows_pack(&gp->points, pack);
    pack_array(pack, gp->alpha, gp->points.n, sizeof *gp->alpha);
}

int gp_unpack(struct gp *gp, struct pack *pack)
{
    int rc;

    *gp = (struct gp){.opts = gp_opts_default()};
    gp->opts.length = unpack_f64(pack);
    gp->opts.floor = unpack_f64(pack);
    rc = rows_unpack(&gp->points, pack);
    gp->alpha = unpack_array(pack, gp->points.n, sizeof *gp->alpha);
    for (uint32_t p = 0; rc == 0 && p < gp->points.n; p++)
        pack->is_bad |= !isfinite(gp->alpha[p]);
    if (rc == 0 && (pack->is_bad || !(gp->opts.length > 0)))
        rc = err_set(ERR_FORMAT, "damaged model: what was learnt from labels makes no sense");
    return rc;
}
