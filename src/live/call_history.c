/*
 * The names of this step's calls follow from the number of the first one of a location; those
 * of the calls that were open before are kept with them. Whether a message is in a window is
 * told by the name of its call, as calls of a location are in the order of their names: so it
 * does not matter in which step they were entered.
 */
#include "live/call_history.h"

#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LOOKED_AT 4096 /* messages of a step, for one window */

void call_histories_init(struct call_histories *h, uint32_t window)
{
    *h = (struct call_histories){.window = window};
}

static void release_open(struct unfinished_call *open, size_t n)
{
    for (size_t i = 0; i < n; i++)
        around_release(&open[i].around);
    free(open);
}

void call_histories_release(struct call_histories *h)
{
    for (uint32_t l = 0; l < h->n; l++) {
        release_open(h->of[l].open, h->of[l].open_cap);
        release_open(h->of[l].next_open, h->of[l].next_cap);
        around_release(&h->of[l].tail);
    }
    free(h->of);
    free(h->n_entered);
    idmap_release(&h->groups);
    *h = (struct call_histories){0};
}

uint32_t call_histories_group(struct call_histories *h, uint32_t program, uint32_t rank)
{
    return idmap_add(&h->groups, key_pair(program, rank));
}

/* ----------------------------------------------------------------------------------- names */

static const struct entered *this_step(const struct call_histories *h,
                                       const struct ad_step *step, uint32_t location)
{
    return &h->of[location].recent[step->number % HISTORY_STEPS];
}

const struct entered *call_history_entered(const struct call_histories *h,
                                           const struct ad_step *step, uint32_t location,
                                           uint32_t row)
{
    return row < step->calls[location].n_carried ? &h->of[location].open[row].entered
                                                 : this_step(h, step, location);
}

struct prov_event call_history_event(const struct call_histories *h, const struct ad_step *step,
                                     uint32_t location, uint32_t row)
{
    uint32_t n_carried = step->calls[location].n_carried;

    if (row < n_carried)
        return h->of[location].open[row].event;
    return (struct prov_event){step->defs->location[location].rank, step->number,
                               this_step(h, step, location)->index + (row - n_carried)};
}

struct prov_event call_history_late_event(const struct call_histories *h,
                                          const struct ad_step *step,
                                          const struct verdict *call, struct entered *entered)
{
    const struct location *location = &step->defs->location[call->location];
    const struct call_history *own = &h->of[call->location];

    for (uint64_t back = 1; back < HISTORY_STEPS && back <= step->number; back++) {
        const struct entered *e = &own->recent[(step->number - back) % HISTORY_STEPS];

        if (e->step == step->number - back && call->id - e->first_id < UINT32_MAX / 2) {
            *entered = *e;
            return (struct prov_event){location->rank, e->step,
                                       e->index + (call->id - e->first_id)};
        }
    }
    *entered = (struct entered){.step = call->step};
    return (struct prov_event){location->rank, call->step,
                               ((uint64_t)location->thread + 1) << 32 | call->id};
}

static bool is_anomaly(const struct call_history *own, uint32_t row)
{
    size_t low = FIRST_NOT(i, 0, own->n_verdicts, own->first[i].row < row);

    return low < own->n_verdicts && own->first[low].row == row;
}

struct prov_message call_history_message(const struct ad_step *step, uint32_t location,
                                         const struct message *m, struct prov_event event)
{
    uint32_t rank = step->defs->location[location].rank;
    bool is_send = m->kind == MESSAGE_SEND;

    return (struct prov_message){.is_send = is_send,
                                 .call = event,
                                 .source = is_send ? rank : m->peer,
                                 .target = is_send ? m->peer : rank,
                                 .tag = m->tag,
                                 .bytes = m->bytes,
                                 .time_ns = message_record_ns(m)};
}

void call_history_call(const struct call_histories *h, const struct ad_step *step,
                       uint32_t location, uint32_t row, struct prov_call *out)
{
    const struct calls *c = &step->calls[location];
    bool is_open = c->inclusive_ns[row] == CALL_OPEN;

    *out = (struct prov_call){
        .event = call_history_event(h, step, location, row),
        .has_parent = c->caller[row] != NO_CALL,
        .is_anomaly = is_anomaly(&h->of[location], row),
        .fid = ad_function(step->ad, step->model[location][row]),
        .func = step->defs->region[c->region[row]].name,
        .enter_ns = c->enter_ns[row],
        .leave_ns = is_open ? 0 : c->enter_ns[row] + c->inclusive_ns[row],
    };
    if (out->has_parent)
        out->parent = call_history_event(h, step, location, c->caller[row]);
}

