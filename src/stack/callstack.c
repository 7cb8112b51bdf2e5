/*
 * The loop over the events touches the columns' ends and the top of the stack only; everything
 * unusual is in functions of its own that the compiler keeps out of it.
 */
#include "stack/callstack.h"

#include "base/mem.h"
#include "stack/repair.h"
#include "trace/monotone.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ spans */

/* Rows are numbered in order of time, so what a thread began in a span are rows that follow
 * each other, whatever repairs make of who called whom. */

/* The spans of a location that are open, innermost last. */
struct open_spans {
    uint32_t *open; /* [n] */
    size_t n, cap;
};

static const struct {
    uint32_t kind;
    bool is_begin, is_end;
} meaning[] = {
    [TEAM_FORK] = {SPAN_FORK, true, false},
    [TEAM_JOIN] = {SPAN_FORK, false, true},
    [TEAM_BEGIN] = {SPAN_MEMBER, true, false},
    [TEAM_END] = {SPAN_MEMBER, false, true},
    [TEAM_CREATE] = {SPAN_CREATE, true, true},
    [TEAM_THREAD_BEGIN] = {SPAN_THREAD, true, false},
    [TEAM_THREAD_END] = {SPAN_THREAD, false, true},
    [TEAM_WAIT] = {SPAN_WAIT, true, true},
};

static void end_span(struct calls *calls, uint32_t i, uint64_t time_ns)
{
    struct team_span *span = &calls->span[i];

    span->end_ns = time_ns > span->begin_ns ? time_ns : span->begin_ns;
    span->n_rows = calls->n - span->first_row;
}

/* The next record; `call` is the innermost open call. O(open spans). */
static void spans_take(struct open_spans *open, struct calls *calls,
                       const struct team_record *record, uint64_t time_ns, uint32_t call)
{
    uint32_t kind = meaning[record->kind].kind;

    if (meaning[record->kind].is_begin) {
        mem_grow(&calls->span, &calls->span_cap, calls->n_spans + 1);
        *mem_push(&open->open, &open->n, &open->cap) = (uint32_t)calls->n_spans;
        calls->span[calls->n_spans++] = (struct team_span){.begin_ns = time_ns,
                                                           .call = call,
                                                           .kind = kind,
                                                           .team = NO_TEAM,
                                                           .comm = record->comm,
                                                           .number = record->number,
                                                           .first_row = calls->n};
    }
    if (meaning[record->kind].is_end) { /* the innermost, and what is still open inside it */
        size_t at = open->n;

        while (at > 0 && calls->span[open->open[at - 1]].kind != kind)
            at--;
        while (at > 0 && open->n >= at)
            end_span(calls, open->open[--open->n], time_ns);
    }
}

static void add_barriers(struct calls *calls, const struct definitions *defs, size_t i)
{
    struct team_span *span = &calls->span[i];
    uint32_t row = span->first_row, end = row + span->n_rows;
    size_t inside = i + 1;

    while (row < end) {
        /* the next member's span that has calls and begins here or later */
        while (inside < calls->n_spans &&
               (calls->span[inside].kind != SPAN_MEMBER || calls->span[inside].n_rows == 0 ||
                calls->span[inside].first_row < row))
            inside++;
        if (inside < calls->n_spans && calls->span[inside].first_row == row) {
            row += calls->span[inside].n_rows;
            continue;
        }
        if (defs->region[calls->region[row]].is_barrier) {
            *mem_push(&calls->barrier, &calls->n_barriers, &calls->barrier_cap) = row;
        }
        row++;
    }
    span->n_barriers = (uint32_t)calls->n_barriers - span->first_barrier;
}

void spans_find_barriers(struct calls *calls, const struct definitions *defs)
{
    for (size_t i = 0; i < calls->n_spans; i++) {
        calls->span[i].first_barrier = (uint32_t)calls->n_barriers;
        if (calls->span[i].kind == SPAN_MEMBER)
            add_barriers(calls, defs, i);
    }
}

