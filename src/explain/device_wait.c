/* Locations of a rank are next to each other, dependencies in order of their locations and
 * times. */
#include "explain/device_wait.h"

#include <string.h>

#define MOST_STEPS 64 /* calls of a stream before a time, of which one is an operation */

static bool is_stream_of(const struct definitions *defs, uint32_t stream, uint32_t location)
{
    const struct location *s = &defs->location[stream], *l = &defs->location[location];

    return s->is_gpu && s->rank == l->rank && s->program == l->program;
}

static bool is_operation(const struct call_view *calls, uint32_t row)
{
    return calls->subtree_len[row] == 1;
}

/* The last operation of a stream that was over by half at a time, or NO_CALL. */
static uint32_t last_operation(const struct call_view *calls, uint64_t time_ns)
{
    uint32_t n = calls_until(calls, time_ns);

    for (uint32_t i = 0; i < MOST_STEPS && i < n; i++) {
        uint32_t row = n - 1 - i;

        if (is_operation(calls, row) &&
            calls->enter_ns[row] + calls->inclusive_ns[row] / 2 <= time_ns)
            return row;
    }
    return NO_CALL;
}

/* "cudaStreamSynchronize", "cuEventSynchronize": not all that the device does. */
static bool is_of_one_stream(const char *name)
{
    return strstr(name, "Stream") || strstr(name, "Event") || strstr(name, "emcpy") ||
           strstr(name, "Fence") || strstr(name, "signal");
}

static uint64_t end_of(const struct trace_view *view, struct device_operation o)
{
    return calls_leave(&view->calls[o.location], o.row);
}

size_t device_wait_operations(const struct trace_view *view, uint32_t location, uint32_t row,
                              struct device_operation operation[DEVICE_WAIT_MOST])
{
    const struct definitions *defs = view->defs;
    const struct call_view *calls = &view->calls[location];
    uint64_t leave = calls_leave(calls, row);
    uint32_t first = location;
    size_t n = 0;

    while (first > 0 && defs->location[first - 1].rank == defs->location[location].rank)
        first--;
    for (uint32_t l = first; l < view->n_locations && n < DEVICE_WAIT_MOST &&
                             defs->location[l].rank == defs->location[location].rank;
         l++) {
        struct device_operation o = {l, NO_CALL};

        if (is_stream_of(defs, l, location))
            o.row = last_operation(&view->calls[l], leave);
        if (o.row != NO_CALL)
            operation[n++] = o;
    }
    if (n < 2 || !is_of_one_stream(defs->region[calls->region[row]].name))
        return n;
    for (size_t i = 1; i < n; i++)
        if (end_of(view, operation[i]) > end_of(view, operation[0]))
            operation[0] = operation[i];
    return 1;
}

/* The first dependency of a location from a time on. */
static size_t dependency_from(const struct trace_view *view, uint32_t location,
                              uint64_t begin_ns)
{
    size_t low = 0, high = view->n_dependencies;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct dependency *d = &view->dependency[middle];

        if (d->location < location || (d->location == location && d->begin_ns < begin_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Until when the operation before kept a stream busy. */
static uint64_t busy_until(const struct call_view *calls, uint32_t row)
{
    for (uint32_t i = 1; i <= MOST_STEPS && i <= row; i++)
        if (is_operation(calls, row - i))
            return calls_leave(calls, row - i);
    return 0;
}

bool device_launch_of(const struct trace_view *view, struct device_operation operation,
                      uint32_t *location, uint32_t *row)
{
    const struct call_view *calls = &view->calls[operation.location];
    uint64_t begin = calls->enter_ns[operation.row];
    uint64_t from = begin > CALLS_BEGUN_ROUNDING_NS ? begin - CALLS_BEGUN_ROUNDING_NS : 0;

    for (size_t i = dependency_from(view, operation.location, from); i < view->n_dependencies;
         i++) {
        const struct dependency *d = &view->dependency[i];

        if (d->location != operation.location || d->begin_ns > begin)
            return false;
        if (d->kind != DEPENDENCY_BEGIN || d->on_location >= view->n_locations ||
            calls_begun(calls, d->begin_ns, d->region) != operation.row)
            continue;
        *location = d->on_location;
        *row = calls_begun(&view->calls[d->on_location], d->on_begin_ns, d->on_region);
        return *row != NO_CALL && busy_until(calls, operation.row) <= d->on_begin_ns;
    }
    return false;
}
