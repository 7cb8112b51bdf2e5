/*
 * The excess of a call is taken apart when it is judged, as its calls are forgotten then: into
 * pieces of a location's own time, and of calls of MPI.
 */
#include "live/live_costs.h"

#include "base/mem.h"
#include "base/order.h"
#include "explain/waiting.h"
#include "features/robust.h"
#include "live/sync_window.h"

#include <math.h>
#include <stdlib.h>

#define MIN_LOST 1.0    /* ns */
#define MAX_UNKNOWN 0.1 /* of what was lost: if more may be waiting, the cost is not known */
#define WORK_PER_KEPT                                                                          \
    16 /* syncs that may be gone through in a step, per call that is kept,                     \
        */
#define MIN_WORK 200000.0 /* and in any case */

/* A piece of excess. */
struct excess_piece {
    uint64_t time_ns;
    int64_t ns;
    bool is_mpi; /* of the call of MPI at that time; else of the time until the next one */
};

struct cost_question {
    struct live_cost cost;
    uint32_t location;
    uint64_t step;
    uint64_t begin_ns; /* of its first piece */
    uint64_t leave_ns, took_ns;
    double lost_ns;
    double unknown_ns; /* of that, in calls that may wait for other than MPI */
    struct excess_piece *piece;
    size_t n_pieces, cap;
};

struct live_costs {
    struct live_costs_opts opts;
    struct sync_window own, *window; /* window: own, or another's */
    struct cost_question asked[LIVE_COSTS_MAX_ASKED];
    size_t n, n_pieces;
    uint64_t before_ns; /* when the last step began */
    uint64_t n_needs,
        n_early; /* as in syncs, of all that has been kept; what is kept for long counts more */
    /* Of the tree that is looked at. */
    uint64_t *enter_ns, *inclusive_ns;
    uint32_t *subtree_len;
    double *excess_ns;
    size_t cap;
    double *alike_ns; /* scratch */
    size_t alike_cap;
};

struct live_costs *live_costs_new(const struct live_costs_opts *opts)
{
    struct live_costs *c = mem_alloc(1, sizeof *c);

    c->opts = *opts;
    c->window = opts->window ? opts->window : &c->own;
    c->window->is_read[SYNC_COSTS] = true;
    return c;
}

void live_costs_free(struct live_costs *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n; i++)
        free(c->asked[i].piece);
    sync_window_release(&c->own);
    free(c->enter_ns);
    free(c->inclusive_ns);
    free(c->subtree_len);
    free(c->excess_ns);
    free(c->alike_ns);
    free(c);
}

/* What is judged next may have begun in the step before, or long ago: so some is kept of what
 * is older, too. */
static void forget(struct live_costs *c, const struct ad_step *step)
{
    uint64_t from_ns = c->before_ns;

    if (sync_window_size(c->window) > LIVE_COSTS_MIN_KEPT) {
        uint64_t middle_ns = sync_window_middle(c->window);

        from_ns = middle_ns < from_ns ? middle_ns : from_ns;
    } else {
        from_ns = 0;
    }
    for (size_t i = 0; i < c->n; i++)
        from_ns = c->asked[i].begin_ns < from_ns ? c->asked[i].begin_ns : from_ns;
    sync_window_forget(c->window, SYNC_COSTS, from_ns);
    c->before_ns = step->begin_ns;
}

void live_costs_take(struct live_costs *c, const struct ad_step *step)
{
    if (!c->opts.is_alone && c->window == &c->own)
        sync_window_take(c->window, step);
}

/* ---------------------------------------------------------------------------------- asking */

/* Room for n calls of a tree. */
static void grow(struct live_costs *c, size_t n)
{
    if (n <= c->cap)
        return;
    c->cap = 2 * n;
    c->enter_ns = mem_resize(c->enter_ns, c->cap, sizeof *c->enter_ns);
    c->inclusive_ns = mem_resize(c->inclusive_ns, c->cap, sizeof *c->inclusive_ns);
    c->subtree_len = mem_resize(c->subtree_len, c->cap, sizeof *c->subtree_len);
    c->excess_ns = mem_resize(c->excess_ns, c->cap, sizeof *c->excess_ns);
}

static bool may_ask(const struct live_costs *c)
{
    return !c->opts.is_alone && c->n < LIVE_COSTS_MAX_ASKED &&
           c->n_pieces < LIVE_COSTS_MAX_CUTS;
}

