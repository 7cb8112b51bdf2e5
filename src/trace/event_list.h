/*
 * event_list -- events of one location in memory: all of them for sources that cannot be read
 * location by location, those to come next for others.
 */
#ifndef SNAG_TRACE_EVENT_LIST_H
#define SNAG_TRACE_EVENT_LIST_H

#include "trace/source.h"

struct event_list {
    struct event_batch all;
};

/* How far a reader has copied. */
struct event_cursor {
    const struct event_list *list;
    size_t event;
};

void event_list_release(struct event_list *list);

/* event_list_clear -- forget all events, keep the memory for the next ones. */
void event_list_clear(struct event_list *list);

/* event_list_push and the others -- append an event; the details are for the caller. */
void event_list_push(struct event_list *list, uint64_t time_ns, enum event_kind kind,
                     uint32_t ref);
struct message *event_list_message(struct event_list *list, uint64_t time_ns);
struct collective *event_list_collective(struct event_list *list, uint64_t time_ns);
struct counter_value *event_list_counter(struct event_list *list, uint64_t time_ns);
struct team_record *event_list_team(struct event_list *list, uint64_t time_ns);
struct time_estimate *event_list_estimate(struct event_list *list, uint64_t time_ns);

/* event_cursor_next -- copy at most `most` events to batch; returns how many, 0 at the end. */
size_t event_cursor_next(struct event_cursor *cursor, struct event_batch *batch, size_t most);

#endif
