/*
 * One event at a time: what is due first, the next mark, or the end of the call on top.
 *
 * An X knows its end, a B does not. Where a location has both, or its B and E do not nest as
 * they are, its marks are gone through once before, to find the E of each B, which is as an X
 * from then on. Thus all calls that cross are treated alike, and none lasts longer than the
 * trace says:
 *
 *     X  [ E        ]                         [ E   ]
 *     B      [ F            ]  E                    [ F            ]
 *
 * Marks that begin at one time are looked at together, as the longest is around the others.
 */
#include "trace/chrome/chrome_events.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What may be cut without saying so: times are microseconds, often whole ones, and those of a
 * GPU are converted to the clock of its host. */
#define ROUNDING_NS 1000
#define ROUNDING_SHARE 20   /* one part in */
#define LONGEST_SEARCH 4096 /* open calls that an E looks through */

/* Where a B ends. */
struct begin_pair {
    int64_t end_ns;
    uint64_t args;  /* of its E */
    uint32_t order; /* likewise */
    bool has_end;
};

/* What comes next: a mark, and of a call its end. */
struct due {
    struct mark mark; /* 'X' of all whose end is known */
    uint64_t end_args;
    uint32_t end_order; /* of its E; of an X its own */
    bool is_pair;       /* of B and E */
    bool is_wait;       /* of ours, for autograd */
};

struct marked_call {
    int64_t begin_ns, end_ns;
    uint32_t region;
    uint32_t link; /* whose event comes before its end, or MARKS_NO_LINK */
    uint32_t order, end_order;
    uint64_t end_args;
    bool is_pair, is_wait;
};

struct chrome_events {
    const struct chrome_trace *trace;
    const struct chrome_locations *places;
    const struct backward *backward;
    size_t next_wait, end_wait; /* of backward, of the location */
    size_t next_part, end_part;
    bool is_in_part; /* the next one has begun */
    struct marks_cursor *cursor;
    const struct mark *ahead; /* the first that is of another time; NULL: there is none */
    struct due *due, *apart;  /* [n_due] those of one time, from `at` on; room for as many */
    size_t at, n_due, due_cap, apart_cap;
    struct mark send;         /* of a call that was just entered; link MARKS_NO_LINK: none */
    struct marked_call *open; /* [n_open] those whose end is known */
    size_t n_open, cap;

    struct begin_pair *pair; /* [n_pairs] in the order of the B */
    size_t n_pairs, pair_cap, next_pair;
    bool *is_taken; /* [n_ends] in the order of the E: it is that of a B */
    size_t n_ends, taken_cap, next_end;
};

struct chrome_events *chrome_events_new(const struct chrome_trace *trace,
                                        const struct chrome_locations *places,
                                        const struct backward *backward)
{
    struct chrome_events *e = mem_alloc(1, sizeof *e);

    e->trace = trace;
    e->places = places;
    e->backward = backward;
    return e;
}

void chrome_events_free(struct chrome_events *e)
{
    if (e == NULL)
        return;
    marks_cursor_free(e->cursor);
    free(e->due);
    free(e->apart);
    free(e->open);
    free(e->pair);
    free(e->is_taken);
    free(e);
}

/* -------------------------------------------------------------------------- pairs */

/* A B whose E has not come yet. */
struct begun {
    size_t pair;
    uint32_t region;
};

struct begun_calls {
    struct begun *call; /* [n] */
    size_t n, cap;
};

/* The last B that an E may be of, or SIZE_MAX. */
static size_t find_begun(const struct begun_calls *begun, uint32_t region)
{
    size_t lowest = begun->n > LONGEST_SEARCH ? begun->n - LONGEST_SEARCH : 0;

    for (size_t i = begun->n; i-- > lowest;)
        if (region == ANY_REGION || begun->call[i].region == region)
            return i;
    return SIZE_MAX;
}

static void begin_pair(struct chrome_events *e, struct begun_calls *begun,
                       const struct mark *mark)
{
    mem_grow(&e->pair, &e->pair_cap, e->n_pairs + 1);
    *mem_push(&begun->call, &begun->n, &begun->cap) = (struct begun){e->n_pairs, mark->ref};
    e->pair[e->n_pairs++] = (struct begin_pair){.has_end = false};
}

