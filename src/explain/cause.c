/*
 * Link by link: whom a call waits for is asked of the other end (waiting.h); what that did
 * since the two were in step is swept over (stretches), and the path it spent more on is the
 * next link. The words for a chain come last.
 */
#include "explain/cause.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/text.h"
#include "explain/exchange.h"
#include "explain/team_barrier.h"
#include "explain/trace_view.h"
#include "explain/unrecorded.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_MESSAGES 512     /* looked back through for when two ranks were in step */
#define MAX_COLLECTIVES 64   /* the same */
#define WORTH_NAMING 0.25    /* of the delay: a path that explains less is not its cause */
#define LATE_RATIO 0.25      /* of the delay: so late already is not in step */
#define WAITING_FIRST 0.5    /* of the largest loss */
#define REST_SHARE 0.5       /* of a delay: what a call took so much more of is its cause */
#define RESTS 9u             /* calls like one that are looked at, */
#define MIN_RESTS 3u         /* at least, */
#define MAX_REST_STEPS 2000u /* among so many next to it */

/* -------------------------------------------------------------------------------- stretches */

/*
 * A sweep over the calls in preorder, with those that are open on a stack: time up to the next
 * enter or leave belongs to the one on top.
 *
 *     from                                to
 *      |  A ........................        |      A: open before, its time is clipped
 *      |     B ....      B .........|.......|..    B: two calls of one path
 */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a location did between two moments. */
struct stretch_part {
    const struct call_view *calls; /* with by_depth */
    uint64_t from_ns, to_ns;
    uint16_t depth; /* paths begin with calls of this depth: of threads that share no callers */
};

struct stretch_open {
    uint64_t leave_ns, own_ns;
    uint32_t row, path;
    uint32_t child_region, child_path; /* of the child last seen: the next is often the same */
};

struct sweep {
    struct stretch *stretch;
    const struct call_view *calls;
    uint64_t now_ns;
    size_t n_open;
    bool is_other;
};

void stretch_release(struct stretch *s)
{
    context_release(&s->paths);
    free(s->path);
    free(s->used);
    free(s->open);
    *s = (struct stretch){0};
}

/* Forgets all times, keeps what paths there are. */
static void stretch_clear(struct stretch *s)
{
    s->n_used = 0;
    s->generation++;
}

static struct stretch_path *path_of(struct stretch *s, uint32_t path)
{
    size_t n_before = s->path_cap;
    struct stretch_path *p;

    mem_grow(&s->path, &s->path_cap, (size_t)path + 1);
    for (size_t i = n_before; i < s->path_cap; i++)
        s->path[i].generation = s->generation - 1;
    p = &s->path[path];
    if (p->generation != s->generation) {
        *p = (struct stretch_path){.generation = s->generation};
        *mem_push(&s->used, &s->n_used, &s->used_cap) = path;
    }
    return p;
}

/* The path of a function called by the call on top. */
static uint32_t path_below(struct sweep *w, uint32_t region)
{
    struct stretch *s = w->stretch;
    struct stretch_open *top = w->n_open > 0 ? &s->open[w->n_open - 1] : NULL;

    if (top == NULL)
        return context_add(&s->paths, PATH_NONE, region);
    if (top->child_path == PATH_NONE || top->child_region != region) {
        top->child_region = region;
        top->child_path = context_add(&s->paths, top->path, region);
    }
    return top->child_path;
}

static void push(struct sweep *w, uint32_t row)
{
    struct stretch *s = w->stretch;
    uint32_t path = path_below(w, w->calls->region[row]);

    *mem_push(&s->open, &w->n_open, &s->open_cap) = (struct stretch_open){
        .leave_ns = calls_leave(w->calls, row),
        .row = row,
        .path = path,
        .child_path = PATH_NONE,
    };
}

static void pop(struct sweep *w)
{
    const struct stretch_open *top = &w->stretch->open[--w->n_open];
    struct stretch_path *p = path_of(w->stretch, top->path);

    if (w->is_other) {
        p->other_ns += top->own_ns;
        return;
    }
    p->total_ns += top->own_ns;
    p->n_calls++;
    if (top->own_ns >= p->longest_ns) {
        p->longest_ns = top->own_ns;
        p->longest = top->row;
    }
}

