/*
 * Summaries come oldest first; paths are numbered as they appear, and each has a series of
 * times per execution. Change points of a series are found in the matrix of distances between
 * its values, of which all that is asked for is a sum over a rectangle.
 */
#include "compare/trend.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/student.h"
#include "features/context.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096
#define SEED 0x9e3779b97f4a7c15u
#define FEW_VALUES 32u                /* the same split is no rarity among their orders, */
#define FEW_VALUES_PERMUTATIONS 9999u /* so that its share is measured better */
#define MIN_WIDTH 1e-5  /* of a log time between runs: clocks are not better than that */
#define SAME_SPLIT 1e-9 /* of q: rounding, where the same values are in another order */

/* --------------------------------------------------------------------------- change points */

/*
 * With S(A, B) the sum of |a - b| over a in A, b in B, a split of a stretch into A (of m
 * values) and what follows up to some end, B (of n), has
 *
 *     q = 2 / (m + n) [ S(A, B) - n / (m - 1) W(A) - m / (n - 1) W(B) ]
 *
 * where W(A) is the sum over all pairs within A. All of these come from sums over rectangles of
 * the matrix of distances, so that a split takes O(1).
 */

/* A part without change points, as far as is known. */
struct steady_part {
    uint32_t begin, end;
    uint32_t at; /* its best split; 0: there is none */
    double q;    /* of that */
};

struct change_search {
    double *sum;      /* [(most + 1)^2] of distances: rows before i, columns before k */
    double *shuffled; /* [n] */
    struct steady_part *stretch; /* [n_stretches] in order */
    uint32_t n_stretches;
    struct rng rng;
};

static void add_up_distances(double *sum, const double *x, uint32_t n)
{
    uint32_t width = n + 1;

    memset(sum, 0, width * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        const double *above = sum + (size_t)i * width;
        double *row = sum + (size_t)(i + 1) * width, line = 0;

        row[0] = 0;
        for (uint32_t k = 0; k < n; k++) {
            line += fabs(x[i] - x[k]);
            row[k + 1] = above[k + 1] + line;
        }
    }
}

/* Sum of distances over rows [a, b), columns [c, d). */
static double block(const double *sum, uint32_t n, uint32_t a, uint32_t b, uint32_t c,
                    uint32_t d)
{
    uint32_t width = n + 1;

    return sum[(size_t)b * width + d] - sum[(size_t)a * width + d] -
           sum[(size_t)b * width + c] + sum[(size_t)a * width + c];
}

static double split_q(const double *sum, uint32_t n, uint32_t at, uint32_t end)
{
    double m = at, rest = end - at;
    double across = block(sum, n, 0, at, at, end);
    double left = block(sum, n, 0, at, 0, at) / 2, right = block(sum, n, at, end, at, end) / 2;
    double q = across;

    if (at > 1)
        q -= rest / (m - 1) * left;
    if (end - at > 1)
        q -= m / (rest - 1) * right;
    return 2 / (m + rest) * q;
}

/* The split of x that is farthest apart; *at is 0 where it is too short for one. */
static double best_split(struct change_search *s, const double *x, uint32_t n, uint32_t *at)
{
    double best = 0;

    *at = 0;
    if (n < 2 * CHANGE_POINTS_MIN_VALUES)
        return 0;
    add_up_distances(s->sum, x, n);
    for (uint32_t i = CHANGE_POINTS_MIN_VALUES; i + CHANGE_POINTS_MIN_VALUES <= n; i++)
        for (uint32_t end = i + CHANGE_POINTS_MIN_VALUES; end <= n; end++) {
            double q = split_q(s->sum, n, i, end);

            if (q > best) {
                best = q;
                *at = i;
            }
        }
    return best;
}

static void look_at(struct change_search *s, const double *value, struct steady_part *stretch)
{
    stretch->q =
        best_split(s, value + stretch->begin, stretch->end - stretch->begin, &stretch->at);
    stretch->at += stretch->at > 0 ? stretch->begin : 0;
}

static void shuffle(struct rng *rng, double *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)rng_below(rng, i);
        double swap = x[i - 1];

        x[i - 1] = x[k];
        x[k] = swap;
    }
}

/* The best split of all stretches when each of them is shuffled. */
static double best_by_chance(struct change_search *s, const double *value)
{
    double best = 0;

    for (uint32_t i = 0; i < s->n_stretches; i++) {
        const struct steady_part *one = &s->stretch[i];
        uint32_t n = one->end - one->begin, at;
        double q;

        memcpy(s->shuffled, value + one->begin, n * sizeof *s->shuffled);
        shuffle(&s->rng, s->shuffled, n);
        q = best_split(s, s->shuffled, n, &at);
        best = q > best ? q : best;
    }
    return best;
}

