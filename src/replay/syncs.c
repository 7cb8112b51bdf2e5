/*
 * Records become points in time; the points of a location, sorted, become syncs: those in one
 * call of MPI are one.
 */
#include "replay/syncs.h"

#include "base/err.h"
#include "base/mem.h"
#include "replay/syncs_needs.h"

#include <stdlib.h>
#include <string.h>

#define N_SIZES 65       /* classes of messages: by the highest bit of their length */
#define EAGER_SHARE 100  /* one in so many of a class ended early: they all may */
#define MOST_AFTER 4096  /* calls after MPI_Finalize */
#define LEAST_EAGER 4096 /* bytes that any MPI sends at once */

/* A moment at which a record was written, or the operation of one began. */
struct point {
    uint64_t time_ns;
    uint64_t begin_ns; /* of a collective, if it was entered outside of MPI; else time_ns */
    uint32_t *place;   /* where the number of its sync is to go */
    uint32_t call;     /* innermost call around it, or NO_CALL */
    bool is_wait;      /* what is before it may be waiting */
};

struct points {
    struct point *point;
    size_t n, cap;
};

/* ------------------------------------------------------------------- what is synchronous */

static unsigned size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
}

/* When the send was over before its receive was posted, it did not wait for it. */
static bool is_seen_eager(const struct trace_view *view, const struct message *send,
                          const struct call_view *calls)
{
    const struct message *receive = &view->message[send->match];
    const struct call_view *theirs = &view->calls[trace_view_location_of(view, send->match)];
    uint64_t end = send->end_ns;

    if (send->begin_ns == send->end_ns && send->call < calls->n)
        end = calls_leave(calls, send->call);
    return end < calls_posted_ns(theirs, receive);
}