/* Goes on to a time, leaving the calls that end before. */
static void advance(struct sweep *w, uint64_t time_ns)
{
    while (w->n_open > 0) {
        struct stretch_open *top = &w->stretch->open[w->n_open - 1];
        uint64_t until = top->leave_ns < time_ns ? top->leave_ns : time_ns;

        if (until > w->now_ns) {
            top->own_ns += until - w->now_ns;
            w->now_ns = until;
        }
        if (top->leave_ns > time_ns)
            return;
        pop(w);
    }
    w->now_ns = time_ns;
}

/* How much of it lies before what is known of the location. */
static uint64_t unknown_ns(const struct stretch_part *part)
{
    uint64_t until = least(part->calls->known_ns, part->to_ns);

    return until > part->from_ns ? until - part->from_ns : 0;
}

/*
 * Adds what a location did, as far as it is known.
 *   is_other  what is added is compared with, not looked at
 * Returns false, and adds nothing, when there are more than STRETCH_MAX_CALLS. O(calls in the
 * stretch + depth x log n).
 */
static bool stretch_add(struct stretch *s, const struct stretch_part *part, bool is_other)
{
    const struct call_view *calls = part->calls;
    uint64_t from_ns = part->from_ns + unknown_ns(part);
    struct sweep w = {.stretch = s, .calls = calls, .now_ns = from_ns, .is_other = is_other};
    uint32_t first = calls_until(calls, from_ns), end = calls_until(calls, part->to_ns);

    if (part->to_ns <= from_ns)
        return true;
    if (end - first > STRETCH_MAX_CALLS)
        return false;
    /* the calls that are open at the beginning, the outermost first */
    for (uint32_t d = part->depth; first > 0 && d <= calls->depth[first - 1]; d++) {
        uint32_t row = calls_ancestor(calls, first - 1, (uint16_t)d);

        if (calls_leave(calls, row) <= w.now_ns)
            break;
        push(&w, row);
    }
    for (uint32_t row = first; row < end; row++) {
        advance(&w, calls->enter_ns[row]);
        if (calls->depth[row] >= part->depth)
            push(&w, row);
    }
    advance(&w, part->to_ns);
    while (w.n_open > 0)
        pop(&w);
    return true;
}

/* A moment at which two ranks were in step, by the clock of each. */
struct in_step {
    uint64_t waiter_ns, partner_ns;
    bool is_known;
};

/* ------------------------------------------------------------------ when they were in step */

/* Keeps the later one, if the partner was not late by then and comes before the delay. */
static void take_step(struct in_step *step, uint64_t waiter_ns, uint64_t partner_ns,
                      const struct cause_link *link)
{
    uint64_t late = (uint64_t)(LATE_RATIO * (double)link->waiting.delay_ns);

    if (waiter_ns > link->begin_ns || partner_ns >= link->waiting.until_ns ||
        partner_ns > waiter_ns + late || (step->is_known && waiter_ns <= step->waiter_ns))
        return;
    *step = (struct in_step){waiter_ns, partner_ns, true};
}

/* When a rank went on after its end of a message. */
static uint64_t over_ns(const struct call_view *calls, const struct message *m)
{
    bool is_send = m->kind == MESSAGE_SEND;

    return is_send && m->call < calls->n ? calls_leave(calls, m->call) : m->end_ns;
}

static void step_by_messages(const struct trace_view *view, const struct cause_link *link,
                             struct in_step *step)
{
    const struct call_view *calls = &view->calls[link->location];
    size_t at = calls_message_from(calls, link->begin_ns);
    size_t lowest = at > MAX_MESSAGES ? at - MAX_MESSAGES : 0;
    uint32_t partner = link->waiting.location;
    size_t first = view->first_message[partner], end = view->first_message[partner + 1];

    while (at-- > lowest && !step->is_known) {
        const struct message *m = &calls->message[at];
        const struct message *other;

        if (m->match < first || m->match >= end)
            continue;
        other = &view->message[m->match];
        take_step(step, over_ns(calls, m), over_ns(&view->calls[partner], other), link);
    }
}