/* ------------------------------------------------------------------------------------ calls */

#define MAX_CALLS (UINT32_MAX - 1) /* rows of one location */
#define LONGEST_SEARCH 4096        /* how deep a leave looks for its call */

/* The poll that was entered, or left, last, with nothing recorded since it was entered. */
struct poll {
    uint32_t row;    /* NO_CALL: none */
    uint32_t region; /* once it is left; ANY_REGION: it is open */
    uint64_t left_ns;
    uint64_t apart_ns; /* between its parts, where that was no moment */
};

static const struct poll no_poll = {.row = NO_CALL, .region = ANY_REGION};

struct callstack {
    struct open_call *open; /* [n_open] */
    size_t n_open, cap;
    uint64_t n_hidden; /* calls open that are too deep, or too many, to be stored */
    uint32_t n_regions;
    bool *is_poll; /* [n_polls] regions; NULL: none is */
    size_t n_polls, poll_cap;
    struct poll poll;
    uint32_t *cut; /* [n_cut] rows, of this step */
    size_t n_cut, cut_cap;
    bool is_moved; /* calls of this step were put elsewhere by a repair */
    struct calls *calls;
    struct quality *quality;
    struct repair repair;
    struct open_spans spans;
};

struct callstack *callstack_new(void)
{
    return mem_alloc(1, sizeof(struct callstack));
}

void callstack_free(struct callstack *stack)
{
    if (stack == NULL)
        return;
    free(stack->open);
    free(stack->is_poll);
    free(stack->cut);
    repair_release(&stack->repair);
    free(stack->spans.open);
    free(stack);
}

void callstack_begin(struct callstack *stack, struct calls *calls, struct quality *quality)
{
    stack->n_open = 0;
    stack->n_hidden = 0;
    stack->n_cut = 0;
    stack->calls = calls;
    stack->quality = quality;
    stack->n_regions = ANY_REGION;
    stack->poll = no_poll;
    stack->is_moved = false;
    repair_clear(&stack->repair);
    stack->spans.n = 0;
    calls_clear(calls);
}

void callstack_move(struct callstack *stack, struct calls *calls)
{
    stack->calls = calls;
}

void callstack_regions(struct callstack *stack, uint32_t n)
{
    stack->n_regions = n;
}

void callstack_polls(struct callstack *stack, const struct definitions *defs)
{
    bool is_any = stack->is_poll != NULL;
    size_t n = defs->names.n;

    for (size_t r = stack->n_polls; r < n && !is_any; r++)
        is_any = region_is_poll(&defs->region[r]);
    if (is_any) {
        size_t from = stack->is_poll ? stack->n_polls : 0;

        mem_grow(&stack->is_poll, &stack->poll_cap, n);
        for (size_t r = from; r < n; r++)
            stack->is_poll[r] = region_is_poll(&defs->region[r]);
    }
    stack->n_polls = n;
}

static uint32_t top_row(const struct callstack *stack)
{
    return stack->n_open ? stack->open[stack->n_open - 1].row : NO_CALL;
}

/* A call is over. Time that runs backwards costs the calls that it is seen in, and no others.
 */
static inline void set_exclusive(uint64_t *exclusive_ns, uint32_t caller, uint32_t row,
                                 uint64_t inclusive)
{
    int64_t own = (int64_t)(exclusive_ns[row] + inclusive);

    exclusive_ns[row] = own < 0 ? 0 : (uint64_t)own;
    if (caller != NO_CALL)
        exclusive_ns[caller] -= inclusive;
}