/*
 * How probable a split so good is by chance; 1 as soon as it is too probable. Of n values whose
 * sides are plainly apart, one order in half of "n over m" puts the same ones on the two sides:
 * 1 in 462 of 6 and 6. Those are as good, whichever way their sums were rounded.
 */
static double chance_of(struct change_search *s, const double *value, uint32_t n, double q,
                        double most)
{
    uint32_t n_as_good = 0, n_permutations = n <= FEW_VALUES ? FEW_VALUES_PERMUTATIONS
                                                             : CHANGE_POINTS_PERMUTATIONS;

    for (uint32_t i = 0; i < n_permutations; i++) {
        n_as_good += best_by_chance(s, value) >= q * (1 - SAME_SPLIT);
        if (n_as_good + 1 > most * (n_permutations + 1))
            return 1;
    }
    return (n_as_good + 1.0) / (n_permutations + 1.0);
}

static uint32_t find_best(const struct change_search *s)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < s->n_stretches; i++)
        if (s->stretch[i].q > s->stretch[best].q)
            best = i;
    return best;
}

/* The stretch becomes two. */
static void split(struct change_search *s, const double *value, uint32_t which)
{
    struct steady_part *one = &s->stretch[which];

    memmove(one + 1, one, (s->n_stretches - which) * sizeof *one);
    s->n_stretches++;
    one[1].begin = one[0].end = one[0].at;
    look_at(s, value, &one[0]);
    look_at(s, value, &one[1]);
}

static double mean(const double *x, uint32_t begin, uint32_t end)
{
    double sum = 0;

    for (uint32_t i = begin; i < end; i++)
        sum += x[i];
    return sum / (end - begin);
}

/* What was found, with its chance by position, to what is told. */
static uint32_t tell(const struct change_search *s, const double *value, const double *chance,
                     struct change_point *out)
{
    for (uint32_t i = 1; i < s->n_stretches; i++) {
        const struct steady_part *before = &s->stretch[i - 1], *after = &s->stretch[i];

        out[i - 1] = (struct change_point){.at = after->begin,
                                           .chance = chance[after->begin],
                                           .before = mean(value, before->begin, before->end),
                                           .after = mean(value, after->begin, after->end)};
    }
    return s->n_stretches - 1;
}

uint32_t change_points_find(const double *value, uint32_t n, double chance,
                            struct change_point *out)
{
    struct change_search s = {.rng = {SEED}, .n_stretches = 1};
    double *chances;
    uint32_t n_found;

    if (n < 2 * CHANGE_POINTS_MIN_VALUES || n > CHANGE_POINTS_MAX_VALUES)
        return 0;
    s.sum = mem_alloc((size_t)(n + 1) * (n + 1), sizeof *s.sum);
    s.shuffled = mem_alloc(n, sizeof *s.shuffled);
    s.stretch = mem_alloc(n, sizeof *s.stretch);
    chances = mem_alloc(n, sizeof *chances);
    s.stretch[0] = (struct steady_part){.end = n};
    look_at(&s, value, &s.stretch[0]);
    for (;;) {
        uint32_t best = find_best(&s);
        uint32_t at = s.stretch[best].at;

        if (at == 0)
            break;
        chances[at] = chance_of(&s, value, n, s.stretch[best].q, chance);
        if (chances[at] > chance)
            break;
        split(&s, value, best);
    }
    n_found = tell(&s, value, chances, out);
    free(s.sum);
    free(s.shuffled);
    free(s.stretch);
    free(chances);
    return n_found;
}

/* --------------------------------------------------------------------------- of few values */

/* The orders of n values that put the same ones on a side of m, and on the other. */
static double chance_of_order(uint32_t n, uint32_t m)
{
    double chance = 2;

    for (uint32_t i = 0; i < m; i++)
        chance *= (i + 1.0) / (n - i);
    return chance;
}

uint32_t change_points_least_side(uint32_t n, double chance)
{
    for (uint32_t m = CHANGE_POINTS_MIN_VALUES; m <= n / 2; m++)
        if (chance_of_order(n, m) <= chance)
            return m;
    return 0;
}

uint32_t change_points_least_values(double chance)
{
    uint32_t n = 2 * CHANGE_POINTS_MIN_VALUES;

    while (change_points_least_side(n, chance) == 0)
        n++;
    return n;
}