/* Collectives up to a kind: after a barrier all are in step, after others they may be. */
static void step_by_collectives(const struct trace_view *view, const struct cause_link *link,
                                enum collective_kind most, struct in_step *step)
{
    const struct call_view *calls = &view->calls[link->location];
    const struct call_view *waited_for = &view->calls[link->waiting.location];
    size_t at = calls_collective_from(calls, link->begin_ns);
    size_t lowest = at > MAX_COLLECTIVES ? at - MAX_COLLECTIVES : 0;

    while (at-- > lowest) {
        const struct collective *c = &calls->collective[at], *other;

        if (c->kind > most || c->instance == NO_INSTANCE)
            continue;
        other =
            calls_collective_near(waited_for, c, calls_collective_from(waited_for, c->end_ns));
        if (other)
            take_step(step, c->end_ns, other->end_ns, link);
        if (step->is_known && step->waiter_ns >= c->end_ns)
            return;
    }
}

/* The call of a location that belongs to one of another, or NULL: soon before or after its time.
 */
static const struct unrecorded_call *same_unrecorded(const struct trace_view *view,
                                                     const struct unrecorded *u,
                                                     uint32_t location, uint32_t instance,
                                                     uint64_t time_ns)
{
    const uint64_t *enter_ns = view->calls[location].enter_ns;
    size_t begin = u->first[location], end = u->first[location + 1];
    size_t at = FIRST_NOT(i, begin, end, enter_ns[u->call[i].row] < time_ns);
    size_t first = at - begin > MAX_COLLECTIVES ? at - MAX_COLLECTIVES : begin;

    for (size_t i = first; i < end && i < at + MAX_COLLECTIVES; i++)
        if (u->call[i].instance == instance)
            return &u->call[i];
    return NULL;
}

static void step_by_unrecorded(const struct trace_view *view, const struct cause_link *link,
                               struct in_step *step)
{
    const struct unrecorded *u = unrecorded_of(view);
    const struct call_view *calls = &view->calls[link->location],
                           *partner = &view->calls[link->waiting.location];
    size_t begin = u->first[link->location], end = u->first[link->location + 1];
    size_t at = FIRST_NOT(i, begin, end, calls->enter_ns[u->call[i].row] < link->begin_ns);
    size_t lowest = at - begin > MAX_COLLECTIVES ? at - MAX_COLLECTIVES : begin;

    while (at-- > lowest) {
        const struct unrecorded_call *call = &u->call[at], *other;
        uint64_t leave_ns = calls_leave(calls, call->row);

        if (call->instance == UNRECORDED_ALONE)
            continue;
        other = same_unrecorded(view, u, link->waiting.location, call->instance,
                                calls->enter_ns[call->row]);
        if (other)
            take_step(step, leave_ns, calls_leave(partner, other->row), link);
        if (step->is_known && step->waiter_ns >= leave_ns)
            return;
    }
}

/* Members of a team were when they left the barrier before, or began; then what they did is
 * looked at from where they are in the team. Returns whether they were. */
static bool step_by_team(const struct trace_view *view, const struct cause_link *link,
                         struct stretch_part *waiter, struct stretch_part *partner)
{
    struct team_barrier barrier;
    struct team_stretch ours, theirs;
    struct in_step step = {0};

    if (!team_barrier_of(view, link->location, link->call, &barrier) ||
        !team_barrier_stretch(view, &barrier, link->location, &ours) ||
        !team_barrier_stretch(view, &barrier, link->waiting.location, &theirs))
        return false;
    take_step(&step, ours.from_ns, theirs.from_ns, link);
    waiter->from_ns = step.waiter_ns;
    waiter->depth = ours.depth;
    partner->from_ns = step.partner_ns;
    partner->depth = theirs.depth;
    return step.is_known;
}

/* Who waits for autograd does nothing that autograd's pass can be compared with: that is compared
 * with its pass before. */