static struct cost_question *ask(struct live_costs *c, const struct ad_step *step,
                                 uint32_t location, struct prov_event event)
{
    struct cost_question *a = &c->asked[c->n++];

    *a = (struct cost_question){
        .cost = {.event = event, .program = step->defs->location[location].program},
        .location = location,
        .step = step->number,
        .begin_ns = UINT64_MAX};
    return a;
}

static void add_piece(void *ctx, uint64_t time_ns, int64_t ns)
{
    struct cost_question *a = ctx;

    *mem_push(&a->piece, &a->n_pieces, &a->cap) = (struct excess_piece){time_ns, ns, false};
    a->begin_ns = time_ns < a->begin_ns ? time_ns : a->begin_ns;
}

/* What a call took too long, row i of c's. */
static void add_excess(struct live_costs *c, struct cost_question *a,
                       const struct region *region, uint32_t i, double excess_ns)
{
    const struct call_view calls = {.enter_ns = c->enter_ns,
                                    .inclusive_ns = c->inclusive_ns,
                                    .subtree_len = c->subtree_len};

    if (excess_ns < MIN_LOST)
        return;
    a->lost_ns += excess_ns;
    if (region->kind == REGION_MPI) {
        add_piece(a, c->enter_ns[i], llrint(excess_ns));
        a->piece[a->n_pieces - 1].is_mpi = true;
    } else if (waiting_is_likely(region)) {
        a->unknown_ns += excess_ns;
    } else {
        replay_spread(&calls, i, llrint(excess_ns), add_piece, a);
    }
}

/* Takes back what has lost nothing. */
static void check(struct live_costs *c, struct cost_question *a)
{
    c->n_pieces += a->n_pieces;
    if (a->lost_ns >= MIN_LOST)
        return;
    c->n_pieces -= a->n_pieces;
    free(a->piece);
    c->n--;
}

/* A call of this step and those in it, as far as they are of it. */
static void take_rows(struct live_costs *c, const struct calls *calls, uint32_t row)
{
    uint32_t n = 1;

    while (row + n < calls->n && calls->caller[row + n] != NO_CALL &&
           calls->caller[row + n] >= row)
        n++;
    grow(c, n);
    for (uint32_t i = 0; i < n; i++) {
        c->enter_ns[i] = calls->enter_ns[row + i];
        c->inclusive_ns[i] = calls->inclusive_ns[row + i];
        c->subtree_len[i] = 1;
    }
    for (uint32_t i = n; i-- > 1;)
        c->subtree_len[calls->caller[row + i] - row] += c->subtree_len[i];
}

void live_costs_call(struct live_costs *c, const struct ad_step *step,
                     const struct verdict *call, struct prov_event event)
{
    struct cost_question *a;

    if (!may_ask(c) || c->opts.is_inclusive || call->row == NO_ROW)
        return;
    a = ask(c, step, call->location, event);
    a->took_ns = call->inclusive_ns;
    a->leave_ns = call->enter_ns + call->inclusive_ns;
    take_rows(c, &step->calls[call->location], call->row);
    add_excess(c, a, &step->defs->region[call->region], 0, call->severity_ns);
    check(c, a);
}

/* The calls of a tree: how long they were, and when. */
static void take_tree(struct live_costs *c, const struct live_forest *trees, uint32_t t)
{
    const struct forest *f = &trees->forest;
    uint32_t first = f->first[t], n = f->first[t + 1] - first;

    grow(c, n);
    forest_inclusive(f, t, c->inclusive_ns);
    forest_subtree_len(f, t, c->subtree_len);
    for (uint32_t i = 0; i < n; i++)
        c->enter_ns[i] = trees->vertex_enter_ns[first + i];
}

#define WORTH_A_LOOK 0.1 /* of what an execution lost */
#define MIN_ALIKE 4      /* calls of a step whose middle is known */

/* The middle of what calls of a function took themselves on a location in this step; NAN where they
 * are few. What is typical of all ranks together is typical of none where they have parts to play:
 * of a barrier, say, to which one always comes late. */
static double middle_here(struct live_costs *c, const struct ad_step *step, uint32_t l,
                          uint32_t region)
{
    const struct calls *calls = &step->calls[l];
    size_t n = 0;

    for (uint32_t row = 0; row < calls->n; row++)
        if (calls->region[row] == region)
            *mem_push(&c->alike_ns, &n, &c->alike_cap) = (double)calls->exclusive_ns[row];
    return n < MIN_ALIKE ? NAN : robust_quantile(c->alike_ns, n, 0.5);
}

