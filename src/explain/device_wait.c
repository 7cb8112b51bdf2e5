/* A stream is walked back from a time, at most MAX_STREAM_STEPS calls for each operation. */
#include "explain/device_wait.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STREAM_STEPS 64 /* calls of a stream before a time, of which one is an operation */

/* Locations of a rank are next to each other, dependencies in order of their locations and
 * times. */

/* The first stream of a location's process from l on, or NO_LOCATION. */
static uint32_t stream_from(const struct trace_view *view, uint32_t location, uint32_t l)
{
    const struct location *of = &view->defs->location[location];

    for (; l < view->n_locations; l++) {
        const struct location *at = &view->defs->location[l];

        if (at->rank != of->rank)
            break;
        if (at->is_gpu && at->program == of->program)
            return l;
    }
    return NO_LOCATION;
}

static uint32_t first_stream(const struct trace_view *view, uint32_t location)
{
    return stream_from(
        view, location,
        definitions_find_location(view->defs, view->defs->location[location].rank));
}

bool device_is_operation(const struct trace_view *view, struct device_operation o)
{
    const struct call_view *calls = &view->calls[o.location];

    return calls->subtree_len[o.row] == 1 &&
           view->defs->region[calls->region[o.row]].kind != REGION_DEVICE;
}

/* The last operation among the first n calls of a stream that was over by half at a time. */
static uint32_t last_operation(const struct trace_view *view, uint32_t stream, uint32_t n,
                               uint64_t time_ns)
{
    const struct call_view *calls = &view->calls[stream];

    for (uint32_t i = 0; i < MAX_STREAM_STEPS && i < n; i++) {
        uint32_t row = n - 1 - i;

        if (device_is_operation(view, (struct device_operation){stream, row}) &&
            calls->enter_ns[row] + calls->inclusive_ns[row] / 2 <= time_ns)
            return row;
    }
    return NO_CALL;
}

/* ... of all that had begun by then. */
static uint32_t operation_until(const struct trace_view *view, uint32_t stream,
                                uint64_t time_ns)
{
    return last_operation(view, stream, calls_until(&view->calls[stream], time_ns), time_ns);
}

/* The operation before on the same stream, or NO_CALL. */
static uint32_t operation_before(const struct trace_view *view, struct device_operation o)
{
    return last_operation(view, o.location, o.row, UINT64_MAX);
}

uint32_t device_stream_after(const struct trace_view *view, uint32_t location, uint32_t stream)
{
    return stream == NO_LOCATION ? first_stream(view, location)
                                 : stream_from(view, location, stream + 1);
}

bool device_operation_before(const struct trace_view *view, struct device_operation operation,
                             struct device_operation *before)
{
    *before = (struct device_operation){operation.location, operation_before(view, operation)};
    return before->row != NO_CALL;
}

bool device_operation_until(const struct trace_view *view, uint32_t stream, uint64_t time_ns,
                            struct device_operation *last)
{
    *last = (struct device_operation){stream, operation_until(view, stream, time_ns)};
    return last->row != NO_CALL;
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

struct device_operation device_last(const struct trace_view *view,
                                    const struct device_operation *operation, size_t n)
{
    struct device_operation last = operation[0];

    for (size_t i = 1; i < n; i++)
        if (end_of(view, operation[i]) > end_of(view, last))
            last = operation[i];
    return last;
}

/*
 * Of n > 0 operations the one that a call for one stream waited for: which ended last of those that had ended when
 * the call did. What ended later is another stream's, unless clocks are off; by half of the call's time at most, of
 * what took long. If none had ended, the first to end.
 */
static struct device_operation one_of(const struct trace_view *view, uint64_t enter_ns,
                                      uint64_t leave_ns,
                                      const struct device_operation *operation, size_t n)
{
    uint64_t until_ns = leave_ns + (leave_ns - enter_ns) / 2;
    struct device_operation best = operation[0];

    for (size_t i = 1; i < n; i++) {
        uint64_t end_ns = end_of(view, operation[i]), best_ns = end_of(view, best);

        if (best_ns > until_ns ? end_ns < best_ns : end_ns > best_ns && end_ns <= until_ns)
            best = operation[i];
    }
    return best;
}

size_t device_wait_operations(const struct trace_view *view, uint32_t location, uint32_t row,
                              struct device_operation operation[DEVICE_WAIT_MAX_STREAMS])
{
    const struct call_view *calls = &view->calls[location];
    size_t n = 0;

