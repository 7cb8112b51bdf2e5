/* A sync that waited was left when it was because of the last that it needed; else its own. */
#include "replay/critical.h"

#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>

/* Of what a sync needs, that which was entered last; NEED_INDEX: a clock says it was later. */
static uint32_t last_needed(const struct syncs *s, uint32_t k)
{
    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t index = s->need[i] & NEED_INDEX;
        uint32_t first = s->need[i] & NEED_ALL ? s->first_member[index] : 0;
        uint32_t end = s->need[i] & NEED_ALL ? s->first_member[index + 1] : 1;

        for (uint32_t m = first; m < end; m++) {
            uint32_t need = s->need[i] & NEED_ALL ? s->member[m] : s->need[i];

            if (s->sync[need & NEED_INDEX].enter_ns == s->sync[k].last_ns)
                return need & NEED_EARLY ? NEED_INDEX : need & NEED_INDEX;
        }
    }
    return NEED_INDEX;
}

static uint32_t last_of_all(const struct syncs *s)
{
    uint32_t last = NEED_INDEX;

    for (uint32_t t = 0; t < s->n_tracks; t++) {
        uint32_t k = s->first[t + 1] - 1;

        if (last == NEED_INDEX || s->sync[k].enter_ns > s->sync[last].enter_ns)
            last = k;
    }
    return last;
}

void critical_init(struct critical *c, const struct syncs *s)
{
    uint32_t k = last_of_all(s);

    *c = (struct critical){.is_sound = k != NEED_INDEX};
    c->on = mem_alloc(s->n, 1);
    c->n_until = mem_alloc((size_t)s->n + 1, sizeof *c->n_until);
    /* each step goes back by one sync on a track: none is passed twice */
    while (c->is_sound && k != s->first[s->sync[k].track] && !(c->on[k] & CRITICAL_BEFORE)) {
        uint32_t at = k - 1;

        c->on[k] |= CRITICAL_BEFORE;
        c->on[at] |= CRITICAL_IN;
        k = s->sync[at].last_ns > s->sync[at].enter_ns ? last_needed(s, at) : at;
        c->is_sound = k != NEED_INDEX;
    }
    for (uint32_t i = 0; i < s->n; i++)
        c->n_until[i + 1] = c->n_until[i] + (c->on[i] != 0);
}

void critical_release(struct critical *c)
{
    free(c->on);
    free(c->n_until);
    *c = (struct critical){0};
}

int64_t critical_cut_ns(const struct critical *c, struct replay *r)
{
    int64_t sum = 0;

    replay_settle(r);
    for (size_t i = 0; i < r->n_touched; i++) {
        uint32_t k = r->touched[i];

        sum += c->on[k] & CRITICAL_BEFORE ? replay_cut_of(r, k).before_ns : 0;
        sum += c->on[k] & CRITICAL_IN ? replay_cut_of(r, k).own_ns : 0;
    }
    return sum;
}

/* ---------------------------------------------------------------------- what was done on it */

/* Where the path is on a track: [n] intervals in order; before_ns is what it has of those
 * before. */
struct stay {
    uint64_t begin_ns, end_ns, before_ns;
};

struct stays {
    struct stay *at;
    size_t n, cap;
};

static void add_stay(struct stays *x, uint64_t begin_ns, uint64_t end_ns)
{
    struct stay *last = x->n > 0 ? &x->at[x->n - 1] : NULL;
    uint64_t before_ns = last ? last->before_ns + last->end_ns - last->begin_ns : 0;

    if (end_ns <= begin_ns)
        return;
    if (last && last->end_ns == begin_ns) {
        last->end_ns = end_ns;
        return;
    }
    *mem_push(&x->at, &x->n, &x->cap) = (struct stay){begin_ns, end_ns, before_ns};
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
            add_stay(x, until, at->enter_ns);
        if (c->on[k] & CRITICAL_IN)
            add_stay(x, own_begin_ns(at), at->leave_ns);
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
    return FIRST_NOT(i, from + 1, to, x->at[i].begin_ns < t) - 1;
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