static uint64_t find_eager_bytes(const struct trace_view *view)
{
    uint64_t n[N_SIZES] = {0}, n_eager[N_SIZES] = {0}, largest[N_SIZES] = {0};
    uint64_t eager = LEAST_EAGER;

    for (uint32_t l = 0; l < view->n_locations; l++) {
        const struct call_view *calls = &view->calls[l];

        for (size_t i = 0; i < calls->n_messages; i++) {
            const struct message *m = &calls->message[i];
            unsigned k = size_class(m->bytes);

            if (m->kind != MESSAGE_SEND || m->match == MESSAGE_UNMATCHED)
                continue;
            n[k]++;
            if (m->bytes <= LEAST_EAGER || !is_seen_eager(view, m, calls))
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

/* The outermost call of MPI around a call of MPI: it waits for all that is in it. */
static uint32_t outermost(const struct trace_view *view, const struct call_view *calls,
                          uint32_t row)
{
    uint32_t caller = row;

    while (is_mpi(view, calls, caller)) {
        row = caller;
        caller = calls->depth[row] > 0 ? calls_caller(calls, row) : NO_CALL;
    }
    return row;
}

static void add(struct points *p, struct point point)
{
    mem_grow(&p->point, &p->cap, p->n + 1, sizeof *p->point);
    p->point[p->n++] = point;
}

static void add_message(const struct syncs *s, const struct call_view *calls, size_t row,
                        struct sync_places *at, struct points *p)
{
    const struct message *m = &s->view->message[row];
    bool is_send = m->kind == MESSAGE_SEND, is_blocking = m->begin_ns == m->end_ns;
    uint64_t record_ns = message_record_ns(m), other_ns = is_send ? m->end_ns : m->begin_ns;
    uint32_t *record_at = is_send ? &at->posted[row] : &at->ended[row];
    uint32_t *other_at = is_send ? &at->ended[row] : &at->posted[row];

    add(p, (struct point){record_ns, record_ns, record_at, m->call, !is_send});
    if (syncs_is_synchronous(s, m) && !is_blocking)
        add(p, (struct point){other_ns, other_ns, other_at, call_at(s->view, calls, other_ns),
                              is_send});
}

static void add_collective(const struct syncs *s, const struct call_view *calls, size_t i,
                           size_t row, struct sync_places *at, struct points *p)
{
    const struct collective *c = &calls->collective[i];
    uint32_t begin_call = c->call < calls->n && calls->enter_ns[c->call] <= c->begin_ns
                              ? c->call
                              : call_at(s->view, calls, c->begin_ns);

    add(p, (struct point){c->begin_ns, c->begin_ns, &at->entered[row], begin_call, false});
    add(p, (struct point){c->end_ns, c->begin_ns, &at->left[row], c->call, true});
}

/* The call in which a location waits for all others to end, or NO_CALL. */
static uint32_t final_call(const struct trace_view *view, const struct call_view *calls)
{
    uint32_t region = names_find(&view->defs->names, "MPI_Finalize");

    for (uint32_t i = 0; region != NAMES_NONE && i < calls->n && i < MOST_AFTER; i++)
        if (calls->region[calls->n - 1 - i] == region)
            return calls->n - 1 - i;
    return NO_CALL;
}

static void add_end(const struct syncs *s, uint32_t l, struct sync_places *at, struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];
    uint32_t row = final_call(s->view, calls);
    uint64_t leave;

    if (row == NO_CALL)
        return;
    leave = calls_leave(calls, row);
    add(p, (struct point){leave, leave, &at->finalized[l], row, true});
}

static int by_time(const void *a, const void *b)
{
    const struct point *p = a, *q = b;

    if (p->time_ns != q->time_ns)
        return p->time_ns < q->time_ns ? -1 : 1;
    return (p->place > q->place) - (p->place < q->place);
}

static void collect(const struct syncs *s, uint32_t l, struct sync_places *at, struct points *p)
{
    const struct call_view *calls = &s->view->calls[l];
    bool is_sorted = true;

    p->n = 0;
    for (size_t i = 0; i < calls->n_messages; i++)
        add_message(s, calls, s->view->first_message[l] + i, at, p);
    for (size_t i = 0; i < calls->n_collectives; i++)
        add_collective(s, calls, i, at->first_collective[l] + i, at, p);
    add_end(s, l, at, p);
    for (size_t i = 0; i < p->n; i++)
        p->point[i].call = outermost(s->view, calls, p->point[i].call);
    for (size_t i = 1; i < p->n && is_sorted; i++)
        is_sorted = p->point[i - 1].time_ns <= p->point[i].time_ns;
    if (!is_sorted)
        qsort(p->point, p->n, sizeof *p->point, by_time);
}

/* ----------------------------------------------------------------------------- the syncs */

static struct sync *push(struct syncs *s, struct sync sync)
{
    mem_grow(&s->sync, &s->cap, (size_t)s->n + 1, sizeof *s->sync);
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
    struct sync k = {.location = l, .call = NO_CALL, .leave_ns = p->time_ns};

    if (is_mpi(s->view, calls, p->call)) {
        k.call = p->call;
        k.enter_ns = calls->enter_ns[p->call];
        k.leave_ns = calls_leave(calls, p->call);
    } else if (p->begin_ns < p->time_ns || !p->is_wait) {
        k.enter_ns = p->begin_ns;
    } else {
        k.enter_ns = boundary_before(calls, p);
    }
    return k;
}

/* Those of one location follow each other and do not overlap. */
static void add_sync(struct syncs *s, uint32_t l, const struct point *p)
{
    const struct sync *last = &s->sync[s->n - 1];
    struct sync k;

    if (p->call == NO_CALL || last->call != p->call) {
        k = sync_around(s, l, p);
        if (k.enter_ns > k.leave_ns)
            k.enter_ns = k.leave_ns;
        if (k.enter_ns < last->leave_ns)
            k.enter_ns = last->leave_ns;
        if (k.leave_ns < k.enter_ns)
            k.leave_ns = k.enter_ns;
        push(s, k);
    }
    *p->place = s->n - 1;
}

/* When a location began and ended, its records aside. */
static void span_of(const struct call_view *calls, uint64_t *begin_ns, uint64_t *end_ns)
{
    *begin_ns = calls->n > 0 ? calls->enter_ns[0] : 0;
    *end_ns = 0;
    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i])
        *end_ns = calls_leave(calls, i);
}

