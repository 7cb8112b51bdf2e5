/*
 * Records become points in time; the points of a location, sorted, become syncs: those in one
 * call of MPI are one.
 */
#include "replay/syncs.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/probes.h"
#include "explain/waiting.h"
#include "replay/streams.h"
#include "replay/syncs_needs.h"
#include "replay/team_syncs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 9u              /* syncs like one that are looked at, */
#define MIN_ALIKE 3u          /* at least, */
#define MAX_ALIKE_STEPS 1024u /* among so many next to it */

#define N_SIZES 65           /* classes of messages: by the highest bit of their length */
#define EAGER_SHARE 100      /* one in so many of a class ended early: they all may */
#define MAX_MOVED 32         /* places that points are moved by, each */
#define MAX_AFTER 4096       /* calls after MPI_Finalize */
#define MIN_EAGER_BYTES 4096 /* bytes that any MPI sends at once */
#define MIN_LATE_NS 20000    /* a send that was over sooner hardly waited */

/* ------------------------------------------------------------------- what is synchronous */

static unsigned size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
}

static bool is_blocking(const struct message *send, const struct call_view *calls)
{
    return send->begin_ns == send->end_ns && send->call < calls->n;
}

static uint64_t send_end_ns(const struct message *send, const struct call_view *calls)
{
    return is_blocking(send, calls) ? calls_leave(calls, send->call) : send->end_ns;
}

/* When the receive of a send was. */
static uint64_t posted_ns(const struct trace_view *view, const struct message *send)
{
    return calls_posted_ns(&view->calls[trace_view_location_of(view, send->match)],
                           &view->message[send->match]);
}

static uint64_t find_eager_bytes(const struct trace_view *view)
{
    uint64_t n[N_SIZES] = {0}, n_eager[N_SIZES] = {0}, largest[N_SIZES] = {0};
    uint64_t eager = MIN_EAGER_BYTES;

    for (uint32_t l = 0; l < view->n_locations; l++) {
        const struct call_view *calls = &view->calls[l];

        for (size_t i = 0; i < calls->n_messages; i++) {
            const struct message *m = &calls->message[i];
            unsigned k = size_class(m->bytes);

            if (m->kind != MESSAGE_SEND || m->match == MESSAGE_UNMATCHED)
                continue;
            n[k]++;
            /* when it was over before its receive was posted, it did not wait for it */
            if (m->bytes <= MIN_EAGER_BYTES || send_end_ns(m, calls) >= posted_ns(view, m))
                continue;
            n_eager[k]++;
            largest[k] = m->bytes > largest[k] ? m->bytes : largest[k];
        }
    }
    for (unsigned k = 0; k < N_SIZES; k++)
        if (n_eager[k] > 0 && n_eager[k] * EAGER_SHARE >= n[k] && largest[k] > eager)
            eager = largest[k];
    return eager;
}

/* Which regions are this function or that; NULL where none is. Free it. */
static bool *regions_of(const struct definitions *defs, const char *function, const char *other)
{
    bool *is_it = NULL;

    for (uint32_t r = 0; r < defs->names.n; r++) {
        if (!region_is_mpi(&defs->region[r], function) &&
            !region_is_mpi(&defs->region[r], other))
            continue;
        if (is_it == NULL)
            is_it = mem_alloc(defs->names.n, sizeof *is_it);
        is_it[r] = true;
    }
    return is_it;
}

/* ---------------------------------------------------------------------------- the points */

static bool is_mpi(const struct trace_view *view, const struct call_view *calls, uint32_t row)
{
    return row < calls->n && view->defs->region[calls->region[row]].kind == REGION_MPI;
}

/* The innermost of the first n calls that is still open at a time, or NO_CALL. */
static uint32_t open_at(const struct call_view *calls, uint32_t n, uint64_t time_ns)
{
    uint32_t row = n > 0 ? n - 1 : NO_CALL;

    while (row != NO_CALL && calls_leave(calls, row) < time_ns)
        row = calls_caller(calls, row);
    return row;
}