/* -------------------------------------------------------------------------- around a call */

void around_release(struct around *a)
{
    free(a->call);
    free(a->message);
    *a = (struct around){0};
}

static void clear_around(struct around *a)
{
    a->n = a->centre = 0;
    a->n_messages = 0;
}

static void push_calls(struct around *a, const struct prov_call *call, size_t n)
{
    mem_grow(&a->call, &a->cap, a->n + n);
    if (n > 0)
        memcpy(a->call + a->n, call, n * sizeof *call);
    a->n += (uint32_t)n;
}

static void push_messages(struct around *a, const struct prov_message *message, size_t n)
{
    mem_grow(&a->message, &a->message_cap, a->n_messages + n);
    if (n > 0)
        memcpy(a->message + a->n_messages, message, n * sizeof *message);
    a->n_messages += n;
}

/* The same once more. */
static void around_copy(struct around *to, const struct around *from)
{
    clear_around(to);
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

static void push_row(struct around *a, const struct call_histories *h,
                     const struct ad_step *step, uint32_t location, uint32_t row)
{
    struct prov_call call;

    call_history_call(h, step, location, row, &call);
    push_calls(a, &call, 1);
}

/* ---------------------------------------------------------------- messages around a call */

static size_t messages_from(const struct calls *c, uint64_t time_ns)
{
    return FIRST_NOT(i, 0, c->n_messages, message_record_ns(&c->message[i]) < time_ns);
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
    struct prov_message message = call_history_message(step, location, m, event);

    push_messages(a, &message, 1);
}

/* The messages of this step in the calls of the window. */
static void add_messages(struct around *a, const struct call_histories *h,
                         const struct ad_step *step, uint32_t location)
{
    const struct calls *c = &step->calls[location];
    uint64_t end_ns = end_of(a);
    size_t first = a->n > 0 ? messages_from(c, a->call[0].enter_ns) : c->n_messages;

    for (size_t i = first;
         i < c->n_messages && i - first < MAX_LOOKED_AT &&
         a->n_messages < AROUND_MAX_MESSAGES && message_record_ns(&c->message[i]) <= end_ns;
         i++) {
        const struct message *m = &c->message[i];
        struct prov_event event;

        if (m->call == NO_CALL)
            continue;
        event = call_history_event(h, step, location, m->call);
        if (has_event(a, &event))
            push_message(a, step, location, m, event);
    }
}

/* ------------------------------------------------------------------- calls around a call */

/* Gives calls that were open, and are not any more, their ends. Both lists are in the order of
 * names. */
static void around_close(struct around *a, const struct call_histories *h,
                         const struct ad_step *step, uint32_t location)
{
    const struct call_history *own = &h->of[location];
    uint32_t row = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        if (a->call[i].leave_ns != 0)
            continue;
        while (row < own->n_open && event_before(&own->open[row].event, &a->call[i].event))
            row++;
        if (row < own->n_open && !event_before(&a->call[i].event, &own->open[row].event))
            call_history_call(h, step, location, row, &a->call[i]);
    }
}

void around_take(struct around *a, const struct call_histories *h, const struct ad_step *step,
                 uint32_t location, uint32_t row)
{
    const struct calls *c = &step->calls[location];
    const struct call_history *own = &h->of[location];
    uint32_t n_new, n_old, last;

    clear_around(a);
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
    /* Those that are known of the time before the step. */
    for (size_t i = 0; i < own->tail.n_messages; i++)
        if (has_event(a, &own->tail.message[i].call))
            push_messages(a, &own->tail.message[i], 1);
    add_messages(a, h, step, location);
}

void around_continue(struct around *a, const struct call_histories *h,
                     const struct ad_step *step, uint32_t location)
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

/* Moves on to the last calls of the location, of which there are at most as many as a window has
 * on one side. */
static void around_shift(struct around *tail, const struct call_histories *h,
                         const struct ad_step *step, uint32_t location)
{
    const struct calls *c = &step->calls[location];
    uint32_t n_new = c->n - c->n_carried < h->window ? c->n - c->n_carried : h->window;

    for (uint32_t row = c->n - n_new; row < c->n; row++)
        push_row(tail, h, step, location, row);
    drop_front(tail, tail->n > h->window ? tail->n - h->window : 0);
    add_messages(tail, h, step, location);
}

