/* A team that a member makes itself is a part of what the member does. */
#include "explain/team_use.h"

#include "base/mem.h"
#include "explain/team_barrier.h"

#include <stdlib.h>
#include <string.h>

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

        if (team_membership_of(u->view, team, u->first + i, &member) &&
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
    if (!team_membership_of(u->view, team, u->first + i, &member))
        return;
    use->n_teams++;
    for (const struct team_span *span = member.first; span <= member.last; span++)
        if (span->kind == SPAN_MEMBER && span->team == team)
            use->member_ns += span->end_ns - span->begin_ns;
    for (uint32_t k = 0; (row = team_barrier_row(calls, member.first, k)) != NO_CALL; k++)
        use->barrier_ns += calls->inclusive_ns[row];
    row = team_barrier_row(calls, member.first, barrier);
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

static uint32_t count_threads(const struct trace_view *view, uint32_t first)
{
    uint32_t l = first;

    while (l < view->n_locations &&
           view->defs->location[l].rank == view->defs->location[first].rank)
        l++;
    return l - first;
}

struct team_use *team_use_of(const struct trace_view *view, uint32_t location, uint32_t row,
                             uint32_t *n_forks, size_t *n)
{
    const struct call_view *calls = trace_view_calls(view, location);
    uint32_t end = row + calls->subtree_len[row], kept = 0;
    struct uses u = {.view = view};
    uint64_t until_ns = 0;

    u.first = definitions_find_location(view->defs, view->defs->location[location].rank);
    u.n = count_threads(view, u.first);
    u.use = mem_alloc(u.n, sizeof *u.use);
    u.came_ns = mem_alloc(u.n, sizeof *u.came_ns);
    *n_forks = 0;
    for (size_t i = team_span_after(calls, row);
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