/* The innermost call around a time, one of MPI where two calls meet; or NO_CALL. */
static uint32_t call_at(const struct trace_view *view, const struct call_view *calls,
                        uint64_t time_ns)
{
    uint32_t row = open_at(calls, calls_until(calls, time_ns), time_ns), before;

    if (is_mpi(view, calls, row) || time_ns == 0)
        return row;
    before = open_at(calls, calls_until(calls, time_ns - 1), time_ns);
    return is_mpi(view, calls, before) ? before : row;
}

/*
 * A short message is mostly on its way at once, but not where the receiver has to make room for it:
 * the call in which the send was over stayed until the receive was posted, and then hardly longer.
 */
static bool is_seen_late(const struct syncs *s, const struct message *send,
                         const struct call_view *calls)
{
    bool is_one_call = is_blocking(send, calls);
    uint64_t from = is_one_call ? calls->enter_ns[send->call] : send->begin_ns;
    uint64_t end = send_end_ns(send, calls), posted;
    uint32_t row = send->call;

    if (end < from + MIN_LATE_NS)
        return false;
    posted = posted_ns(s->view, send);
    if (!waiting_ended_by(from, posted, end)) /* nor since a call that came later */
        return false;
    if (!is_one_call)
        row = call_at(s->view, calls, end);
    return is_mpi(s->view, calls, row) && waiting_ended_by(calls->enter_ns[row], posted, end);
}

static void set_late(struct syncs *s, size_t row)
{
    if (s->is_late == NULL)
        s->is_late =
            mem_alloc(s->view->first_message[s->n_locations] / 64 + 1, sizeof *s->is_late);
    s->is_late[row / 64] |= UINT64_C(1) << row % 64;
}

/* Both ends, once, as each is asked about several times. */
static void find_late(struct syncs *s)
{
    const struct trace_view *view = s->view;

    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = view->first_message[l]; i < view->first_message[l + 1]; i++) {
            const struct message *m = &view->message[i];

            if (m->kind != MESSAGE_SEND || m->match == MESSAGE_UNMATCHED ||
                m->bytes > s->eager_bytes || !is_seen_late(s, m, &view->calls[l]))
                continue;
            set_late(s, i);
            set_late(s, m->match);
        }
}

bool syncs_is_synchronous(const struct syncs *s, const struct message *m)
{
    size_t row = (size_t)(m - s->view->message);
    const struct trace_view *view = s->view;
    const struct message *send = m;
    const struct call_view *calls;

    if (m->match == MESSAGE_UNMATCHED)
        return false;
    if (m->bytes > s->eager_bytes)
        return true;
    if (s->is_late && s->is_late[row / 64] >> row % 64 & 1)
        return true;
    if (s->is_ssend == NULL)
        return false;
    if (m->kind != MESSAGE_SEND)
        send = &view->message[m->match];
    calls = &view->calls[trace_view_location_of(view, (size_t)(send - view->message))];
    return send->call < calls->n && s->is_ssend[calls->region[send->call]];
}

/* Calls with records follow each other in one caller, mostly: it is remembered in *last. */
static uint32_t caller_of(const struct call_view *calls, uint32_t row, uint32_t *last)
{
    if (calls->depth[row] == 0)
        return NO_CALL;
    if (*last >= row || row - *last >= calls->subtree_len[*last] ||
        calls->depth[*last] + 1 != calls->depth[row])
        *last = calls_caller(calls, row);
    return *last;
}

/* The outermost call of MPI around a call of MPI: it waits for all that is in it. */
static uint32_t outermost(const struct trace_view *view, const struct call_view *calls,
                          uint32_t row, uint32_t *last)
{
    uint32_t caller = row;

    while (is_mpi(view, calls, caller)) {
        row = caller;
        caller = caller_of(calls, row, last);
    }
    return row;
}

