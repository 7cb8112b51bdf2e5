/*
 * Times are kept as what they are ahead of the trace, so that what no cut touches is 0 and
 * needs no memory of its own.
 */
#include "replay/replay.h"

#include "base/mem.h"
#include "explain/waiting.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_CHECKED 64u /* syncs between two looks whether anything still changes */

void replay_init(struct replay *r, const struct syncs *syncs)
{
    *r = (struct replay){.syncs = syncs};
    r->cut = mem_alloc(syncs->n, sizeof *r->cut);
    r->own_cut = mem_alloc(syncs->n, sizeof *r->own_cut);
    r->ahead = mem_alloc(syncs->n, sizeof *r->ahead);
    r->now = mem_alloc(syncs->n_locations, sizeof *r->now);
    r->waits_less = mem_alloc(syncs->n_locations, sizeof *r->waits_less);
    r->all_ns = mem_alloc(syncs->n_collectives, sizeof *r->all_ns);
    r->all_run = mem_alloc(syncs->n_collectives, sizeof *r->all_run);
}

void replay_release(struct replay *r)
{
    free(r->cut);
    free(r->own_cut);
    free(r->ahead);
    free(r->now);
    free(r->waits_less);
    free(r->all_ns);
    free(r->all_run);
    free(r->touched);
    *r = (struct replay){0};
}

/* ---------------------------------------------------------------------------------- cuts */

static void touch(struct replay *r, uint32_t k)
{
    if (r->cut[k] != 0 || r->own_cut[k] != 0)
        return;
    mem_grow(&r->touched, &r->touched_cap, r->n_touched + 1, sizeof *r->touched);
    r->touched[r->n_touched++] = k;
}

static int64_t at_most(int64_t ns, int64_t most)
{
    return ns < most ? ns : most;
}

/* What lies between two syncs cannot be cut by more than it took. */
static int64_t cut_before(struct replay *r, uint32_t k, int64_t ns)
{
    const struct sync *sync = r->syncs->sync;
    int64_t most = (int64_t)(sync[k].enter_ns - sync[k - 1].leave_ns) - r->cut[k];

    ns = at_most(ns, most);
    if (ns == 0)
        return 0;
    touch(r, k);
    r->cut[k] += ns;
    return ns;
}

static int64_t cut_inside(struct replay *r, uint32_t k, int64_t excess_ns)
{
    const struct sync *sync = &r->syncs->sync[k];
    int64_t waited = (int64_t)sync_wait_ns(sync);
    int64_t own = (int64_t)(sync->leave_ns - sync->enter_ns) - waited - r->own_cut[k];
    int64_t ns = at_most(excess_ns - waited, own);

    if (ns <= 0)
        return 0;
    if (sync->is_blind) {
        r->unknown_ns += ns;
        return 0;
    }
    touch(r, k);
    r->own_cut[k] += ns;
    return ns;
}

/* The times in a call between the calls that it makes, one after another. */
struct gaps {
    const struct call_view *calls;
    uint32_t row, child; /* the next one */
    uint64_t from_ns;
};

static void gaps_begin(struct gaps *g, const struct call_view *calls, uint32_t row)
{
    *g = (struct gaps){calls, row, row + 1, calls->enter_ns[row]};
}

/* False when there are no more. */
static bool gaps_next(struct gaps *g, uint64_t *begin_ns, uint64_t *end_ns)
{
    const struct call_view *calls = g->calls;
    uint32_t end = g->row + calls->subtree_len[g->row];

    if (g->child > end)
        return false;
    *begin_ns = g->from_ns;
    if (g->child == end) {
        *end_ns = calls_leave(calls, g->row);
        g->child++;
        return true;
    }
    *end_ns = calls->enter_ns[g->child];
    g->from_ns = calls_leave(calls, g->child);
    g->child += calls->subtree_len[g->child];
    return true;
}

/* What the gaps take over an equal share of what is usual, each; returns the sum. */
static double over_usual(const struct call_view *calls, uint32_t row, int64_t excess_ns,
                         double *share)
{
    uint64_t begin, end, own = 0, n = 0;
    double sum = 0;
    struct gaps g;

    for (gaps_begin(&g, calls, row); gaps_next(&g, &begin, &end); n++)
        own += end - begin;
    *share = fmax((double)own - (double)excess_ns, 0) / (double)n;
    for (gaps_begin(&g, calls, row); gaps_next(&g, &begin, &end);)
        sum += fmax((double)(end - begin) - *share, 0);
    return sum;
}