static void close_top(struct callstack *stack, uint64_t time_ns)
{
    struct calls *calls = stack->calls;
    uint32_t row = stack->open[--stack->n_open].row;
    bool is_backwards = time_before(time_ns, calls->enter_ns[row]);

    stack->quality->n[QUALITY_time_backwards] += is_backwards;
    calls->inclusive_ns[row] = is_backwards ? 0 : time_ns - calls->enter_ns[row];
    calls->subtree_len[row] = calls->n - row;
    if (calls->has_steps)
        set_exclusive(calls->exclusive_ns, calls->caller[row], row, calls->inclusive_ns[row]);
}

/* An enter of no region, for which there is no room, or that is inside such a one. */
static void hide_enter(struct callstack *stack, uint32_t region)
{
    bool is_full = stack->calls->n >= MAX_CALLS;

    if (region >= stack->n_regions && stack->n_hidden == 0) {
        stack->quality->n[QUALITY_bad_value]++;
        return;
    }
    stack->quality->n[is_full ? QUALITY_too_many : QUALITY_too_deep]++;
    stack->n_hidden++;
}

/* The highest open call of this region, or SIZE_MAX. */
static size_t find_open(const struct callstack *stack, uint32_t region)
{
    size_t lowest = stack->n_open > LONGEST_SEARCH ? stack->n_open - LONGEST_SEARCH : 0;

    for (size_t i = stack->n_open; i-- > lowest;)
        if (stack->open[i].region == region)
            return i;
    return SIZE_MAX;
}

static void reopen(struct callstack *stack)
{
    struct repair *repair = &stack->repair;

    repair_reopen(repair, stack->calls);
    mem_grow(&stack->open, &stack->cap, stack->n_open + repair->n_ghosts);
    memcpy(stack->open + stack->n_open, repair->ghost,
           repair->n_ghosts * sizeof *repair->ghost);
    stack->n_open += repair->n_ghosts;
    repair->n_ghosts = 0;
    stack->quality->n[QUALITY_crossed_leave]++;
    stack->is_moved = true;
}

static void skip_leave(struct callstack *stack, uint64_t time_ns)
{
    struct open_call *top;

    stack->quality->n[QUALITY_unmatched_leave]++;
    if (stack->n_open == 0)
        return;
    top = &stack->open[stack->n_open - 1];
    if (top->hint_row != NO_CALL)
        return;
    top->hint_row = stack->calls->n;
    top->hint_ns = time_ns;
    top->is_left = false;
}

/* A leave that is not that of the call on top. */
static void leave_other(struct callstack *stack, uint64_t time_ns, uint32_t region)
{
    size_t at;

    if (stack->n_hidden > 0) {
        stack->n_hidden--;
        return;
    }
    at = region == ANY_REGION ? stack->n_open - 1 : find_open(stack, region);
    if (at == SIZE_MAX && repair_can_reopen(&stack->repair, top_row(stack), region)) {
        reopen(stack);
        at = find_open(stack, region);
    }
    if (at == SIZE_MAX) {
        skip_leave(stack, time_ns);
        return;
    }
    if (at + 1 < stack->n_open) { /* the calls above it lack their leaves */
        stack->open[at].hint_ns = time_ns;
        stack->open[at].hint_row = stack->calls->n;
        stack->open[at].is_left = true;
        stack->quality->n[QUALITY_missing_leave] +=
            repair_doubt(&stack->repair, stack->open, stack->n_open, at);
    }
    while (stack->n_open > at)
        close_top(stack, time_ns);
}

/* What was posted before its end, and in the trace; else the record of it has a damaged time.
 */
static uint64_t begun_ns(const struct calls *calls, uint64_t begin_ns, uint64_t end_ns)
{
    if (time_before(end_ns, begin_ns))
        return end_ns;
    return !calls->has_steps && time_before(begin_ns, calls->first_ns) ? calls->first_ns
                                                                       : begin_ns;
}