static void add_message(const struct syncs *s, const struct call_view *calls, size_t row,
                        struct record_syncs *at, struct points *p)
{
    const struct message *m = &s->view->message[row];
    bool is_send = m->kind == MESSAGE_SEND, is_blocking = m->begin_ns == m->end_ns;
    uint64_t record_ns = message_record_ns(m), other_ns = is_send ? m->end_ns : m->begin_ns;
    uint32_t *record_at = is_send ? &at->posted[row] : &at->ended[row];
    uint32_t *other_at = is_send ? &at->ended[row] : &at->posted[row];

    points_add(p, (struct point){record_ns, record_ns, record_at, m->call,
                                 is_send ? POINT_SIGNAL : POINT_WAIT});
    if (syncs_is_synchronous(s, m) && !is_blocking)
        points_add(p, (struct point){other_ns, other_ns, other_at,
                                     call_at(s->view, calls, other_ns),
                                     is_send ? POINT_WAIT : POINT_SIGNAL});
}

static void add_collective(const struct syncs *s, const struct call_view *calls, size_t i,
                           uint32_t l, struct record_syncs *at, struct points *p)
{
    const struct collective *c = &calls->collective[i];
    size_t row = at->first_collective[l] + i;
    uint32_t begin_call = c->call < calls->n && calls->enter_ns[c->call] <= c->begin_ns
                              ? c->call
                              : call_at(s->view, calls, c->begin_ns);

    points_add(p, (struct point){c->begin_ns, c->begin_ns, &at->entered[row], begin_call,
                                 POINT_SIGNAL});
    points_add(p, (struct point){c->end_ns, c->begin_ns, &at->left[row], c->call, POINT_WAIT});
}

static void add_end(const struct syncs *s, uint32_t l, struct record_syncs *at,
                    struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];
    uint32_t row = NO_CALL;
    uint64_t leave;

    for (uint32_t i = 0; at->is_finalize && row == NO_CALL && i < calls->n && i < MAX_AFTER;
         i++)
        if (at->is_finalize[calls->region[calls->n - 1 - i]])
            row = calls->n - 1 - i; /* in which it waits for all others to end */
    if (row == NO_CALL)
        return;
    leave = calls_leave(calls, row);
    points_add(p, (struct point){leave, leave, &at->finalized[l], row, POINT_WAIT});
}

static void add_unrecorded(const struct syncs *s, uint32_t l, struct record_syncs *at,
                           struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];

    for (size_t i = at->unrecorded->first[l]; i < at->unrecorded->first[l + 1]; i++) {
        uint32_t row = at->unrecorded->call[i].row;

        points_add(p, (struct point){calls_leave(calls, row), calls->enter_ns[row],
                                     &at->unrecorded_sync[i], row, POINT_WAIT});
    }
}

/* When a launch is over for what it launched: that may begin before the call returns, but where it
 * does not, it was waiting for that. */
static uint64_t launched_ns(const struct syncs *s, const struct dependency *d,
                            const struct found_dependency *f)
{
    const struct call_view *on = &s->view->calls[d->on_location];
    uint64_t leave_ns = calls_leave(on, f->on_call);

    return s->view->calls[d->location].enter_ns[f->call] >= leave_ns ? leave_ns
                                                                     : on->enter_ns[f->on_call];
}

/* What is launched from here, and what waits here for a stream. */
static void add_dependencies(const struct syncs *s, struct streams *t, uint32_t l,
                             struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];

    for (size_t i = t->first[l]; i < t->first[l + 1]; i++) {
        const struct dependency *d = streams_dependency(t, t->end[i].dependency);
        struct found_dependency *f = &t->found[t->end[i].dependency];
        uint32_t call = t->end[i].is_on ? f->on_call : f->call;
        uint64_t enter = calls->enter_ns[call], leave = calls_leave(calls, call), at_ns;

        if (!t->end[i].is_on) {
            points_add(p,
                       (struct point){leave, enter, &f->who, call,
                                      d->kind == DEPENDENCY_RETURN ? POINT_CALL : POINT_WAIT});
        } else {
            at_ns = d->kind == DEPENDENCY_BEGIN ? launched_ns(s, d, f) : leave;
            points_add(p, (struct point){at_ns, at_ns, &f->on, call, POINT_SIGNAL});
        }
    }
}

