/*
 * Decomposition. Each round takes the variables that can still move -- those between their
 * bounds, and the ones that violate the optimality conditions most --, solves for them alone
 * with the rest held (ocsvm_smo), and brings the gradient of all rows up to date with their
 * kernel rows. What rests on a bound where it belongs costs nothing: no kernel row, no place in
 * the working set; that is shrinking from the first round on, with nothing to undo.
 *
 * The gradient G = K a always belongs to `applied`; refresh() adds kernel rows until that is
 * alpha. So a start, a warm start and a round differ only in how they change alpha.
 */
#include "detect/ocsvm.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "detect/centred.h"
#include "detect/rbf.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CURVATURE 1e-12
#define NONE SIZE_MAX
#define DEFAULT_TOLERANCE 1e-5
#define DEFAULT_CACHE ((size_t)256 << 20)
#define MAX_WORKING 1024u /* variables of one round */
#define MAX_NEW 32u       /* of them, those that rest on a bound */
#define MAX_ROUNDS 1000u
#define INNER_SHARE 0.1 /* a round ends at this share of the violation it found */
#define SAMPLED_ONE 8u  /* of so many rows, for the first guess */
#define MIN_SAMPLED 1000u
#define SAMPLE_TOLERANCE 1e-3
#define SUM_BLOCK 2048u /* rows of the gradient per piece of work */
#define MIN_ROWS 10u    /* fewer have none that is alone */
#define FORMAT 1u       /* of the bytes */

/* --------------------------------------------------------------------------- the inner loop */

/* The variable that most wants to grow. */
static size_t choose_up(const struct ocsvm_smo *smo)
{
    size_t up = NONE;
    double least = INFINITY;

    for (size_t i = 0; i < smo->n; i++)
        if (smo->gradient[i] < least && smo->alpha[i] < smo->upper[i]) {
            least = smo->gradient[i];
            up = i;
        }
    return up;
}

/* The one to shrink for it: most gain, or NONE when no violation is above tolerance. */
static size_t choose_down(const struct ocsvm_smo *smo, size_t up, double tolerance)
{
    const float *k = smo->kernel + up * smo->n;
    double most = -1, worst = 0;
    size_t down = NONE;

    for (size_t j = 0; j < smo->n; j++) {
        double b = smo->gradient[j] - smo->gradient[up], a, gain;

        if (b <= 0 || smo->alpha[j] <= 0)
            continue;
        if (b > worst)
            worst = b;
        a = 2 - 2 * (double)k[j];
        gain = b * b / (a > MIN_CURVATURE ? a : MIN_CURVATURE);
        if (gain > most) {
            most = gain;
            down = j;
        }
    }
    return worst > tolerance ? down : NONE;
}

static void move(struct ocsvm_smo *smo, size_t up, size_t down)
{
    const float *ku = smo->kernel + up * smo->n, *kd = smo->kernel + down * smo->n;
    double a = 2 - 2 * (double)ku[down], b = smo->gradient[down] - smo->gradient[up];
    double step = b / (a > MIN_CURVATURE ? a : MIN_CURVATURE);
    bool fills = step >= smo->upper[up] - smo->alpha[up], empties;

    if (fills)
        step = smo->upper[up] - smo->alpha[up];
    empties = step >= smo->alpha[down];
    if (empties)
        step = smo->alpha[down];
    /* exactly on a bound that is reached: later questions are alpha < upper, alpha > 0 */
    smo->alpha[up] = fills && !empties ? smo->upper[up] : smo->alpha[up] + step;
    smo->alpha[down] = empties ? 0 : smo->alpha[down] - step;
    if (smo->alpha[up] > smo->upper[up])
        smo->alpha[up] = smo->upper[up];
    for (size_t i = 0; i < smo->n; i++)
        smo->gradient[i] += step * ((double)ku[i] - (double)kd[i]);
}

size_t ocsvm_smo_solve(struct ocsvm_smo *smo, double tolerance)
{
    size_t most = 10000 + 100 * smo->n, n_steps;

    for (n_steps = 0; n_steps < most; n_steps++) {
        size_t up = choose_up(smo), down;

        if (up == NONE)
            break;
        down = choose_down(smo, up, tolerance);
        if (down == NONE)
            break;
        move(smo, up, down);
    }
    return n_steps;
}

