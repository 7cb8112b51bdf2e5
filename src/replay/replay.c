/*
 * Times are kept as what they are ahead of the trace, so that what no cut touches is 0 and
 * needs no memory of its own.
 */
#include "replay/replay.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/waiting.h"
#include "replay/syncs_needs.h"

#include <math.h>
#include <stdlib.h>

#define LONG_SHARE 64   /* of the run: who is needed so much later is not waited for */
#define AHEAD 16u       /* syncs that are fetched from memory before they are played */
#define OWN_SHARE 0.5   /* of what a call lost: what is so much of it is no waiting */
#define MIN_CHECKED 64u /* syncs between two looks whether anything still changes */

/* ---------------------------------------------------------------------------------- horizon */

/* A sync is needed at a place; it could come so much later without being waited for. */
static void use(struct horizon *h, const struct syncs *s, uint32_t sync, uint32_t place,
                uint64_t until_ns)
{
    uint64_t enter = s->sync[sync].enter_ns, slack = until_ns > enter ? until_ns - enter : 0;

    if (h->slack_ns[sync] > slack)
        h->slack_ns[sync] = slack;
    if (h->last_use[sync] < place)
        h->last_use[sync] = place;
}

static void use_needs(struct horizon *h, const struct syncs *s)
{
    uint32_t *last = mem_alloc(s->n_collectives, sizeof *last); /* + 1; 0: nobody needs it */

    for (uint32_t k = 0; k < s->n; k++) {
        const struct sync *sync = &s->sync[k];
        uint64_t until = sync->last_ns > sync->enter_ns ? sync->last_ns : sync->enter_ns;

        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t index = s->need[i] & NEED_INDEX;

            if ((s->need[i] & NEED_ALL) == 0)
                use(h, s, index, s->place[k], until);
            else if (last[index] <= s->place[k])
                last[index] = s->place[k] + 1;
        }
    }
    for (uint32_t c = 0; c < s->n_collectives; c++)
        if (last[c] > 0) {
            uint64_t until = syncs_last_entered(s, NEED_ALL | c);

            for (uint32_t i = s->first_member[c]; i < s->first_member[c + 1]; i++)
                use(h, s, s->member[i] & NEED_INDEX, last[c] - 1, until);
        }
    free(last);
}

static void horizon_init(struct horizon *h, const struct syncs *s)
{
    *h = (struct horizon){.long_ns = (s->end_ns - s->begin_ns) / LONG_SHARE};
    h->reach = mem_alloc(s->n, sizeof *h->reach);
    h->last_use = mem_alloc(s->n, sizeof *h->last_use);
    h->slack_ns = mem_resize(NULL, s->n, sizeof *h->slack_ns);
    for (uint32_t k = 0; k < s->n; k++)
        h->slack_ns[k] = UINT64_MAX;
    use_needs(h, s);
    for (uint32_t p = 0; p < s->n; p++) {
        uint32_t k = s->order[p] + 1; /* what is entered there */
        bool is_entered = k < s->n && s->sync[k].track == s->sync[k - 1].track;

        h->reach[p] = p > 0 ? h->reach[p - 1] : 0;
        if (is_entered && h->slack_ns[k] < h->long_ns && h->last_use[k] > h->reach[p])
            h->reach[p] = h->last_use[k];
    }
}

static void horizon_release(struct horizon *h)
{
    free(h->last_use);
    free(h->slack_ns);
    free(h->reach);
    *h = (struct horizon){0};
}

/* ----------------------------------------------------------------------------------- replay */

/* A sync that is to be entered so much earlier. */
struct late_member {
    uint32_t sync,
        first; /* what it did between two waits: before these, and those in between */
    int64_t ns;
};

void replay_init(struct replay *r, const struct syncs *syncs)
{
    *r = (struct replay){.syncs = syncs};
    r->cut = mem_alloc(syncs->n / CUT_BLOCK + 1, sizeof *r->cut);
    r->is_cut = mem_alloc(syncs->n / CUT_BLOCK + 1, sizeof *r->is_cut);
    r->ahead = mem_alloc(syncs->n, sizeof *r->ahead);
    r->now = mem_alloc(syncs->n_tracks, sizeof *r->now);
    r->waits_less = mem_alloc(syncs->n_locations, sizeof *r->waits_less);
    r->waited_ns = mem_alloc(syncs->n_locations, sizeof *r->waited_ns);
    r->all_ns = mem_alloc(syncs->n_collectives, sizeof *r->all_ns);
    r->all_run = mem_alloc(syncs->n_collectives, sizeof *r->all_run);
}