/* A list of points that is put into order. */
struct points_order {
    const struct trace_view *view;
    const struct call_view *calls;
};

/* Whether the call that becomes its sync has ended by then. */
static bool is_over(const struct points_order *o, const struct point *p)
{
    return (p->kind == POINT_CALL || is_mpi(o->view, o->calls, p->call)) &&
           calls_leave(o->calls, p->call) <= p->time_ns;
}

/* Of calls that meet in one moment the one that ends there is first: syncs follow each other, and
 * it would be lost behind the next. */
static int by_time(const void *a, const void *b, void *ctx)
{
    const struct point *p = a, *q = b;
    const struct points_order *o = ctx;
    bool is_first_over, is_second_over;

    if (p->time_ns != q->time_ns)
        return ORDER(p->time_ns, q->time_ns);
    is_first_over = is_over(o, p);
    is_second_over = is_over(o, q);
    return ORDER(is_second_over, is_first_over) ?: is_first_over ? ORDER(p->call, q->call) : 0;
}

static int by_time_and_place(const void *a, const void *b, void *ctx)
{
    const struct point *p = a, *q = b;

    return by_time(a, b, ctx) ?: ORDER(p->place, q->place);
}

/* Records are written in the order of time, but for where operations began: most are in place,
 * the others near it. */
static void sort(struct points *p, struct points_order *o)
{
    size_t n_moved = 0;

    for (size_t i = 1; i < p->n; i++) {
        struct point point = p->point[i];
        size_t at = i;

        for (; at > 0 && by_time(&p->point[at - 1], &point, o) > 0; at--)
            p->point[at] = p->point[at - 1];
        p->point[at] = point;
        n_moved += i - at;
        if (n_moved > MAX_MOVED * p->n) {
            qsort_r(p->point, p->n, sizeof *p->point, by_time_and_place, o);
            return;
        }
    }
}

static void collect(const struct syncs *s, uint32_t l, struct record_syncs *at,
                    struct streams *t, struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];
    struct points_order order = {s->view, calls};
    uint32_t last = NO_CALL;

    p->n = 0;
    for (size_t i = 0, k = 0; i < calls->n_messages || k < calls->n_collectives;)
        if (k == calls->n_collectives ||
            (i < calls->n_messages &&
             message_record_ns(&calls->message[i]) <= calls->collective[k].end_ns))
            add_message(s, calls, s->view->first_message[l] + i++, at, p);
        else
            add_collective(s, calls, k++, l, at, p);
    add_end(s, l, at, p);
    add_unrecorded(s, l, at, p);
    add_dependencies(s, t, l, p);
    for (size_t i = 0; i < p->n; i++)
        p->point[i].call = outermost(s->view, calls, p->point[i].call, &last);
    sort(p, &order);
}

/* ----------------------------------------------------------------------------- the syncs */

void syncs_begin_track(struct syncs *s, uint32_t location)
{
    mem_grow(&s->location, &s->location_cap, (size_t)s->n_tracks + 1);
    s->location[s->n_tracks] = location;
    mem_grow(&s->first, &s->track_cap, (size_t)s->n_tracks + 2);
    s->first[s->n_tracks++] = s->n;
}

struct sync *syncs_push(struct syncs *s, struct sync sync)
{
    mem_grow(&s->sync, &s->cap, (size_t)s->n + 1);
    sync.track = s->n_tracks - 1;
    s->sync[s->n] = sync;
    return &s->sync[s->n++];
}

/* The last moment before a time at which a call began or ended, on the level of the record. */
static uint64_t boundary_before(const struct call_view *calls, const struct point *p)
{
    uint32_t n = calls_until(calls, p->time_ns), row = n > 0 ? n - 1 : NO_CALL;
    uint32_t depth = p->call < calls->n ? (uint32_t)calls->depth[p->call] + 1 : 0;

    if (row == NO_CALL)
        return 0;
    if (row == p->call || calls->depth[row] < depth)
        return calls->enter_ns[row];
    return calls_leave(calls, calls_ancestor(calls, row, (uint16_t)depth));
}

