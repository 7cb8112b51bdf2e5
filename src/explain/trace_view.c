#include "explain/trace_view.h"

#include "base/mem.h"
#include "base/search.h"
#include "explain/device_wait.h"
#include "explain/unrecorded.h"

#include <stdatomic.h>
#include <stdlib.h>

#define MAX_STEPS 1024   /* from where a collective should be to where it is */
#define MAX_PENDING 64   /* collectives that go on at once on a location */
#define MAX_TOGETHER 64u /* calls that begin at the same time, of which one is looked for */

void trace_view_init(struct trace_view *view, const struct definitions *defs,
                     struct call_view *calls, const struct message *message)
{
    *view = (struct trace_view){
        .defs = defs, .n_locations = defs->n_locations, .calls = calls, .message = message};
    view->first_message = mem_alloc((size_t)view->n_locations + 1, sizeof(size_t));
    view->first_span = mem_alloc((size_t)view->n_locations + 1, sizeof(size_t));
    view->longest_send = mem_alloc(view->n_locations, sizeof *view->longest_send);
    view->unrecorded = mem_alloc(1, sizeof *view->unrecorded);
    view->device_typical = mem_alloc(view->n_locations, sizeof *view->device_typical);
    for (uint32_t l = 0; l < view->n_locations; l++) {
        view->first_message[l + 1] = view->first_message[l] + calls[l].n_messages;
        view->first_span[l + 1] = view->first_span[l] + calls[l].n_spans;
    }
}

void trace_view_release(struct trace_view *view)
{
    free(view->calls);
    free(view->first_message);
    free(view->first_span);
    free(view->longest_send);
    if (view->unrecorded)
        unrecorded_free(*view->unrecorded);
    free(view->unrecorded);
    for (uint32_t l = 0; view->device_typical && l < view->n_locations; l++)
        device_typical_free(view->device_typical[l]);
    free(view->device_typical);
    *view = (struct trace_view){0};
}

const struct call_view *trace_view_calls(const struct trace_view *view, uint32_t location)
{
    static const struct call_view none;

    return view->is_sound == NULL || view->is_sound(view, location) ? &view->calls[location]
                                                                    : &none;
}

void trace_view_passed(const struct trace_view *view)
{
    if (view->on_passed)
        view->on_passed(view);
}

uint64_t trace_view_typical_ns(const struct trace_view *view, uint32_t location, uint32_t row)
{
    return view->typical_ns ? view->typical_ns(view, location, row)
                            : device_typical_ns(view, (struct device_operation){location, row});
}

uint32_t trace_view_location_of(const struct trace_view *view, size_t message)
{
    return (uint32_t)interval_of_size(view->first_message, view->n_locations, message);
}

const struct message *trace_view_other_end(const struct trace_view *view,
                                           const struct message *m, uint32_t *location)
{
    if (view->other_end)
        return view->other_end(view, m, location);
    if (m->match >= view->first_message[view->n_locations])
        return NULL;
    *location = trace_view_location_of(view, m->match);
    return &view->message[m->match];
}

static uint64_t find_longest_send(const struct call_view *calls)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < calls->n_messages; i++) {
        const struct message *m = &calls->message[i];

        if (m->kind == MESSAGE_SEND && m->end_ns > m->begin_ns &&
            m->end_ns - m->begin_ns > longest)
            longest = m->end_ns - m->begin_ns;
    }
    return longest;
}

uint64_t trace_view_longest_send(const struct trace_view *view, uint32_t location,
                                 size_t n_spared)
{
    struct longest_send *of = &view->longest_send[location];
    const struct call_view *calls = &view->calls[location];
    uint64_t known = atomic_load_explicit(&of->ns, memory_order_relaxed);

    if (known > 0)
        return known - 1;
    if (atomic_fetch_add_explicit(&of->n_spared, n_spared, memory_order_relaxed) + n_spared <
        calls->n_messages)
        return UINT64_MAX;
    known = find_longest_send(calls) + 1;
    atomic_store_explicit(&of->ns, known, memory_order_relaxed);
    return known - 1;
}