/* Those begun since that one may yet end, too: calls that cross. */
static void end_pair(struct chrome_events *e, struct begun_calls *begun,
                     const struct mark *mark)
{
    size_t at = find_begun(begun, mark->ref);

    *mem_push(&e->is_taken, &e->n_ends, &e->taken_cap) = at != SIZE_MAX;
    if (at == SIZE_MAX)
        return;
    e->pair[begun->call[at].pair] = (struct begin_pair){
        .end_ns = mark->time_ns, .args = mark->args, .order = mark->order, .has_end = true};
    begun->n--;
    memmove(begun->call + at, begun->call + at + 1, (begun->n - at) * sizeof *begun->call);
}

static void find_pairs(struct chrome_events *e, struct marks_cursor *cursor)
{
    struct begun_calls begun = {.n = 0};
    const struct mark *mark;

    while ((mark = marks_cursor_next(cursor)) != NULL) {
        if (mark->phase == 'B')
            begin_pair(e, &begun, mark);
        else if (mark->phase == 'E')
            end_pair(e, &begun, mark);
    }
    free(begun.call);
}

static bool needs_pairs(const struct chrome_events *e, const uint32_t *thread, uint32_t n)
{
    bool has_spans = false, has_begins = false, is_tangled = false;

    for (uint32_t i = 0; i < n; i++) {
        const struct chrome_thread *t = &e->trace->thread[thread[i]];

        has_spans |= t->has_spans;
        has_begins |= t->has_begins;
        is_tangled |= t->is_tangled;
    }
    return is_tangled || (has_begins && (has_spans || n > 1));
}

void chrome_events_begin(struct chrome_events *e, uint32_t l)
{
    const struct chrome_locations *p = e->places;
    uint32_t first = p->first[l], n = p->first[l + 1] - first;
    const uint32_t *thread = p->thread + first;
    int64_t *shift_ns = mem_alloc(n, sizeof *shift_ns);

    for (uint32_t i = 0; i < n; i++)
        shift_ns[i] = p->shift_ns[thread[i]];
    e->next_wait = backward_first(&e->backward->waits, l);
    e->end_wait = backward_first(&e->backward->waits, l + 1);
    e->next_part = backward_first(&e->backward->parts, l);
    e->end_part = backward_first(&e->backward->parts, l + 1);
    e->is_in_part = false;
    e->n_pairs = e->next_pair = e->n_ends = e->next_end = 0;
    if (needs_pairs(e, thread, n)) {
        struct marks_cursor *cursor = marks_cursor_new(e->trace->marks, thread, shift_ns, n);

        find_pairs(e, cursor);
        marks_cursor_free(cursor);
    }
    marks_cursor_free(e->cursor);
    e->cursor = marks_cursor_new(e->trace->marks, thread, shift_ns, n);
    e->ahead = marks_cursor_next(e->cursor);
    e->at = e->n_due = 0;
    e->send.link = MARKS_NO_LINK;
    e->n_open = 0;
    free(shift_ns);
}

/* ------------------------------------------------------------ what is due at one time */

/* False for the E of a B that knows of it. */
static bool take_mark(struct chrome_events *e, const struct mark *mark)
{
    struct due *due = &e->due[e->n_due];

    *due = (struct due){.mark = *mark, .end_args = KEPT_ARGS_NONE, .end_order = mark->order};
    if (mark->phase == 'E')
        return e->next_end >= e->n_ends || !e->is_taken[e->next_end++];
    if (mark->phase == 'B' && e->next_pair < e->n_pairs) {
        const struct begin_pair *pair = &e->pair[e->next_pair++];

        due->is_pair = true;
        due->mark.end_ns = INT64_MAX;
        if (pair->has_end) {
            due->mark.phase = 'X';
            due->mark.end_ns = pair->end_ns;
            due->end_args = pair->args;
            due->end_order = pair->order;
        }
    }
    return true;
}

/* Whether the one is around the other, if both begin at the same time. */
static bool is_around(const struct due *p, const struct due *q)
{
    return p->mark.end_ns != q->mark.end_ns ? p->mark.end_ns > q->mark.end_ns
                                            : p->mark.order < q->mark.order;
}

static int outermost_first(const void *a, const void *b)
{
    return is_around(a, b) ? -1 : is_around(b, a);
}

/*
 * Puts what is due at one time in order. X come longest first, each behind all B that last
 * longer, which keep the order of the file, as that says which of them is in which. What flows
 * from there or to there is of the call that begins, as are counters that are not before it.
 *
 *     due:    [ before | begins | behind ]      apart:  [ X, sorted | B ]
 */