static void attach_message(struct callstack *stack, const struct message *message,
                           uint64_t time_ns)
{
    struct calls *calls = stack->calls;
    struct message *copy;

    copy = mem_push(&calls->message, &calls->n_messages, &calls->message_cap);
    *copy = *message;
    copy->call = top_row(stack);
    copy->end_ns = time_ns;
    if (copy->kind == MESSAGE_SEND)
        copy->begin_ns = time_ns;
    else
        copy->begin_ns = begun_ns(calls, copy->begin_ns, time_ns);
}

/* A non-blocking send is complete: one of this step, or of an earlier one. */
static void end_send(struct calls *calls, uint32_t which, uint64_t time_ns)
{
    size_t i = which - calls->n_messages_before;

    if (which < calls->n_messages_before) {
        *mem_push(&calls->sent, &calls->n_sent, &calls->sent_cap) =
            (struct late_sent){which, time_ns};
    } else if (i < calls->n_messages) {
        calls->message[i].end_ns = time_ns;
    }
}

static void attach_collective(struct callstack *stack, const struct collective *collective,
                              uint64_t time_ns)
{
    struct calls *calls = stack->calls;
    struct collective *copy;

    copy = mem_push(&calls->collective, &calls->n_collectives, &calls->collective_cap);
    *copy = *collective;
    copy->call = top_row(stack);
    copy->end_ns = time_ns;
    copy->begin_ns = begun_ns(calls, copy->begin_ns, time_ns);
}

static void attach_counter(struct callstack *stack, const struct counter_value *value,
                           uint64_t time_ns)
{
    struct calls *calls = stack->calls;

    if (!calls->has_steps) {
        struct detail_reading at = {.time_ns = time_ns, .row = calls->n};

        at.depth = (uint16_t)(stack->n_open < UINT16_MAX ? stack->n_open : UINT16_MAX);
        stack->quality->n[QUALITY_lost_detail] +=
            !details_reading(&calls->details, calls->paged, &at, value);
        return;
    }
    *mem_push(&calls->counter, &calls->n_counters, &calls->counter_cap) =
        (struct counter_reading){time_ns, top_row(stack), *value};
}

static void attach_argument(struct callstack *stack, const struct argument_value *value)
{
    struct calls *calls = stack->calls;

    if (!calls->has_steps)
        stack->quality->n[QUALITY_lost_detail] +=
            stack->n_open == 0 || stack->n_hidden > 0 ||
            !details_argument(&calls->details, calls->paged, top_row(stack), value);
}

static enum placed placed_of(const struct time_estimate *e)
{
    if (e->side == ESTIMATE_EITHER)
        return PLACED_AS_SAID;
    if (e->side == ESTIMATE_MIDDLE)
        return PLACED_MIDDLE;
    return (e->side == ESTIMATE_EARLIEST) == !e->is_leave ? PLACED_OWN : PLACED_OTHERS;
}

/* Where enters and leaves do not pair up it may be said of a call that is not there. */
static void attach_estimate(struct callstack *stack, const struct time_estimate *estimate)
{
    const struct open_call *top;

    if (stack->calls->has_steps || stack->n_open == 0 || stack->n_hidden > 0)
        return;
    top = &stack->open[stack->n_open - 1];
    if (top->region == estimate->region)
        calls_add_estimate(stack->calls, (struct call_estimate){
                                             top->row, estimate->is_leave != 0,
                                             (uint16_t)placed_of(estimate), estimate->off_ns});
}

/* Everything but enter and leave. */
static void attach(struct callstack *stack, const struct event_batch *batch,
                   const struct event *event)
{
    switch (event->kind) {
    case EVENT_MESSAGE:
        attach_message(stack, &batch->message[event->ref], event->time_ns);
        break;
    case EVENT_COLLECTIVE:
        attach_collective(stack, &batch->collective[event->ref], event->time_ns);
        break;
    case EVENT_SENT:
        end_send(stack->calls, event->ref, event->time_ns);
        break;
    case EVENT_COUNTER:
        attach_counter(stack, &batch->counter[event->ref], event->time_ns);
        break;
    case EVENT_TEAM:
        if (!stack->calls->has_steps)
            spans_take(&stack->spans, stack->calls, &batch->team[event->ref], event->time_ns,
                       top_row(stack));
        break;
    case EVENT_ESTIMATE:
        attach_estimate(stack, &batch->estimate[event->ref]);
        break;
    case EVENT_ARGUMENT:
        attach_argument(stack, &batch->argument[event->ref]);
        break;
    default:
        break;
    }
}