void replay_release(struct replay *r)
{
    for (uint32_t i = 0; r->cut && i < r->syncs->n / CUT_BLOCK + 1; i++)
        free(r->cut[i]);
    free(r->cut);
    free(r->is_cut);
    free(r->ahead);
    free(r->now);
    free(r->waits_less);
    free(r->waited_ns);
    free(r->all_ns);
    free(r->all_run);
    free(r->touched);
    free(r->late);
    horizon_release(&r->horizon);
    *r = (struct replay){0};
}

/* ---------------------------------------------------------------------------------- cuts */

/* Where what is cut at a sync is kept, which is going to be changed. */
static struct sync_cut *touch(struct replay *r, uint32_t k)
{
    struct sync_cut **block = &r->cut[k / CUT_BLOCK], *cut;

    if (*block == NULL)
        *block = mem_alloc(CUT_BLOCK, sizeof **block);
    cut = &(*block)[k % CUT_BLOCK];
    if (cut->before_ns == 0 && cut->own_ns == 0) {
        *mem_push(&r->touched, &r->n_touched, &r->touched_cap) = k;
        r->is_cut[k / CUT_BLOCK] = true;
    }
    return cut;
}

static int64_t at_most(int64_t ns, int64_t most)
{
    return ns < most ? ns : most;
}

static void add_unknown(struct replay *r, int64_t ns)
{
    if (ns > 0)
        r->unknown_ns = ns < INT64_MAX - r->unknown_ns ? r->unknown_ns + ns : INT64_MAX;
}

/* What lies between a sync and the one before. */
static int64_t before_ns(const struct syncs *s, uint32_t k)
{
    return (int64_t)(s->sync[k].enter_ns - s->sync[k - 1].leave_ns);
}

/* What lies between two syncs cannot be cut by more than it took. */
static int64_t cut_before(struct replay *r, uint32_t k, int64_t ns)
{
    int64_t most = before_ns(r->syncs, k) - replay_cut_of(r, k).before_ns;

    ns = at_most(ns, most);
    if (ns < 0) {
        ns = -at_most(-ns, MAX_ADDED_NS - r->added_ns);
        r->added_ns -= ns;
    }
    if (ns == 0)
        return 0;
    touch(r, k)->before_ns += ns;
    return ns;
}

/* What a call lost is waiting first; but where it waits in each execution, it may be what it took
 * beside that, over what such calls do. */
static int64_t excess_inside(const struct replay *r, uint32_t k, int64_t excess_ns)
{
    const struct sync *sync = &r->syncs->sync[k];
    int64_t waited = (int64_t)sync_wait_ns(sync), typical;

    if (excess_ns <= 0 || excess_ns > waited ||
        (double)sync_own_ns(sync) < OWN_SHARE * (double)excess_ns)
        return excess_ns - waited;
    typical = syncs_typical_own_ns(r->syncs, k);
    if (typical == INT64_MAX ||
        (double)(sync_own_ns(sync) - typical) < OWN_SHARE * (double)excess_ns)
        return 0;
    return at_most(excess_ns, sync_own_ns(sync) - typical);
}