    for (uint32_t l = first_stream(view, location);
         l != NO_LOCATION && n < DEVICE_WAIT_MAX_STREAMS;
         l = stream_from(view, location, l + 1)) {
        operation[n].location = l;
        operation[n].row = operation_until(view, l, calls_leave(calls, row));
        n += operation[n].row != NO_CALL;
    }
    if (n < 2 || !is_of_one_stream(view->defs->region[calls->region[row]].name))
        return n;
    operation[0] = one_of(view, calls->enter_ns[row], calls_leave(calls, row), operation, n);
    return 1;
}

/* Where an operation was launched, as the trace has it. */
static bool launch_of(const struct trace_view *view, struct device_operation operation,
                      uint32_t *location, uint32_t *row)
{
    const struct call_view *calls = &view->calls[operation.location];
    uint64_t begin = calls->enter_ns[operation.row];
    uint64_t from = begin > CALLS_BEGUN_ROUNDING_NS ? begin - CALLS_BEGUN_ROUNDING_NS : 0;
    const struct dependency *all = view->dependency;
    size_t first =
        FIRST_NOT(i, 0, view->n_dependencies,
                  all[i].location < operation.location ||
                      (all[i].location == operation.location && all[i].begin_ns < from));

    for (size_t i = first; i < view->n_dependencies; i++) {
        const struct dependency *d = &all[i];

        if (d->location != operation.location || d->begin_ns > begin)
            return false;
        if (d->kind != DEPENDENCY_BEGIN || d->on_location >= view->n_locations ||
            calls_begun(calls, d->begin_ns, d->region) != operation.row)
            continue;
        *location = d->on_location;
        *row = calls_begun(&view->calls[d->on_location], d->on_begin_ns, d->on_region);
        return *row != NO_CALL;
    }
    return false;
}

bool device_event_of(const struct trace_view *view, struct device_operation operation,
                     struct device_operation *on)
{
    uint64_t begin = view->calls[operation.location].enter_ns[operation.row];
    uint64_t from = begin > DEVICE_EVENT_NS ? begin - DEVICE_EVENT_NS : 0, last = 0;
    uint32_t before = operation_before(view, operation), location, row;

    /* it could not have begun before its own stream was ready for it, and it was launched */
    if (before != NO_CALL && calls_leave(&view->calls[operation.location], before) > from)
        from = calls_leave(&view->calls[operation.location], before);
    if (launch_of(view, operation, &location, &row) &&
        view->calls[location].enter_ns[row] > from)
        from = view->calls[location].enter_ns[row];
    for (uint32_t l = first_stream(view, operation.location); l != NO_LOCATION;
         l = stream_from(view, operation.location, l + 1)) {
        struct device_operation o = {l, NO_CALL};

        if (l != operation.location)
            o.row = operation_until(view, l, begin);
        if (o.row == NO_CALL || end_of(view, o) <= from || end_of(view, o) <= last ||
            end_of(view, o) > begin + CALLS_BEGUN_ROUNDING_NS)
            continue;
        last = end_of(view, o);
        *on = o;
    }
    return last > 0;
}

static uint64_t took_ns(const struct trace_view *view, struct device_operation o)
{
    return view->calls[o.location].inclusive_ns[o.row];
}

/* ---------------------------------------------------------------------- what is typical */

#define TYPICAL_MAX 65536u /* operations of a stream that are looked at */
#define TYPICAL_MIN 8u     /* of a name */
#define SLOW 0.25          /* over typical */

/* Operations of one name, ordered by name. */
struct typical_row {
    uint32_t region;
    uint64_t ns;
};

/* Of one stream. */
struct device_typical {
    struct typical_row *row; /* [n] */
    size_t n, cap;
};

static int by_name_and_time(const void *a, const void *b)
{
    const struct typical_row *p = a, *q = b;

    return ORDER(p->region, q->region) ?: ORDER(p->ns, q->ns);
}

/* The middle of each name's operations is what is kept of them. */
static struct device_typical *find_typical(const struct trace_view *view, uint32_t stream)
{
    const struct call_view *calls = trace_view_calls(view, stream);
    struct device_typical *typical = mem_alloc(1, sizeof *typical);
    uint32_t stride = calls->n / TYPICAL_MAX + 1;
    size_t end, n_kept = 0;

