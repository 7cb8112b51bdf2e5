/* A pass that only compares neighbours; what to do about a drop is decided apart. */
#include "trace/monotone.h"

/*
 * Event i is earlier than i-1. Either the events j..i-1 that are later than it are wrong, or it
 * is; the shorter explanation wins. Returns how many were moved.
 */
static uint64_t resolve_drop(struct event *event, size_t i, size_t n, uint64_t floor_ns)
{
    uint64_t here = event[i].time_ns;
    size_t j = i, n_agree = 0;

    while (j > 0 && time_before(here, event[j - 1].time_ns))
        j--;
    if (i - j <= MONOTONE_LOOK_AHEAD && !time_before(here, floor_ns)) {
        for (size_t k = i; k < n && n_agree < i - j; k++)
            n_agree += time_before(event[k].time_ns, event[j].time_ns);
        if (n_agree >= i - j) {
            for (size_t k = j; k < i; k++)
                event[k].time_ns = here;
            return i - j;
        }
    }
    event[i].time_ns = i > 0 ? event[i - 1].time_ns : floor_ns;
    return 1;
}

/* When the first event is that is at a possible time. */
static uint64_t first_possible(const struct event *event, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (time_is_possible(event[i].time_ns))
            return event[i].time_ns;
    return 0;
}

uint64_t monotone_bound(struct event *event, size_t n, uint64_t floor_ns)
{
    uint64_t n_moved = 0;

    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(time_is_possible(event[i].time_ns), 1))
            continue;
        event[i].time_ns = i > 0                           ? event[i - 1].time_ns
                           : floor_ns != MONOTONE_NO_FLOOR ? floor_ns
                                                           : first_possible(event, n);
        n_moved++;
    }
    return n_moved;
}

uint64_t monotone_repair(struct event *event, size_t n, uint64_t floor_ns)
{
    uint64_t n_moved = 0;
    uint64_t last = floor_ns;

    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(time_before(event[i].time_ns, last), 0))
            n_moved += resolve_drop(event, i, n, floor_ns);
        last = event[i].time_ns;
    }
    return n_moved;
}