static int64_t cut_inside(struct replay *r, uint32_t k, int64_t excess_ns)
{
    const struct sync *sync = &r->syncs->sync[k];
    int64_t own = sync_own_ns(sync) - replay_cut_of(r, k).own_ns;
    int64_t ns = at_most(excess_inside(r, k, excess_ns), own);

    if (ns <= 0)
        return 0;
    if (sync->is_blind) {
        add_unknown(r, ns);
        return 0;
    }
    touch(r, k)->own_ns += ns;
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

/* What the gaps take over an equal share of what is typical, each; returns the sum. */
static double over_typical(const struct call_view *calls, uint32_t row, int64_t excess_ns,
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

/* What of the excess belongs to something that took so long, which is `sum` over the shares of all. */
static int64_t part_of(int64_t excess_ns, double took_ns, double share, double sum)
{
    return llrint((double)excess_ns * fmax(took_ns - share, 0) / sum);
}

void replay_spread(const struct call_view *calls, uint32_t row, int64_t excess_ns,
                   replay_spread_fn *fn, void *ctx)
{
    int64_t left = excess_ns;
    uint64_t begin, end;
    double share, sum = over_typical(calls, row, excess_ns, &share);
    struct gaps g;

    if (excess_ns < 0 || calls->subtree_len[row] == 1 || sum <= 0) {
        fn(ctx, calls->enter_ns[row], excess_ns);
        return;
    }
    for (gaps_begin(&g, calls, row); left > 0 && gaps_next(&g, &begin, &end);) {
        int64_t ns = at_most(part_of(excess_ns, (double)(end - begin), share, sum), left);

        if (ns > 0)
            fn(ctx, begin, ns);
        left -= ns;
    }
}

/* Cuts of one location. */
struct location_cutting {
    struct replay *r;
    uint32_t location;
    int64_t done_ns;
};

/* A message that no call of MPI is for (struct point): what runs from begin_ns on waits for it. */
static bool is_in_gap(const struct syncs *s, uint32_t k, uint32_t location, uint64_t begin_ns)
{
    return k > syncs_begin(s, location) && s->sync[k].call == NO_CALL &&
           s->sync[k].enter_ns == begin_ns && s->sync[k].leave_ns > begin_ns;
}

/* What waits for messages first, of which only what is no waiting is taken; then the rest. */
static void cut_gap(void *ctx, uint64_t begin_ns, int64_t ns)
{
    struct location_cutting *c = ctx;
    const struct syncs *s = c->r->syncs;
    uint32_t next = syncs_after(s, c->location, begin_ns), k = next - 1;

    while (k > syncs_begin(s, c->location) && s->sync[k - 1].enter_ns == begin_ns)
        k--;
    for (; ns > 0 && k < next; k++) {
        int64_t cut_ns, unknown_ns = c->r->unknown_ns;

        if (!is_in_gap(s, k, c->location, begin_ns))
            continue;
        cut_ns = cut_inside(c->r, k, ns);
        c->done_ns += cut_ns;
        ns -= at_most(
            (int64_t)sync_wait_ns(&s->sync[k]) + cut_ns + (c->r->unknown_ns - unknown_ns), ns);
        begin_ns = s->sync[k].leave_ns;
        next = syncs_after(s, c->location, begin_ns);
    }
    c->done_ns += cut_before(c->r, next, ns);
}

int64_t replay_cut_after(struct replay *r, uint32_t location, uint64_t time_ns,
                         int64_t excess_ns)
{
    if (!syncs_takes_part(r->syncs, location) || excess_ns == 0)
        return 0;
    return cut_before(r, syncs_after(r->syncs, location, time_ns), excess_ns);
}

/* Whether a call is one of MPI, a barrier of a team, or one that waits for a thread. */
static bool may_be_sync(const struct syncs *s, uint32_t location, uint32_t row)
{
    const struct call_view *calls = &s->view->calls[location];
    const struct region *region = &s->view->defs->region[calls->region[row]];

    return region->kind == REGION_MPI || s->is_waiting[calls->region[row]];
}

int64_t replay_cut(struct replay *r, uint32_t location, uint32_t row, int64_t excess_ns)
{
    const struct trace_view *view = r->syncs->view;
    const struct region *region = &view->defs->region[view->calls[location].region[row]];
    uint32_t k;

    if (!syncs_takes_part(r->syncs, location) || excess_ns == 0)
        return 0;
    if (r->syncs->is_stream[location]) {
        k = r->syncs->op_sync[location][row];
        if (k == NEED_INDEX) /* between operations there is no work */
            return 0;
        /* what an operation took, or what was exchanged from when all were there */
        return syncs_exchanges(r->syncs, k) ? cut_inside(r, k + 1, excess_ns)
                                            : cut_before(r, k + 1, excess_ns);
    }
    k = may_be_sync(r->syncs, location, row) ? syncs_of_call(r->syncs, location, row)
                                             : NEED_INDEX;
    if (k != NEED_INDEX)
        return cut_inside(r, k, excess_ns);
    if (!waiting_is_likely(region)) {
        struct location_cutting c = {r, location, 0};

        replay_spread(&view->calls[location], row, excess_ns, cut_gap, &c);
        return c.done_ns;
    }
    add_unknown(r, excess_ns);
    return 0;
}

/* From when on a location did, up to a sync, what nobody kept it from: it waited up to the first
 * sync that is returned, or came to its team after from_ns; from there to k it only told others
 * something. */
static uint32_t first_since_wait(const struct syncs *s, uint32_t k, uint64_t from_ns)
{
    uint32_t begin = s->first[s->sync[k].track] + 1;

    while (k > begin && s->first_need[k - 1] == s->first_need[k] && !s->sync[k - 1].is_blind &&
           s->sync[k - 1].leave_ns > from_ns)
        k--;
    return k;
}

/* Of one who came to a barrier after a time, or before it; returns how much earlier it can be
 * there. */
static int64_t note_late(struct replay *r, uint32_t k, uint64_t typical_ns, uint64_t from_ns)
{
    uint32_t first = first_since_wait(r->syncs, k, from_ns);
    int64_t ns = (int64_t)r->syncs->sync[k].enter_ns - (int64_t)typical_ns, most = 0;

    *mem_push(&r->late, &r->n_late, &r->late_cap) = (struct late_member){k, first, ns};
    for (uint32_t i = first; i <= k; i++)
        most += before_ns(r->syncs, i);
    return at_most(ns, most);
}

/* Whoever came to it last: of those that a sync needs all of, and itself. */
static uint32_t last_member(const struct syncs *s, uint32_t k)
{
    uint32_t last = k;

    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t c = s->need[i] & NEED_INDEX;

        for (uint32_t m = s->first_member[c];
             (s->need[i] & NEED_ALL) != 0 && m < s->first_member[c + 1]; m++)
            if (s->sync[s->member[m] & NEED_INDEX].enter_ns > s->sync[last].enter_ns)
                last = s->member[m] & NEED_INDEX;
    }
    return last;
}

int64_t replay_cut_late(struct replay *r, uint32_t location, uint32_t row, uint64_t from_ns,
                        int64_t late_ns, int64_t held_ns)
{
    const struct syncs *s = r->syncs;
    uint32_t k = syncs_of_call(s, location, row), last;
    int64_t done = 0;
    uint64_t typical_ns;

    if (k == NEED_INDEX)
        return 0;
    late_ns = at_most(late_ns, (int64_t)sync_wait_ns(&s->sync[k]));
    last = last_member(s, k);
    typical_ns = s->sync[last].enter_ns - (uint64_t)(late_ns + held_ns);
    if (late_ns + held_ns < 0) /* of itself that is in its calls */
        return last == k ? 0 : note_late(r, last, typical_ns, from_ns);
    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t c = s->need[i] & NEED_INDEX;

        if ((s->need[i] & NEED_ALL) == 0)
            continue;
        for (uint32_t m = s->first_member[c]; m < s->first_member[c + 1]; m++) {
            uint32_t member = s->member[m] & NEED_INDEX;
            int64_t ns = member != k && (int64_t)s->sync[member].enter_ns > (int64_t)typical_ns
                             ? note_late(r, member, typical_ns, from_ns)
                             : 0;

            done = ns > done ? ns : done;
        }
    }
    return done;
}