/* ---------------------------------------------------------------------------------- machine */

struct ocsvm {
    struct centred points;
    struct rbf rbf;
    struct rbf_cache *cache;
    double tolerance, total;
    double *alpha, *applied, *gradient, *upper; /* [rows] */
    double rho, violation;
    size_t n_steps;
    bool is_started; /* alpha is more than zeros */
};

/* A row to be ordered, smallest key first. */
struct keyed_row {
    double key;
    uint32_t row;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed_row *p = a, *q = b;

    return ORDER(p->key, q->key) ?: ORDER(p->row, q->row);
}

static bool is_free(const struct ocsvm *svm, size_t i)
{
    return svm->alpha[i] > 0 && svm->alpha[i] < svm->upper[i];
}

/* --------------------------------------------------------------------- making and freeing */

static int check_opts(const struct ocsvm_opts *opts)
{
    if (!(opts->nu >= 0 && opts->nu <= 1))
        return err_set(ERR_RANGE, "the share of outliers must be in 0..1, not %g", opts->nu);
    if (!(opts->gamma >= 0) || isinf(opts->gamma))
        return err_set(ERR_RANGE, "the kernel width must be above 0, not %g", opts->gamma);
    if (!(opts->tolerance >= 0))
        return err_set(ERR_RANGE, "the tolerance must be above 0, not %g", opts->tolerance);
    return 0;
}

int ocsvm_new(struct matrix x, const struct ocsvm_opts *opts, struct pool *pool,
              struct ocsvm **out)
{
    size_t cache_bytes = opts->cache_bytes ? opts->cache_bytes : DEFAULT_CACHE;
    struct ocsvm *svm;
    int rc = check_opts(opts);

    *out = NULL;
    if (rc == 0 && (x.rows < 1 || x.rows >= UINT32_MAX))
        rc = err_set(ERR_RANGE, "cannot train on %zu executions", x.rows);
    if (rc == 0)
        rc = centred_check_products(x);
    if (rc < 0)
        return rc;
    svm = mem_alloc(1, sizeof *svm);
    centred_init(&svm->points, x);
    svm->rbf = (struct rbf){&svm->points, opts->gamma > 0 ? opts->gamma : rbf_gamma(x), pool};
    svm->cache = rbf_cache_new(&svm->rbf, cache_bytes, 2 * MAX_NEW);
    svm->tolerance = opts->tolerance > 0 ? opts->tolerance : DEFAULT_TOLERANCE;
    svm->total = (opts->nu > 0 ? opts->nu : OCSVM_NU) * (double)x.rows;
    svm->alpha = mem_alloc(x.rows, sizeof *svm->alpha);
    svm->applied = mem_alloc(x.rows, sizeof *svm->applied);
    svm->gradient = mem_alloc(x.rows, sizeof *svm->gradient);
    svm->upper = mem_alloc(x.rows, sizeof *svm->upper);
    *out = svm;
    return 0;
}

void ocsvm_free(struct ocsvm *svm)
{
    if (svm == NULL)
        return;
    rbf_cache_free(svm->cache);
    centred_release(&svm->points);
    free(svm->alpha);
    free(svm->applied);
    free(svm->gradient);
    free(svm->upper);
    free(svm);
}

/* ---------------------------------------------------------------------------- the gradient */

struct addition {
    double *gradient;
    const float **row;
    const double *delta;
    size_t n;
};

static void add_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct addition *add = ctx;

    (void)worker;
    for (size_t a = 0; a < add->n; a++) {
        const float *row = add->row[a];
        double delta = add->delta[a];

        for (size_t i = begin; i < end; i++)
            add->gradient[i] += delta * (double)row[i];
    }
}

