/*
 * Readings are in order of the calls that had begun before, so the place of an enter among them
 * is found by searching: all with a larger row come after it. The leave of a call comes before
 * the first reading, of those before the next enter, that has no more calls around it than the
 * call has.
 */
#include "stack/call_counters.h"

#include "base/mem.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>

#define MAX_READ ((uint64_t)1 << 26) /* readings, to find all borders */

/* Where a call lies among the readings of its location. */
struct call_readings {
    uint64_t enter_ns, leave_ns;
    uint32_t row, end_row; /* the row after its last */
    uint32_t depth;
    size_t begin, end; /* readings taken in it */
};

/* What is known of each counter at the borders of a call. */
struct borders_read {
    const struct detail_reading **begin, **end; /* [n_counters] */
    uint32_t *touched;                          /* [n_touched] counters where one is not NULL */
    uint32_t n_touched, n_counters;
    uint64_t n_left; /* readings that may still be looked at: a made-up run may have any number
                        at one time */
};

void call_counters_release(struct call_counters *counters)
{
    free(counters->at);
    *counters = (struct call_counters){0};
}

/* How many readings were taken before so many calls had begun. */
static size_t readings_before(const struct detail_view *d, uint32_t row)
{
    return FIRST_NOT(i, 0, d->n_readings, d->reading[i].row < row);
}

/* How many were taken before a time, or at it. */
static size_t readings_until(const struct detail_view *d, uint64_t time_ns)
{
    return time_ns < UINT64_MAX ? details_readings_before(d, time_ns + 1) : d->n_readings;
}

static struct call_readings readings_of_call(const struct call_view *calls, uint32_t row)
{
    const struct detail_view *d = &calls->details;
    struct call_readings p = {
        .enter_ns = calls->enter_ns[row],
        .leave_ns = calls->enter_ns[row] + calls->inclusive_ns[row],
        .row = row,
        .end_row = row + calls->subtree_len[row],
        .depth = calls->depth[row],
    };

    p.begin = readings_before(d, row + 1);
    p.end = readings_before(d, p.end_row);
    p.end = p.end < p.begin ? p.begin : p.end;
    while (p.end < d->n_readings && d->reading[p.end].row == p.end_row &&
           d->reading[p.end].depth > p.depth && d->reading[p.end].time_ns <= p.leave_ns)
        p.end++;
    return p;
}

static void note(struct borders_read *b, const struct detail_reading **of,
                 const struct detail_reading *r)
{
    uint32_t counter = reading_counter(r);

    b->n_left--;
    if (counter >= b->n_counters || of[counter])
        return;
    if (b->begin[counter] == NULL && b->end[counter] == NULL)
        b->touched[b->n_touched++] = counter;
    of[counter] = r;
}

/* Before the call is entered; else right behind it. */
static void read_begin(struct borders_read *b, const struct detail_view *d,
                       const struct call_readings *p)
{
    for (size_t i = p->begin;
         i > 0 && d->reading[i - 1].time_ns == p->enter_ns && b->n_left > 0; i--)
        note(b, b->begin, &d->reading[i - 1]);
    for (size_t i = p->begin; i < d->n_readings && d->reading[i].time_ns == p->enter_ns &&
                              d->reading[i].row == p->row + 1 &&
                              d->reading[i].depth == p->depth + 1 && b->n_left > 0;
         i++)
        note(b, b->begin, &d->reading[i]);
}

/* Whether the reading before the i-th was taken in the call, when it was left. */
static bool is_at_end(const struct borders_read *b, const struct detail_view *d,
                      const struct call_readings *p, size_t i)
{
    return i > p->begin && d->reading[i - 1].time_ns == p->leave_ns && b->n_left > 0;
}

/* Before the call is left, in it and in no other; else right behind; else at that time. */
static void read_end(struct borders_read *b, const struct detail_view *d,
                     const struct call_readings *p)
{
    for (size_t i = p->end; is_at_end(b, d, p, i); i--)
        if (d->reading[i - 1].depth == p->depth + 1)
            note(b, b->end, &d->reading[i - 1]);
    for (size_t i = p->end;
         i < d->n_readings && d->reading[i].time_ns == p->leave_ns &&
         d->reading[i].row == p->end_row && d->reading[i].depth == p->depth && b->n_left > 0;
         i++)
        note(b, b->end, &d->reading[i]);
    for (size_t i = p->end; is_at_end(b, d, p, i); i--)
        note(b, b->end, &d->reading[i - 1]);
}

static void forget_borders(struct borders_read *b)
{
    for (uint32_t i = 0; i < b->n_touched; i++)
        b->begin[b->touched[i]] = b->end[b->touched[i]] = NULL;
    b->n_touched = 0;
}