static void compare_with_before(const struct trace_view *view, const struct cause_link *link,
                                const struct stretch_part *partner, struct stretch_part *waiter)
{
    const struct region *called =
        &view->defs->region[view->calls[link->location].region[link->call]];
    struct team_barrier barrier;
    struct stretch_part before = *partner;

    if (region_is_autograd_wait(called) && link->waiting.kind == WAITING_FOR_TEAM &&
        waiter->to_ns <= waiter->from_ns &&
        team_barrier_of(view, link->location, link->call, &barrier) &&
        team_barrier_before(view, &barrier, link->waiting.location, &before.from_ns,
                            &before.to_ns))
        *waiter = before;
}

/* From when on two locations are to be compared. Returns whether they were in step at all. */
static bool find_step(const struct trace_view *view, const struct cause_link *link,
                      struct stretch_part *waiter, struct stretch_part *partner)
{
    struct in_step step = {0};

    if (link->waiting.kind == WAITING_FOR_TEAM)
        return step_by_team(view, link, waiter, partner);
    step_by_messages(view, link, &step);
    step_by_collectives(view, link, COLLECTIVE_ALL_TO_ALL, &step);
    step_by_unrecorded(view, link, &step);
    if (!step.is_known)
        step_by_collectives(view, link, COLLECTIVE_OTHER, &step);
    waiter->from_ns = step.waiter_ns;
    partner->from_ns = step.partner_ns;
    return step.is_known;
}

/* ------------------------------------------------------------------------ what made it late */

/* What a path of the stretch explains of a delay, and by which call. */
struct culprit {
    const struct stretch_path *path;
    uint64_t explained_ns;
    bool is_waiting;
};

static void longest_of(const struct call_view *calls, const struct stretch_path *path,
                       uint64_t from_ns, uint64_t to_ns, struct cause_link *link)
{
    uint64_t enter = calls->enter_ns[path->longest], leave = calls_leave(calls, path->longest);

    link->call = path->longest;
    link->begin_ns = enter > from_ns ? enter : from_ns;
    link->end_ns = least(leave, to_ns);
}

/* Waits are followed one by one, so of a waiting path the longest call is what counts. */
static struct culprit best_culprit(const struct trace_view *view, const struct stretch *stretch,
                                   uint32_t location, uint64_t from_ns, uint64_t to_ns)
{
    struct culprit best = {0};

    for (size_t i = 0; i < stretch->n_used; i++) {
        const struct stretch_path *path = &stretch->path[stretch->used[i]];
        struct culprit c = {.path = path};
        struct cause_link link;
        struct waiting waiting;

        if (path->n_calls == 0 || path->total_ns <= path->other_ns ||
            path->total_ns - path->other_ns <= best.explained_ns)
            continue;
        c.explained_ns = path->total_ns - path->other_ns;
        longest_of(&view->calls[location], path, from_ns, to_ns, &link);
        waiting_of(view, location, link.call, link.begin_ns, link.end_ns, &waiting);
        c.is_waiting = waiting.kind != WAITING_NOT;
        if (c.is_waiting)
            c.explained_ns = least(c.explained_ns, path->longest_ns);
        if (c.explained_ns > best.explained_ns)
            best = c;
    }
    return best;
}

/* Of the delay, or of what was looked at of it; and longer than what is not known. */
static bool is_worth_naming(const struct culprit *culprit, uint64_t delay_ns,
                            uint64_t not_known_ns)
{
    return culprit->explained_ns > not_known_ns &&
           (double)culprit->explained_ns >= WORTH_NAMING * (double)delay_ns;
}

static void take_culprit(const struct call_view *calls, const struct culprit *culprit,
                         uint64_t from_ns, uint64_t to_ns, struct cause_link *out)
{
    longest_of(calls, culprit->path, from_ns, to_ns, out);
    out->n_calls = culprit->is_waiting ? 1 : culprit->path->n_calls;
    out->time_ns = culprit->is_waiting ? culprit->path->longest_ns : culprit->path->total_ns;
    out->explained_ns = culprit->explained_ns;
}

/* What the partner did more of than the waiting rank, since they were in step. */
static bool compare_ranks(const struct trace_view *view, const struct cause_link *link,
                          struct stretch *stretch, struct cause_link *out)
{
    const struct waiting *w = &link->waiting;
    struct stretch_part partner = {.calls = trace_view_calls(view, w->location),
                                   .to_ns = w->until_ns};
    struct stretch_part waiter = {.calls = trace_view_calls(view, link->location),
                                  .to_ns = link->begin_ns};
    struct culprit culprit;