/* Brings the gradient to alpha, as many kernel rows at a time as there is room for. */
static void refresh(struct ocsvm *svm)
{
    size_t rows = svm->points.x.rows, room = rbf_cache_room(svm->cache);
    uint32_t *which = mem_alloc(room, sizeof *which);
    double *delta = mem_alloc(room, sizeof *delta);
    const float **row = mem_alloc(room, sizeof *row);
    struct addition add = {svm->gradient, row, delta, 0};

    for (size_t i = 0; i < rows; i++) {
        if (svm->alpha[i] != svm->applied[i]) {
            which[add.n] = (uint32_t)i;
            delta[add.n++] = svm->alpha[i] - svm->applied[i];
            svm->applied[i] = svm->alpha[i];
        }
        if (add.n == room || i + 1 == rows) {
            rbf_cache_fetch(svm->cache, which, add.n, row);
            pool_for(svm->rbf.pool, rows, SUM_BLOCK, add_rows, &add);
            add.n = 0;
        }
    }
    free(which);
    free(delta);
    free(row);
}

/* ----------------------------------------------------------------------------- the start */

/* Gives what is missing of the total to the rows of smallest key: at most 1 to each at first,
 * and more only if that is not enough. */
static void hand_out(struct ocsvm *svm, struct keyed_row *candidate, double missing)
{
    size_t rows = svm->points.x.rows;

    qsort(candidate, rows, sizeof *candidate, by_key);
    for (int pass = 0; pass < 2; pass++)
        for (size_t c = 0; c < rows && missing > 0; c++) {
            size_t i = candidate[c].row;
            double most = pass == 0 && svm->upper[i] > 1 ? 1 : svm->upper[i];
            double gift = most - svm->alpha[i] < missing ? most - svm->alpha[i] : missing;

            if (gift <= 0)
                continue;
            svm->alpha[i] = gift == most - svm->alpha[i] ? most : svm->alpha[i] + gift;
            missing -= gift;
        }
}

/* The gradient as a machine of every SAMPLED_ONE-th row sees it, or 0 where there are so few
 * rows that it does not matter where to begin. */
static void sample_gradient(const struct ocsvm *svm, double *gradient)
{
    struct matrix sample = svm->points.x;
    struct ocsvm_opts opts = {.gamma = svm->rbf.gamma, .tolerance = SAMPLE_TOLERANCE};
    struct ocsvm_model model;
    struct ocsvm *small = NULL;

    if (sample.rows < MIN_SAMPLED)
        return;
    sample.rows = (sample.rows + SAMPLED_ONE - 1) / SAMPLED_ONE;
    sample.stride *= SAMPLED_ONE;
    opts.nu = svm->total / (double)svm->points.x.rows;
    if (ocsvm_new(sample, &opts, svm->rbf.pool, &small) == 0 &&
        ocsvm_train(small, NULL, NULL) == 0) {
        ocsvm_model_init(&model, small);
        if (ocsvm_model_score(&model, svm->points.x, svm->rbf.pool, gradient) == 0)
            for (size_t i = 0; i < svm->points.x.rows; i++)
                gradient[i] = -gradient[i];
        ocsvm_model_release(&model);
    }
    ocsvm_free(small);
}

/* Makes alpha fit the bounds and the total: the likely outliers are where the gradient is
 * small. */
static void make_feasible(struct ocsvm *svm)
{
    size_t rows = svm->points.x.rows;
    struct keyed_row *candidate = mem_alloc(rows, sizeof *candidate);
    double *guess = mem_alloc(rows, sizeof *guess), sum = 0;

    if (!svm->is_started)
        sample_gradient(svm, guess);

    for (size_t i = 0; i < rows; i++) {
        svm->alpha[i] = fmin(svm->alpha[i], svm->upper[i]);
        sum += svm->alpha[i];
    }
    for (size_t i = 0; i < rows; i++) {
        if (sum > svm->total)
            svm->alpha[i] *= svm->total / sum;
        candidate[i].row = (uint32_t)i;
        candidate[i].key = svm->is_started ? svm->gradient[i] : guess[i];
    }
    if (sum < svm->total)
        hand_out(svm, candidate, svm->total - sum);
    svm->is_started = true;
    free(candidate);
    free(guess);
}

/* ------------------------------------------------------------------------------ the rounds */

/* rho and the violation, as LIBSVM has them: rho is the mean of the gradient of what is free,
 * or the middle of what is possible. */