/* Student's test of two sides of one spread, of n values with these sums of logs, from their
 * sums up to a split. */
static double chance_of_means(const double sum[2], const double square[2], uint32_t at,
                              uint32_t n)
{
    double left = sum[0] / at, right = (sum[1] - sum[0]) / (n - at);
    double within = square[1] - at * left * left - (n - at) * right * right;
    double width = sqrt(fmax(within / (n - 2), MIN_WIDTH * MIN_WIDTH));

    return 2 *
           student_tail(fabs(right - left) / (width * sqrt(1.0 / at + 1.0 / (n - at))), n - 2);
}

/* There are as many tests as splits. Logs are taken beside the first, which keeps their squares
 * small. */
bool change_point_suspect(const double *value, uint32_t n, uint32_t min_last,
                          struct change_point *out)
{
    double sum[2] = {0}, square[2] = {0};
    uint32_t n_splits = 0;

    *out = (struct change_point){.chance = 1};
    if (n < CHANGE_POINTS_MIN_VALUES + min_last || n < 3)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        double x = log(value[i] / value[0]);

        sum[1] += x;
        square[1] += x * x;
    }
    for (uint32_t at = 1; at + min_last <= n; at++) {
        double x = log(value[at - 1] / value[0]), chance;

        sum[0] += x;
        if (at < CHANGE_POINTS_MIN_VALUES)
            continue;
        n_splits++;
        chance = chance_of_means(sum, square, at, n);
        if (chance < out->chance)
            *out = (struct change_point){.at = at, .chance = chance};
    }
    if (out->at == 0)
        return false;
    out->chance = fmin(1, n_splits * out->chance);
    out->before = mean(value, 0, out->at);
    out->after = mean(value, out->at, n);
    return out->chance <= CHANGE_POINTS_SUSPECTED &&
           fabs(out->after - out->before) >= TREND_MIN_RATIO * out->before;
}

/* --------------------------------------------------------------------------------- trends */

/* Paths as they are numbered here, whatever run they are of. */
struct trend_gathering {
    struct trend *trend;
    struct names functions;
    struct short_names shown; /* what they are shown as */
    struct context paths;     /* of functions; path p has series 1 + p */
    size_t series_cap;
};

/* ---------------------------------------------------------------------------------- runs */

static int add_run(void *ctx, const struct history_run *run)
{
    struct trend *t = ctx;
    struct history_run *own;

    mem_grow(&t->run, &t->run_cap, (size_t)t->n_runs + 1);
    mem_grow(&t->tags, &t->tags_cap, (size_t)t->n_runs + 1);
    own = &t->run[t->n_runs];
    *own = *run;
    own->source = mem_copy_string(run->source);
    own->foi = mem_copy_string(run->foi);
    t->tags[t->n_runs++] = (struct history_tags){0};
    return 0;
}

/* -------------------------------------------------------------------------------- series */

static void add_value(struct trend_gathering *g, uint32_t series, uint32_t run, double ns)
{
    struct trend *t = g->trend;
    struct trend_series *s;

    if (series == t->n_series) {
        mem_grow(&t->series, &g->series_cap, (size_t)series + 1);
        t->series[t->n_series++] =
            (struct trend_series){.ns = mem_alloc(t->n_runs, sizeof(double))};
    }
    s = &t->series[series];
    s->ns[run] += ns;
    s->largest_ns = s->ns[run] > s->largest_ns ? s->ns[run] : s->largest_ns;
}

/* The number of a function here. */
static uint32_t function_of(struct trend_gathering *g, const char *name)
{
    uint32_t at = names_add(&g->functions, name);

    if (at == g->shown.n)
        short_names_add(&g->shown, g->functions.name[at]);
    return at;
}

/* The whole comes first. Of a summary, parents are before their children. */
static void add_summary(struct trend_gathering *g, uint32_t run, const struct summary *d)
{
    uint32_t *to = mem_alloc(d->n_paths, sizeof *to);

    add_value(g, 0, run, d->time_ns / d->n_executions);
    for (uint32_t p = 0; p < d->n_paths; p++) {
        uint32_t parent = d->path[p].parent;

        to[p] = context_add(&g->paths, parent == PATH_NONE ? PATH_NONE : to[parent],
                            function_of(g, d->names.name[d->path[p].name]));
        add_value(g, 1 + to[p], run, d->path[p].time_ns / d->n_executions);
    }
    free(to);
}

/* "step > solve > kernel", the whole path, as far as there is room; callers have theirs
 * already. */
