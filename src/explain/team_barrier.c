/* Spans of a location are in order of time, and of their first rows. */
#include "explain/team_barrier.h"

#include "base/search.h"

#define MAX_STEPS 1024 /* spans looked at from where one should be */

size_t team_span_after(const struct call_view *calls, uint32_t row)
{
    size_t low = 0, high = calls->n_spans;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->span[middle].first_row <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first span that begins at or after a time. */
static size_t span_from(const struct call_view *calls, uint64_t time_ns)
{
    size_t low = 0, high = calls->n_spans;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->span[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The spans are as they are in a file; the barriers of one, if these are there. */
static uint32_t n_barriers(const struct call_view *calls, const struct team_span *span)
{
    uint64_t end = (uint64_t)span->first_barrier + span->n_barriers;

    return end <= calls->n_barriers ? span->n_barriers : 0;
}

static const struct team_span *fork_of(const struct trace_view *view, uint32_t team)
{
    const struct call_view *calls;
    const struct team_span *span;
    uint32_t location;

    if (team >= view->first_span[view->n_locations])
        return NULL;
    location = (uint32_t)interval_of_size(view->first_span, view->n_locations, team);
    calls = trace_view_calls(view, location);
    if (calls->n_spans == 0) /* they are not sound */
        return NULL;
    span = &calls->span[team - view->first_span[location]];
    return span->kind == SPAN_FORK ? span : NULL;
}

bool team_barrier_of(const struct trace_view *view, uint32_t location, uint32_t row,
                     struct team_barrier *out)
{
    const struct call_view *calls = &view->calls[location];
    size_t at = team_span_after(calls, row);

    for (int step = 0; step < MAX_STEPS && at-- > 0; step++) {
        const struct team_span *span = &calls->span[at];
        const uint32_t *barrier = calls->barrier + span->first_barrier;
        uint32_t n = n_barriers(calls, span), k;

        if (span->kind != SPAN_MEMBER || row - span->first_row >= span->n_rows)
            continue;
        k = (uint32_t)lower_bound_u32(barrier, n, row);
        if (k == n || barrier[k] != row || fork_of(view, span->team) == NULL)
            return false;
        *out = (struct team_barrier){span->team, k};
        return true;
    }
    return false;
}

static bool find_membership(const struct call_view *calls, const struct team_span *fork,
                            uint32_t team, struct team_membership *out)
{
    size_t at = span_from(calls, fork->begin_ns);

    *out = (struct team_membership){0};
    for (int step = 0; step < MAX_STEPS && at < calls->n_spans; step++, at++) {
        const struct team_span *span = &calls->span[at];

        if (span->begin_ns > fork->end_ns)
            break;
        if (span->kind != SPAN_MEMBER || span->team != team)
            continue;
        if (out->first == NULL)
            out->first = span;
        out->last = span;
    }
    return out->first != NULL;
}

bool team_membership_of(const struct trace_view *view, uint32_t team, uint32_t location,
                        struct team_membership *out)
{
    const struct team_span *fork = fork_of(view, team);

    return fork && find_membership(trace_view_calls(view, location), fork, team, out);
}

uint32_t team_barrier_row(const struct call_view *calls, const struct team_span *span,
                          uint32_t number)
{
    uint32_t row = number < n_barriers(calls, span)
                       ? calls->barrier[span->first_barrier + number]
                       : NO_CALL;

    return row < calls->n ? row : NO_CALL;
}

uint32_t team_barrier_last(const struct trace_view *view, const struct team_barrier *barrier,
                           uint32_t location, uint64_t *came_ns)
{
    uint32_t last = NO_LOCATION, rank = view->defs->location[location].rank;
    const struct team_span *fork = fork_of(view, barrier->team);
    uint32_t l = definitions_find_location(view->defs, rank);

    *came_ns = 0;
    for (; fork && l < view->n_locations && view->defs->location[l].rank == rank; l++) {
        const struct call_view *calls = trace_view_calls(view, l);
        struct team_membership member;
        uint64_t ns;
        uint32_t row;

        if (l == location || !find_membership(calls, fork, barrier->team, &member))
            continue;
        row = team_barrier_row(calls, member.first, barrier->number);
        ns = row == NO_CALL ? member.last->end_ns : calls->enter_ns[row];
        if (last == NO_LOCATION || ns > *came_ns) {
            last = l;
            *came_ns = ns;
        }
    }
    return last;
}

bool team_barrier_stretch(const struct trace_view *view, const struct team_barrier *barrier,
                          uint32_t location, struct team_stretch *out)
{
    const struct call_view *calls = trace_view_calls(view, location);
    uint32_t row = NO_CALL;
    const struct team_span *fork = fork_of(view, barrier->team);
    struct team_membership member;

    if (fork == NULL || !find_membership(calls, fork, barrier->team, &member) ||
        member.first->n_rows == 0 || member.first->first_row >= calls->n)
        return false;
    if (barrier->number > 0)
        row = team_barrier_row(calls, member.first, barrier->number - 1);
    out->from_ns = row == NO_CALL ? member.first->begin_ns : calls_leave(calls, row);
    out->depth = calls->depth[member.first->first_row];
    return true;
}
