/* The call that the partner was in halfway through ours is the one that it was stopped in, or in
 * which it waited for us. */
#include "explain/exchange.h"

#include <math.h>
#include <stdbool.h>

#define ALONE 3.0 /* typical waits: how long who was stopped had been there alone, at least, */
#define MIN_ALONE 10e3 /* and ns: of less clocks of two nodes say nothing */

/* It took long, but nobody came late. */
static bool is_in_time(const struct waiting *w)
{
    return (w->kind == WAITING_FOR_SENDER || w->kind == WAITING_FOR_RECEIVER) &&
           w->location != NO_LOCATION && !w->is_late && !w->is_guess && w->delay_ns > 0;
}

/* The call of MPI that a location is in at a time, or NO_CALL. */
static uint32_t mpi_call_at(const struct trace_view *view, uint32_t location, uint64_t time_ns)
{
    const struct call_view *calls = trace_view_calls(view, location);
    uint32_t n = calls_until(calls, time_ns);

    if (n == 0 || calls_leave(calls, n - 1) <= time_ns ||
        view->defs->region[calls->region[n - 1]].kind != REGION_MPI)
        return NO_CALL;
    return n - 1;
}

/* One of both. */
struct exchange_call {
    uint32_t location;
    uint64_t enter_ns, leave_ns;
    struct waiting waiting;
};

/*
 * Whether the message waited for its receiver: its send lasted while that was not there, or was
 * over only behind the receive. One that went ahead is late where its sender was stopped.
 */
static bool is_held(const struct exchange_call *first, const struct exchange_call *second)
{
    if (first->waiting.location != second->location)
        return false;
    if (first->waiting.kind == WAITING_FOR_RECEIVER)
        return is_in_time(&first->waiting);
    return second->waiting.kind == WAITING_FOR_RECEIVER && is_in_time(&first->waiting) &&
           first->leave_ns < second->leave_ns;
}

enum exchange_end exchange_stopped(const struct trace_view *view, uint32_t location,
                                   uint32_t row, const struct waiting *w, double typical_ns)
{
    const struct call_view *calls = &view->calls[location];
    struct exchange_call self = {location, calls->enter_ns[row], calls_leave(calls, row), *w};
    struct exchange_call other = {.location = w->location};
    const struct exchange_call *first = &self, *second = &other;
    uint64_t to;

    if (!(typical_ns > 0) || !is_in_time(w) || w->rank == view->defs->location[location].rank)
        return EXCHANGE_NOT_KNOWN;
    row = mpi_call_at(view, w->location, self.enter_ns + (self.leave_ns - self.enter_ns) / 2);
    if (row == NO_CALL)
        return EXCHANGE_NOT_KNOWN;
    calls = &view->calls[w->location];
    other.enter_ns = calls->enter_ns[row];
    other.leave_ns = calls_leave(calls, row);
    waiting_of(view, w->location, row, other.enter_ns, other.leave_ns, &other.waiting);
    if (other.enter_ns < self.enter_ns) {
        first = &other;
        second = &self;
    }
    to = self.leave_ns < other.leave_ns ? self.leave_ns : other.leave_ns;
    if ((double)(to - second->enter_ns) <
            (1 - WAITING_MATERIAL) * (double)(self.leave_ns - self.enter_ns) ||
        (double)(second->enter_ns - first->enter_ns) < fmax(ALONE * typical_ns, MIN_ALONE) ||
        !is_held(first, second))
        return EXCHANGE_NOT_KNOWN;
    return first == &self ? EXCHANGE_SELF : EXCHANGE_PARTNER;
}