static inline bool is_poll(const struct callstack *stack, uint32_t region)
{
    return region < stack->n_polls && stack->is_poll[region];
}

/* Whether a poll follows at once, or so soon that little of the call would be something else. */
static inline bool is_soon(struct poll *poll, uint64_t apart_ns, uint64_t took_ns)
{
    if (apart_ns <= CALLSTACK_POLLS_APART_NS)
        return true;
    if (apart_ns > took_ns || /* or time runs backwards */
        poll->apart_ns + apart_ns > (took_ns - poll->apart_ns) / CALLSTACK_POLLS_SHARE)
        return false;
    poll->apart_ns += apart_ns;
    return true;
}

/* A call is entered, in `row` unless it is a poll that goes on; returns whether it is. */
static inline bool poll_goes_on(struct callstack *stack, struct poll *poll,
                                const struct event *enter, uint32_t row)
{
    struct calls *calls = stack->calls;

    if (enter->ref != poll->region ||
        !is_soon(poll, enter->time_ns - poll->left_ns, calls->inclusive_ns[poll->row])) {
        *poll = no_poll;
        if (is_poll(stack, enter->ref))
            poll->row = row;
        return false;
    }
    poll->region = ANY_REGION;
    stack->quality->n[QUALITY_polls]++;
    if (calls->has_steps) {
        if (calls->caller[poll->row] != NO_CALL)
            calls->exclusive_ns[calls->caller[poll->row]] += calls->inclusive_ns[poll->row];
        calls->exclusive_ns[poll->row] = 0;
    }
    return true;
}

/*
 * Takes events for as long as enters and leaves pair up, and no more than there is room for if
 * all were enters; returns how many. What changes is kept in local variables: the compiler
 * cannot know that storing into a column leaves the counters alone. has_steps and has_polls are
 * constants where this is used.
 */
static inline __attribute__((always_inline)) size_t
push_pairs(struct callstack *stack, const struct event_batch *batch, size_t begin, size_t n,
           const bool has_steps, const bool has_polls)
{
    const struct event *event = batch->event + begin;
    struct calls *calls = stack->calls;
    uint64_t *enter_ns = calls->enter_ns, *inclusive_ns = calls->inclusive_ns;
    uint64_t *exclusive_ns = calls->exclusive_ns;
    uint32_t *region = calls->region, *subtree_len = calls->subtree_len;
    uint32_t *caller = calls->caller;
    uint16_t *depth = calls->depth;
    struct open_call *open = stack->open + stack->n_open; /* the one after the top */
    size_t n_open = stack->n_open, room = DEEPEST_CALL - n_open, i;
    uint32_t n_regions = stack->n_regions, n_calls = calls->n, row;
    struct poll poll = stack->poll;

    room = room < MAX_CALLS - n_calls ? room : MAX_CALLS - n_calls;
    n = n < room ? n : room;
    for (i = 0; i < n; i++) {
        if (event[i].kind == EVENT_ENTER) {
            if (event[i].ref >= n_regions)
                break;
            if (has_polls && poll_goes_on(stack, &poll, &event[i], n_calls)) {
                *open++ = (struct open_call){poll.row, event[i].ref, .hint_row = NO_CALL};
                n_open++;
                continue;
            }
            row = n_calls++;
            enter_ns[row] = event[i].time_ns;
            region[row] = open->region = event[i].ref;
            if (has_steps) {
                caller[row] = n_open ? open[-1].row : NO_CALL;
                exclusive_ns[row] = 0;
            }
            depth[row] = (uint16_t)n_open++;
            open->row = row;
            open->hint_row = NO_CALL; /* hint_ns means nothing yet */
            open++;
        } else if (event[i].kind == EVENT_LEAVE) {
            if (n_open == 0 || open[-1].region != event[i].ref ||
                time_before(event[i].time_ns, enter_ns[open[-1].row]))
                break;
            n_open--;
            row = (--open)->row;
            inclusive_ns[row] = event[i].time_ns - enter_ns[row];
            subtree_len[row] = n_calls - row;
            if (has_steps)
                set_exclusive(exclusive_ns, caller[row], row, inclusive_ns[row]);
            if (has_polls)
                poll = poll.row == row
                           ? (struct poll){row, event[i].ref, event[i].time_ns, poll.apart_ns}
                           : no_poll;
        } else {
            stack->n_open = n_open;
            calls->n = n_calls;
            attach(stack, batch, &event[i]);
            poll = no_poll;
        }
    }
    stack->n_open = n_open;
    calls->n = n_calls;
    stack->poll = poll;
    return i;
}

