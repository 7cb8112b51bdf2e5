/*
 * Whether a message is in a window is told by the name of its call, as calls of a location are
 * in the order of their names: so it does not matter in which step they were entered.
 */
#include "live/around.h"

#include "base/mem.h"
#include "live/history.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOKED_AT 4096 /* messages of a step, for one window */

void around_release(struct around *a)
{
    free(a->call);
    free(a->message);
    *a = (struct around){0};
}

static void clear(struct around *a)
{
    a->n = a->centre = 0;
    a->n_messages = 0;
}

static void push_calls(struct around *a, const struct prov_call *call, size_t n)
{
    mem_grow(&a->call, &a->cap, a->n + n, sizeof *a->call);
    if (n > 0)
        memcpy(a->call + a->n, call, n * sizeof *call);
    a->n += (uint32_t)n;
}

static void push_messages(struct around *a, const struct prov_message *message, size_t n)
{
    mem_grow(&a->message, &a->message_cap, a->n_messages + n, sizeof *a->message);
    if (n > 0)
        memcpy(a->message + a->n_messages, message, n * sizeof *message);
    a->n_messages += n;
}

void around_copy(struct around *to, const struct around *from)
{
    clear(to);
    push_calls(to, from->call, from->n);
    push_messages(to, from->message, from->n_messages);
    to->centre = from->centre;
}

bool around_is_full(const struct around *a, uint32_t window)
{
    return a->n - a->centre > window;
}

struct prov_window around_window(const struct around *a)
{
    return (struct prov_window){
        .call = a->call, .n_calls = a->n, .message = a->message, .n_messages = a->n_messages};
}

static void push_row(struct around *a, const struct histories *h, const struct ad_step *step,
                     uint32_t location, uint32_t row)
{
    struct prov_call call;

    history_call(h, step, location, row, &call);
    push_calls(a, &call, 1);
}

/* ------------------------------------------------------------------------------- messages */

static size_t messages_from(const struct calls *c, uint64_t time_ns)
{
    size_t low = 0, high = c->n_messages;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (message_record_ns(&c->message[middle]) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* When all calls of the window are over; never, while one is open. */
static uint64_t end_of(const struct around *a)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->call[i].leave_ns == 0)
            return UINT64_MAX;
        if (a->call[i].leave_ns > end)
            end = a->call[i].leave_ns;
    }
    return end;
}

static bool has_event(const struct around *a, const struct prov_event *e)
{
    return a->n > 0 && !event_before(e, &a->call[0].event) &&
           !event_before(&a->call[a->n - 1].event, e);
}

static void push_message(struct around *a, const struct ad_step *step, uint32_t location,
                         const struct message *m, struct prov_event event)
{
    struct prov_message message = history_message(step, location, m, event);

    push_messages(a, &message, 1);
}

/* The messages of this step in the calls of the window. */
static void add_messages(struct around *a, const struct histories *h,
                         const struct ad_step *step, uint32_t location)
{
    const struct calls *c = &step->calls[location];
    uint64_t end_ns = end_of(a);
    size_t first = a->n > 0 ? messages_from(c, a->call[0].enter_ns) : c->n_messages;

    for (size_t i = first;
         i < c->n_messages && i - first < MOST_LOOKED_AT &&
         a->n_messages < AROUND_MOST_MESSAGES && message_record_ns(&c->message[i]) <= end_ns;
         i++) {
        const struct message *m = &c->message[i];
        struct prov_event event;

        if (m->call == NO_CALL)
            continue;
        event = history_event(h, step, location, m->call);
        if (has_event(a, &event))
            push_message(a, step, location, m, event);
    }
}

/* Those that are known of the time before the step. */
static void add_old_messages(struct around *a, const struct around *tail)
{
    for (size_t i = 0; i < tail->n_messages; i++)
        if (has_event(a, &tail->message[i].call))
            push_messages(a, &tail->message[i], 1);
}

/* ---------------------------------------------------------------------------------- calls */

/* Both lists are in the order of names. */
void around_close(struct around *a, const struct histories *h, const struct ad_step *step,
                  uint32_t location)
{
    const struct history *own = &h->of[location];
    uint32_t row = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->call[i].leave_ns != 0)
            continue;
        while (row < own->n_open && event_before(&own->open[row].event, &a->call[i].event))
            row++;
        if (row < own->n_open && !event_before(&a->call[i].event, &own->open[row].event))
            history_call(h, step, location, row, &a->call[i]);
    }
}

void around_take(struct around *a, const struct histories *h, const struct ad_step *step,
                 uint32_t location, uint32_t row)
{
    const struct calls *c = &step->calls[location];
    const struct history *own = &h->of[location];
    uint32_t n_new, n_old, last;

    clear(a);
    if (row < c->n_carried && own->open[row].around.n > 0) {
        around_copy(a, &own->open[row].around);
        around_continue(a, h, step, location);
        return;
    }
    if (row < c->n_carried) {
        push_row(a, h, step, location, row);
        around_continue(a, h, step, location);
        return;
    }
    n_new = row - c->n_carried < h->window ? row - c->n_carried : h->window;
    n_old = h->window - n_new < own->tail.n ? h->window - n_new : own->tail.n;
    push_calls(a, own->tail.call + (own->tail.n - n_old), n_old);
    a->centre = n_old + n_new;
    last = c->n - row > h->window ? row + h->window : c->n - 1;
    for (uint32_t i = row - n_new; i <= last; i++)
        push_row(a, h, step, location, i);
    add_old_messages(a, &own->tail);
    add_messages(a, h, step, location);
}

void around_continue(struct around *a, const struct histories *h, const struct ad_step *step,
                     uint32_t location)
{
    const struct calls *c = &step->calls[location];

    around_close(a, h, step, location);
    for (uint32_t row = c->n_carried; row < c->n && !around_is_full(a, h->window); row++)
        push_row(a, h, step, location, row);
    add_messages(a, h, step, location);
}

static void drop_front(struct around *a, uint32_t n)
{
    size_t n_gone = 0;

    mem_to_front(a->call, n, a->n - n, sizeof *a->call);
    a->n -= n;
    while (n_gone < a->n_messages &&
           (a->n == 0 || event_before(&a->message[n_gone].call, &a->call[0].event)))
        n_gone++;
    mem_to_front(a->message, n_gone, a->n_messages - n_gone, sizeof *a->message);
    a->n_messages -= n_gone;
}

void around_shift(struct around *tail, const struct histories *h, const struct ad_step *step,
                  uint32_t location)
{
    const struct calls *c = &step->calls[location];
    uint32_t n_new = c->n - c->n_carried < h->window ? c->n - c->n_carried : h->window;

    for (uint32_t row = c->n - n_new; row < c->n; row++)
        push_row(tail, h, step, location, row);
    drop_front(tail, tail->n > h->window ? tail->n - h->window : 0);
    add_messages(tail, h, step, location);
}
