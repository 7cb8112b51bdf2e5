/* The stack is the chain of callers from the innermost open call. */
#include "live/live_calls.h"

#include "base/mem.h"

#include <stdlib.h>

void live_calls_init(struct live_calls *c)
{
    *c = (struct live_calls){.top = NO_CALL};
}

void live_calls_release(struct live_calls *c)
{
    free(c->enter_ns);
    free(c->inclusive_ns);
    free(c->exclusive_ns);
    free(c->region);
    free(c->caller);
    free(c->id);
    free(c->message);
    free(c->collective);
    free(c->counter);
    live_calls_init(c);
}

/* Room for n more rows, so that the loop over the events need not look. */
static void reserve(struct live_calls *c, size_t n)
{
    size_t cap = c->cap ? c->cap : 4096;

    if (c->n + n <= c->cap)
        return;
    while (cap < c->n + n)
        cap *= 2;
    c->enter_ns = mem_resize(c->enter_ns, cap, sizeof *c->enter_ns);
    c->inclusive_ns = mem_resize(c->inclusive_ns, cap, sizeof *c->inclusive_ns);
    c->exclusive_ns = mem_resize(c->exclusive_ns, cap, sizeof *c->exclusive_ns);
    c->region = mem_resize(c->region, cap, sizeof *c->region);
    c->caller = mem_resize(c->caller, cap, sizeof *c->caller);
    c->id = mem_resize(c->id, cap, sizeof *c->id);
    c->cap = cap;
}

static inline void enter(struct live_calls *c, uint32_t region, uint64_t time_ns,
                         struct quality *quality)
{
    uint32_t row = c->n;

    if (region >= c->n_regions) {
        quality->n[QUALITY_bad_value]++;
        return;
    }
    c->n++;

    c->enter_ns[row] = time_ns;
    c->inclusive_ns[row] = LIVE_OPEN;
    c->exclusive_ns[row] = 0; /* while it is open: minus the time of its children */
    c->region[row] = region;
    c->caller[row] = c->top;
    c->id[row] = c->next_id++;
    c->top = row;
}

/* Time that runs backwards costs the calls that it is seen in, and no others. */
static inline void close_top(struct live_calls *c, uint64_t time_ns, struct quality *quality)
{
    uint32_t row = c->top, caller = c->caller[row];
    uint64_t inclusive = time_ns - c->enter_ns[row];
    int64_t own;

    if (__builtin_expect((int64_t)inclusive < 0, 0)) {
        quality->n[QUALITY_time_backwards]++;
        inclusive = 0;
    }
    own = (int64_t)(c->exclusive_ns[row] + inclusive);
    c->inclusive_ns[row] = inclusive;
    c->exclusive_ns[row] = own < 0 ? 0 : (uint64_t)own;
    if (caller != NO_CALL)
        c->exclusive_ns[caller] -= inclusive;
    c->top = caller;
}

/* A leave for something else than the innermost call. */
static void leave_other(struct live_calls *c, uint32_t region, uint64_t time_ns,
                        struct quality *quality)
{
    uint32_t row = c->top;

    while (row != NO_CALL && region != ANY_REGION && c->region[row] != region)
        row = c->caller[row];
    if (row == NO_CALL) {
        quality->n[QUALITY_unmatched_leave]++;
        return;
    }
    while (c->top != row) {
        quality->n[QUALITY_missing_leave]++;
        close_top(c, time_ns, quality);
    }
    close_top(c, time_ns, quality);
}

static void add_message(struct live_calls *c, uint64_t time_ns, const struct message *message)
{
    struct message *copy;

    mem_grow(&c->message, &c->message_cap, c->n_messages + 1, sizeof *c->message);
    copy = &c->message[c->n_messages++];
    *copy = *message;
    copy->call = c->top;
    copy->end_ns = time_ns;
    if (copy->kind == MESSAGE_SEND || copy->begin_ns > time_ns)
        copy->begin_ns = time_ns;
}

/* A non-blocking send is complete; nobody asks any more if it was posted in an earlier step. */
static void end_send(struct live_calls *c, uint64_t time_ns, uint32_t which)
{
    size_t i = which - c->n_messages_before;

    if (which >= c->n_messages_before && i < c->n_messages)
        c->message[i].end_ns = time_ns;
}

static void add_collective(struct live_calls *c, uint64_t time_ns,
                           const struct collective *collective)
{
    struct collective *copy;

    mem_grow(&c->collective, &c->collective_cap, c->n_collectives + 1, sizeof *c->collective);
    copy = &c->collective[c->n_collectives++];
    *copy = *collective;
    copy->call = c->top;
    copy->end_ns = time_ns;
    if (copy->begin_ns > time_ns)
        copy->begin_ns = time_ns;
}

static void add_counter(struct live_calls *c, uint64_t time_ns,
                        const struct counter_value *value)
{
    mem_grow(&c->counter, &c->counter_cap, c->n_counters + 1, sizeof *c->counter);
    c->counter[c->n_counters++] = (struct live_counter){time_ns, c->top, *value};
}

/* Everything but enter and leave. */
static void add_other(struct live_calls *c, const struct event_batch *batch,
                      const struct event *event)
{
    if (event->kind == EVENT_MESSAGE)
        add_message(c, event->time_ns, &batch->message[event->ref]);
    else if (event->kind == EVENT_SENT)
        end_send(c, event->time_ns, event->ref);
    else if (event->kind == EVENT_COLLECTIVE)
        add_collective(c, event->time_ns, &batch->collective[event->ref]);
    else if (event->kind == EVENT_COUNTER)
        add_counter(c, event->time_ns, &batch->counter[event->ref]);
}

void live_calls_push(struct live_calls *c, const struct event_batch *batch, size_t begin,
                     size_t end, struct quality *quality)
{
    reserve(c, end - begin);
    for (size_t i = begin; i < end; i++) {
        const struct event *event = &batch->event[i];

        if (event->kind == EVENT_ENTER)
            enter(c, event->ref, event->time_ns, quality);
        else if (event->kind == EVENT_LEAVE && c->top != NO_CALL &&
                 c->region[c->top] == event->ref)
            close_top(c, event->time_ns, quality);
        else if (event->kind == EVENT_LEAVE)
            leave_other(c, event->ref, event->time_ns, quality);
        else
            add_other(c, batch, event);
    }
    if (end > begin)
        c->last_ns = batch->event[end - 1].time_ns;
}

void live_calls_finish(struct live_calls *c, struct quality *quality)
{
    while (c->top != NO_CALL) {
        quality->n[QUALITY_open_at_end]++;
        close_top(c, c->last_ns, quality);
    }
}

void live_calls_next_step(struct live_calls *c)
{
    uint32_t kept = 0;

    for (uint32_t row = 0; row < c->n; row++) {
        if (c->inclusive_ns[row] != LIVE_OPEN)
            continue;
        c->enter_ns[kept] = c->enter_ns[row];
        c->inclusive_ns[kept] = LIVE_OPEN;
        c->exclusive_ns[kept] = c->exclusive_ns[row];
        c->region[kept] = c->region[row];
        c->caller[kept] = kept > 0 ? kept - 1 : NO_CALL; /* open calls are one chain */
        c->id[kept] = c->id[row];
        kept++;
    }
    c->n = c->n_carried = kept;
    c->top = kept > 0 ? kept - 1 : NO_CALL;
    c->n_messages_before += c->n_messages;
    c->n_messages = 0;
    c->n_collectives = 0;
    c->n_counters = 0;
}
