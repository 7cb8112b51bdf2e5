/*
 * With S(A, B) the sum of |a - b| over a in A, b in B, a split of a stretch into A (of m
 * values) and what follows up to some end, B (of n), has
 *
 *     q = 2 / (m + n) [ S(A, B) - n / (m - 1) W(A) - m / (n - 1) W(B) ]
 *
 * where W(A) is the sum over all pairs within A. All of these come from sums over rectangles of
 * the matrix of distances, so that a split takes O(1).
 */
#include "compare/change_points.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SEED 0x9e3779b97f4a7c15u

/* A part without change points, as far as is known. */
struct stretch {
    uint32_t begin, end;
    uint32_t at; /* its best split; 0: there is none */
    double q;    /* of that */
};

struct search {
    double *sum;             /* [(most + 1)^2] of distances: rows before i, columns before k */
    double *shuffled;        /* [n] */
    struct stretch *stretch; /* [n_stretches] in order */
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
static double best_split(struct search *s, const double *x, uint32_t n, uint32_t *at)
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

static void look_at(struct search *s, const double *value, struct stretch *stretch)
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
static double best_by_chance(struct search *s, const double *value)
{
    double best = 0;

    for (uint32_t i = 0; i < s->n_stretches; i++) {
        const struct stretch *one = &s->stretch[i];
        uint32_t n = one->end - one->begin, at;
        double q;

        memcpy(s->shuffled, value + one->begin, n * sizeof *s->shuffled);
        shuffle(&s->rng, s->shuffled, n);
        q = best_split(s, s->shuffled, n, &at);
        best = q > best ? q : best;
    }
    return best;
}

/* How probable a split so good is by chance; 1 as soon as it is too probable. */
static double chance_of(struct search *s, const double *value, double q, double most)
{
    uint32_t n_as_good = 0;

    for (uint32_t i = 0; i < CHANGE_POINTS_PERMUTATIONS; i++) {
        n_as_good += best_by_chance(s, value) >= q;
        if (n_as_good + 1 > most * (CHANGE_POINTS_PERMUTATIONS + 1))
            return 1;
    }
    return (n_as_good + 1.0) / (CHANGE_POINTS_PERMUTATIONS + 1.0);
}

static uint32_t find_best(const struct search *s)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < s->n_stretches; i++)
        if (s->stretch[i].q > s->stretch[best].q)
            best = i;
    return best;
}

/* The stretch becomes two. */
static void split(struct search *s, const double *value, uint32_t which)
{
    struct stretch *one = &s->stretch[which];

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
static uint32_t tell(const struct search *s, const double *value, const double *chance,
                     struct change_point *out)
{
    for (uint32_t i = 1; i < s->n_stretches; i++) {
        const struct stretch *before = &s->stretch[i - 1], *after = &s->stretch[i];

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
    struct search s = {.rng = {SEED}, .n_stretches = 1};
    double *chances;
    uint32_t n_found;

    if (n < 2 * CHANGE_POINTS_MIN_VALUES || n > CHANGE_POINTS_MAX_VALUES)
        return 0;
    s.sum = mem_alloc((size_t)(n + 1) * (n + 1), sizeof *s.sum);
    s.shuffled = mem_alloc(n, sizeof *s.shuffled);
    s.stretch = mem_alloc(n, sizeof *s.stretch);
    chances = mem_alloc(n, sizeof *chances);
    s.stretch[0] = (struct stretch){.end = n};
    look_at(&s, value, &s.stretch[0]);
    for (;;) {
        uint32_t best = find_best(&s);
        uint32_t at = s.stretch[best].at;

        if (at == 0)
            break;
        chances[at] = chance_of(&s, value, s.stretch[best].q, chance);
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
