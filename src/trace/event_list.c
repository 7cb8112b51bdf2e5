/* Details are copied in the order of the events that refer to them. */
#include "trace/event_list.h"

#include "trace/error_bounds.h"

#include "base/mem.h"

void event_list_release(struct event_list *list)
{
    event_batch_release(&list->all);
}

void event_list_clear(struct event_list *list)
{
    struct event_batch *all = &list->all;

    all->n = all->n_messages = all->n_collectives = all->n_counters = 0;
    all->n_teams = all->n_estimates = 0;
}

static void make_room(struct event_list *list)
{
    mem_grow(&list->all.event, &list->all.event_cap, list->all.n + 1);
}

void event_list_push(struct event_list *list, uint64_t time_ns, enum event_kind kind,
                     uint32_t ref)
{
    make_room(list);
    event_batch_push(&list->all, time_ns, kind, ref);
}

struct message *event_list_message(struct event_list *list, uint64_t time_ns)
{
    make_room(list);
    return event_batch_message(&list->all, time_ns);
}

struct collective *event_list_collective(struct event_list *list, uint64_t time_ns)
{
    make_room(list);
    return event_batch_collective(&list->all, time_ns);
}

struct counter_value *event_list_counter(struct event_list *list, uint64_t time_ns)
{
    make_room(list);
    return event_batch_counter(&list->all, time_ns);
}

struct team_record *event_list_team(struct event_list *list, uint64_t time_ns)
{
    make_room(list);
    return event_batch_team(&list->all, time_ns);
}

struct time_estimate *event_list_estimate(struct event_list *list, uint64_t time_ns)
{
    make_room(list);
    return event_batch_estimate(&list->all, time_ns);
}

static void add_estimate(struct event_batch *batch, uint64_t time_ns,
                         const struct time_estimate *estimate)
{
    *event_batch_estimate(batch, time_ns) = *estimate;
    batch->error_bounds.n_off[error_bounds_bin(estimate->off_ns)]++;
}

size_t event_cursor_next(struct event_cursor *cursor, struct event_batch *batch, size_t most)
{
    const struct event_batch *all = &cursor->list->all;
    size_t n = all->n - cursor->event < most ? all->n - cursor->event : most;

    for (size_t i = 0; i < n; i++) {
        const struct event *event = &all->event[cursor->event++];

        if (event->kind == EVENT_MESSAGE)
            *event_batch_message(batch, event->time_ns) = all->message[event->ref];
        else if (event->kind == EVENT_COLLECTIVE)
            *event_batch_collective(batch, event->time_ns) = all->collective[event->ref];
        else if (event->kind == EVENT_COUNTER)
            *event_batch_counter(batch, event->time_ns) = all->counter[event->ref];
        else if (event->kind == EVENT_TEAM)
            *event_batch_team(batch, event->time_ns) = all->team[event->ref];
        else if (event->kind == EVENT_ESTIMATE)
            add_estimate(batch, event->time_ns, &all->estimate[event->ref]);
        else
            batch->event[batch->n++] = *event;
    }
    return n;
}