static void arrange(struct chrome_events *e)
{
    struct due *due = e->due, *x, *b;
    size_t n_x = 0, n_b = 0, n_before = 0, to = e->n_due;

    for (size_t i = 0; i < e->n_due; i++)
        n_x += due[i].mark.phase == 'X' && !due[i].is_pair;
    if (n_x == 0)
        return;
    mem_grow(&e->apart, &e->apart_cap, e->n_due);
    while (due[n_before].mark.phase == 'C')
        n_before++;
    x = e->apart;
    b = x + n_x;
    n_x = 0;
    for (size_t i = n_before; i < e->n_due; i++) {
        if (due[i].is_pair)
            b[n_b++] = due[i];
        else if (due[i].mark.phase == 'X')
            x[n_x++] = due[i];
    }
    for (size_t i = e->n_due; i-- > n_before;)
        if (!due[i].is_pair && due[i].mark.phase != 'X')
            due[--to] = due[i];
    qsort(x, n_x, sizeof *x, outermost_first);
    while (n_x > 0) {
        n_x--;
        for (; n_b > 0 && !is_around(&b[n_b - 1], &x[n_x]); n_b--)
            due[--to] = b[n_b - 1];
        due[--to] = x[n_x];
    }
    while (n_b > 0)
        due[--to] = b[--n_b];
}

/* A call that the thread is given while autograd is at work for it. */
static void take_wait(struct chrome_events *e)
{
    const struct backward_span *wait = &e->backward->waits.span[e->next_wait++];

    *mem_push(&e->due, &e->n_due, &e->due_cap) =
        (struct due){.mark = {.time_ns = wait->begin_ns,
                              .end_ns = wait->end_ns,
                              .ref = e->backward->region,
                              .link = MARKS_NO_LINK,
                              .args = KEPT_ARGS_NONE,
                              .phase = 'X'},
                     .end_args = KEPT_ARGS_NONE,
                     .is_wait = true};
}

/* Returns false when there is nothing any more. */
static bool fill_due(struct chrome_events *e, struct quality *quality)
{
    int64_t time_ns, wait_ns;
    bool is_read;

    e->at = e->n_due = 0;
    while (e->n_due == 0 && (e->ahead || e->next_wait < e->end_wait)) {
        wait_ns = e->next_wait < e->end_wait ? e->backward->waits.span[e->next_wait].begin_ns
                                             : INT64_MAX;
        time_ns = e->ahead && e->ahead->time_ns < wait_ns ? e->ahead->time_ns : wait_ns;
        is_read = e->ahead != NULL;
        for (; e->ahead && e->ahead->time_ns == time_ns;
             e->ahead = marks_cursor_next(e->cursor)) {
            mem_grow(&e->due, &e->due_cap, e->n_due + 1);
            e->n_due += take_mark(e, e->ahead);
        }
        if (e->next_wait < e->end_wait && wait_ns == time_ns)
            take_wait(e);
        quality->n[QUALITY_truncated] +=
            is_read && e->ahead == NULL && marks_cursor_is_broken(e->cursor);
    }
    if (e->n_due > 1)
        arrange(e);
    return e->n_due > 0;
}

/* -------------------------------------------------------------------------- events */

static void push_flow(const struct chrome_events *e, const struct mark *mark,
                      struct event_batch *batch, struct quality *quality)
{
    const struct chrome_flow *flow = &e->trace->flow[mark->ref];
    uint32_t other = mark->phase == 's' ? flow->to : flow->from;
    uint32_t self = mark->phase == 's' ? flow->from : flow->to;

    if (e->places->is_by_part) {
        quality->n[QUALITY_ignored_event]++;
        return;
    }
    *event_batch_message(batch, (uint64_t)mark->time_ns) = (struct message){
        .begin_ns = (uint64_t)mark->time_ns,
        .match = MESSAGE_UNMATCHED,
        .peer = e->places->rank_of[other == CHROME_NOWHERE ? self : other],
        .tag = mark->ref,
        .order = mark->order,
        .kind = mark->phase == 's' ? MESSAGE_SEND : MESSAGE_RECV,
    };
}