    if (!find_step(view, link, &waiter, &partner))
        return false;
    compare_with_before(view, link, &partner, &waiter);
    stretch_clear(stretch);
    if (!stretch_add(stretch, &partner, false) || !stretch_add(stretch, &waiter, true))
        return false;
    culprit = best_culprit(view, stretch, w->location, partner.from_ns, w->until_ns);
    if (!is_worth_naming(&culprit, w->delay_ns, unknown_ns(&partner) + unknown_ns(&waiter)))
        return false;
    take_culprit(partner.calls, &culprit, partner.from_ns, w->until_ns, out);
    return true;
}

/* Where there is nobody to compare with, what is typical counts for the other; after a run it is
 * known of what GPUs do. */
static void compare_with_typical(const struct trace_view *view, uint32_t location,
                                 struct stretch *stretch)
{
    for (size_t i = 0; i < stretch->n_used; i++) {
        struct stretch_path *path = &stretch->path[stretch->used[i]];

        if (path->n_calls > 0)
            path->other_ns =
                path->n_calls * trace_view_typical_ns(view, location, path->longest);
    }
}

static void compare_with_nothing(struct stretch *stretch)
{
    for (size_t i = 0; i < stretch->n_used; i++)
        stretch->path[stretch->used[i]].other_ns = 0;
}

/* What the partner did while it was waited for, by itself; the end of it if that is too much.
 */
static bool look_alone(const struct trace_view *view, const struct cause_link *link,
                       double delay_ns, struct stretch *stretch, struct cause_link *out)
{
    const struct waiting *w = &link->waiting;
    const struct call_view *partner = trace_view_calls(view, w->location);
    struct stretch_part part = {.calls = partner,
                                .from_ns =
                                    w->until_ns > w->delay_ns ? w->until_ns - w->delay_ns : 0,
                                .to_ns = w->until_ns};
    struct culprit culprit;
    uint64_t looked_at;

    stretch_clear(stretch);
    if (!stretch_add(stretch, &part, false)) {
        uint32_t last = calls_until(partner, w->until_ns) - 1;

        part.from_ns = partner->enter_ns[last - STRETCH_MAX_CALLS + 1];
        stretch_add(stretch, &part, false);
    }
    looked_at = w->until_ns - part.from_ns;
    compare_with_typical(view, w->location, stretch);
    culprit = best_culprit(view, stretch, w->location, part.from_ns, w->until_ns);
    if (!is_worth_naming(&culprit, (uint64_t)fmin(delay_ns, (double)looked_at),
                         unknown_ns(&part))) {
        if (view->typical_ns)
            return false;
        compare_with_nothing(
            stretch); /* it took what it takes: the largest part was waited for */
        culprit = best_culprit(view, stretch, w->location, part.from_ns, w->until_ns);
        if (!is_worth_naming(&culprit, looked_at, unknown_ns(&part)))
            return false;
    }
    take_culprit(partner, &culprit, part.from_ns, w->until_ns, out);
    out->is_longer = view->typical_ns == NULL && culprit.path->other_ns > 0;
    return true;
}

static bool next_link(const struct trace_view *view, const struct cause_link *link,
                      double delay_ns, struct stretch *stretch, struct cause_link *out)
{
    *out = (struct cause_link){.location = link->waiting.location};
    if (!(link->waiting.is_late && compare_ranks(view, link, stretch, out)) &&
        !look_alone(view, link, delay_ns, stretch, out))
        return false;
    out->explained_ns = least(out->explained_ns, link->waiting.delay_ns);
    out->explained_ns = least(out->explained_ns, link->explained_ns);
    return true;
}

/* -------------------------------------------------------------------------------- the walk */

static bool is_known(const struct cause *cause, const struct cause_link *link)
{
    for (uint32_t i = 0; i < cause->n; i++)
        if (cause->link[i].location == link->location && cause->link[i].call == link->call)
            return true;
    return false;
}