/* From when to when the location was in what the point is part of. */
static struct sync sync_around(const struct syncs *s, uint32_t l, const struct point *p)
{
    const struct call_view *calls = &s->view->calls[l];
    struct sync k = {.call = NO_CALL, .leave_ns = p->time_ns, .is_idle = p->kind == POINT_IDLE};

    if (p->kind == POINT_CALL || is_mpi(s->view, calls, p->call)) {
        uint32_t probe = p->call < calls->n ? probes_before(s->view, l, p->call) : NO_CALL;

        k.call = p->call;
        k.enter_ns = calls->enter_ns[probe != NO_CALL ? probe : p->call];
        k.leave_ns = calls_leave(calls, p->call);
    } else if (p->begin_ns < p->time_ns || p->kind == POINT_SIGNAL || p->kind == POINT_END) {
        k.enter_ns = p->begin_ns;
    } else {
        k.enter_ns = boundary_before(calls, p);
    }
    return k;
}

/* Who has ended is where it waits for what comes next: that is one sync. */
static bool is_going_on(const struct point *p, const struct point *before, const struct sync *k,
                        const struct sync *last)
{
    return before && before->kind == POINT_END &&
           (p->kind == POINT_JOIN || p->kind == POINT_IDLE) && k->enter_ns == last->leave_ns &&
           last->enter_ns == last->leave_ns;
}

/* Those of one location follow each other and do not overlap. */
static void add_sync(struct syncs *s, uint32_t l, const struct point *p,
                     const struct point *before)
{
    struct sync *last = &s->sync[s->n - 1], k;

    if (p->call == NO_CALL || last->call != p->call) {
        k = sync_around(s, l, p);
        if (k.enter_ns > k.leave_ns)
            k.enter_ns = k.leave_ns;
        if (k.enter_ns < last->leave_ns)
            k.enter_ns = last->leave_ns;
        if (k.leave_ns < k.enter_ns)
            k.leave_ns = k.enter_ns;
        if (is_going_on(p, before, &k, last)) {
            last->leave_ns = k.leave_ns;
            last->is_idle = k.is_idle;
        } else {
            syncs_push(s, k);
        }
    }
    *p->place = s->n - 1;
    if (p->kind == POINT_CALL)
        s->is_waiting[s->view->calls[l].region[p->call]] = true;
}

/* Those of a list that are still to come. */
struct points_left {
    const struct point *point;
    size_t n;
};

/* Of two lists the first to come; where both are at the same time, one that waits. */
static const struct point *take_first(struct points_left *p, struct points_left *q)
{
    bool is_second = p->n == 0 || (q->n > 0 && (q->point->time_ns < p->point->time_ns ||
                                                (q->point->time_ns == p->point->time_ns &&
                                                 p->point->kind == POINT_SIGNAL)));
    struct points_left *from = is_second ? q : p;

    if (from->n == 0)
        return NULL;
    from->n--;
    return from->point++;
}

static void add_location(struct syncs *s, uint32_t l, const struct points *p,
                         const struct points *teams)
{
    struct points_left left = {p->point, p->n}, left_teams = {teams->point, teams->n};
    const struct point *next = take_first(&left, &left_teams);
    const struct call_view *calls = &s->view->calls[l];
    uint64_t begin = calls->n > 0 ? calls->enter_ns[0] : 0, end = 0;

    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i])
        end = calls_leave(calls, i);
    if (next && (calls->n == 0 || next->begin_ns < begin))
        begin = next->begin_ns;
    syncs_begin_track(s, l);
    syncs_push(s, (struct sync){.enter_ns = begin, .leave_ns = begin, .call = NO_CALL});
    for (const struct point *before = NULL, *now = next; now; before = now, now = next) {
        add_sync(s, l, now, before);
        next = take_first(&left, &left_teams);
    }
    if (end < s->sync[s->n - 1].leave_ns)
        end = s->sync[s->n - 1].leave_ns;
    syncs_push(s, (struct sync){.enter_ns = end, .leave_ns = end, .call = NO_CALL});
    s->begin_ns = begin < s->begin_ns ? begin : s->begin_ns;
    s->end_ns = end > s->end_ns ? end : s->end_ns;
}