/* An event that push_pairs has left. */
static void push_other(struct callstack *stack, const struct event_batch *batch,
                       const struct event *event)
{
    stack->poll = no_poll;
    if (event->kind == EVENT_ENTER)
        hide_enter(stack, event->ref);
    else if (event->kind == EVENT_LEAVE)
        leave_other(stack, event->time_ns, event->ref);
    else
        attach(stack, batch, event);
}

void callstack_push(struct callstack *stack, const struct event_batch *batch, size_t begin,
                    size_t end)
{
    struct calls *calls = stack->calls;

    if (begin == end)
        return;
    calls_reserve(calls, end - begin);
    if (calls->first_ns == UINT64_MAX &&
        calls->last_ns == 0) /* times may be before the start */
        calls->first_ns = batch->event[begin].time_ns;
    calls->last_ns = batch->event[end - 1].time_ns;
    for (size_t i = begin, n = 0; i < end; i += n) {
        mem_grow(&stack->open, &stack->cap, stack->n_open + end - i);
        if (stack->n_hidden)
            n = 0;
        else if (stack->is_poll)
            n = calls->has_steps ? push_pairs(stack, batch, i, end - i, true, true)
                                 : push_pairs(stack, batch, i, end - i, false, true);
        else
            n = calls->has_steps ? push_pairs(stack, batch, i, end - i, true, false)
                                 : push_pairs(stack, batch, i, end - i, false, false);
        if (n == 0) {
            push_other(stack, batch, &batch->event[i]);
            n = 1;
        }
    }
}

void callstack_cut(struct callstack *stack, uint32_t region, uint64_t time_ns)
{
    size_t at = find_open(stack, region);

    if (stack->n_hidden > 0) {
        stack->n_hidden--;
        return;
    }
    if (at == SIZE_MAX)
        return;
    mem_grow(&stack->cut, &stack->cut_cap, stack->n_cut + stack->n_open - at);
    while (stack->n_open > at) {
        stack->cut[stack->n_cut++] = top_row(stack);
        close_top(stack, time_ns);
    }
}

void callstack_end(struct callstack *stack)
{
    struct calls *calls = stack->calls;
    struct repair *repair = &stack->repair;

    stack->quality->n[QUALITY_missing_leave] += repair_confirm(repair);
    while (calls->n_open < stack->n_open && stack->open[calls->n_open].hint_row == NO_CALL)
        calls->n_open++;
    while (stack->n_open > 0) {
        const struct open_call *top = &stack->open[stack->n_open - 1];

        stack->quality->n[QUALITY_open_at_end] += top->hint_row == NO_CALL;
        repair_orphan(repair, top);
        close_top(stack, calls->last_ns);
    }
    stack->is_moved |= repair->n_orphans > 0;
    repair_settle(repair, calls);
    while (stack->spans.n > 0) /* no more records: they end with the last event */
        end_span(calls, stack->spans.open[--stack->spans.n], calls->last_ns);
    calls_sort_estimates(calls);
    details_sort(&calls->details, calls->paged, calls->n);
}