/* What calls like that of the link, the nearest on its location, take behind the moment when whom
 * they wait for is there, which is a thread as well, or a GPU's operation as well (behind a late
 * thread its operations are still to come): the middle of some; NAN where they are too few. */
static double typical_rest_ns(const struct trace_view *view, const struct cause_link *link)
{
    const struct location *on = view->defs->location;
    uint32_t location = link->location, row = link->call;
    const struct call_view *calls = &view->calls[location];
    double rest[RESTS];
    uint32_t n = 0;

    for (uint32_t step = 1; step <= MAX_REST_STEPS && n < RESTS; step++)
        for (int way = 0; way < 2 && n < RESTS; way++) {
            uint32_t other = way ? row + step : row - step;
            struct waiting w;

            if ((way ? other >= calls->n : step > row) ||
                calls->region[other] != calls->region[row])
                continue;
            waiting_of(view, location, other, calls->enter_ns[other], calls_leave(calls, other),
                       &w);
            if (w.location != NO_LOCATION &&
                on[w.location].is_gpu != on[link->waiting.location].is_gpu)
                continue;
            rest[n++] = (double)calls->inclusive_ns[other] - (double)w.delay_ns;
        }
    if (n < MIN_RESTS)
        return NAN;
    qsort(rest, n, sizeof *rest, order_f64);
    return rest[n / 2];
}

/*
 * What the call took behind the moment when the other was there is all of the delay: a broadcast
 * waits for its root in each execution, but this one then took long itself. Where it waited no
 * less than that, it is what this took over what it does in other calls.
 */
static bool is_rest_enough(const struct trace_view *view, const struct cause_link *link,
                           double wait_ns, double delay_ns)
{
    double waited_ns = (double)link->waiting.delay_ns, rest_ns = wait_ns - waited_ns,
           typical_ns;

    if (waited_ns < delay_ns)
        return rest_ns >= delay_ns;
    if (!(rest_ns >= REST_SHARE * delay_ns))
        return false;
    typical_ns = typical_rest_ns(view, link);
    return rest_ns - typical_ns >= REST_SHARE * delay_ns;
}

/* Why the chain cannot go on after this link, or N_CAUSE_ENDS. delay_ns: it is to explain. */
static enum cause_end end_at(const struct trace_view *view, const struct cause_link *link,
                             double delay_ns)
{
    uint32_t region = view->calls[link->location].region[link->call];
    const struct waiting *w = &link->waiting;
    double wait_ns = (double)(link->end_ns - link->begin_ns);

    if (view->defs->region[region].kind == REGION_TRACER)
        return CAUSE_TRACER;
    if (w->kind == WAITING_NOT)
        return CAUSE_NOT_WAITING;
    if (w->kind == WAITING_UNKNOWN)
        return CAUSE_UNKNOWN;
    if (!w->has_data)
        return CAUSE_NO_DATA;
    if (w->location == NO_LOCATION)
        return CAUSE_UNMATCHED;
    if (w->delay_ns == 0 || (double)w->delay_ns < WAITING_MATERIAL * wait_ns ||
        is_rest_enough(view, link, wait_ns, delay_ns))
        return CAUSE_IN_TIME;
    return N_CAUSE_ENDS;
}

void cause_of(const struct trace_view *view, uint32_t location, uint32_t row, double lost_ns,
              struct stretch *stretch, struct cause *out)
{
    const struct call_view *calls = &view->calls[location];
    struct cause_link link = {
        .location = location,
        .call = row,
        .n_calls = 1,
        .begin_ns = calls->enter_ns[row],
        .end_ns = calls_leave(calls, row),
        .time_ns = calls_own_ns(calls, row),
    };
    double typical_ns = isfinite(lost_ns) ? (double)link.time_ns - lost_ns : NAN, delay_ns;
    struct cause_link behind;