static void read_borders(struct borders_read *b, const struct call_view *calls, uint32_t row,
                         struct call_readings *p)
{
    forget_borders(b);
    *p = readings_of_call(calls, row);
    read_begin(b, &calls->details, p);
    read_end(b, &calls->details, p);
}

/* ---------------------------------------------------------------------------- arithmetic */

static struct counter_number number_of(const struct detail_reading *r)
{
    struct counter_number n = {.is_known = true, .is_real = r->counter & READING_REAL};

    if (n.is_real)
        n.real = r->real;
    else
        n.whole = r->whole;
    return n;
}

static double real_of(const struct counter_number *n)
{
    return n->is_real ? n->real : (double)n->whole;
}

/* a + sign * b; exact where both are whole and the result has room. */
static struct counter_number add(struct counter_number a, struct counter_number b, int sign)
{
    struct counter_number sum = {.is_known = a.is_known && b.is_known};

    if (!sum.is_known)
        return sum;
    if (!a.is_real && !b.is_real &&
        !(sign > 0 ? __builtin_add_overflow(a.whole, b.whole, &sum.whole)
                   : __builtin_sub_overflow(a.whole, b.whole, &sum.whole)))
        return sum;
    sum.is_real = true;
    sum.real = real_of(&a) + sign * real_of(&b);
    sum.is_known = isfinite(sum.real);
    return sum;
}

/* The sum of what a counter read from one reading to before another. */
static struct counter_number sum_of(const struct detail_reading *from,
                                    const struct detail_reading *to, uint32_t counter)
{
    struct counter_number sum = {.is_known = to - from <= CALL_COUNTERS_READ};

    for (const struct detail_reading *r = from; sum.is_known && r < to; r++)
        if (reading_counter(r) == counter)
            sum = add(sum, number_of(r), 1);
    return sum;
}

/*
 * What a call added. What only grows says it by the readings at its borders, where it is not
 * less at its end: then it began anew. Of what is told bit by bit, each value is that of the
 * time since the one before, or until the next one, or of a moment.
 */
static struct counter_number added(const struct counter *is, const struct detail_reading *begin,
                                   const struct detail_reading *end, uint32_t counter)
{
    struct counter_number none = {0}, sum;

    if (begin == NULL || end == NULL || end < begin)
        return none;
    if (is->mode == COUNTER_ACCUMULATED) {
        sum = add(number_of(end), number_of(begin), -1);
        return real_of(&sum) < 0 ? none : sum;
    }
    if (is->mode != COUNTER_RELATIVE)
        return none;
    if (is->span == COUNTER_SINCE_LAST)
        return sum_of(begin + 1, end + 1, counter);
    return is->span == COUNTER_UNTIL_NEXT ? sum_of(begin, end, counter) : none;
}

/* ------------------------------------------------------------------------------- the call */

struct counter_look {
    const struct call_view *calls;
    const struct counter *is;
    struct borders_read borders;
    struct call_counter *of; /* [n_counters] as they are found */
    uint32_t n_counters;
};

static struct call_counter *found(struct call_counter *of, uint32_t counter)
{
    of[counter].counter = counter;
    return &of[counter];
}

/* The direct calls that a call made are neighbours in the order of the depth below it. */
static size_t children_of(const struct call_view *calls, uint32_t row, const uint32_t **child)
{
    uint32_t depth = calls->depth[row] + 1u;
    const uint32_t *at;
    uint64_t n, begin;

    *child = NULL;
    if (calls->by_depth == NULL || depth >= calls->n_depths)
        return 0;
    at = calls->by_depth + calls->depth_start[depth];
    n = calls->depth_start[depth + 1] - calls->depth_start[depth];
    begin = lower_bound_u32(at, n, row);
    *child = at + begin;
    return lower_bound_u32(at, n, row + calls->subtree_len[row]) - begin;
}

/* Takes what one call made has added out of the own of all counters. */
static void take_out(struct counter_look *k, uint32_t child, const struct call_counters *all)
{
    const struct call_view *calls = k->calls;
    struct call_readings around;

    if (child >= calls->n || calls->subtree_len[child] > calls->n - child)
        forget_borders(&k->borders);
    else
        read_borders(&k->borders, calls, child, &around);
    for (uint32_t i = 0; i < all->n; i++) {
        struct call_counter *c = &all->at[i];
        const struct detail_reading *begin = k->borders.begin[c->counter];
        const struct detail_reading *end = k->borders.end[c->counter];

        if (c->own.is_known)
            c->own = add(c->own, added(&k->is[c->counter], begin, end, c->counter), -1);
    }
}