/* Of several times between two waits those count that are longest: each by what it is over an
 * equal share of what is typical. */
static void cut_stretch(struct replay *r, uint32_t first, uint32_t last, int64_t ns)
{
    double all = 0, share, sum = 0;
    int64_t left = ns;

    for (uint32_t i = first; i <= last; i++)
        all += (double)before_ns(r->syncs, i);
    share = fmax(all - (double)ns, 0) / (last - first + 1);
    for (uint32_t i = first; i <= last; i++)
        sum += fmax((double)before_ns(r->syncs, i) - share, 0);
    if (sum <= 0) /* it had no time of its own */
        return;
    for (uint32_t i = first; i <= last && left > 0; i++)
        left -= cut_before(
            r, i, at_most(part_of(ns, (double)before_ns(r->syncs, i), share, sum), left));
}

void replay_settle(struct replay *r)
{
    for (size_t i = 0; i < r->n_late; i++) {
        uint32_t last = r->late[i].sync, first = r->late[i].first;
        int64_t ns = r->late[i].ns;

        for (uint32_t k = first; k <= last; k++)
            ns -= replay_cut_of(r, k).before_ns;
        if (ns > 0 && r->late[i].ns > 0)
            cut_stretch(r, first, last, ns);
        else if (ns < 0 && r->late[i].ns < 0) /* what was taken out stays so */
            cut_before(r, last, ns > r->late[i].ns ? ns : r->late[i].ns);
    }
    r->n_late = 0;
}