static void measure(struct ocsvm *svm)
{
    double above = INFINITY, below = -INFINITY, low = INFINITY, high = -INFINITY, sum = 0;
    size_t n_free = 0;

    for (size_t i = 0; i < svm->points.x.rows; i++) {
        double g = svm->gradient[i];

        if (svm->alpha[i] < svm->upper[i])
            low = fmin(low, g);
        if (svm->alpha[i] > 0)
            high = fmax(high, g);
        if (is_free(svm, i)) {
            sum += g;
            n_free++;
        } else if (svm->alpha[i] > 0) {
            below = fmax(below, g);
        } else if (svm->upper[i] > 0) {
            above = fmin(above, g);
        }
    }
    if (n_free > 0)
        svm->rho = sum / (double)n_free;
    else
        svm->rho = isinf(above) ? below : isinf(below) ? above : (above + below) / 2;
    svm->violation = high > low ? high - low : 0;
}

/* How far a row is on the wrong side of the border. */
static double violation_of(const struct ocsvm *svm, size_t i)
{
    double g = svm->gradient[i] - svm->rho;

    if (svm->alpha[i] < svm->upper[i])
        return svm->alpha[i] > 0 ? fabs(g) : -g;
    return svm->upper[i] > 0 ? g : -INFINITY;
}

/* Moves the `most` of smallest key to the front, in any order (Hoare's selection). */
static void select_smallest(struct keyed_row *candidate, size_t n, size_t most)
{
    size_t begin = 0, end = n;

    while (end - begin > 1) {
        struct keyed_row pivot = candidate[begin + (end - begin - 1) / 2], swap;
        size_t i = begin, j = end - 1;

        for (;; i++, j--) {
            while (by_key(&candidate[i], &pivot) < 0)
                i++;
            while (by_key(&pivot, &candidate[j]) < 0)
                j--;
            if (i >= j)
                break;
            swap = candidate[i];
            candidate[i] = candidate[j];
            candidate[j] = swap;
        }
        /* those up to j are not above the pivot, the others not below */
        if (most <= j)
            end = j + 1;
        else
            begin = j + 1;
        if (most == begin || most == end)
            return;
    }
}

/* The worst of what is there to the front, in order; returns how many they are. */
static size_t keep_worst(struct keyed_row *candidate, size_t n, size_t most)
{
    if (n > most)
        select_smallest(candidate, n, most);
    else
        most = n;
    qsort(candidate, most, sizeof *candidate, by_key);
    return most;
}

/* The working set: violators on a bound, worst first, then free rows, worst first. */
static size_t choose(const struct ocsvm *svm, uint32_t *which)
{
    size_t rows = svm->points.x.rows, n_bound = 0, n_free = 0, n = 0;
    size_t most = fmin(MAX_WORKING, (double)rbf_cache_room(svm->cache));
    struct keyed_row *bound = mem_alloc(rows, sizeof *bound);
    struct keyed_row *free_rows = mem_alloc(rows, sizeof *free_rows);

    for (size_t i = 0; i < rows; i++) {
        double violation = violation_of(svm, i);

        if (is_free(svm, i))
            free_rows[n_free++] = (struct keyed_row){-violation, (uint32_t)i};
        else if (violation > 0)
            bound[n_bound++] = (struct keyed_row){-violation, (uint32_t)i};
    }
    n_bound = keep_worst(bound, n_bound, MAX_NEW);
    n_free = keep_worst(free_rows, n_free, most - n_bound);
    for (size_t i = 0; i < n_bound; i++)
        which[n++] = bound[i].row;
    for (size_t i = 0; i < n_free; i++)
        which[n++] = free_rows[i].row;
    free(bound);
    free(free_rows);
    return n;
}

/* Solves for the working set with everything else held. */
static void solve_for(struct ocsvm *svm, const uint32_t *which, size_t n, double tolerance)
{
    float *kernel = mem_resize(NULL, n * n, sizeof *kernel);
    double *value = mem_alloc(3 * n, sizeof *value);
    const float **row = mem_alloc(n, sizeof *row);
    struct ocsvm_smo smo = {n, kernel, value, value + n, value + 2 * n};

    rbf_cache_fetch(svm->cache, which, n, row);
    for (size_t a = 0; a < n; a++) {
        value[a] = svm->upper[which[a]];
        smo.alpha[a] = svm->alpha[which[a]];
        smo.gradient[a] = svm->gradient[which[a]];
        for (size_t b = 0; b < n; b++)
            kernel[a * n + b] = row[a][which[b]];
    }
    svm->n_steps += ocsvm_smo_solve(&smo, tolerance);
    for (size_t a = 0; a < n; a++)
        svm->alpha[which[a]] = smo.alpha[a];
    free(kernel);
    free(value);
    free(row);
}