/* What a call from begin_ns on takes part in, at time_ns. */
static void push_link(const struct link *link, uint32_t order, int64_t begin_ns,
                      int64_t time_ns, struct event_batch *batch)
{
    if (link->what == LINK_COLLECTIVE)
        *event_batch_collective(batch, (uint64_t)time_ns) = (struct collective){
            .begin_ns = (uint64_t)begin_ns,
            .sent_bytes = link->sent_bytes,
            .received_bytes = link->received_bytes,
            .comm = link->comm,
            .kind = link->kind,
            .root = NO_ROOT,
            .order = link->number,
            .instance = NO_INSTANCE,
        };
    else
        *event_batch_message(batch, (uint64_t)time_ns) = (struct message){
            .begin_ns = (uint64_t)begin_ns,
            .bytes = link->what == LINK_SEND ? link->sent_bytes : link->received_bytes,
            .match = MESSAGE_UNMATCHED,
            .peer = link->peer,
            .comm = link->comm,
            .tag = link->number,
            .order = order,
            .kind = link->what == LINK_SEND ? MESSAGE_SEND : MESSAGE_RECV,
        };
}

/* For so many more records. */
static void make_room(struct event_batch *batch, size_t n)
{
    mem_grow(&batch->event, &batch->event_cap, batch->n + n);
}

/* Room is made for them beside the records that may still come into the batch. */
static void push_args(const struct chrome_events *e, struct event_batch *batch, uint64_t args,
                      int64_t time_ns, size_t most)
{
    struct argument_value value;

    if (args == KEPT_ARGS_NONE)
        return;
    make_room(batch, CHROME_DETAILS + most);
    while (kept_args_next(&e->trace->args, &args, &value))
        *event_batch_argument(batch, (uint64_t)time_ns) = value;
}

/* Of B and E alone a thread says that they nest; X are of several recorders. */
static void count_cut(int64_t cut_ns, int64_t time_ns, bool are_pairs, struct quality *quality)
{
    quality->n[are_pairs ? QUALITY_crossed_leave : QUALITY_crossed_call] +=
        cut_ns > ROUNDING_NS && cut_ns > time_ns / ROUNDING_SHARE;
}

/*
 * The next call begins before the one on top is over, and ends after it: one of them has to be
 * cut, and that is the one that loses less. Here it may be the one on top, which is over then.
 */
static void end_crossed(struct chrome_events *e, const struct due *next,
                        struct quality *quality)
{
    struct marked_call *top = &e->open[e->n_open - 1];
    int64_t overlap_ns = top->end_ns - next->mark.time_ns;

    if (overlap_ns > 0 && next->mark.end_ns > top->end_ns &&
        overlap_ns <= next->mark.end_ns - top->end_ns) {
        count_cut(overlap_ns, top->end_ns - top->begin_ns, top->is_pair && next->is_pair,
                  quality);
        top->end_ns = next->mark.time_ns;
        top->end_order = top->order;
    }
}

static void open_call(struct chrome_events *e, const struct due *due, struct quality *quality)
{
    const struct mark *mark = &due->mark;
    struct marked_call *call;
    const struct link *link =
        mark->link == MARKS_NO_LINK ? NULL : links_of(e->trace->links, mark->link);
    bool is_send = link && link->what == LINK_SEND;
    bool is_at_end = link && (link->what == LINK_RECEIVE || link->what == LINK_COLLECTIVE);

    call = mem_push(&e->open, &e->n_open, &e->cap);
    *call = (struct marked_call){.begin_ns = mark->time_ns,
                                 .end_ns = mark->end_ns,
                                 .region = mark->ref,
                                 .link = is_at_end ? mark->link : MARKS_NO_LINK,
                                 .order = mark->order,
                                 .end_order = due->end_order,
                                 .end_args = due->end_args,
                                 .is_pair = due->is_pair,
                                 .is_wait = due->is_wait};
    if (e->n_open > 1 && call->end_ns > call[-1].end_ns) {
        count_cut(call->end_ns - call[-1].end_ns, call->end_ns - call->begin_ns,
                  call->is_pair && call[-1].is_pair, quality);
        call->end_ns = call[-1].end_ns;
    }
    e->send = *mark;
    if (!is_send)
        e->send.link = MARKS_NO_LINK;
}

static void push_team(struct event_batch *batch, enum team_record_kind kind, int64_t time_ns,
                      uint32_t n_threads)
{
    *event_batch_team(batch, (uint64_t)time_ns) =
        (struct team_record){.kind = kind, .comm = NO_TEAM_COMM, .number = n_threads};
}

#define WAIT_RECORDS 2 /* of teams, that come with a begin or an end of a call that waits */

