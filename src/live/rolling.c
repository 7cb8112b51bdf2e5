/*
 * An execution is a row of whole numbers, its features, so that sums over a window can be
 * exact however many come and go: a table has a name and a function for each.
 *
 * With n values, S their sum, m = S / n rounded down and r the rest, the sum of their squared
 * distances from m is Q - m (S + r), Q the sum of squares: all whole, and below 2^128 as
 * values are below 2^52 and n below 2^20. The mean is m + r / n, which takes r^2 / n off that
 * sum.
 */
#include "live/rolling.h"

#include "base/err.h"
#include "base/mem.h"
#include "features/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVIATIONS_PER_MAD 1.4826 /* of a normal distribution */

/* ----------------------------------------------------------------- features of an execution */

#define TICK_NS 1000.0 /* no clock is taken to be better */

static uint64_t duration(const struct live_forest *lf, uint32_t t)
{
    return forest_own_ns(&lf->forest, t);
}

static uint64_t exclusive(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.exclusive_ns[lf->forest.first[t]];
}

static uint64_t exit_time(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.enter_ns[t] + lf->forest.root_ns[t];
}

static uint64_t messages(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.n_messages[t];
}

/* Messages per second. */
static uint64_t rate(const struct live_forest *lf, uint32_t t)
{
    uint64_t ns = forest_own_ns(&lf->forest, t);

    return (uint64_t)((double)lf->forest.n_messages[t] * 1e9 / (double)(ns ? ns : 1));
}

static uint64_t n_calls(const struct live_forest *lf, uint32_t t)
{
    uint32_t n_vertices = lf->forest.first[t + 1] - lf->forest.first[t];

    return lf->n_calls[t] - (forest_n_rows(&lf->forest, t) - n_vertices); /* the program's */
}

/* Vertices on the longest path. The parent of the last vertex at each depth is enough. */
static uint64_t depth(const struct live_forest *lf, uint32_t t)
{
    const struct forest *f = &lf->forest;
    uint32_t first = f->first[t], n = f->first[t + 1] - first, deepest = 1;
    uint32_t *of = mem_resize(NULL, n, sizeof *of);

    of[0] = 1;
    for (uint32_t i = 1; i < n; i++) {
        of[i] = of[f->parent[first + i] - first] + 1;
        deepest = of[i] > deepest ? of[i] : deepest;
    }
    free(of);
    return deepest;
}

static char *number_text(double value, char out[TEXT_SIZE])
{
    return text_count((uint64_t)llrint(fmax(value, 0)), out);
}

static const struct tree_feature features[] = {
    {"duration", "took", "", 0.01, TICK_NS, duration, text_duration},
    {"exclusive", "took, without the calls in it,", "", 0.01, TICK_NS, exclusive,
     text_duration},
    {"exit", "was left at", "", 0, TICK_NS, exit_time, text_duration},
    {"messages", "had", " messages", 0.01, 1, messages, number_text},
    {"rate", "had", " messages per second", 0.01, 1, rate, number_text},
    {"calls", "had", " calls", 0.01, 1, n_calls, number_text},
    {"depth", "was", " calls deep", 0.01, 1, depth, number_text},
};
#define N_FEATURES (sizeof features / sizeof *features)

static const struct tree_feature *find(const char *name, size_t length)
{
    for (size_t i = 0; i < N_FEATURES; i++)
        if (strlen(features[i].name) == length && memcmp(features[i].name, name, length) == 0)
            return &features[i];
    return NULL;
}

