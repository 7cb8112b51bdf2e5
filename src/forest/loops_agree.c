/*
 * The parts of one loop have the same caller and the same number of iterations: on most
 * locations, and there with most time. A location that has one or two more or fewer saw the
 * ends otherwise; then all keep the iterations that they have in common, by their times.
 */
#include "forest/loops.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_THE_ENDS 2u   /* iterations by which locations may differ */
#define OTHER_LEVEL 0.25 /* weight of what is not held for the step of the program */

/* What locations found, as votes. */
struct vote {
    uint32_t caller, n;
    double weight;
};

static int by_loop(const void *a, const void *b)
{
    const struct vote *p = a, *q = b;

    if (p->caller != q->caller)
        return p->caller < q->caller ? -1 : 1;
    return (p->n > q->n) - (p->n < q->n);
}

static double weight_of(const struct loop_part *part)
{
    double sum = 0;

    for (uint32_t i = 0; i < part->calls.n; i++)
        sum += (double)part->ns[i];
    return sum * (part->is_step ? 1 : OTHER_LEVEL);
}

/* False when nothing is left to vote for. */
static bool elect(const struct loops_found *found, uint32_t n_locations, struct vote *winner)
{
    struct vote *vote = mem_alloc((size_t)n_locations * MAX_LOOPS * 2, sizeof *vote);
    size_t n = 0;

    for (uint32_t l = 0; l < n_locations; l++)
        for (uint32_t i = 0; i < found[l].n; i++) {
            const struct loop_part *part = &found[l].part[i];

            if (part->calls.n > 0)
                vote[n++] = (struct vote){part->caller, part->calls.n, weight_of(part)};
        }
    if (n > 0)
        qsort(vote, n, sizeof *vote, by_loop);
    *winner = (struct vote){0};
    for (size_t i = 0, k; i < n; i = k) {
        struct vote sum = vote[i];

        for (k = i + 1; k < n && by_loop(&vote[i], &vote[k]) == 0; k++)
            sum.weight += vote[k].weight;
        if (winner->n == 0 || sum.weight > winner->weight)
            *winner = sum;
    }
    free(vote);
    return n > 0;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Moves the part that fits best, if there is one. */
static void take_part(struct loops_found *found, const struct vote *winner,
                      struct loop_part *out)
{
    struct loop_part *best = NULL;

    for (uint32_t i = 0; i < found->n; i++) {
        struct loop_part *part = &found->part[i];
        uint32_t d = apart(part->calls.n, winner->n);

        if (part->calls.n > 0 && part->caller == winner->caller && d <= AT_THE_ENDS &&
            (best == NULL || d < apart(best->calls.n, winner->n)))
            best = part;
    }
    if (best) {
        *out = *best;
        *best = (struct loop_part){0};
    }
}

/* ------------------------------------------------------------------- the same iterations */

/* How many iterations of a are before the first of b: the number at which they are nearest. */
static uint32_t lag(const struct loop_part *a, const struct clock_fix *fix_a,
                    const struct loop_part *b, const struct clock_fix *fix_b)
{
    double least = -1;
    uint32_t best = 0;

    for (uint32_t k = 0; k + b->calls.n <= a->calls.n; k++) {
        double sum = 0;

        for (uint32_t i = 0; i < b->calls.n; i++) {
            uint64_t x = clock_fixed(fix_a, a->begin_ns[k + i]);
            uint64_t y = clock_fixed(fix_b, b->begin_ns[i]);

            sum += (double)(x > y ? x - y : y - x);
        }
        if (least < 0 || sum < least) {
            least = sum;
            best = k;
        }
    }
    return best;
}

static void keep_range(struct loop_part *part, uint32_t first, uint32_t n)
{
    mem_to_front(part->calls.begin, first, n, sizeof *part->calls.begin);
    mem_to_front(part->calls.end, first, n, sizeof *part->calls.end);
    mem_to_front(part->begin_ns, first, n, sizeof *part->begin_ns);
    mem_to_front(part->ns, first, n, sizeof *part->ns);
    part->calls.n = n;
}

/* All locations get as many iterations as the one with fewest. */
static void align(struct loop *loop, const struct definitions *defs,
                  const struct clock_fix *fix)
{
    const struct loop_part *fewest = NULL;
    const struct clock_fix *fewest_fix = NULL;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (loop->part[l].calls.n > 0 &&
            (fewest == NULL || loop->part[l].calls.n < fewest->calls.n)) {
            fewest = &loop->part[l];
            fewest_fix = &fix[defs->location[l].rank];
        }
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        struct loop_part *part = &loop->part[l];

        if (part->calls.n > fewest->calls.n)
            keep_range(part, lag(part, &fix[defs->location[l].rank], fewest, fewest_fix),
                       fewest->calls.n);
    }
}