/* What its calls took over the median of their functions, in all and on its location, together no
 * more than it lost itself. False where that is not known. */
static bool over_median(struct live_costs *c, const struct ad_step *step,
                        const struct live_foi *foi, uint32_t t)
{
    const struct forest *f = &foi->trees.forest;
    uint32_t first = f->first[t], n = f->first[t + 1] - first;
    double sum = 0, lost = (double)live_foi_lost(foi, t);

    if (c->opts.is_inclusive || c->opts.is_by_path)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t region = f->region[first + i];
        double own = (double)f->exclusive_ns[first + i];
        const struct call_judge *judge = ad_judge(step->ad, region);
        double typical = judge ? judge->model.median : 0;

        if (own - typical > WORTH_A_LOOK * lost)
            typical = fmax(typical, middle_here(c, step, f->location[t], region));
        c->excess_ns[i] = fmax(own - typical, 0);
        sum += c->excess_ns[i];
    }
    for (uint32_t i = 0; i < n; i++)
        c->excess_ns[i] *= sum > lost ? lost / sum : 1;
    return true;
}

const double *live_costs_excess(struct live_costs *c, const struct ad_step *step,
                                const struct live_trees *trees, const struct live_foi *foi,
                                uint32_t t)
{
    if (live_forest_is_cut(&foi->trees, t))
        return NULL;
    take_tree(c, &foi->trees, t);
    if (!live_trees_excess(trees, foi, t, c->excess_ns) && !over_median(c, step, foi, t))
        return NULL;
    return c->excess_ns;
}

void live_costs_execution(struct live_costs *c, const struct ad_step *step,
                          const struct live_foi *foi, uint32_t t, struct prov_event event)
{
    const struct forest *f = &foi->trees.forest;
    uint32_t first = f->first[t];
    struct cost_question *a;

    if (!may_ask(c))
        return;
    a = ask(c, step, f->location[t], event);
    a->cost.is_execution = true;
    a->took_ns = f->root_ns[t];
    a->leave_ns = f->enter_ns[t] + f->root_ns[t];
    for (uint32_t i = 0; i < f->first[t + 1] - first; i++)
        add_excess(c, a, &step->defs->region[f->region[first + i]], i, c->excess_ns[i]);
    check(c, a);
}

/* --------------------------------------------------------------------------------- playing */

enum cost_answer { KNOWN, NOT_YET, NEVER };

/* Takes its pieces out of what is kept; returns how much of it is older than that. */
static int64_t cut(struct live_costs *c, const struct cost_question *a)
{
    struct replay *r = &c->window->replay;
    int64_t gone_ns = 0;

    for (size_t i = 0; i < a->n_pieces; i++) {
        const struct excess_piece *p = &a->piece[i];
        uint32_t row = p->is_mpi ? sync_window_row(c->window, a->location, p->time_ns) : 0;

        if (p->time_ns < c->window->open_ns || row == NO_CALL)
            gone_ns += p->ns;
        else if (p->is_mpi)
            replay_cut(r, a->location, row, p->ns);
        else
            replay_cut_after(r, a->location, p->time_ns, p->ns);
    }
    return gone_ns;
}

/* One look at all that waits. */
struct round {
    const struct ad_step *step;
    bool sees_all; /* see sync_window_sees_all: who is not seen may not be ahead */
    bool is_full;  /* too much is kept: nothing may wait longer */
    double work;   /* syncs that may still be gone through */
};

static bool is_due(const struct cost_question *a, const struct round *round)
{
    const struct ad_step *step = round->step;
    uint64_t n = step->number - a->step;

    return step->is_last || round->is_full || n >= LIVE_COSTS_MAX_STEPS ||
           (n >= LIVE_COSTS_STEPS &&
            step->end_ns >= a->leave_ns + LIVE_COSTS_STEPS * a->took_ns);
}

static uint64_t within(int64_t ns, double lost_ns)
{
    return ns < 0 ? 0 : (uint64_t)fmin((double)ns, ceil(lost_ns));
}

