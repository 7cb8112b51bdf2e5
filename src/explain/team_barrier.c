/* Spans of a location are in order of time, and of their first rows. */
#include "explain/team_barrier.h"

#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 1024 /* spans looked at from where one should be */

/* What a location has of a team: its first span, which has the barriers, and its last one. */
struct team_membership {
    const struct team_span *first, *last;
};

/* The first span that begins after a call was entered. */
static size_t span_after(const struct call_view *calls, uint32_t row)
{
    return FIRST_NOT(i, 0, calls->n_spans, calls->span[i].first_row <= row);
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
    size_t at = span_after(calls, row);

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
    size_t at = FIRST_NOT(i, 0, calls->n_spans, calls->span[i].begin_ns < fork->begin_ns);

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

/* False: it was no member. O(log spans). */
static bool membership_of(const struct trace_view *view, uint32_t team, uint32_t location,
                          struct team_membership *out)
{
    const struct team_span *fork = fork_of(view, team);

    return fork && find_membership(trace_view_calls(view, location), fork, team, out);
}

/* The call of a span's barrier of that number, or NO_CALL. */
static uint32_t barrier_row(const struct call_view *calls, const struct team_span *span,
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
        row = barrier_row(calls, member.first, barrier->number);
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
        row = barrier_row(calls, member.first, barrier->number - 1);
    out->from_ns = row == NO_CALL ? member.first->begin_ns : calls_leave(calls, row);
    out->depth = calls->depth[member.first->first_row];
    return true;
}

bool team_barrier_before(const struct trace_view *view, const struct team_barrier *barrier,
                         uint32_t location, uint64_t *from_ns, uint64_t *to_ns)
{
    const struct call_view *calls = trace_view_calls(view, location);
    const struct team_span *fork = fork_of(view, barrier->team), *span;
    struct team_membership member;
    uint32_t forks;

    if (fork == NULL || !find_membership(calls, fork, barrier->team, &member))
        return false;
    forks = (uint32_t)interval_of_size(view->first_span, view->n_locations, barrier->team);
    span = member.first;
    for (int step = 0; step < MAX_STEPS && span-- > calls->span; step++) {
        if (span->kind != SPAN_MEMBER || span->team < view->first_span[forks] ||
            span->team >= view->first_span[forks + 1])
            continue;
        *from_ns = span->begin_ns;
        *to_ns = span->end_ns;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------- what threads did */

/* A team that a member makes itself is a part of what the member does. */

/* The threads of one process are locations that follow each other. */
struct uses {
    const struct trace_view *view;
    uint32_t first, n; /* locations */
    struct team_use *use;
    uint64_t *came_ns; /* [n] of one team: to its last barrier; 0: no member */
};

/* Of all barriers the last one that any member has a call of. */
static uint32_t last_barrier(const struct uses *u, uint32_t team)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < u->n; i++) {
        struct team_membership member;

        if (membership_of(u->view, team, u->first + i, &member) &&
            member.first->n_barriers > most)
            most = member.first->n_barriers;
    }
    return most > 0 ? most - 1 : 0;
}

static void add_member(struct uses *u, uint32_t team, uint32_t i, uint32_t barrier)
{
    const struct call_view *calls = trace_view_calls(u->view, u->first + i);
    struct team_use *use = &u->use[i];
    struct team_membership member;
    uint32_t row;

    u->came_ns[i] = 0;
    if (!membership_of(u->view, team, u->first + i, &member))
        return;
    use->n_teams++;
    for (const struct team_span *span = member.first; span <= member.last; span++)
        if (span->kind == SPAN_MEMBER && span->team == team)
            use->member_ns += span->end_ns - span->begin_ns;
    for (uint32_t k = 0; (row = barrier_row(calls, member.first, k)) != NO_CALL; k++)
        use->barrier_ns += calls->inclusive_ns[row];
    row = barrier_row(calls, member.first, barrier);
    u->came_ns[i] = row == NO_CALL ? member.last->end_ns : calls->enter_ns[row];
}

static void add_team(struct uses *u, uint32_t team)
{
    uint32_t barrier = last_barrier(u, team), last = 0, n = 0;

    for (uint32_t i = 0; i < u->n; i++) {
        add_member(u, team, i, barrier);
        n += u->came_ns[i] > 0;
        last = u->came_ns[i] > u->came_ns[last] ? i : last;
    }
    if (n > 1)
        u->use[last].n_last++;
}

struct team_use *team_use_of(const struct trace_view *view, uint32_t location, uint32_t row,
                             uint32_t *n_forks, size_t *n)
{
    const struct call_view *calls = trace_view_calls(view, location);
    uint32_t end = row + calls->subtree_len[row], kept = 0;
    struct uses u = {.view = view};
    uint64_t until_ns = 0;

    u.first = definitions_find_location(view->defs, view->defs->location[location].rank);
    while (u.first + u.n < view->n_locations &&
           view->defs->location[u.first + u.n].rank == view->defs->location[u.first].rank)
        u.n++;
    u.use = mem_alloc(u.n, sizeof *u.use);
    u.came_ns = mem_alloc(u.n, sizeof *u.came_ns);
    *n_forks = 0;
    for (size_t i = span_after(calls, row);
         i < calls->n_spans && calls->span[i].first_row <= end; i++) {
        const struct team_span *span = &calls->span[i];

        if (span->kind != SPAN_FORK || span->call < row || span->call >= end ||
            span->begin_ns < until_ns)
            continue;
        until_ns = span->end_ns;
        add_team(&u, (uint32_t)(view->first_span[location] + i));
        ++*n_forks;
    }
    for (uint32_t i = 0; i < u.n; i++) {
        u.use[i].location = u.first + i;
        if (u.use[i].n_teams > 0)
            u.use[kept++] = u.use[i];
    }
    free(u.came_ns);
    *n = kept;
    if (kept > 0)
        return u.use;
    free(u.use);
    return NULL;
}