void replay_begin_after(struct replay *r, uint32_t ready, uint64_t ns)
{
    const struct sync *k = &r->syncs->sync[ready];
    uint64_t from = k->last_ns > k->enter_ns ? k->last_ns : k->enter_ns;

    if (k->leave_ns == from + ns)
        return;
    touch(r, ready)->own_ns = (int64_t)(k->leave_ns - from - ns);
}

void replay_set(struct replay *r, uint32_t ready, int64_t ns, int64_t took_ns)
{
    if (ns == took_ns)
        return;
    if (syncs_exchanges(r->syncs, ready))
        touch(r, ready + 1)->own_ns = took_ns - ns;
    else
        touch(r, ready + 1)->before_ns = took_ns - ns;
}

void replay_clear(struct replay *r)
{
    for (size_t i = 0; i < r->n_touched; i++) {
        r->cut[r->touched[i] / CUT_BLOCK][r->touched[i] % CUT_BLOCK] = (struct sync_cut){0, 0};
        r->is_cut[r->touched[i] / CUT_BLOCK] = false;
    }
    r->n_touched = r->n_late = 0;
    r->unknown_ns = r->added_ns = 0;
}

/* ------------------------------------------------------------------------------- playing */

/* A replay on its way. */
struct play {
    struct replay *r;
    uint32_t first, end; /* places: where it began, and was over */
    uint32_t last_cut;   /* ... of the last cut */
    uint32_t next_look;  /* ... where it is looked whether all are ahead by the same */
    bool is_whole;       /* never */
    bool is_even;        /* they are, by even_ns, */
    int64_t even_ns;
    uint32_t until; /* but up to this place something is needed that was not */
};

/* By how much earlier a sync is entered. */
static int64_t ahead_of(const struct replay *r, uint32_t k)
{
    return r->is_moved ? r->ahead[k] : 0;
}

/* When a sync is entered now. */
static uint64_t entered_ns(const struct replay *r, uint32_t need)
{
    const struct sync *sync = &r->syncs->sync[need & NEED_INDEX];
    int64_t ahead = need & NEED_EARLY ? r->now[sync->track] : ahead_of(r, need & NEED_INDEX);

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
    int64_t took = left - enter, after = took, now = enter - ahead_of(r, k), end = now + took;
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
        if (!sync->is_idle) {
            uint32_t location = s->location[sync->track];
            int64_t less = waited - (end - now - took);

            r->waits_less[location] += less;
            r->waited_ns[location] += less > 0 ? less : 0;
        }
    }
    return left - end + replay_cut_of(r, k).own_ns;
}