static int64_t cut_gaps(struct replay *r, uint32_t location, uint32_t row, int64_t excess_ns)
{
    const struct call_view *calls = &r->syncs->view->calls[location];
    int64_t left = excess_ns, done = 0;
    uint64_t begin, end;
    double share, sum = over_usual(calls, row, excess_ns, &share);
    struct gaps g;

    if (excess_ns < 0 || calls->subtree_len[row] == 1 || sum <= 0)
        return cut_before(r, syncs_after(r->syncs, location, calls->enter_ns[row]), excess_ns);
    for (gaps_begin(&g, calls, row); left > 0 && gaps_next(&g, &begin, &end);) {
        double over = fmax((double)(end - begin) - share, 0);
        int64_t ns = at_most(llrint((double)excess_ns * over / sum), left);

        if (ns > 0)
            done += cut_before(r, syncs_after(r->syncs, location, begin), ns);
        left -= ns;
    }
    return done;
}

int64_t replay_cut(struct replay *r, uint32_t location, uint32_t row, int64_t excess_ns)
{
    const struct trace_view *view = r->syncs->view;
    const struct region *region = &view->defs->region[view->calls[location].region[row]];
    uint32_t k;

    if (!syncs_takes_part(r->syncs, location) || excess_ns == 0)
        return 0;
    k = region->kind == REGION_MPI ? syncs_of_call(r->syncs, location, row) : NEED_INDEX;
    if (k != NEED_INDEX)
        return cut_inside(r, k, excess_ns);
    if (!waiting_is_likely(region))
        return cut_gaps(r, location, row, excess_ns);
    r->unknown_ns += excess_ns > 0 ? excess_ns : 0;
    return 0;
}

void replay_clear(struct replay *r)
{
    for (size_t i = 0; i < r->n_touched; i++)
        r->cut[r->touched[i]] = r->own_cut[r->touched[i]] = 0;
    r->n_touched = 0;
    r->unknown_ns = 0;
}

/* ------------------------------------------------------------------------------- playing */

/* A replay on its way. */
struct play {
    struct replay *r;
    uint32_t first, last_cut; /* places: where it began; the last cut */
    uint32_t next_look;       /* ... where it is looked whether all are ahead by the same */
    bool is_whole;            /* never */
    bool is_even;             /* they are, by even_ns, */
    int64_t even_ns;
    uint32_t until; /* but up to this place something is needed that was not */
};

/* When a sync is entered now. */
static uint64_t entered_ns(const struct replay *r, uint32_t need)
{
    const struct sync *sync = &r->syncs->sync[need & NEED_INDEX];
    int64_t ahead = need & NEED_EARLY ? r->now[sync->location] : r->ahead[need & NEED_INDEX];

    return sync->enter_ns - (uint64_t)ahead;
}

static uint64_t all_entered_ns(struct replay *r, uint32_t c)
{
    const struct syncs *s = r->syncs;

    if (r->all_run[c] == r->run)
        return r->all_ns[c];
    r->all_run[c] = r->run;
    r->all_ns[c] = 0;
    for (uint32_t i = s->first_member[c]; i < s->first_member[c + 1]; i++) {
        uint64_t ns = entered_ns(r, s->member[i]);

        r->all_ns[c] = ns > r->all_ns[c] ? ns : r->all_ns[c];
    }
    return r->all_ns[c];
}

/* When the last of what a sync needs is there. */
static uint64_t ready_ns(struct replay *r, uint32_t k)
{
    const struct syncs *s = r->syncs;
    uint64_t last = 0;

    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint64_t ns = s->need[i] & NEED_ALL ? all_entered_ns(r, s->need[i] & NEED_INDEX)
                                            : entered_ns(r, s->need[i]);

        last = ns > last ? ns : last;
    }
    return last;
}

/* Leaves a sync; returns by how much earlier. */
static int64_t leave(struct replay *r, uint32_t k)
{
    const struct syncs *s = r->syncs;
    const struct sync *sync = &s->sync[k];
    int64_t enter = (int64_t)sync->enter_ns, left = (int64_t)sync->leave_ns;
    int64_t took = left - enter, after = took, now = enter - r->ahead[k], end = now + took;
    int64_t waited = (int64_t)sync_wait_ns(sync), ready;

    if (s->first_need[k + 1] > s->first_need[k]) {
        if (sync->last_ns > sync->enter_ns) { /* something came late */
            after = left - (int64_t)sync->last_ns;
            took -= waited;
            end = now + took;
        }
        ready = (int64_t)ready_ns(r, k);
        if (ready + after > end)
            end = ready + after;
        r->waits_less[sync->location] += waited - (end - now - took);
    }
    return left - end + r->own_cut[k];
}