/* ----------------------------------------------------------------------------------- steps */

/* What repairs have moved about has other callers than when it was entered. */
static void set_callers_again(struct calls *calls)
{
    struct call_view view = calls_view(calls);

    calls_callers(&view, calls->caller);
    memset(calls->exclusive_ns + calls->n_carried, 0,
           (calls->n - calls->n_carried) * sizeof *calls->exclusive_ns);
    for (uint32_t row = 0; row < calls->n_carried; row++)
        calls->exclusive_ns[row] = calls->carried_ns[row];
    for (uint32_t row = calls->n; row-- > 0;)
        if (calls->inclusive_ns[row] != CALL_OPEN)
            set_exclusive(calls->exclusive_ns, calls->caller[row], row,
                          calls->inclusive_ns[row]);
}

/* A call that a crossed leave named is open for those inside it; without them it is over, and
 * what was entered since is its caller's. */
static void end_left_calls(struct callstack *stack)
{
    struct calls *calls = stack->calls;

    for (size_t i = stack->n_open; i-- > 0;) {
        struct open_call *call = &stack->open[i];
        bool is_around = i + 1 < stack->n_open && call[1].row < call->hint_row;

        if (!open_call_was_left(call) || is_around)
            continue;
        repair_orphan(&stack->repair, call);
        calls->inclusive_ns[call->row] = 0; /* repair_settle says how long it was */
        calls->subtree_len[call->row] = calls->n - call->row;
        stack->n_open--;
        memmove(call, call + 1, (stack->n_open - i) * sizeof *call);
    }
}

void callstack_step(struct callstack *stack)
{
    struct calls *calls = stack->calls;

    stack->quality->n[QUALITY_missing_leave] += repair_confirm(&stack->repair);
    end_left_calls(stack);
    for (size_t i = 0; i < stack->n_open; i++) {
        uint32_t row = stack->open[i].row;

        calls->inclusive_ns[row] = CALL_OPEN;
        calls->subtree_len[row] = calls->n - row;
    }
    if (stack->repair.n_orphans > 0 || stack->is_moved) {
        repair_settle(&stack->repair, calls);
        set_callers_again(calls);
    }
    stack->is_moved = false;
    for (size_t i = 0; i < stack->n_cut; i++)
        calls->inclusive_ns[stack->cut[i]] = CALL_OPEN;
    calls->top = top_row(stack);
}

void callstack_next(struct callstack *stack)
{
    struct calls *calls = stack->calls;
    uint32_t n = (uint32_t)stack->n_open;

    mem_grow(&calls->carried_id, &calls->carried_cap, n);
    mem_grow(&calls->carried_ns, &calls->carried_ns_cap, n);
    for (uint32_t kept = 0; kept < n; kept++) {
        struct open_call *open = &stack->open[kept];

        calls->enter_ns[kept] = calls->enter_ns[open->row];
        calls->exclusive_ns[kept] = calls->carried_ns[kept] = calls->exclusive_ns[open->row];
        calls->region[kept] = open->region;
        calls->depth[kept] = (uint16_t)kept;
        calls->caller[kept] = kept > 0 ? kept - 1 : NO_CALL;
        calls->carried_id[kept] = calls_id(calls, open->row);
        open->row = kept;
        open->hint_row = open->hint_row == NO_CALL ? NO_CALL : n;
    }
    stack->n_cut = 0;
    stack->poll = no_poll;
    calls->first_id += calls->n - calls->n_carried;
    calls->n = calls->n_carried = n;
    calls->n_messages_before += calls->n_messages;
    calls->n_messages = calls->n_collectives = calls->n_counters = calls->n_sent = 0;
}
