#include "score/patterns.h"

#include "base/mem.h"
#include "base/order.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_EXECUTIONS 30u
#define MAX_STEPS 5000000u
#define MAX_PATTERNS 4u /* of a location */
#define MIN_SHARE 0.01  /* of the time of all, that is lost by those that lost enough */
#define MAX_SHARE 3u    /* one in so many is in a block, else the others are the odd ones */
#define AT_THE_ENDS 20u /* one in so many: a program warms up, and slows down */
#define LONGER 1.3      /* lengths of blocks */

/* Every period-th one from `first` on, or all from there until `end`. */
struct class
{
    uint32_t first, end, period;
    double z;
};

struct pattern_search {
    const double *lost; /* [n] */
    double *rank;       /* [n] the middle of those that are equal; less the mean of all */
    double *sum;        /* [n + 1] of the ranks before */
    double *spent;      /* [n + 1] of what was lost before */
    uint32_t n;
    double variance, least;
};

static int by_value(const void *a, const void *b, void *arg)
{
    const double *value = arg;
    double x = value[*(const uint32_t *)a], y = value[*(const uint32_t *)b];

    return ORDER(x, y);
}

static void find_ranks(struct pattern_search *s)
{
    uint32_t *order = mem_alloc(s->n, sizeof *order);

    for (uint32_t i = 0; i < s->n; i++)
        order[i] = i;
    qsort_r(order, s->n, sizeof *order, by_value, (void *)(uintptr_t)s->lost);
    s->variance = 0;
    for (uint32_t i = 0, k; i < s->n; i = k) {
        for (k = i + 1; k < s->n && s->lost[order[k]] <= s->lost[order[i]];)
            k++;
        for (uint32_t j = i; j < k; j++) {
            s->rank[order[j]] = 0.5 * (i + k - 1) - 0.5 * (s->n - 1);
            s->variance += s->rank[order[j]] * s->rank[order[j]] / (s->n - 1);
        }
    }
    free(order);
    for (uint32_t i = 0; i < s->n; i++) {
        s->sum[i + 1] = s->sum[i] + s->rank[i];
        s->spent[i + 1] = s->spent[i] + s->lost[i];
    }
}

/* Of the sum of the ranks of k executions: its standard error if they are any. */
static double error_of(const struct pattern_search *s, double k)
{
    double error = sqrt(s->variance * k * (s->n - k) / s->n);

    return error > 0 ? error : INFINITY;
}

/* They lost so much more than the others, on average. */
static bool is_material(const struct pattern_search *s, double spent, double k)
{
    return spent / k - (s->spent[s->n] - spent) / (s->n - k) >= s->least;
}

/* What those of a class lost. */
static double spent_by(const struct pattern_search *s, const struct class *x)
{
    double spent = 0;

    if (x->period == 1)
        return s->spent[x->end] - s->spent[x->first];
    for (uint32_t i = x->first; i < x->end; i += x->period)
        spent += s->lost[i];
    return spent;
}

/* k executions with this sum of ranks, and its error. */
static inline void offer(const struct pattern_search *s, struct class x, double sum,
                         double error, double k, struct class *best)
{
    x.z = sum / error;
    if (x.z > best->z && is_material(s, spent_by(s, &x), k))
        *best = x;
}

/* Of each class of a period, its executions in order: all classes at once, as the compiler
 * takes several. */
static void sum_by_class(const double *restrict rank, uint32_t n, uint32_t period,
                         double *restrict sum)
{
    memset(sum, 0, period * sizeof *sum);
    for (; n >= period; n -= period, rank += period)
        for (uint32_t i = 0; i < period; i++)
            sum[i] += rank[i];
    for (uint32_t i = 0; i < n; i++)
        sum[i] += rank[i];
}

/* Returns how many classes there are. */
static double try_periods(const struct pattern_search *s, struct class *best)
{
    uint32_t most = s->n / PATTERN_MIN_EXECUTIONS, limit = MAX_STEPS / s->n;
    double n_tried = 0, *sum = mem_alloc(most + 1, sizeof *sum);

    for (uint32_t p = PATTERN_MIN_PERIOD; p <= most && p <= limit; p++) {
        const double error[] = {error_of(s, s->n / p), error_of(s, s->n / p + 1)};

        sum_by_class(s->rank, s->n, p, sum);
        for (uint32_t first = 0; first < p; first++) {
            uint32_t is_longer = first < s->n % p;

            offer(s, (struct class){first, s->n, p, 0}, sum[first], error[is_longer],
                  s->n / p + is_longer, best);
        }
        n_tried += p;
    }
    free(sum);
    return n_tried;
}