/* Whether all locations that go on are ahead by the same time. */
static bool is_even(const struct play *p, uint32_t place, int64_t *ns)
{
    const struct syncs *s = p->r->syncs;
    bool is_first = true;

    for (uint32_t l = 0; l < s->n_locations; l++) {
        if (!syncs_takes_part(s, l) || s->place[s->first[l + 1] - 1] <= place)
            continue;
        if (!is_first && p->r->now[l] != *ns)
            return false;
        *ns = p->r->now[l];
        is_first = false;
    }
    return !is_first;
}

/*
 * Until when something matters that was entered before a place, ahead by another time: it is
 * needed, and comes so much later than all else that it is waited for, or was waited for.
 */
static uint32_t needed_until(const struct play *p, uint32_t place)
{
    const struct syncs *s = p->r->syncs;
    uint32_t until = p->even_ns != 0 && p->first > 0 ? s->reach[p->first - 1] : 0;

    if (p->even_ns > 0 && (uint64_t)p->even_ns >= s->long_ns)
        return s->n;
    for (uint32_t at = p->first; at <= place; at++) {
        uint32_t k = s->order[at] + 1;
        int64_t later;

        if (k == s->first[s->sync[k - 1].location + 1])
            continue;
        later = p->even_ns - p->r->ahead[k];
        if (later != 0 && s->last_use[k] > until &&
            (s->slack_ns[k] == 0 || later > (int64_t)s->slack_ns[k]))
            until = s->last_use[k];
    }
    return until;
}

/* Whether nothing can change any more after a place. Each look is far enough from the last that
 * going back to the beginning costs no more than having come. */
static bool is_over(struct play *p, uint32_t place)
{
    uint32_t step = (place - p->first) / 2, least = p->r->syncs->n_locations;

    if (p->is_whole || place < p->last_cut)
        return false;
    if (!p->is_even && place >= p->next_look) {
        least = least < LEAST_CHECKED ? LEAST_CHECKED : least;
        p->next_look = place + (step < least ? least : step);
        p->is_even = is_even(p, place, &p->even_ns);
        p->until = p->is_even ? needed_until(p, place) : 0;
    }
    return p->is_even && place >= p->until;
}

static uint32_t go_through(struct play *p)
{
    struct replay *r = p->r;
    const struct syncs *s = r->syncs;

    for (uint32_t place = p->first; place < s->n; place++) {
        uint32_t k = s->order[place], l = s->sync[k].location;

        if (k + 1 < s->first[l + 1]) {
            r->now[l] = r->ahead[k + 1] = leave(r, k) + r->cut[k + 1];
            p->is_even &= r->now[l] == p->even_ns;
        }
        if (is_over(p, place))
            return place + 1;
    }
    return s->n;
}

/* By how much earlier the last location ends. */
static int64_t saved_ns(const struct replay *r)
{
    const struct syncs *s = r->syncs;
    int64_t last = INT64_MIN;

    for (uint32_t l = 0; l < s->n_locations; l++) {
        int64_t end;

        if (!syncs_takes_part(s, l))
            continue;
        end = (int64_t)s->sync[s->first[l + 1] - 1].enter_ns - r->now[l];
        last = end > last ? end : last;
    }
    return last == INT64_MIN ? 0 : (int64_t)s->end_ns - last;
}

/* Where the first cut matters, and the last. */
static void find_places(struct play *p)
{
    const struct replay *r = p->r;
    const struct syncs *s = r->syncs;

    p->first = s->n;
    for (size_t i = 0; i < r->n_touched; i++) {
        uint32_t k = r->touched[i];
        uint32_t first = s->place[r->cut[k] != 0 ? k - 1 : k], last = s->place[k];

        p->first = first < p->first ? first : p->first;
        p->last_cut = last > p->last_cut ? last : p->last_cut;
    }
}

static void play(struct replay *r, bool is_whole, struct replay_result *out)
{
    const struct syncs *s = r->syncs;
    struct play p = {.r = r, .is_whole = is_whole};
    uint32_t end;

    r->run++;
    for (uint32_t l = 0; l < s->n_locations; l++)
        r->now[l] = r->waits_less[l] = 0;
    if (!is_whole)
        find_places(&p);
    end = go_through(&p);
    *out = (struct replay_result){.saved_ns = saved_ns(r), .n_syncs = end - p.first};
    for (uint32_t place = p.first; place < end; place++) {
        uint32_t k = s->order[place];

        if (k + 1 < s->first[s->sync[k].location + 1])
            r->ahead[k + 1] = 0;
    }
}

void replay_run(struct replay *r, struct replay_result *out)
{
    play(r, false, out);
}

void replay_whole(struct replay *r, struct replay_result *out)
{
    play(r, true, out);
}