    assert(row < calls->n);
    link.explained_ns = link.time_ns;
    out->n = 0;
    for (;;) {
        struct cause_link *last = &out->link[out->n++];

        *last = link;
        waiting_of(view, link.location, link.call, link.begin_ns, link.end_ns, &last->waiting);
        delay_ns = fmin(lost_ns, (double)link.explained_ns);
        out->end = end_at(view, last, delay_ns);
        if (out->end != N_CAUSE_ENDS)
            return;
        out->end = CAUSE_STOPPED;
        if (exchange_stopped(view, link.location, link.call, &last->waiting, typical_ns) ==
            EXCHANGE_SELF)
            return;
        out->end = last->waiting.is_late    ? CAUSE_UNEXPLAINED
                   : last->waiting.is_guess ? CAUSE_UNMATCHED
                                            : CAUSE_IN_TIME;
        /* not whose operation came late, but why */
        behind = *last;
        waiting_behind_device(view, behind.begin_ns, behind.end_ns, &behind.waiting);
        if (!next_link(view, &behind, delay_ns, stretch, &link))
            return;
        out->end = CAUSE_CYCLE;
        if (is_known(out, &link))
            return;
        out->end = CAUSE_TOO_LONG;
        if (out->n == CAUSE_MAX_LINKS)
            return;
    }
}

uint32_t cause_first(const struct trace_view *view, uint32_t location, uint32_t root,
                     const double *lost_ns)
{
    const struct call_view *calls = &view->calls[location];
    uint32_t n = calls->subtree_len[root], worst = NO_CALL, waiting = NO_CALL;
    double worst_ns = 0, waiting_ns = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct region *region = &view->defs->region[calls->region[root + i]];

        if (lost_ns[i] > worst_ns) {
            worst_ns = lost_ns[i];
            worst = root + i;
        }
        if (lost_ns[i] > waiting_ns && waiting_is_likely(region)) {
            waiting_ns = lost_ns[i];
            waiting = root + i;
        }
    }
    return waiting_ns > 0 && waiting_ns >= WAITING_FIRST * worst_ns ? waiting : worst;
}

bool cause_has_news(const struct cause *cause)
{
    return cause->n > 1 || (cause->n == 1 && cause->end != CAUSE_NOT_WAITING);
}

/* ------------------------------------------------------------------------------------ words */

const char *cause_end_name(enum cause_end end)
{
    static const char *const name[N_CAUSE_ENDS] = {
        [CAUSE_NOT_WAITING] = "not_waiting", [CAUSE_TRACER] = "tracer",
        [CAUSE_NO_DATA] = "no_data",         [CAUSE_UNMATCHED] = "unmatched",
        [CAUSE_UNKNOWN] = "unknown",         [CAUSE_IN_TIME] = "in_time",
        [CAUSE_UNEXPLAINED] = "unexplained", [CAUSE_CYCLE] = "cycle",
        [CAUSE_TOO_LONG] = "too_long",       [CAUSE_STOPPED] = "stopped",
    };

    return name[end];
}

static void say_rank(struct text_writer *w, const struct trace_view *view, uint32_t location)
{
    const struct location *l = &view->defs->location[location];
    char place[TEXT_SIZE];

    text_say(w, "%s", text_place(l->rank, l->thread, place));
}

static const char *name_of(const struct trace_view *view, const struct cause_link *link)
{
    return view->defs->region[view->calls[link->location].region[link->call]].short_name;
}

static void say_partner(struct text_writer *w, const struct waiting *waiting)
{
    char place[TEXT_SIZE];

    if (waiting->rank != NO_RANK)
        text_say(w, "%s", text_place(waiting->rank, waiting->thread, place));
    else
        text_say(w, "%u ranks", waiting->n_missing);
}