static size_t solve(struct ocsvm *svm)
{
    uint32_t *which = mem_alloc(MAX_WORKING, sizeof *which);
    size_t n_rounds;

    for (n_rounds = 0; n_rounds < MAX_ROUNDS; n_rounds++) {
        double allowed;

        refresh(svm);
        measure(svm);
        allowed = svm->tolerance * svm->rho;
        if (svm->violation <= allowed)
            break;
        solve_for(svm, which, choose(svm, which),
                  fmax(allowed / 2, svm->violation * INNER_SHARE));
    }
    free(which);
    return n_rounds;
}

static int set_weights(struct ocsvm *svm, const double *weight)
{
    double sum = 0;

    for (size_t i = 0; i < svm->points.x.rows; i++) {
        double u = weight ? weight[i] : 1;

        if (!(u >= 0) || isinf(u))
            return err_set(ERR_RANGE, "the weight of execution %zu is %g, not a number >= 0", i,
                           u);
        sum += u;
    }
    if (sum < svm->total * (1 - 1e-12))
        return err_set(ERR_RANGE,
                       "cannot train: the weights of all executions sum to %g, less than %g",
                       sum, svm->total);
    for (size_t i = 0; i < svm->points.x.rows; i++)
        svm->upper[i] = weight ? weight[i] : 1;
    return 0;
}

int ocsvm_train(struct ocsvm *svm, const double *weight, struct ocsvm_result *result)
{
    size_t rows = svm->points.x.rows, n_rounds, steps_before = svm->n_steps;
    size_t rows_before = rbf_cache_computed(svm->cache);
    int rc = set_weights(svm, weight);

    if (rc < 0)
        return rc;
    make_feasible(svm);
    n_rounds = solve(svm);
    if (result == NULL)
        return 0;
    *result = (struct ocsvm_result){.alpha = svm->alpha,
                                    .rho = svm->rho,
                                    .gamma = svm->rbf.gamma,
                                    .total = svm->total,
                                    .violation = svm->violation,
                                    .allowed = svm->tolerance * svm->rho,
                                    .n_rounds = n_rounds,
                                    .n_steps = svm->n_steps - steps_before};
    result->n_kernel_rows = rbf_cache_computed(svm->cache) - rows_before;
    for (size_t i = 0; i < rows; i++) {
        result->n_support += svm->alpha[i] > 0;
        result->objective += svm->alpha[i] * svm->gradient[i] / 2;
    }
    return 0;
}

void ocsvm_score(const struct ocsvm *svm, double *score)
{
    for (size_t i = 0; i < svm->points.x.rows; i++)
        score[i] = svm->rho - svm->gradient[i];
}

/* near[a] = the sum of the kernel of row which[a] with all rows, itself included. */
static void sum_near(const struct ocsvm *svm, const uint32_t *which, size_t n, double *near)
{
    size_t rows = svm->points.x.rows, cols = svm->points.x.cols;
    struct matrix x = {mem_alloc(n * cols, sizeof(double)), n, cols, cols};
    double *one = mem_alloc(rows, sizeof *one);

    for (size_t i = 0; i < rows; i++)
        one[i] = 1;
    for (size_t a = 0; a < n; a++)
        for (size_t c = 0; c < cols; c++)
            matrix_row(x, a)[c] = matrix_row(svm->points.x, which[a])[c] + svm->points.mean[c];
    rbf_sums(&svm->rbf, one, x, near);
    free(x.x);
    free(one);
}