static void add_location(struct syncs *s, uint32_t l, const struct points *p)
{
    uint64_t begin, end;

    span_of(&s->view->calls[l], &begin, &end);
    if (p->n > 0 && (s->view->calls[l].n == 0 || p->point[0].time_ns < begin))
        begin = p->point[0].time_ns;
    push(s,
         (struct sync){.enter_ns = begin, .leave_ns = begin, .location = l, .call = NO_CALL});
    for (size_t i = 0; i < p->n; i++)
        add_sync(s, l, &p->point[i]);
    if (end < s->sync[s->n - 1].leave_ns)
        end = s->sync[s->n - 1].leave_ns;
    push(s, (struct sync){.enter_ns = end, .leave_ns = end, .location = l, .call = NO_CALL});
    s->begin_ns = begin < s->begin_ns ? begin : s->begin_ns;
    s->end_ns = end > s->end_ns ? end : s->end_ns;
}

/* ------------------------------------------------------------------------------- public */

static void places_init(struct sync_places *at, const struct trace_view *view)
{
    size_t n_messages = view->first_message[view->n_locations], n;

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
}

static void places_release(struct sync_places *at)
{
    free(at->first_collective);
    free(at->posted);
    free(at->entered);
    free(at->finalized);
}

static bool is_of_interest(const struct trace_view *view, uint32_t l)
{
    const struct call_view *calls = &view->calls[l];

    return calls->n_messages + calls->n_collectives > 0 ||
           (calls->n > 0 && view->defs->location[l].thread == 0);
}

int syncs_init(struct syncs *s, const struct trace_view *view)
{
    struct sync_places at = {0};
    struct points points = {0};
    int rc = 0;

    *s = (struct syncs){.view = view, .n_locations = view->n_locations, .begin_ns = UINT64_MAX};
    s->first = mem_alloc((size_t)view->n_locations + 1, sizeof *s->first);
    s->eager_bytes = find_eager_bytes(view);
    places_init(&at, view);
    for (uint32_t l = 0; rc == 0 && l < view->n_locations; l++) {
        s->first[l] = s->n;
        if (is_of_interest(view, l)) {
            collect(s, l, &at, &points);
            if (points.n + 2 > NEED_INDEX - s->n)
                rc = err_set(ERR_RANGE, "too many messages to replay");
            else
                add_location(s, l, &points);
        }
    }
    s->first[view->n_locations] = s->n;
    if (s->begin_ns > s->end_ns)
        s->begin_ns = s->end_ns;
    if (rc == 0) {
        syncs_need_all(s, &at);
        syncs_order(s);
    }
    free(points.point);
    places_release(&at);
    return rc;
}

void syncs_release(struct syncs *s)
{
    free(s->first);
    free(s->sync);
    free(s->first_need);
    free(s->need);
    free(s->first_member);
    free(s->member);
    free(s->order);
    free(s->place);
    free(s->last_use);
    free(s->slack_ns);
    free(s->reach);
    *s = (struct syncs){0};
}

uint32_t syncs_after(const struct syncs *s, uint32_t location, uint64_t time_ns)
{
    uint32_t low = s->first[location], high = s->first[location + 1] - 1; /* the end */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->sync[middle].enter_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t syncs_of_call(const struct syncs *s, uint32_t location, uint32_t row)
{
    uint64_t enter = s->view->calls[location].enter_ns[row];
    uint64_t leave = calls_leave(&s->view->calls[location], row);
    uint32_t k = s->first[location], high = s->first[location + 1] - 1;

    while (k < high) { /* the first that is left at or after it was entered */
        uint32_t middle = k + (high - k) / 2;

        if (s->sync[middle].leave_ns < enter)
            k = middle + 1;
        else
            high = middle;
    }
    for (; k < s->first[location + 1] && s->sync[k].enter_ns <= leave; k++)
        if (s->sync[k].call == row)
            return k;
    return NEED_INDEX;
}
