#include "replay/critical_time.h"

#include "base/mem.h"

#include <stdlib.h>

/* Where the path is on a track: [n] intervals in order; before_ns is what it has of those
 * before. */
struct stay {
    uint64_t begin_ns, end_ns, before_ns;
};

struct stays {
    struct stay *at;
    size_t n, cap;
};

static void stay(struct stays *x, uint64_t begin_ns, uint64_t end_ns)
{
    struct stay *last = x->n > 0 ? &x->at[x->n - 1] : NULL;
    uint64_t before_ns = last ? last->before_ns + last->end_ns - last->begin_ns : 0;

    if (end_ns <= begin_ns)
        return;
    if (last && last->end_ns == begin_ns) {
        last->end_ns = end_ns;
        return;
    }
    mem_grow(&x->at, &x->cap, x->n + 1, sizeof *x->at);
    x->at[x->n++] = (struct stay){begin_ns, end_ns, before_ns};
}

/* A sync's own time is what it did not wait. */
static uint64_t own_begin_ns(const struct sync *k)
{
    return k->enter_ns + sync_wait_ns(k);
}

static void find_stays(const struct critical *c, const struct syncs *s, uint32_t track,
                       struct stays *x)
{
    uint64_t until = 0;

    x->n = 0;
    for (uint32_t k = s->first[track]; k < s->first[track + 1]; k++) {
        const struct sync *at = &s->sync[k];

        if (c->on[k] & CRITICAL_BEFORE && k > s->first[track])
            stay(x, until, at->enter_ns);
        if (c->on[k] & CRITICAL_IN)
            stay(x, own_begin_ns(at), at->leave_ns);
        until = at->leave_ns;
    }
}

/* Of the stays from one on, the last that begins before t, or that one: what is asked for is
 * near it, mostly. */
static size_t last_before(const struct stays *x, size_t from, uint64_t t)
{
    size_t step = 1, to;

    while (from + step < x->n && x->at[from + step].begin_ns < t) {
        from += step;
        step *= 2;
    }
    to = from + step < x->n ? from + step : x->n;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (x->at[middle].begin_ns < t)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* How much of the time before t the path is there: `last` is the last stay before it. */
static uint64_t passed_ns(const struct stays *x, size_t last, uint64_t t)
{
    const struct stay *at = &x->at[last];

    if (at->begin_ns >= t)
        return at->before_ns;
    return at->before_ns + (t < at->end_ns ? t : at->end_ns) - at->begin_ns;
}

/* What a call has of the path is its own, less what its callees have; where it has nothing,
 * they have not, either. */
static void add_calls(const struct syncs *s, uint32_t location, const struct stays *x,
                      double *region_ns)
{
    const struct call_view *calls = trace_view_calls(s->view, location);
    uint32_t *caller = mem_alloc(UINT16_MAX + 1u, sizeof *caller); /* by depth */
    size_t at = 0; /* rows are in the order in which they are entered */

    for (uint32_t row = 0; x->n > 0 && row < calls->n;) {
        uint16_t depth = calls->depth[row];
        uint64_t enter = calls->enter_ns[row], leave = calls_leave(calls, row), ns;

        at = last_before(x, at, enter);
        ns = passed_ns(x, last_before(x, at, leave), leave) - passed_ns(x, at, enter);
        if (ns == 0) {
            row += calls->subtree_len[row];
            continue;
        }
        caller[depth] = calls->region[row];
        region_ns[caller[depth]] += (double)ns;
        if (depth > 0)
            region_ns[caller[depth - 1]] -= (double)ns;
        row++;
    }
    free(caller);
}

/* Operations of a stream follow each other: each from its sync to the next. */
static void add_operations(const struct critical *c, const struct syncs *s, uint32_t track,
                           double *region_ns)
{
    for (uint32_t k = s->first[track]; k + 1 < s->first[track + 1]; k++) {
        const struct sync *at = &s->sync[k];
        uint64_t ns = 0;

        if (at->call == NO_CALL)
            continue;
        if (c->on[k] & CRITICAL_IN)
            ns += at->leave_ns - own_begin_ns(at);
        if (c->on[k + 1] & CRITICAL_BEFORE && at[1].enter_ns > at->leave_ns)
            ns += at[1].enter_ns - at->leave_ns;
        region_ns[trace_view_calls(s->view, s->location[at->track])->region[at->call]] +=
            (double)ns;
    }
}

void critical_time(const struct critical *c, const struct syncs *s, double *region_ns)
{
    struct stays x = {0};

    for (uint32_t r = 0; r < s->view->defs->names.n; r++)
        region_ns[r] = 0;
    for (uint32_t l = 0; l < s->n_locations; l++) {
        if (!syncs_takes_part(s, l) ||
            !critical_passes(c, syncs_begin(s, l), syncs_end(s, l) - 1))
            continue;
        for (uint32_t t = s->track[l]; s->is_stream[l] && t < s->track[l + 1]; t++)
            add_operations(c, s, t, region_ns);
        if (s->is_stream[l])
            continue;
        find_stays(c, s, s->track[l], &x);
        add_calls(s, l, &x, region_ns);
    }
    free(x.at);
}