void ocsvm_settle_border(const struct ocsvm *svm, double *score)
{
    size_t rows = svm->points.x.rows, n = 0, n_alone = 0;
    double allowed = svm->tolerance * svm->rho;
    uint32_t *which = mem_alloc(rows, sizeof *which);
    double *near = mem_alloc(rows, sizeof *near);

    for (size_t i = 0; i < rows; i++) /* what is not inside, and may be outside */
        if (svm->gradient[i] <= svm->rho * (1 + svm->tolerance) && svm->upper[i] <= svm->total)
            which[n++] = (uint32_t)i;
    if (rows < MIN_ROWS || n > rows / 4) /* then the border is where most are */
        n = 0;
    sum_near(svm, which, n, near);
    for (size_t a = 0; a < n; a++)
        n_alone += svm->gradient[which[a]] / near[a] > svm->rho / 2;
    for (size_t a = 0; a < n; a++) {
        double over = svm->gradient[which[a]] / near[a] - svm->rho / 2;

        if (score[which[a]] <= allowed)
            score[which[a]] = allowed * fmin(2 / near[a], 1);
        if (over > 0 && (double)n_alone <= 2 * svm->total + 1)
            score[which[a]] += over;
    }
    free(which);
    free(near);
}

/* ------------------------------------------------------------------------------- the model */

void ocsvm_model_init(struct ocsvm_model *model, const struct ocsvm *svm)
{
    struct matrix x = svm->points.x;
    size_t n = 0;

    *model = (struct ocsvm_model){.rho = svm->rho, .gamma = svm->rbf.gamma};
    for (size_t i = 0; i < x.rows; i++)
        n += svm->alpha[i] > 0;
    model->alpha = mem_alloc(n, sizeof *model->alpha);
    model->support = (struct matrix){mem_alloc(n * x.cols, sizeof(double)), n, x.cols, x.cols};
    for (size_t i = 0, at = 0; i < x.rows; i++) {
        if (svm->alpha[i] <= 0)
            continue;
        model->alpha[at] = svm->alpha[i];
        for (size_t c = 0; c < x.cols; c++)
            matrix_row(model->support, at)[c] = matrix_row(x, i)[c] + svm->points.mean[c];
        at++;
    }
}

void ocsvm_model_release(struct ocsvm_model *model)
{
    free(model->support.x);
    free(model->alpha);
    *model = (struct ocsvm_model){0};
}

int ocsvm_model_score(const struct ocsvm_model *model, struct matrix x, struct pool *pool,
                      double *score)
{
    struct centred support;
    struct rbf rbf = {&support, model->gamma, pool};
    int rc;

    if (x.cols != model->support.cols)
        return err_set(ERR_RANGE, "executions have %zu features, the model wants %zu", x.cols,
                       model->support.cols);
    rc = centred_check_products(x);
    if (rc < 0)
        return rc;
    centred_init(&support, model->support);
    rbf_sums(&rbf, model->alpha, x, score);
    for (size_t i = 0; i < x.rows; i++)
        score[i] = model->rho - score[i];
    centred_release(&support);
    return 0;
}

/* ------------------------------------------------------------------------------ bytes */

/* The support vectors lie close: their stride is the number of columns. */

void ocsvm_model_pack(const struct ocsvm_model *m, struct pack *p)
{
    const struct matrix *x = &m->support;

    pack_u32(p, FORMAT);
    pack_f64(p, m->rho);
    pack_f64(p, m->gamma);
    pack_u64(p, x->cols);
    pack_array(p, m->alpha, x->rows, sizeof *m->alpha);
    pack_array(p, x->x, x->rows * x->cols, sizeof *x->x);
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

int ocsvm_model_unpack(struct ocsvm_model *m, struct pack *p)
{
    struct matrix *x = &m->support;
    size_t n;

    *m = (struct ocsvm_model){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the one-class SVM is of another version");
    m->rho = unpack_f64(p);
    m->gamma = unpack_f64(p);
    x->cols = x->stride = unpack_u64(p);
    x->rows = unpack_count(p, sizeof *m->alpha);
    m->alpha = unpack_array(p, x->rows, sizeof *m->alpha);
    n = unpack_count(p, sizeof *x->x);
    x->x = unpack_array(p, n, sizeof *x->x);
    p->is_bad |= x->rows == 0 || n % x->rows != 0 || n / x->rows != x->cols;
    if (p->is_bad || !isfinite(m->rho) || !isfinite(m->gamma) || !(m->gamma > 0) ||
        !all_finite(m->alpha, x->rows) || !all_finite(x->x, n))
        return err_set(ERR_FORMAT, "the one-class SVM is damaged");
    return 0;
}