static void find_own(struct counter_look *k, uint32_t row, const struct call_counters *all)
{
    const uint32_t *child;
    size_t n = children_of(k->calls, row, &child);
    bool is_any = false;

    for (uint32_t i = 0; i < all->n; i++) {
        all->at[i].own = all->at[i].inclusive;
        all->at[i].own.is_known &= n <= CALL_COUNTERS_CHILDREN;
        is_any |= all->at[i].own.is_known;
    }
    for (size_t i = 0; is_any && i < n; i++)
        take_out(k, child[i], all);
    for (uint32_t i = 0; i < all->n; i++) /* time was cut, or clocks are corrected */
        all->at[i].own.is_known &= k->borders.n_left > 0 && real_of(&all->at[i].own) >= 0;
}

/* What was read in readings [begin, end) of a location, and before these. */
static void look_at_readings(struct counter_look *k, const struct detail_view *d, size_t begin,
                             size_t end)
{
    bool has_all = end - begin <= CALL_COUNTERS_READ;
    size_t from = has_all ? begin : end - CALL_COUNTERS_READ;

    for (size_t i = end; i-- > from;) {
        const struct detail_reading *r = &d->reading[i];
        uint32_t counter = reading_counter(r);
        double value = reading_value(r);
        struct call_counter *c;

        if (counter >= k->n_counters)
            continue;
        c = found(k->of, counter);
        c->last = c->last ? c->last : r;
        c->least = c->n == 0 || value < c->least ? value : c->least;
        c->greatest = c->n == 0 || value > c->greatest ? value : c->greatest;
        c->n++;
    }
    from = begin > CALL_COUNTERS_READ ? begin - CALL_COUNTERS_READ : 0;
    for (size_t i = begin; i-- > from;) {
        uint32_t counter = reading_counter(&d->reading[i]);

        if (counter < k->n_counters && k->of[counter].before == NULL)
            found(k->of, counter)->before = &d->reading[i];
    }
    for (uint32_t c = 0; c < k->n_counters; c++)
        k->of[c].has_all = has_all;
}

/* What was found, one behind the other. */
static void collect(const struct call_counter *of, uint32_t n_counters,
                    struct call_counters *out)
{
    *out = (struct call_counters){.at = mem_alloc(n_counters, sizeof *out->at)};
    for (uint32_t c = 0; c < n_counters; c++)
        if (of[c].begin || of[c].end || of[c].before || of[c].last)
            out->at[out->n++] = of[c];
}

/* What was read at the borders is said of these, and not of what is before and in it. */
static void settle_borders(struct counter_look *k)
{
    for (uint32_t i = 0; i < k->borders.n_touched; i++) {
        uint32_t counter = k->borders.touched[i];
        struct call_counter *c = found(k->of, counter);

        c->begin = k->borders.begin[counter];
        c->end = k->borders.end[counter];
        c->before = c->begin ? NULL : c->before;
        c->last = c->end ? NULL : c->last;
        c->inclusive = added(&k->is[counter], c->begin, c->end, counter);
    }
}

void call_counters_of(const struct call_view *calls, uint32_t row, const struct counter *is,
                      uint32_t n_counters, struct call_counters *out)
{
    struct counter_look k = {.calls = calls, .is = is, .n_counters = n_counters};
    struct call_readings around;

    *out = (struct call_counters){0};
    if (calls->details.n_readings == 0)
        return;
    k.of = mem_alloc(n_counters, sizeof *k.of);
    k.borders = (struct borders_read){.n_counters = n_counters, .n_left = MAX_READ};
    k.borders.begin = mem_alloc(n_counters, sizeof *k.borders.begin);
    k.borders.end = mem_alloc(n_counters, sizeof *k.borders.end);
    k.borders.touched = mem_alloc(n_counters, sizeof *k.borders.touched);
    read_borders(&k.borders, calls, row, &around);
    look_at_readings(&k, &calls->details, around.begin, around.end);
    settle_borders(&k);
    collect(k.of, n_counters, out);
    find_own(&k, row, out);
    free(k.borders.begin);
    free(k.borders.end);
    free(k.borders.touched);
    free(k.of);
}

void call_counters_between(const struct detail_view *details, uint64_t begin_ns,
                           uint64_t end_ns, uint32_t n_counters, struct call_counters *out)
{
    struct counter_look k = {.n_counters = n_counters};
    size_t begin = readings_until(details, begin_ns), end = readings_until(details, end_ns);

    *out = (struct call_counters){0};
    k.of = mem_alloc(n_counters, sizeof *k.of);
    look_at_readings(&k, details, begin, end < begin ? begin : end);
    collect(k.of, n_counters, out);
    free(k.of);
}

const struct argument *call_arguments(const struct detail_view *details, uint32_t row,
                                      size_t *n)
{
    const struct argument *all = details->argument;
    size_t low = FIRST_NOT(i, 0, details->n_arguments, all[i].call < row);

    for (*n = 0; low + *n < details->n_arguments && all[low + *n].call == row;)
        ++*n;
    return all + low;
}