    for (uint32_t row = 0; row < calls->n; row += stride) {
        if (!device_is_operation(view, (struct device_operation){stream, row}))
            continue;
        *mem_push(&typical->row, &typical->n, &typical->cap) =
            (struct typical_row){calls->region[row], calls->inclusive_ns[row]};
    }
    if (typical->n > 0)
        qsort(typical->row, typical->n, sizeof *typical->row, by_name_and_time);
    for (size_t i = 0; i < typical->n; i = end) {
        for (end = i + 1; end < typical->n; end++)
            if (typical->row[end].region != typical->row[i].region)
                break;
        if (end - i >= TYPICAL_MIN)
            typical->row[n_kept++] = typical->row[i + (end - i) / 2];
    }
    typical->n = n_kept;
    return typical;
}

static const struct device_typical *typical_of(const struct trace_view *view, uint32_t stream)
{
    struct device_typical *typical = view->device_typical[stream], *found;

    if (typical)
        return typical;
    found = find_typical(view, stream);
    if (atomic_compare_exchange_strong(&view->device_typical[stream], &typical, found))
        return found;
    device_typical_free(found); /* another thread was faster */
    return typical;
}

void device_typical_free(struct device_typical *typical)
{
    if (typical == NULL)
        return;
    free(typical->row);
    free(typical);
}

uint64_t device_typical_ns(const struct trace_view *view, struct device_operation operation)
{
    uint32_t region = view->calls[operation.location].region[operation.row];
    const struct device_typical *typical;
    size_t i;

    if (!view->defs->location[operation.location].is_gpu)
        return 0;
    typical = typical_of(view, operation.location);
    i = FIRST_NOT(k, 0, typical->n, typical->row[k].region < region);
    return i < typical->n && typical->row[i].region == region ? typical->row[i].ns : 0;
}

/* ------------------------------------------------------------------------------- paths */

static uint64_t over_typical_ns(const struct trace_view *view, struct device_operation o)
{
    uint64_t typical = trace_view_typical_ns(view, o.location, o.row);
    uint64_t took = took_ns(view, o);

    return typical > 0 && (double)took >= (1 + SLOW) * (double)typical ? took - typical : 0;
}

void device_path_of(const struct trace_view *view, struct device_operation operation,
                    uint64_t from_ns, struct device_path *out)
{
    struct device_operation now = operation;
    uint64_t slowest_ns = 0;

    *out = (struct device_path){.longest = operation, .slowest.row = NO_CALL};
    for (int step = 0; step < DEVICE_PATH_MAX_OPERATIONS; step++) {
        const struct call_view *calls = &view->calls[now.location];
        struct device_operation next = {now.location, operation_before(view, now)}, on;
        uint32_t location = 0, row = 0;
        uint64_t more_ns;

        if (step > 0 && (step == 1 || took_ns(view, now) > took_ns(view, out->longest)))
            out->longest = now;
        more_ns = over_typical_ns(view, now);
        out->slow_ns += more_ns;
        if (more_ns > slowest_ns) {
            slowest_ns = more_ns;
            out->slowest = now;
        }
        out->launch_ns = calls->enter_ns[now.row];
        if (out->launch_ns <= from_ns)
            return;
        if (device_event_of(view, now, &on)) {
            now = on;
            continue;
        }
        if (launch_of(view, now, &location, &row) &&
            (next.row == NO_CALL || end_of(view, next) < view->calls[location].enter_ns[row])) {
            out->is_launched = true;
            out->location = location;
            out->row = row;
            out->launch_ns = view->calls[location].enter_ns[row];
            return;
        }
        if (next.row == NO_CALL ||
            calls->enter_ns[now.row] > end_of(view, next) + DEVICE_EVENT_NS)
            return;
        now = next;
    }
}