/* ------------------------------------------------------------------------------- public */

static void places_init(struct record_syncs *at, const struct trace_view *view)
{
    size_t n_messages = view->first_message[view->n_locations], n;

    at->is_finalize = regions_of(view->defs, "MPI_Finalize", "MPI_Finalize");
    at->first_collective = mem_alloc((size_t)view->n_locations + 1, sizeof(size_t));
    for (uint32_t l = 0; l < view->n_locations; l++)
        at->first_collective[l + 1] = at->first_collective[l] + view->calls[l].n_collectives;
    n = at->first_collective[view->n_locations];
    at->posted = mem_alloc(2 * n_messages, sizeof *at->posted);
    at->ended = at->posted + n_messages;
    at->entered = mem_alloc(2 * n, sizeof *at->entered);
    at->left = at->entered + n;
    at->finalized = mem_alloc(view->n_locations, sizeof *at->finalized);
    memset(at->finalized, 0xff, view->n_locations * sizeof *at->finalized);
    memset(at->posted, 0xff, 2 * n_messages * sizeof *at->posted);
    memset(at->entered, 0xff, 2 * n * sizeof *at->entered);
    n = view->first_span[view->n_locations];
    at->span_begin = mem_alloc(2 * n, sizeof *at->span_begin);
    at->span_end = at->span_begin + n;
    memset(at->span_begin, 0xff, 2 * n * sizeof *at->span_begin);
    at->first_barrier = mem_alloc((size_t)view->n_locations + 1, sizeof(size_t));
    for (uint32_t l = 0; l < view->n_locations; l++)
        at->first_barrier[l + 1] = at->first_barrier[l] + view->calls[l].n_barriers;
    n = at->first_barrier[view->n_locations];
    at->barrier = mem_alloc(n, sizeof *at->barrier);
    memset(at->barrier, 0xff, n * sizeof *at->barrier);
    at->unrecorded = unrecorded_of(view);
    at->unrecorded_sync = mem_alloc(at->unrecorded->n, sizeof *at->unrecorded_sync);
    memset(at->unrecorded_sync, 0xff, at->unrecorded->n * sizeof *at->unrecorded_sync);
}

static void places_release(struct record_syncs *at)
{
    free(at->is_finalize);
    free(at->first_collective);
    free(at->posted);
    free(at->entered);
    free(at->finalized);
    free(at->span_begin);
    free(at->first_barrier);
    free(at->barrier);
    free(at->unrecorded_sync);
}

static bool is_in_team(const struct call_view *calls)
{
    for (size_t i = 0; i < calls->n_spans; i++)
        if (calls->span[i].team != NO_TEAM)
            return true;
    return false;
}

static bool is_of_interest(const struct trace_view *view, const struct streams *t, uint32_t l)
{
    const struct call_view *calls = &view->calls[l];

    return calls->n_messages + calls->n_collectives > 0 || t->first[l + 1] > t->first[l] ||
           (calls->n > 0 && view->defs->location[l].thread == 0) || is_in_team(calls);
}

/* Room for what records can become, so that nothing is moved while they do: of that, what is
 * not used takes no memory. */
static void reserve(struct syncs *s, struct points *p)
{
    size_t most = 0, all = 0;

    for (uint32_t l = 0; l < s->n_locations; l++) {
        const struct call_view *calls = &s->view->calls[l];
        size_t n = 2 * (calls->n_messages + calls->n_collectives) + 1;

        most = n > most ? n : most;
        all += n + 2 * calls->n_spans + calls->n_barriers + 2;
    }
    all = all < NEED_INDEX ? all : NEED_INDEX;
    mem_grow(&p->point, &p->cap, most);
    mem_grow(&s->sync, &s->cap, all);
}