/* ------------------------------------------------------------------------------- beginning */

static void follow_locations(struct call_histories *h, const struct ad_step *step)
{
    mem_grow(&h->of, &h->cap, step->n_locations);
    for (; h->n < step->n_locations; h->n++) {
        const struct location *location = &step->defs->location[h->n];

        h->of[h->n] = (struct call_history){
            .group = call_histories_group(h, location->program, location->rank)};
    }
    mem_grow(&h->n_entered, &h->entered_cap, h->groups.n);
    memset(h->n_entered, 0, h->groups.n * sizeof *h->n_entered);
}

static void name_calls(struct call_histories *h, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    struct call_history *own = &h->of[l];

    own->recent[step->number % HISTORY_STEPS] =
        (struct entered){.step = step->number,
                         .begin_ns = step->begin_ns,
                         .end_ns = step->end_ns,
                         .index = h->n_entered[own->group],
                         .first_id = c->first_id};
    h->n_entered[own->group] += c->n - c->n_carried;
}

/* Verdicts are by location, then row, after those that came late. */
static void find_verdicts(struct call_histories *h, const struct ad_step *step)
{
    size_t i = 0;

    while (i < step->n_verdicts && step->verdict[i].row == NO_ROW)
        i++;
    for (uint32_t l = 0; l < h->n; l++) {
        size_t first = i;

        while (i < step->n_verdicts && step->verdict[i].location == l)
            i++;
        h->of[l].first = step->verdict + first;
        h->of[l].n_verdicts = i - first;
    }
}

void call_histories_begin(struct call_histories *h, const struct ad_step *step)
{
    follow_locations(h, step);
    find_verdicts(h, step);
    for (uint32_t l = 0; l < h->n; l++)
        name_calls(h, step, l);
    for (uint32_t l = 0; l < h->n; l++)
        around_close(&h->of[l].tail, h, step, l);
}

/* ------------------------------------------------------------------------------------- end */

static void *grow_zeroed(void *data, size_t *cap, size_t n, size_t width)
{
    size_t before = *cap;

    if (n > before) {
        data = mem_grow_slow(data, cap, n, width);
        memset((char *)data + before * width, 0, (*cap - before) * width);
    }
    return data;
}

/* A call that was entered in this step and is still open. */
static void keep_open(struct call_histories *h, const struct ad_step *step, uint32_t l,
                      uint32_t row, struct unfinished_call *next, bool has_room)
{
    next->entered = *this_step(h, step, l);
    next->event = call_history_event(h, step, l, row);
    if (has_room)
        around_take(&next->around, h, step, l, row);
    else
        next->around.n = 0;
}

/* What was open before the step and still is goes on: it is the first of the open calls. */
static void go_on(struct call_histories *h, const struct ad_step *step, uint32_t l, uint32_t n)
{
    struct call_history *own = &h->of[l];

    for (uint32_t i = 0; i < n; i++)
        if (own->open[i].around.n > 0)
            around_continue(&own->open[i].around, h, step, l);
    for (uint32_t i = 0; i < n; i++) {
        struct unfinished_call swapped = own->next_open[i];

        own->next_open[i] = own->open[i];
        own->open[i] = swapped;
    }
}

static void swap_lists(struct call_history *own, uint32_t n)
{
    struct unfinished_call *open = own->open;
    size_t cap = own->open_cap;

    own->open = own->next_open;
    own->open_cap = own->next_cap;
    own->next_open = open;
    own->next_cap = cap;
    own->n_open = n;
}

/* Row i of the next step is the i-th call that is open now. */
static void end_location(struct call_histories *h, const struct ad_step *step, uint32_t l)
{
    const struct calls *c = &step->calls[l];
    struct call_history *own = &h->of[l];
    uint32_t n = 0, i, row;

    for (row = c->top; row != NO_CALL; row = c->caller[row])
        n++;
    own->next_open = grow_zeroed(own->next_open, &own->next_cap, n, sizeof *own->open);
    for (row = c->top, i = n; row != NO_CALL && row >= c->n_carried; row = c->caller[row]) {
        i--;
        keep_open(h, step, l, row, &own->next_open[i], i < HISTORY_MAX_OPEN);
    }
    around_shift(&own->tail, h, step, l);
    go_on(h, step, l, i);
    swap_lists(own, n);
}

void call_histories_end(struct call_histories *h, const struct ad_step *step)
{
    for (uint32_t l = 0; l < h->n; l++)
        end_location(h, step, l);
}