uint64_t calls_own_ns(const struct call_view *calls, uint32_t row)
{
    uint32_t end = row + calls->subtree_len[row];
    uint64_t own = calls->inclusive_ns[row];

    for (uint32_t i = row + 1; i < end; i += calls->subtree_len[i])
        own -= calls->inclusive_ns[i];
    return own;
}

uint32_t calls_until(const struct call_view *calls, uint64_t time_ns)
{
    return (uint32_t)upper_bound_u64(calls->enter_ns, calls->n, time_ns);
}

/* The rows of a depth are in order; what encloses a row is the last of its depth before it. */
uint32_t calls_ancestor(const struct call_view *calls, uint32_t row, uint16_t depth)
{
    const uint32_t *at_depth;
    uint64_t begin;
    size_t i;

    if (depth >= calls->n_depths) /* a damaged column */
        return row;
    begin = calls->depth_start[depth];
    at_depth = calls->by_depth + begin;
    i = interval_of_u32(at_depth, calls->depth_start[depth + 1] - begin, row);
    return at_depth[i] <= row ? at_depth[i] : row;
}

/* Depth by depth: what encloses a row of a damaged column may be the row itself. */
static uint32_t innermost_at(const struct call_view *calls, uint32_t row, uint64_t time_ns)
{
    for (uint16_t depth = calls->depth[row]; calls_leave(calls, row) < time_ns; depth--) {
        if (depth == 0)
            return NO_CALL;
        row = calls_ancestor(calls, row, (uint16_t)(depth - 1));
    }
    return row;
}

uint32_t calls_begun(const struct call_view *calls, uint64_t begin_ns, uint32_t region)
{
    uint32_t slack = region == ANY_REGION ? CALLS_BEGUN_ROUNDING_NS : 0;
    uint32_t n = calls_until(calls, begin_ns + slack), row = n - 1;

    if (n == 0)
        return NO_CALL;
    if (region == ANY_REGION)
        return innermost_at(calls, row, begin_ns);
    for (uint32_t i = 0; i < MAX_TOGETHER && calls->enter_ns[row] == begin_ns; i++, row--) {
        if (calls->region[row] == region)
            return row;
        if (row == 0)
            break;
    }
    return NO_CALL;
}

size_t calls_message_from(const struct call_view *calls, uint64_t time_ns)
{
    return FIRST_NOT(i, 0, calls->n_messages, message_record_ns(&calls->message[i]) < time_ns);
}

size_t calls_collective_from(const struct call_view *calls, uint64_t time_ns)
{
    return FIRST_NOT(i, 0, calls->n_collectives, calls->collective[i].end_ns < time_ns);
}

const struct collective *calls_collective_near(const struct call_view *calls,
                                               const struct collective *c, size_t row)
{
    size_t first = row > MAX_PENDING ? row - MAX_PENDING : 0;

    for (size_t i = first; i < calls->n_collectives && i < row + MAX_PENDING; i++)
        if (calls->collective[i].instance == c->instance &&
            calls->collective[i].comm == c->comm)
            return &calls->collective[i];
    return NULL;
}

const struct collective *calls_collective_part(const struct call_view *calls,
                                               const struct collective *c)
{
    size_t at = calls_collective_from(calls, c->end_ns);
    int way = 0;

    if (at == calls->n_collectives && at > 0)
        at--;
    for (int step = 0; step < MAX_STEPS && at < calls->n_collectives; step++) {
        const struct collective *other = &calls->collective[at];
        bool is_behind = other->order < c->order;

        if (other->instance == c->instance && other->comm == c->comm)
            return other;
        if (other->comm == c->comm) {
            if (way != 0 && (way > 0) != is_behind)
                /* numbers are those of calls, rows in the order of ends: some changed places */
                return calls_collective_near(calls, c, at);
            way = is_behind ? 1 : -1;
        }
        at += way == 0 ? -1 : way; /* wraps below 0, which ends it */
    }
    return NULL;
}

uint64_t calls_posted_ns(const struct call_view *calls, const struct message *m)
{
    bool is_blocking = m->kind == MESSAGE_SEND || m->begin_ns == m->end_ns;

    return is_blocking && m->call < calls->n ? calls->enter_ns[m->call] : m->begin_ns;
}
