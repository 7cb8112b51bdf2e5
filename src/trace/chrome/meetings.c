/*
 * Compared by order first, with the offset at which the differences vary least. Where some of
 * them then jump by more than collectives are apart, a record is missing in between: those are
 * paired by time, with each shift of the clocks that the first ones allow.
 */
#include "trace/chrome/meetings.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_LOST 1000 /* collectives at the beginning or end that a member may lack */
#define MAX_FIRST 8   /* of a member, of which one is not of it alone */

void meetings_release(struct meetings *m)
{
    free(m->meeting);
    *m = (struct meetings){0};
}

static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static bool is_beyond(int64_t ns, int64_t tolerance_ns)
{
    return ns > tolerance_ns || ns < -tolerance_ns;
}

/* Half of what typically lies between two. */
static int64_t tolerance_of(const int64_t *end_ns, size_t n)
{
    size_t n_gaps = n > 0 ? n - 1 : 0;
    double *gap_ns = mem_alloc(n_gaps, sizeof *gap_ns), median = 0;

    for (size_t i = 0; i < n_gaps; i++)
        gap_ns[i] = (double)end_ns[i + 1] - (double)end_ns[i];
    if (n_gaps > 0) {
        qsort(gap_ns, n_gaps, sizeof *gap_ns, order_f64);
        median = gap_ns[n_gaps / 2];
    }
    free(gap_ns);
    return median > 0 && median < 9e18 ? (int64_t)(median / 2) : 0;
}

void meetings_init(struct meetings *m, const int64_t *end_ns, size_t n)
{
    *m = (struct meetings){.tolerance_ns = tolerance_of(end_ns, n), .n_longest = n};
    mem_grow(&m->meeting, &m->cap, n);
    for (; m->n < n; m->n++)
        m->meeting[m->n] = (struct meeting){.end_ns = end_ns[m->n], .id = (uint32_t)m->n};
}

/* How much the differences between the ends of two sequences vary: their squares, summed. */
static double variance(const struct meetings *m, const int64_t *end_ns, size_t n, size_t offset)
{
    double mean = 0, sum = 0;

    for (size_t i = 0; i < n; i++) {
        double difference = (double)minus(end_ns[i], m->meeting[offset + i].end_ns),
               before = mean;

        mean += (difference - mean) / (double)(i + 1);
        sum += (difference - before) * (difference - mean);
    }
    return sum;
}

/* Which of the longest member's the first of this one is. */
static size_t align(const struct meetings *m, const int64_t *end_ns, size_t n)
{
    size_t most = m->n_longest - n, best = 0;
    double least = INFINITY;

    for (size_t offset = 0; offset <= most && most <= MAX_LOST && most > 0; offset++) {
        double now = variance(m, end_ns, n, offset);

        if (now < least) {
            least = now;
            best = offset;
        }
    }
    return best;
}

/* Whether all that a member leaves, one by one from an offset on, others leave then, too. */
static bool is_in_step(const struct meetings *m, const int64_t *end_ns, size_t n, size_t offset)
{
    for (size_t i = 1; i < n; i++) {
        int64_t before = minus(m->meeting[offset + i - 1].end_ns, end_ns[i - 1]);
        int64_t now = minus(m->meeting[offset + i].end_ns, end_ns[i]);

        if (is_beyond(minus(now, before), m->tolerance_ns))
            return false;
    }
    return true;
}

/* Pairs what ends at about the same time, shift_ns apart in the beginning; clocks drift. at:
 * (n) the meeting, or SIZE_MAX. Returns how many there are. */
static size_t pair_by_time(const struct meetings *m, const int64_t *end_ns, size_t n,
                           int64_t shift_ns, size_t *at)
{
    size_t n_pairs = 0;

    for (size_t i = 0, k = 0; i < n; i++) {
        int64_t off_ns = 0;

        at[i] = SIZE_MAX;
        while (k < m->n_longest && (off_ns = minus(minus(m->meeting[k].end_ns, end_ns[i]),
                                                   shift_ns)) < -m->tolerance_ns)
            k++;
        if (k == m->n_longest || off_ns > m->tolerance_ns)
            continue;
        at[i] = k++;
        shift_ns += off_ns;
        n_pairs++;
    }
    return n_pairs;
}

/* The shift by which most are paired. */
static size_t find_shift(const struct meetings *m, const int64_t *end_ns, size_t n,
                         int64_t *shift_ns, size_t *at)
{
    size_t most = 0;

    for (size_t i = 0; i < n && i < MAX_FIRST; i++)
        for (size_t k = 0; k < m->n_longest && k < MAX_FIRST; k++) {
            int64_t now = minus(m->meeting[k].end_ns, end_ns[i]);
            size_t n_pairs = pair_by_time(m, end_ns, n, now, at);

            if (n_pairs > most) {
                most = n_pairs;
                *shift_ns = now;
            }
        }
    return most;
}

/* One that the longest member does not have: another's, or a new one. */
static size_t extra_at(struct meetings *m, int64_t end_ns)
{
    size_t k = m->n_longest;

    while (k < m->n && is_beyond(minus(m->meeting[k].end_ns, end_ns), m->tolerance_ns))
        k++;
    if (k == m->n) {
        *mem_push(&m->meeting, &m->n, &m->cap) =
            (struct meeting){.end_ns = end_ns, .id = (uint32_t)k};
    }
    return k;
}

/* False where too many would be alone: then it is not known. */
static bool match_by_time(struct meetings *m, const int64_t *end_ns, size_t n, uint32_t *id)
{
    size_t *at = mem_alloc(n, sizeof *at);
    int64_t shift_ns = 0;
    bool is_known = find_shift(m, end_ns, n, &shift_ns, at) >= n - n / 4;

    if (is_known)
        pair_by_time(m, end_ns, n, shift_ns, at);
    for (size_t i = 0; is_known && i < n; i++) {
        if (at[i] == SIZE_MAX)
            at[i] = extra_at(m, (int64_t)((uint64_t)end_ns[i] + (uint64_t)shift_ns));
        else
            shift_ns = minus(m->meeting[at[i]].end_ns, end_ns[i]);
        id[i] = (uint32_t)at[i];
    }
    free(at);
    return is_known;
}

void meetings_add(struct meetings *m, const int64_t *end_ns, size_t n, uint32_t *id)
{
    size_t offset = align(m, end_ns, n);

    if (!is_in_step(m, end_ns, n, offset) && match_by_time(m, end_ns, n, id))
        return;
    for (size_t i = 0; i < n; i++)
        id[i] = (uint32_t)(offset + i);
}

static int by_end(const void *a, const void *b)
{
    const struct meeting *p = a, *q = b;

    return ORDER(p->end_ns, q->end_ns) ?: ORDER(p->id, q->id);
}

void meetings_number(struct meetings *m)
{
    if (m->n > m->n_longest)
        qsort(m->meeting, m->n, sizeof *m->meeting, by_end);
    for (size_t k = 0; k < m->n; k++)
        m->meeting[m->meeting[k].id].number = (uint32_t)k;
}
