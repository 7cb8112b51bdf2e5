/* Ends and inner begins from the last row to the first, as each is limited by the rows behind
 * it; then outermost begins from the first to the last, limited by those before. */
#include "stack/calls_place.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TIMES_A_CALL 4 /* at most so often, in one of what is around it, is about as often */

struct placing {
    struct calls *calls;
    uint32_t *caller; /* [n] */
    uint32_t *n_of;   /* [regions] calls */
    uint32_t *around; /* [n] of what is around it, and itself: that of the most calls */
    uint64_t *end_ns; /* [n] of what it called, the last of what was looked at */
};

static uint64_t leave_ns(const struct calls *calls, uint32_t row)
{
    return calls->enter_ns[row] + calls->inclusive_ns[row];
}

static void begin_at(struct calls *calls, uint32_t row, uint64_t time_ns)
{
    calls->inclusive_ns[row] = leave_ns(calls, row) - time_ns;
    calls->enter_ns[row] = time_ns;
}

static void count(struct placing *p)
{
    const struct calls *calls = p->calls;
    uint32_t n_regions = 0;

    for (uint32_t row = 0; row < calls->n; row++)
        n_regions = calls->region[row] >= n_regions ? calls->region[row] + 1 : n_regions;
    p->n_of = mem_alloc(n_regions, sizeof *p->n_of);
    for (uint32_t row = 0; row < calls->n; row++)
        p->n_of[calls->region[row]]++;
    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t n = p->n_of[calls->region[row]], by = p->caller[row];

        p->around[row] = by != NO_CALL && p->around[by] > n ? p->around[by] : n;
    }
}

/* Whether a call begins at the end of its gap. */
static bool is_late(const struct placing *p, uint32_t row)
{
    const struct calls *calls = p->calls;
    uint32_t by = p->caller[row];

    if (by == NO_CALL)
        return false;
    if (by + 1 == row && calls->enter_ns[by] == calls->enter_ns[row])
        return true; /* inner: its caller begins in that gap, too */
    return p->around[by] > 1 &&
           (uint64_t)TIMES_A_CALL * p->around[by] >= p->n_of[calls->region[row]];
}

static uint64_t later_of(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static uint64_t before(uint64_t time_ns, uint64_t by_ns)
{
    return time_ns > by_ns ? time_ns - by_ns : 0;
}

/* From now on the estimate is at one end of the gap, and off by all of it. */
static void set_placed(struct call_estimate *e, enum placed placed)
{
    e->placed = (uint16_t)placed;
    e->off_ns *= 2;
}

static void end_early(const struct placing *p, struct call_estimate *e)
{
    struct calls *calls = p->calls;
    uint64_t enter_ns = calls->enter_ns[e->call];
    uint64_t at_ns = before(leave_ns(calls, e->call), e->off_ns);

    calls->inclusive_ns[e->call] =
        later_of(at_ns, later_of(enter_ns, p->end_ns[e->call])) - enter_ns;
    set_placed(e, PLACED_OTHERS);
}

static void begin_late(const struct placing *p, struct call_estimate *e)
{
    const struct calls *calls = p->calls;
    uint32_t row = e->call;
    uint64_t at_ns = calls->enter_ns[row] + e->off_ns, most_ns = leave_ns(calls, row);

    if (row + 1 < calls->n && calls->enter_ns[row + 1] < most_ns)
        most_ns = calls->enter_ns[row + 1];
    begin_at(p->calls, row, at_ns < most_ns ? at_ns : most_ns);
    set_placed(e, PLACED_OTHERS);
}

/* least_ns: when the call before, by the same caller, has ended. */
static void begin_early(const struct placing *p, struct call_estimate *e, uint64_t least_ns)
{
    const struct calls *calls = p->calls;
    uint64_t enter_ns = calls->enter_ns[e->call];

    if (e->call > 0)
        least_ns = later_of(least_ns, calls->enter_ns[e->call - 1]);
    least_ns = later_of(least_ns, before(enter_ns, e->off_ns));
    if (least_ns < enter_ns)
        begin_at(p->calls, e->call, least_ns);
    set_placed(e, PLACED_OWN);
}

/* The estimate with number i - 1, if it is of that border. */
static struct call_estimate *last_of(const struct calls *calls, size_t i, uint32_t row,
                                     bool is_leave)
{
    struct call_estimate *e = i > 0 ? &calls->estimate[i - 1] : NULL;

    return e && e->call == row && e->is_leave == is_leave ? e : NULL;
}

static void place_backward(struct placing *p)
{
    struct calls *calls = p->calls;
    size_t i = calls->n_estimates;

    for (uint32_t row = calls->n; row-- > 0;) {
        struct call_estimate *leave = last_of(calls, i, row, true), *enter;
        uint32_t by = p->caller[row];

        i -= leave != NULL;
        enter = last_of(calls, i, row, false);
        i -= enter != NULL;
        if (leave && leave->placed == PLACED_MIDDLE)
            end_early(p, leave);
        if (by != NO_CALL)
            p->end_ns[by] = later_of(p->end_ns[by], leave_ns(calls, row));
        if (enter && enter->placed == PLACED_MIDDLE && is_late(p, row))
            begin_late(p, enter);
    }
}

static void place_forward(struct placing *p)
{
    struct calls *calls = p->calls;
    uint64_t root_end_ns = 0;
    size_t i = 0;

    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t by = p->caller[row];
        uint64_t *last_end_ns = by == NO_CALL ? &root_end_ns : &p->end_ns[by];

        p->end_ns[row] = 0;
        for (; i < calls->n_estimates && calls->estimate[i].call == row; i++)
            if (calls->estimate[i].placed == PLACED_MIDDLE)
                begin_early(p, &calls->estimate[i], *last_end_ns);
        *last_end_ns = leave_ns(calls, row);
    }
}

void calls_place(struct calls *calls)
{
    struct placing p = {.calls = calls};
    struct call_view view = calls_view(calls);
    bool is_any = false;

    for (size_t i = 0; i < calls->n_estimates && !is_any; i++)
        is_any = calls->estimate[i].placed == PLACED_MIDDLE;
    if (!is_any)
        return;
    p.caller = paged_alloc(calls->paged, calls->n, sizeof *p.caller);
    p.around = paged_alloc(calls->paged, calls->n, sizeof *p.around);
    p.end_ns = paged_alloc(calls->paged, calls->n, sizeof *p.end_ns);
    memset(p.end_ns, 0, calls->n * sizeof *p.end_ns);
    calls_callers(&view, p.caller);
    count(&p);
    place_backward(&p);
    place_forward(&p);
    paged_release(calls->paged, p.caller);
    paged_release(calls->paged, p.around);
    paged_release(calls->paged, p.end_ns);
    free(p.n_of);
}