/* ---------------------------------------------------------------------------- as a region */

const char *loop_name(const struct loop *loop, const struct definitions *defs,
                      char out[LOOP_NAME_SIZE])
{
    const struct loop_part *any = loop->part;

    while (any->calls.n == 0)
        any++;
    snprintf(out, LOOP_NAME_SIZE, "loop@%.480s",
             defs->region[any->caller == NO_CALL ? any->first : any->caller].short_name);
    return out;
}

void loop_define(struct loop *loop, struct definitions *defs)
{
    char name[LOOP_NAME_SIZE];
    size_t n = strlen(loop_name(loop, defs, name));

    for (int i = 2; names_find(&defs->names, name) != NAMES_NONE; i++)
        snprintf(name + n, sizeof name - n, "#%d", i);
    loop->region = definitions_region(defs, name);
    defs->region[loop->region].kind = REGION_LOOP;
}

static struct profile_row row_of(const struct loop *loop, uint32_t n_locations)
{
    struct profile_row row = {.min_ns = UINT64_MAX};

    for (uint32_t l = 0; l < n_locations; l++) {
        const struct loop_part *part = &loop->part[l];

        row.n_locations += part->calls.n > 0;
        row.n_outermost += part->calls.n;
        for (uint32_t i = 0; i < part->calls.n; i++) {
            row.inclusive_ns += part->ns[i];
            row.min_ns = part->ns[i] < row.min_ns ? part->ns[i] : row.min_ns;
            row.max_ns = part->ns[i] > row.max_ns ? part->ns[i] : row.max_ns;
            row.sum_squares += (unsigned __int128)part->ns[i] * part->ns[i];
            row.n_vertices += part->calls.end[i] - part->calls.begin[i] + 1;
        }
    }
    row.n_calls = row.n_outermost;
    return row;
}

void loops_elect(struct loops_found *found, const struct clock_fix *fix,
                 const struct definitions *defs, struct loops *out)
{
    struct vote winner;

    *out = (struct loops){.n_locations = defs->n_locations};
    while (out->n < MAX_LOOPS && elect(found, defs->n_locations, &winner)) {
        struct loop loop = {.part = mem_alloc(defs->n_locations, sizeof *loop.part)};

        for (uint32_t l = 0; l < defs->n_locations; l++)
            take_part(&found[l], &winner, &loop.part[l]);
        align(&loop, defs, fix);
        out->loop[out->n++] = loop;
    }
}

void loops_agree(struct loops_found *found, const struct clock_fix *fix,
                 struct definitions *defs, struct profile *profile, struct loops *out)
{
    loops_elect(found, fix, defs, out);
    for (uint32_t i = 0; i < out->n; i++) {
        struct loop *loop = &out->loop[i];

        loop_define(loop, defs);
        profile_extend(profile, defs->names.n);
        profile->row[loop->region] = row_of(loop, defs->n_locations);
    }
}

void loops_release(struct loops *loops)
{
    for (uint32_t i = 0; i < loops->n; i++) {
        for (uint32_t l = 0; l < loops->n_locations; l++)
            loop_part_release(&loops->loop[i].part[l]);
        free(loops->loop[i].part);
    }
    *loops = (struct loops){0};
}

const struct loop *loops_of_region(const struct loops *loops, uint32_t region)
{
    for (uint32_t i = 0; i < loops->n; i++)
        if (loops->loop[i].region == region)
            return &loops->loop[i];
    return NULL;
}