/* The end of the call on top, or what it took part in before that. */
static void push_end(struct chrome_events *e, struct event_batch *batch, size_t most)
{
    struct marked_call *call = &e->open[e->n_open - 1];

    if (call->link != MARKS_NO_LINK) {
        push_link(links_of(e->trace->links, call->link), call->order, call->begin_ns,
                  call->end_ns, batch);
        call->link = MARKS_NO_LINK;
        return;
    }
    push_args(e, batch, call->end_args, call->end_ns, most);
    if (call->is_wait)
        make_room(batch, WAIT_RECORDS + most);
    event_batch_push(batch, (uint64_t)call->end_ns, EVENT_LEAVE, call->region);
    if (call->is_wait) {
        push_team(batch, TEAM_END, call->end_ns, 0);
        push_team(batch, TEAM_JOIN, call->end_ns, 0);
    }
    e->n_open--;
}

/* One of no B, where that is known: who repairs the stack may make something of its name, if
 * nothing is open that knows its end. */
static void push_leave(const struct chrome_events *e, struct event_batch *batch,
                       const struct mark *mark, size_t most, struct quality *quality)
{
    if (e->n_ends > 0 && (mark->ref == ANY_REGION || e->n_open > 0)) {
        quality->n[QUALITY_unmatched_leave]++;
        return;
    }
    push_args(e, batch, mark->args, mark->time_ns, most);
    event_batch_push(batch, (uint64_t)mark->time_ns, EVENT_LEAVE, mark->ref);
}

static void push_due(struct chrome_events *e, struct event_batch *batch, size_t most,
                     struct quality *quality)
{
    const struct due *due = &e->due[e->at++];
    const struct mark *mark = &due->mark;

    switch (mark->phase) {
    case 's':
    case 'f':
        push_flow(e, mark, batch, quality);
        break;
    case 'C':
        *event_batch_counter(batch, (uint64_t)mark->time_ns) = e->trace->value[mark->ref];
        break;
    case 'E':
        push_leave(e, batch, mark, most, quality);
        break;
    default:
        if (due->is_wait) {
            make_room(batch, WAIT_RECORDS + most);
            push_team(batch, TEAM_FORK, mark->time_ns,
                      e->backward->waits.span[e->next_wait - 1].n_threads);
            push_team(batch, TEAM_BEGIN, mark->time_ns, 0);
        }
        event_batch_push(batch, (uint64_t)mark->time_ns, EVENT_ENTER, mark->ref);
        push_args(e, batch, mark->args, mark->time_ns, most);
        if (mark->phase == 'X')
            open_call(e, due, quality);
    }
}

/* Whether the call on top ends before what is next. What comes at its very end is within a B if
 * its E comes behind. */
static bool is_over(const struct marked_call *top, const struct due *next)
{
    if (next == NULL || top->end_ns != next->mark.time_ns)
        return next == NULL || top->end_ns < next->mark.time_ns;
    return !(top->is_pair && top->order < next->mark.order &&
             next->mark.order < top->end_order);
}

/* A part of autograd's that begins before what is next, which is at time_ns, or has ended. */
static bool push_part(struct chrome_events *e, struct event_batch *batch, int64_t time_ns)
{
    const struct backward_span *part = &e->backward->parts.span[e->next_part];

    if (e->next_part == e->end_part ||
        (e->is_in_part ? part->end_ns >= time_ns : part->begin_ns > time_ns))
        return false;
    if (e->is_in_part) {
        push_team(batch, TEAM_END, part->end_ns, 0);
        e->next_part++;
    } else {
        push_team(batch, TEAM_BEGIN, part->begin_ns, 0);
    }
    e->is_in_part = !e->is_in_part;
    return true;
}

size_t chrome_events_next(struct chrome_events *e, struct event_batch *batch, size_t most,
                          struct quality *quality)
{
    size_t n = 0;

    for (; n < most; n++) {
        const struct due *next;
        bool is_end;

        if (e->send.link != MARKS_NO_LINK) {
            push_link(links_of(e->trace->links, e->send.link), e->send.order, e->send.time_ns,
                      e->send.time_ns, batch);
            e->send.link = MARKS_NO_LINK;
            continue;
        }
        next = e->at < e->n_due || fill_due(e, quality) ? &e->due[e->at] : NULL;
        if (e->n_open > 0 && next && next->mark.phase == 'X')
            end_crossed(e, next, quality);
        is_end = e->n_open > 0 && is_over(&e->open[e->n_open - 1], next);
        if (push_part(e, batch,
                      is_end ? e->open[e->n_open - 1].end_ns
                      : next ? next->mark.time_ns
                             : INT64_MAX))
            continue;
        if (is_end)
            push_end(e, batch, most - n);
        else if (next)
            push_due(e, batch, most - n, quality);
        else
            break;
    }
    return n;
}