/* Whether all locations that go on are ahead by the same time. */
static bool is_even(const struct play *p, uint32_t place, int64_t *ns)
{
    const struct syncs *s = p->r->syncs;
    bool is_first = true;

    for (uint32_t t = 0; t < s->n_tracks; t++) {
        if (s->place[s->first[t + 1] - 1] <= place)
            continue;
        if (!is_first && p->r->now[t] != *ns)
            return false;
        *ns = p->r->now[t];
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
    const struct horizon *h = &p->r->horizon;
    uint32_t until = p->even_ns != 0 && p->first > 0 ? h->reach[p->first - 1] : 0;

    if (p->even_ns > 0 && (uint64_t)p->even_ns >= h->long_ns)
        return s->n;
    for (uint32_t at = p->first; at <= place; at++) {
        uint32_t k = s->order[at] + 1;
        int64_t later;

        if (syncs_is_last(s, k - 1))
            continue;
        later = p->even_ns - ahead_of(p->r, k);
        if (later != 0 && h->last_use[k] > until &&
            (h->slack_ns[k] == 0 || later > (int64_t)h->slack_ns[k]))
            until = h->last_use[k];
    }
    return until;
}

/* Whether nothing can change any more after a place. Each look is far enough from the last that
 * going back to the beginning costs no more than having come. */
static bool is_over(struct play *p, uint32_t place)
{
    uint32_t step = (place - p->first) / 2, least = p->r->syncs->n_tracks;

    if (p->is_whole || place < p->last_cut)
        return false;
    if (!p->is_even && place >= p->next_look) {
        least = least < MIN_CHECKED ? MIN_CHECKED : least;
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
        uint32_t k = s->order[place], t = s->sync[k].track;

        if (place + AHEAD < s->n)
            __builtin_prefetch(&s->sync[s->order[place + AHEAD]]);
        if (!syncs_is_last(s, k)) {
            r->now[t] = leave(r, k) + replay_cut_of(r, k + 1).before_ns;
            if (r->now[t] != 0 || r->is_moved) {
                r->ahead[k + 1] = r->now[t];
                r->is_moved = true;
            }
            p->is_even &= r->now[t] == p->even_ns;
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

    for (uint32_t t = 0; t < s->n_tracks; t++) {
        int64_t end = (int64_t)s->sync[s->first[t + 1] - 1].enter_ns - r->now[t];

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
        uint32_t first = s->place[replay_cut_of(r, k).before_ns != 0 ? k - 1 : k],
                 last = s->place[k];

        p->first = first < p->first ? first : p->first;
        p->last_cut = last > p->last_cut ? last : p->last_cut;
    }
}

/* Forgets by how much earlier syncs were entered, from a place to another: of many, in the
 * order that they lie in memory. */
static void forget(struct replay *r, uint32_t first, uint32_t end)
{
    const struct syncs *s = r->syncs;

    r->is_moved = false;
    for (uint32_t k = 0; end - first > s->n / 2 && k < s->n; k++)
        if (r->ahead[k] != 0)
            r->ahead[k] = 0;
    if (end - first > s->n / 2)
        return;
    for (uint32_t place = first; place < end; place++)
        if (!syncs_is_last(s, s->order[place]) && r->ahead[s->order[place] + 1] != 0)
            r->ahead[s->order[place] + 1] = 0;
}

static struct play play(struct replay *r, bool is_whole, struct replay_result *out)
{
    const struct syncs *s = r->syncs;
    struct play p = {.r = r, .is_whole = is_whole};

    replay_settle(r);
    r->run++;
    for (uint32_t t = 0; t < s->n_tracks; t++)
        r->now[t] = 0;
    for (uint32_t l = 0; l < s->n_locations; l++)
        r->waits_less[l] = r->waited_ns[l] = 0;
    if (!is_whole)
        find_places(&p);
    p.end = go_through(&p);
    *out = (struct replay_result){
        .saved_ns = saved_ns(r), .n_syncs = p.end - p.first, .end = p.end};
    return p;
}

static void play_once(struct replay *r, bool is_whole, struct replay_result *out)
{
    struct play p = play(r, is_whole, out);

    if (r->is_moved)
        forget(r, p.first, p.end);
}

void replay_run(struct replay *r, struct replay_result *out)
{
    if (r->horizon.reach == NULL)
        horizon_init(&r->horizon, r->syncs);
    play_once(r, false, out);
}

void replay_ahead(const struct replay *r, int64_t *least_ns, int64_t *most_ns)
{
    *least_ns = *most_ns = r->syncs->n_tracks > 0 ? r->now[0] : 0;
    for (uint32_t t = 1; t < r->syncs->n_tracks; t++) {
        *least_ns = r->now[t] < *least_ns ? r->now[t] : *least_ns;
        *most_ns = r->now[t] > *most_ns ? r->now[t] : *most_ns;
    }
}

void replay_whole(struct replay *r, struct replay_result *out)
{
    play_once(r, true, out);
}

/*
 * Plays the run without what is cut, and takes it as it was then for the run.
 *   s  those of r, which are moved; nothing is cut any more
 * O(syncs x log tracks).
 */
static void move(struct replay *r, struct syncs *s)
{
    struct replay_result result;
    struct play p = play(r, true, &result);

    for (uint32_t k = s->n; k-- > 0;) {
        struct sync *sync = &s->sync[k];

        if (!syncs_is_last(s, k))
            sync->leave_ns +=
                (uint64_t)(replay_cut_of(r, k + 1).before_ns - ahead_of(r, k + 1));
        sync->enter_ns -= (uint64_t)ahead_of(r, k);
        if (syncs_is_last(s, k))
            sync->leave_ns = sync->enter_ns;
    }
    forget(r, p.first, p.end);
    replay_clear(r);
    syncs_retime(s);
    horizon_release(&r->horizon);
}

/* ------------------------------------------------------------------------------------- gaps */

/* When nothing goes on is what is left between all operations, sorted by when they begin. */

struct busy_span {
    uint64_t begin_ns, end_ns;
};

/* Times at which nothing goes on. */
struct silence {
    struct busy_span *span; /* [n] in order of time */
    uint64_t *before_ns;    /* [n + 1] how long those before are together */
    uint32_t n;
};

static bool is_schedule(const struct syncs *s)
{
    bool has_order = false;

    for (size_t i = 0; i < s->view->n_dependencies && !has_order; i++)
        has_order = s->view->dependency[i].kind == DEPENDENCY_END;
    for (uint32_t l = 0; l < s->n_locations && has_order; l++)
        if (syncs_takes_part(s, l) && !s->is_stream[l])
            return false;
    return has_order;
}

static int by_begin(const void *a, const void *b)
{
    const struct busy_span *p = a, *q = b;

    return ORDER(p->begin_ns, q->begin_ns);
}

static void find_silence(const struct syncs *s, struct silence *silence)
{
    struct busy_span *busy = mem_alloc(s->n, sizeof *busy);
    uint64_t until_ns = s->begin_ns;
    uint32_t n = 0;

    for (uint32_t k = 0; k < s->n; k++)
        if (syncs_is_ready(s, k))
            busy[n++] = (struct busy_span){s->sync[k].leave_ns, syncs_exchanges(s, k)
                                                                    ? s->sync[k + 1].leave_ns
                                                                    : s->sync[k + 1].enter_ns};
    qsort(busy, n, sizeof *busy, by_begin);
    silence->span = mem_alloc((size_t)n + 1, sizeof *silence->span);
    silence->before_ns = mem_alloc((size_t)n + 2, sizeof *silence->before_ns);
    for (uint32_t i = 0; i < n; i++) {
        if (busy[i].begin_ns > until_ns) {
            silence->before_ns[silence->n + 1] =
                silence->before_ns[silence->n] + busy[i].begin_ns - until_ns;
            silence->span[silence->n++] = (struct busy_span){until_ns, busy[i].begin_ns};
        }
        until_ns = busy[i].end_ns > until_ns ? busy[i].end_ns : until_ns;
    }
    free(busy);
}

/* How long nothing went on before a time. */
static uint64_t silent_until(const struct silence *silence, uint64_t time_ns)
{
    /* the first that ends after it */
    uint32_t low = FIRST_NOT(i, 0, silence->n, silence->span[i].end_ns <= time_ns);

    if (low == silence->n || silence->span[low].begin_ns >= time_ns)
        return silence->before_ns[low];
    return silence->before_ns[low] + time_ns - silence->span[low].begin_ns;
}

void gaps_close(struct replay *r, struct syncs *s)
{
    struct silence silence = {.n = 0};

    if (!is_schedule(s))
        return;
    find_silence(s, &silence);
    for (uint32_t k = 0; k < s->n; k++) {
        const struct sync *sync = &s->sync[k];
        uint64_t from = sync->last_ns > sync->enter_ns ? sync->last_ns : sync->enter_ns;

        if (!syncs_is_ready(s, k))
            continue;
        replay_begin_after(r, k,
                           from < sync->leave_ns ? silent_until(&silence, sync->leave_ns) -
                                                       silent_until(&silence, from)
                                                 : 0);
    }
    move(r, s);
    free(silence.span);
    free(silence.before_ns);
}