char *cause_sentence(const struct trace_view *view, const struct cause *cause,
                     char out[CAUSE_SIZE])
{
    static const char *const ending[N_CAUSE_ENDS] = {
        [CAUSE_NOT_WAITING] = "",
        [CAUSE_TRACER] = "",
        [CAUSE_NO_DATA] = "no data",
        [CAUSE_UNMATCHED] = "message not in the trace",
        [CAUSE_UNKNOWN] = "",
        [CAUSE_IN_TIME] = "in time",
        [CAUSE_UNEXPLAINED] = "late, unexplained",
        [CAUSE_CYCLE] = "they wait for each other",
        [CAUSE_TOO_LONG] = "...",
        [CAUSE_STOPPED] = "came behind it",
    };
    const struct waiting *last = &cause->link[cause->n - 1].waiting;
    struct text_writer w = {.out = out, .size = CAUSE_SIZE};

    *out = '\0';
    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        char time[TEXT_SIZE];

        if (i > 0) {
            text_say(&w, " <- ");
            say_rank(&w, view, link->location);
            text_say(&w, " ");
        }
        text_say(&w, "%.100s %s", name_of(view, link),
                 text_duration((double)link->time_ns, time));
    }
    if (cause->end == CAUSE_TRACER)
        text_say(&w, " (the tracer)");
    if (*ending[cause->end] == '\0')
        return out;
    text_say(&w, " <- ");
    say_partner(&w, last);
    text_say(&w, " (%s)",
             waiting_is_over(last)                          ? "not waited for"
             : cause->end == CAUSE_IN_TIME && last->is_late ? "not late enough"
                                                            : ending[cause->end]);
    return out;
}

/* Whom it waited for was late, but by too little: the rest of the time is of the call itself. */
static void say_in_time(struct text_writer *w, const struct waiting *waiting)
{
    const char *where = "the operation or in the network; the trace does not say which";

    if (waiting_is_over(waiting)) {
        text_say(w, "the send did not wait for rank %u: the time was spent in %s",
                 waiting->rank, where);
        return;
    }
    if (waiting->kind == WAITING_FOR_ALL) {
        text_say(w, "no rank came late enough");
    } else if (waiting->kind == WAITING_FOR_DEVICE) {
        text_say(w, "the GPU was not late enough");
        where = "the call itself; the trace does not say on what";
    } else if (waiting->kind == WAITING_FOR_TEAM) {
        text_say(w, "no thread came late enough");
        where = "the barrier itself; the trace does not say on what";
    } else {
        text_say(w, "rank %u was not late enough", waiting->rank);
    }
    text_say(w, " to explain this: the time was spent in %s", where);
}

char *cause_end_sentence(const struct trace_view *view, const struct cause *cause,
                         bool is_blamed, char out[CAUSE_SIZE])
{
    const struct cause_link *link = &cause->link[cause->n - 1];
    const struct waiting *waiting = &link->waiting;
    struct text_writer w = {.out = out, .size = CAUSE_SIZE};

    *out = '\0';
    switch (cause->end) {
    case CAUSE_NOT_WAITING:
        text_say(&w, "the trace shows nobody that %.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " waited for%s",
                 is_blamed ? ": the delay begins here, as far as is known" : "");
        break;
    case CAUSE_TRACER:
        text_say(&w, "%.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " is a call of the tracer%s",
                 is_blamed ? ": the delay comes from recording, not from the program" : "");
        break;
    case CAUSE_NO_DATA:
        text_say(&w, "the trace has no events of ");
        say_partner(&w, waiting);
        break;
    case CAUSE_UNMATCHED:
        text_say(&w, "the %s of this message, rank %u, has no record of it",
                 waiting_kind_name(waiting->kind), waiting->rank);
        break;
    case CAUSE_UNKNOWN:
        text_say(&w, "no record says whom %.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " waits for");
        break;
    case CAUSE_IN_TIME:
        say_in_time(&w, waiting);
        break;
    case CAUSE_UNEXPLAINED:
        say_partner(&w, waiting);
        text_say(&w, " came late, and its recorded calls do not explain why: it may have been "
                     "stopped, or did something that is not recorded");
        break;
    case CAUSE_CYCLE:
        say_partner(&w, waiting);
        text_say(&w, " waits for a call that is already in this chain: the chain is a circle%s",
                 is_blamed ? ", and its first cause is not known" : "");
        break;
    case CAUSE_STOPPED:
        say_rank(&w, view, link->location);
        text_say(&w, " was in %.100s before ", name_of(view, link));
        say_partner(&w, waiting);
        text_say(&w, " came, who could not go on without it: so it was stopped there, or what "
                     "it sends was held up");
        break;
    case CAUSE_TOO_LONG:
        text_say(&w, "the search stops after %d calls%s", CAUSE_MAX_LINKS,
                 is_blamed ? ": the first cause of the chain is not known" : "");
        break;
    case N_CAUSE_ENDS:
        break;
    }
    return out;
}