static double try_blocks(const struct pattern_search *s, struct class *best)
{
    uint32_t margin = s->n / AT_THE_ENDS + 1;
    double n_tried = 0;

    for (double length = PATTERN_MIN_EXECUTIONS; length <= s->n / MAX_SHARE; length *= LONGER) {
        uint32_t k = (uint32_t)length;
        double error = error_of(s, k);

        for (uint32_t i = margin; i + k + margin <= s->n; i++) {
            offer(s, (struct class){i, i + k, 1, 0}, s->sum[i + k] - s->sum[i], error, k, best);
            n_tried++;
        }
    }
    return n_tried;
}

/* What a share of a class, or of the others, lost at most. */
static double quantile_of(const struct pattern_search *s, const struct class *x, bool is_class,
                          double q)
{
    double *value = mem_alloc(s->n, sizeof *value), at;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        bool is_in = i >= x->first && i < x->end && (i - x->first) % x->period == 0;

        if (is_in == is_class)
            value[n++] = s->lost[i];
    }
    at = robust_quantile(value, n, q);
    free(value);
    return at;
}

/*
 * Lengths of blocks are tried in steps. Those beside one that lost as much as most of it belong
 * to it, and those at its ends that lost what the others do, rather than what it does, do not.
 */
static void set_ends(const struct pattern_search *s, struct class *x, double least)
{
    double middle = 0.5 * (quantile_of(s, x, true, 0.5) + quantile_of(s, x, false, 0.5));

    while (x->end > x->first && s->lost[x->first] < middle)
        x->first++;
    while (x->end > x->first && s->lost[x->end - 1] < middle)
        x->end--;
    while (x->first > 0 && s->lost[x->first - 1] >= fmax(least, middle))
        x->first--;
    while (x->end < s->n && s->lost[x->end] >= fmax(least, middle))
        x->end++;
}

/* So many of a class lost more than so many of the others. Where other work takes more from a few
 * than the class lost, it is still one if nearly all of it lost more than most. */
static const struct separation {
    double of_class, of_others;
} separation[] = {{0.8, 0.8}, {0.94, 0.7}};

/* Sets the ends of a block, too. */
static bool is_separate(const struct pattern_search *s, struct class *x,
                        const struct separation *by)
{
    double least = fmax(quantile_of(s, x, false, by->of_others), s->least);
    uint32_t n = 0, n_long = 0;

    if (x->period == 1)
        set_ends(s, x, least);
    for (uint32_t i = x->first; i < x->end; i += x->period, n++)
        n_long += s->lost[i] >= least;
    return n_long >= PATTERN_MIN_EXECUTIONS && n_long >= by->of_class * n;
}

/* Marks those of a class that lost enough; false where these are too few of it. */
static bool mark(const struct pattern_search *s, const struct class *found, bool *is_in)
{
    for (size_t by = 0; by < sizeof separation / sizeof *separation; by++) {
        struct class x = *found;

        if (!is_separate(s, &x, &separation[by]))
            continue;
        for (uint32_t i = x.first; i < x.end; i += x.period)
            is_in[i] |= s->lost[i] >= s->least;
        return true;
    }
    return false;
}

/* Little of the time was lost by executions that lost enough. */
static bool is_quiet(const double *lost, uint32_t n, double least)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += lost[i] >= least ? lost[i] : 0;
    return sum < MIN_SHARE * n;
}

void patterns_find(const double *lost, uint32_t n, double least, uint32_t n_places, bool *is_in)
{
    double *left = mem_alloc(n, sizeof *left);
    struct pattern_search s = {.lost = left, .n = n, .least = least};

    memset(is_in, 0, n * sizeof *is_in);
    s.rank = mem_alloc(n, sizeof *s.rank);
    s.sum = mem_alloc((size_t)n + 1, sizeof *s.sum);
    s.spent = mem_alloc((size_t)n + 1, sizeof *s.spent);
    if (n > 0)
        memcpy(left, lost, n * sizeof *left);
    for (uint32_t i = 0; n >= MIN_EXECUTIONS && i < MAX_PATTERNS; i++) {
        struct class best = {0};
        double n_tried;

        if (is_quiet(left, n, least))
            break;
        find_ranks(&s);
        n_tried = try_periods(&s, &best) + try_blocks(&s, &best);
        if (best.z * best.z < 2 * log(n_tried * n_places / PATTERN_FALSE_ALARMS) ||
            !mark(&s, &best, is_in))
            break;
        for (uint32_t k = 0; k < n; k++) /* what is explained is as the others are */
            left[k] = is_in[k] ? 0 : left[k];
    }
    free(left);
    free(s.rank);
    free(s.sum);
    free(s.spent);
}