static int add_all(struct syncs *s, struct streams *t, struct record_syncs *at)
{
    uint64_t begin_ns = UINT64_MAX; /* of the first call of all */
    struct points points = {0}, teams = {0};
    int rc = 0;

    for (uint32_t l = 0; l < s->n_locations; l++)
        if (s->view->calls[l].n > 0 && s->view->calls[l].enter_ns[0] < begin_ns)
            begin_ns = s->view->calls[l].enter_ns[0];
    reserve(s, &points);
    for (uint32_t l = 0; rc == 0 && l < s->n_locations; l++) {
        s->track[l] = s->n_tracks;
        if (!is_of_interest(s->view, t, l))
            continue;
        if (2 * (uint64_t)s->view->calls[l].n + 2 > NEED_INDEX - s->n && s->is_stream[l]) {
            rc = err_set(ERR_RANGE, "too many calls on streams to replay");
        } else if (s->is_stream[l]) {
            s->has_streams = true;
            streams_add(t, s, l, begin_ns, at);
            s->begin_ns = begin_ns < s->begin_ns ? begin_ns : s->begin_ns;
        } else {
            collect(s, l, at, t, &points);
            teams.n = 0;
            team_syncs_collect(s->view, l, begin_ns, at, &teams);
            if (points.n + teams.n + 2 > NEED_INDEX - s->n)
                rc = err_set(ERR_RANGE, "too many messages to replay");
            else
                add_location(s, l, &points, &teams);
        }
        trace_view_passed(s->view);
    }
    s->track[s->n_locations] = s->n_tracks;
    s->first[s->n_tracks] = s->n;
    free(points.point);
    free(teams.point);
    return rc;
}

/* Another location of the rank waits for this one. */
static bool *find_waited_for(const struct syncs *s)
{
    const struct location *location = s->view->defs->location;
    bool *is_waited_for = mem_alloc(s->n_locations, sizeof *is_waited_for);

    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t from = syncs_location(s, k), on;

            if (s->need[i] & NEED_ALL)
                continue;
            on = syncs_location(s, s->need[i] & NEED_INDEX);
            is_waited_for[on] |= on != from && location[on].rank == location[from].rank;
        }
    return is_waited_for;
}

static void find_apart(struct syncs *s)
{
    const struct location *location = s->view->defs->location;
    bool *is_waited_for = find_waited_for(s), has_others = false;
    uint32_t first = UINT32_MAX; /* location with calls */
    uint32_t of = 0;             /* first of its rank */

    for (uint32_t l = 0; l < s->n_locations; l++) {
        if (s->view->calls[l].n == 0)
            continue;
        first = first == UINT32_MAX ? l : first;
        has_others |= location[l].rank != location[first].rank;
    }
    for (uint32_t l = 0; l < s->n_locations; l++) {
        bool is_alone = syncs_takes_part(s, l) && !s->is_stream[l] &&
                        syncs_end(s, l) - syncs_begin(s, l) <= 2;

        if (l == 0 || location[l].rank != location[l - 1].rank)
            of = l; /* while a run is recorded, locations are in no order */
        s->is_apart[l] = (is_alone && has_others) ||
                         (!s->is_stream[l] && l != of && s->view->calls[of].n > 0 &&
                          s->view->calls[l].n_spans == 0 && !is_waited_for[l]);
    }
    free(is_waited_for);
}