static char *path_text(const struct trend_gathering *g, uint32_t path)
{
    uint32_t parent = g->paths.parent[path];
    char text[PATH_SIZE];

    snprintf(text, sizeof text, "%s%s%s",
             parent == PATH_NONE ? "" : g->trend->series[1 + parent].path,
             parent == PATH_NONE ? "" : " > ", g->shown.shown[g->paths.region[path]]);
    return mem_copy_string(text);
}

static int gather(struct trend_gathering *g, struct history *h)
{
    struct trend *t = g->trend;
    int rc = 0;

    for (uint32_t i = 0; i < t->n_runs && rc == 0; i++) {
        struct summary d;

        rc = history_load(h, t->run[i].id, t->run[i].foi, &d);
        if (rc == 0)
            rc = history_tags(h, t->run[i].id, &t->tags[i]);
        if (rc == 0)
            add_summary(g, i, &d);
        summary_release(&d);
    }
    return rc;
}

/* ------------------------------------------------------------------------------- changes */

static int by_largest(const void *a, const void *b)
{
    const struct trend_series *p = a, *q = b;

    return ORDER(q->largest_ns, p->largest_ns) ?: strcmp(p->path, q->path);
}

static bool changes_at(const struct trend_series *s, uint32_t at)
{
    for (uint32_t i = 0; i < s->n_changes; i++)
        if (s->change[i].at == at)
            return true;
    return false;
}

/* Change points that are large enough to matter; of a path sure ones, and where the whole has
 * one: with that run something has changed. */
static void find_changes(const struct trend *t, struct trend_series *s)
{
    const struct trend_series *whole = &t->series[0];
    uint32_t n = 0;

    s->change = mem_alloc(t->n_runs, sizeof *s->change);
    s->n_changes = change_points_find(s->ns, t->n_runs, CHANGE_POINTS_CHANCE, s->change);
    for (uint32_t i = 0; i < s->n_changes; i++) {
        const struct change_point *c = &s->change[i];

        if (fabs(c->after - c->before) < TREND_MIN_RATIO * whole->ns[c->at - 1] ||
            (s != whole && c->chance > TREND_PATH_CHANCE && !changes_at(whole, c->at)))
            continue;
        s->change[n++] = *c;
    }
    s->n_changes = n;
}

/* What the runs since the last change of the whole look like. */
static void suspect(struct trend *t)
{
    const struct trend_series *whole = &t->series[0];
    uint32_t begin = whole->n_changes > 0 ? whole->change[whole->n_changes - 1].at : 0;

    t->seems_changed = change_point_suspect(whole->ns + begin, t->n_runs - begin, 1, &t->seems);
    t->seems.at += begin;
}

static void look_at_all(struct trend *t)
{
    struct trend_series *whole = &t->series[0];

    whole->path = mem_copy_string(t->run[0].foi);
    qsort(whole + 1, t->n_series - 1, sizeof *whole, by_largest);
    find_changes(t, whole);
    suspect(t);
    for (uint32_t i = 1; i < t->n_series; i++)
        if (t->series[i].largest_ns >= TREND_MIN_RATIO * whole->largest_ns)
            find_changes(t, &t->series[i]);
}

int trend_load(struct history *h, const struct history_filter *filter, struct trend *out)
{
    struct history_filter last = *filter;
    struct trend_gathering g = {.trend = out};
    int rc;

    *out = (struct trend){0};
    if (last.last == 0 || last.last > TREND_MAX_RUNS)
        last.last = TREND_MAX_RUNS;
    last.is_one = true;
    rc = history_each(h, &last, add_run, out);
    if (rc == 0 && out->n_runs == 0)
        rc = err_set(ERR_NOT_FOUND, "the history has no such runs");
    if (rc == 0)
        rc = gather(&g, h);
    if (rc == 0) {
        /* When all functions are known. */
        for (uint32_t p = 0; p < g.paths.n; p++)
            g.trend->series[1 + p].path = path_text(&g, p);
        look_at_all(out);
    }
    names_release(&g.functions);
    short_names_release(&g.shown);
    context_release(&g.paths);
    return rc;
}

void trend_release(struct trend *t)
{
    for (uint32_t i = 0; i < t->n_runs; i++) {
        free((char *)t->run[i].source);
        free((char *)t->run[i].foi);
        history_tags_release(&t->tags[i]);
    }
    for (uint32_t i = 0; i < t->n_series; i++) {
        free(t->series[i].path);
        free(t->series[i].ns);
        free(t->series[i].change);
    }
    free(t->run);
    free(t->tags);
    free(t->series);
    *t = (struct trend){0};
}