static int complain(const char *name, size_t length)
{
    char all[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < N_FEATURES; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", features[i].name);
    return err_set(ERR_USAGE, "no such feature of executions: '%.*s'; there are %s",
                   (int)length, name, all);
}

int tree_features_parse(const char *names, const struct tree_feature **feature)
{
    int n = 0;

    for (;;) {
        size_t length = strcspn(names, ",");
        const struct tree_feature *found = find(names, length);

        if (found == NULL)
            return complain(names, length);
        for (int i = 0; i < n; i++)
            if (feature[i] == found)
                return err_set(ERR_USAGE, "feature '%s' is named twice", found->name);
        feature[n++] = found; /* so there are never more than the table has */
        if (names[length] == '\0')
            return n;
        names += length + 1;
    }
}

uint64_t tree_feature_value(const struct tree_feature *feature, const struct live_forest *lf,
                            uint32_t t)
{
    uint64_t value = feature->value(lf, t);

    return value < TREE_FEATURE_MAX ? value : TREE_FEATURE_MAX;
}

/* ---------------------------------------------------------------------------- what is typical */

void rolling_init(struct rolling *r, const struct rolling_opts *opts)
{
    *r = (struct rolling){.opts = opts};
}

void rolling_release(struct rolling *r)
{
    free(r->exit_ns);
    free(r->value);
    *r = (struct rolling){0};
}

double rolling_mean(const struct rolling *r, uint32_t feature)
{
    const struct exact_sums *s = &r->sum[feature];

    return r->n ? (double)(uint64_t)(s->sum / r->n) +
                      (double)(uint64_t)(s->sum % r->n) / (double)r->n
                : 0;
}

double rolling_deviation(const struct rolling *r, uint32_t feature)
{
    const struct exact_sums *s = &r->sum[feature];
    uint64_t mean, rest;
    double around;

    if (r->n == 0)
        return 0;
    mean = s->sum / r->n;
    rest = s->sum % r->n;
    around =
        (double)(s->square_sum - (unsigned __int128)mean * ((unsigned __int128)s->sum + rest));
    around -= (double)rest * ((double)rest / (double)r->n);
    return sqrt(fmax(around, 0) / (double)r->n);
}

/* ------------------------------------------------------------------------------- the ring */

static void forget_oldest(struct rolling *r)
{
    const uint64_t *value = r->value + r->first * r->opts->n_features;

    for (uint32_t f = 0; f < r->opts->n_features; f++)
        exact_sums_remove(&r->sum[f], value[f]);
    r->first = (r->first + 1) % r->cap;
    r->n--;
    r->has_begun &= r->n > r->opts->least / 2;
}

static uint64_t *value_at(const struct rolling *r, size_t i)
{
    return r->value + (r->first + i) % r->cap * r->opts->n_features;
}

/* Twice as large, what is in it from the beginning. */
static void widen(struct rolling *r)
{
    size_t cap = r->cap ? 2 * r->cap : 256, width = r->opts->n_features;
    uint64_t *exit_ns = mem_resize(NULL, cap, sizeof *exit_ns);
    uint64_t *value = mem_resize(NULL, cap * width, sizeof *value);

    for (size_t i = 0; i < r->n; i++) {
        size_t from = (r->first + i) % r->cap;

        exit_ns[i] = r->exit_ns[from];
        memcpy(value + i * width, r->value + from * width, width * sizeof *value);
    }
    free(r->exit_ns);
    free(r->value);
    r->exit_ns = exit_ns;
    r->value = value;
    r->cap = cap;
    r->first = 0;
}

/* -------------------------------------------------------------------------------- judging */

/* Deviations below what can be told apart count as that. */
static double width_of(const struct rolling *r, uint32_t f, double mean, double deviation)
{
    const struct tree_feature *feature = r->opts->feature[f];

    return fmax(deviation, fmax(feature->least, feature->least_ratio * mean));
}

static uint64_t clamp(const struct rolling *r, double mean, double width, uint64_t value)
{
    double reach = fmax(ROLLING_CLAMP, r->opts->sigmas) * width;

    if (r->opts->is_plain || fabs((double)value - mean) <= reach)
        return value;
    return (uint64_t)llrint(fmax((double)value > mean ? mean + reach : mean - reach, 0));
}

/* The first values entered as they were, as there was nothing to tell how far out they are: now
 * their median and median distance from it say that. */
static void clamp_begin(struct rolling *r, uint32_t f)
{
    double *x = mem_resize(NULL, r->n, sizeof *x), median, width;

    for (size_t i = 0; i < r->n; i++)
        x[i] = (double)value_at(r, i)[f];
    median = robust_quantile(x, r->n, 0.5);
    for (size_t i = 0; i < r->n; i++)
        x[i] = fabs(x[i] - median);
    width = width_of(r, f, median, DEVIATIONS_PER_MAD * robust_quantile(x, r->n, 0.5));
    free(x);
    for (size_t i = 0; i < r->n; i++) {
        uint64_t *value = &value_at(r, i)[f];

        exact_sums_remove(&r->sum[f], *value);
        *value = clamp(r, median, width, *value);
        exact_sums_add(&r->sum[f], *value);
    }
}

static void enter(struct rolling *r, uint64_t exit_ns, const uint64_t *value)
{
    uint64_t *slot;

    if (r->n == r->cap)
        widen(r);
    r->exit_ns[(r->first + r->n) % r->cap] = exit_ns;
    slot = value_at(r, r->n++);
    for (uint32_t f = 0; f < r->opts->n_features; f++) {
        slot[f] = value[f];
        exact_sums_add(&r->sum[f], value[f]);
    }
    if (r->has_begun || r->n < r->opts->least)
        return;
    r->has_begun = true;
    for (uint32_t f = 0; f < r->opts->n_features && !r->opts->is_plain; f++)
        clamp_begin(r, f);
}

struct rolling_score rolling_judge(struct rolling *r, uint64_t exit_ns, const uint64_t *value)
{
    struct rolling_score score = {.sigmas = NAN};
    uint64_t entered[MAX_TREE_FEATURES];

    while (r->n > 0 && (r->n == ROLLING_MAX_EXECUTIONS ||
                        (exit_ns > r->exit_ns[r->first] &&
                         exit_ns - r->exit_ns[r->first] > r->opts->window_ns)))
        forget_oldest(r);
    score.n = r->n;
    for (uint32_t f = 0; f < r->opts->n_features; f++) {
        double mean = rolling_mean(r, f);
        double width = width_of(r, f, mean, rolling_deviation(r, f));
        double z = fabs((double)value[f] - mean) / width;

        entered[f] = r->has_begun ? clamp(r, mean, width, value[f]) : value[f];
        if (r->n < r->opts->least || r->n == 0)
            continue;
        if (isnan(score.sigmas) || z > score.sigmas)
            score = (struct rolling_score){z, f, (double)value[f], mean, width, r->n};
    }
    enter(r, exit_ns, entered);
    return score;
}

char *rolling_why(const struct rolling *r, const struct rolling_score *s,
                  char out[ROLLING_WHY_SIZE])
{
    const struct tree_feature *f = r->opts->feature[s->feature];
    char value[TEXT_SIZE], mean[TEXT_SIZE], n[TEXT_SIZE];

    snprintf(out, ROLLING_WHY_SIZE,
             "%s %s%s, %.1f deviations %s than the mean of the %s executions before it, %s%s",
             f->what, f->text(s->value, value), f->unit, s->sigmas,
             s->value > s->mean ? "more" : "less", text_count(s->n, n), f->text(s->mean, mean),
             f->unit);
    return out;
}