/* Whether something left a rank that was ahead otherwise, and has not come where it goes. */
static bool is_under_way(const struct live_costs *c, const struct cost_question *a,
                         const struct replay_result *result)
{
    const struct syncs *s = &c->window->syncs;
    uint64_t to_ns = result->end > 0 ? s->sync[s->order[result->end - 1]].leave_ns : 0;

    return sync_window_is_under_way(c->window, a->begin_ns, to_ns);
}

/* Sets a->cost as far as it is known. */
static enum cost_answer play(struct live_costs *c, struct cost_question *a, struct round *round,
                             bool is_due)
{
    struct replay *r = &c->window->replay;
    int64_t gone_ns = cut(c, a), least, most;
    double unknown = a->unknown_ns + (double)r->unknown_ns;
    bool is_end = round->step->is_last && syncs_is_known(&c->window->syncs, a->location),
         is_even;
    struct replay_result result;

    replay_run(r, &result);
    replay_clear(r);
    replay_ahead(r, &least, &most);
    round->work -= result.n_syncs + (double)a->n_pieces;
    if (unknown > MAX_UNKNOWN * a->lost_ns)
        return is_due ? NEVER : NOT_YET;
    /* Of whom nobody is seen to wait for, the end of the program says nothing: all others may have
     * waited unseen. */
    if (is_end)
        least = most = result.saved_ns;
    is_even = least == most && (is_end || !is_under_way(c, a, &result));
    if (!is_even && !is_due)
        return NOT_YET;
    if (!is_even || gone_ns > 0) { /* what was not cut may have cost, too */
        a->cost.cost_ns = within(most + gone_ns + llrint(unknown), a->lost_ns);
        a->cost.is_bound = a->cost.cost_ns > 0;
    } else {
        a->cost.cost_ns = within(most, a->lost_ns);
    }
    return KNOWN;
}

static int by_lost(const void *a, const void *b)
{
    const struct cost_question *p = a, *q = b;

    return ORDER(q->lost_ns, p->lost_ns) ?: ORDER(p->begin_ns, q->begin_ns);
}

static enum cost_answer answer(struct live_costs *c, struct cost_question *a,
                               struct round *round)
{
    bool due = is_due(a, round);

    if (!round->sees_all || round->work < 0 || !syncs_are_in_order(c->n_early, c->n_needs))
        return due ? NEVER : NOT_YET;
    return syncs_takes_part(&c->window->syncs, a->location) ? play(c, a, round, due) : NEVER;
}

static void settle(struct live_costs *c, struct round *round, live_cost_fn *tell, void *ctx)
{
    size_t n = 0;

    qsort(c->asked, c->n, sizeof *c->asked, by_lost);
    for (size_t i = 0; i < c->n; i++) {
        struct cost_question *a = &c->asked[i];
        enum cost_answer is = answer(c, a, round);

        if (is == KNOWN)
            tell(ctx, &a->cost);
        if (is == NOT_YET) {
            c->asked[n++] = *a;
            continue;
        }
        c->n_pieces -= a->n_pieces;
        free(a->piece);
    }
    c->n = n;
}

/* Before anything that is asked about began; messages may have been under way then. */
static uint64_t first_of_interest(const struct live_costs *c, const struct ad_step *step)
{
    uint64_t step_ns = step->end_ns - step->begin_ns, first_ns = UINT64_MAX;

    for (size_t i = 0; i < c->n; i++) {
        const struct cost_question *a = &c->asked[i];
        uint64_t margin_ns = a->took_ns > step_ns ? a->took_ns : step_ns;
        uint64_t ns = a->begin_ns > margin_ns ? a->begin_ns - margin_ns : 0;

        first_ns = ns < first_ns ? ns : first_ns;
    }
    return first_ns;
}

void live_costs_settle(struct live_costs *c, const struct ad_step *step, live_cost_fn *tell,
                       void *ctx)
{
    size_t kept = sync_window_size(c->window);
    struct round round = {.step = step,
                          .is_full = kept > LIVE_COSTS_MAX_KEPT,
                          .work = MIN_WORK + WORK_PER_KEPT * (double)kept};

    if (c->n > 0) {
        round.sees_all = sync_window_sees_all(c->window, step, step->begin_ns) &&
                         sync_window_open(c->window, step, first_of_interest(c, step)) == 0;
        if (round.sees_all) {
            c->n_needs += c->window->syncs.n_needs;
            c->n_early += c->window->syncs.n_early;
        }
        settle(c, &round, tell, ctx);
        sync_window_close(c->window);
    }
    forget(c, step);
}