int syncs_init(struct syncs *s, const struct trace_view *view)
{
    struct record_syncs at = {0};
    struct streams streams;
    int rc;

    *s = (struct syncs){.view = view, .n_locations = view->n_locations, .begin_ns = UINT64_MAX};
    s->track = mem_alloc((size_t)view->n_locations + 1, sizeof *s->track);
    s->is_stream = mem_alloc(view->n_locations, sizeof *s->is_stream);
    s->is_apart = mem_alloc(view->n_locations, sizeof *s->is_apart);
    s->is_waiting = mem_alloc(view->defs->names.n, sizeof *s->is_waiting);
    s->op_sync = mem_alloc(view->n_locations, sizeof *s->op_sync);
    mem_grow(&s->first, &s->track_cap, 1);
    s->eager_bytes = find_eager_bytes(view);
    s->is_ssend = regions_of(s->view->defs, "MPI_Ssend", "MPI_Issend");
    find_late(s);
    places_init(&at, view);
    streams_init(&streams, s);
    rc = add_all(s, &streams, &at);
    if (s->begin_ns > s->end_ns)
        s->begin_ns = s->end_ns;
    if (rc == 0) {
        at.dependency = streams.found;
        at.n_dependencies = view->n_dependencies + streams.n_waits;
        syncs_need_all(s, &at);
    }
    streams_release(&streams);
    places_release(&at);
    if (rc == 0) {
        find_apart(s);
        syncs_order(s);
    }
    return rc;
}

void syncs_release(struct syncs *s)
{
    for (uint32_t l = 0; s->op_sync && l < s->n_locations; l++)
        free(s->op_sync[l]);
    free(s->op_sync);
    free(s->is_stream);
    free(s->is_apart);
    free(s->is_waiting);
    free(s->is_ssend);
    free(s->is_late);
    free(s->track);
    free(s->location);
    free(s->first);
    free(s->sync);
    free(s->first_need);
    free(s->need);
    free(s->first_member);
    free(s->member);
    free(s->order);
    free(s->place);
    *s = (struct syncs){0};
}

uint32_t syncs_after(const struct syncs *s, uint32_t location, uint64_t time_ns)
{
    uint32_t last = syncs_end(s, location) - 1; /* the end */

    return FIRST_NOT(i, syncs_begin(s, location), last, s->sync[i].enter_ns <= time_ns);
}

uint32_t syncs_of_call(const struct syncs *s, uint32_t location, uint32_t row)
{
    uint64_t enter = s->view->calls[location].enter_ns[row];
    uint64_t leave = calls_leave(&s->view->calls[location], row);
    uint32_t last = syncs_end(s, location) - 1;
    /* the first that is left at or after it was entered */
    uint32_t k = FIRST_NOT(i, syncs_begin(s, location), last, s->sync[i].leave_ns < enter);
    uint32_t receive = probes_receive(s->view, location, row);

    for (; k < syncs_end(s, location) && s->sync[k].enter_ns <= leave; k++)
        if (s->sync[k].call == (receive != NO_CALL ? receive : row))
            return k;
    return NEED_INDEX;
}

int64_t syncs_typical_own_ns(const struct syncs *s, uint32_t k)
{
    const struct call_view *calls = &s->view->calls[syncs_location(s, k)];
    uint32_t begin = s->first[s->sync[k].track], end = s->first[s->sync[k].track + 1], n = 0;
    double own[ALIKE];

    if (s->sync[k].call >= calls->n)
        return INT64_MAX;
    for (uint32_t step = 1; step <= MAX_ALIKE_STEPS && n < ALIKE; step++)
        for (int way = 0; way < 2 && n < ALIKE; way++) {
            uint32_t other = way ? k + step : k - step;

            if ((way ? other < end : step <= k - begin) && s->sync[other].call < calls->n &&
                syncs_is_ready(s, other) == syncs_is_ready(s, k) &&
                calls->region[s->sync[other].call] == calls->region[s->sync[k].call])
                own[n++] = (double)sync_own_ns(&s->sync[other]);
        }
    if (n < MIN_ALIKE)
        return INT64_MAX;
    qsort(own, n, sizeof *own, order_f64);
    return llrint(own[n / 2]);
}

bool syncs_is_ready(const struct syncs *s, uint32_t sync)
{
    const struct sync *k = &s->sync[sync];
    uint32_t l = syncs_location(s, sync);

    return s->is_stream[l] && k->call != NO_CALL && s->op_sync[l][k->call] == sync;
}
