/*
 * Which communicator a team has only its members say; the thread that forks is the first of
 * them, right after the fork. Forks are sorted by process, communicator and time.
 */
#include "forest/teams.h"

#include "base/idmap.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct fork {
    uint32_t rank, comm;
    uint64_t begin_ns, end_ns;
    uint32_t row;
};

static int by_time(const void *a, const void *b)
{
    const struct fork *p = a, *q = b;

    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    if (p->comm != q->comm)
        return p->comm < q->comm ? -1 : 1;
    if (p->begin_ns != q->begin_ns)
        return p->begin_ns < q->begin_ns ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Whether span i + 1 is what the thread that forked in span i does in its team. */
static bool is_own_member(const struct team_span *span, size_t i, size_t end)
{
    return i + 1 < end && span[i].kind == SPAN_FORK && span[i + 1].kind == SPAN_MEMBER &&
           span[i + 1].begin_ns <= span[i].end_ns;
}

static uint32_t list_forks(struct traffic *t, const struct definitions *defs, struct fork *fork)
{
    uint32_t n = 0;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            struct team_span *span = &t->span[i];

            if (span->kind != SPAN_FORK)
                continue;
            span->team = (uint32_t)i;
            span->n_members = 0;
            if (is_own_member(t->span, i, t->first_span[l + 1]))
                span->comm = span[1].comm;
            fork[n++] = (struct fork){defs->location[l].rank, span->comm, span->begin_ns,
                                      span->end_ns, (uint32_t)i};
        }
    qsort(fork, n, sizeof *fork, by_time);
    return n;
}

/* The last fork on this communicator that has begun, if it is not joined yet. */
static uint32_t find_fork(const struct fork *fork, uint32_t n, uint32_t rank,
                          const struct team_span *member)
{
    struct fork wanted = {rank, member->comm, member->begin_ns, 0, UINT32_MAX};
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (by_time(&fork[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || fork[low - 1].rank != rank || fork[low - 1].comm != member->comm ||
        fork[low - 1].end_ns < member->begin_ns)
        return NO_TEAM;
    return fork[low - 1].row;
}

static void match_members(struct traffic *t, const struct definitions *defs)
{
    struct fork *fork = mem_alloc(t->n_spans, sizeof *fork);
    uint32_t n = list_forks(t, defs, fork);

    for (uint32_t l = 0; l < t->n_locations; l++) {
        uint32_t last = NO_TEAM; /* a thread may be in a team more than once, for tasks */

        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            struct team_span *span = &t->span[i];

            if (span->kind != SPAN_MEMBER)
                continue;
            if (i > t->first_span[l] && is_own_member(t->span, i - 1, i + 1))
                span->team = (uint32_t)(i - 1);
            else
                span->team = find_fork(fork, n, defs->location[l].rank, span);
            if (span->team != NO_TEAM && span->team != last)
                t->span[span->team].n_members++;
            last = span->team;
        }
    }
    free(fork);
}

static struct key thread_key(const struct team_span *span, uint32_t rank)
{
    return key_quad(rank, span->comm, span->number, 0);
}

/* Threads that were created, and those who waited for them. */
static void match_created(struct traffic *t, const struct definitions *defs)
{
    struct idmap id = {0};
    uint32_t *row = mem_alloc(t->n_spans, sizeof *row);

    for (int is_second = 0; is_second < 2; is_second++)
        for (uint32_t l = 0; l < t->n_locations; l++)
            for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
                struct team_span *span = &t->span[i];
                struct key key = thread_key(span, defs->location[l].rank);
                uint32_t at;

                if (span->kind == SPAN_CREATE && !is_second)
                    row[idmap_add(&id, key)] = span->team = (uint32_t)i;
                if ((span->kind != SPAN_THREAD && span->kind != SPAN_WAIT) || !is_second)
                    continue;
                at = idmap_find(&id, key);
                span->team = at == IDMAP_NONE ? NO_TEAM : row[at];
            }
    free(row);
    idmap_release(&id);
}

void teams_match(struct traffic *t, const struct definitions *defs)
{
    assert(t->n_spans < NO_TEAM);
    if (t->n_spans == 0)
        return;
    match_members(t, defs);
    match_created(t, defs);
}

struct team_counts teams_count(const struct traffic *t)
{
    struct team_counts n = {.n_barriers = t->n_barriers};

    for (size_t i = 0; i < t->n_spans; i++) {
        const struct team_span *span = &t->span[i];

        n.n_forks += span->kind == SPAN_FORK;
        n.n_created += span->kind == SPAN_CREATE;
        if (span->kind == SPAN_MEMBER)
            *(span->team == NO_TEAM ? &n.n_lost : &n.n_members) += 1;
        if (span->kind == SPAN_FORK && span->n_members > n.largest)
            n.largest = span->n_members;
    }
    return n;
}

double teams_ratio(const struct traffic *t)
{
    double forked_ns = 0, members_ns = 0;

    for (uint32_t l = 0; l < t->n_locations; l++) {
        uint64_t until_ns = 0;

        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            const struct team_span *span = &t->span[i];
            bool is_of_others =
                span->kind == SPAN_MEMBER && span->team != NO_TEAM &&
                (span->team < t->first_span[l] || span->team >= t->first_span[l + 1]);

            if (is_of_others)
                members_ns += (double)(span->end_ns - span->begin_ns);
            if (span->kind != SPAN_FORK || span->begin_ns < until_ns)
                continue;
            until_ns = span->end_ns;
            forked_ns += (double)(span->end_ns - span->begin_ns);
        }
    }
    return forked_ns > 0 ? members_ns / forked_ns : 0;
}

uint64_t teams_forked_ns(const struct traffic *t, uint32_t location, uint32_t begin,
                         uint32_t end)
{
    uint64_t until_ns = 0, sum = 0;

    for (size_t i = t->first_span[location]; i < t->first_span[location + 1]; i++) {
        const struct team_span *span = &t->span[i];

        if (span->kind != SPAN_FORK || span->begin_ns < until_ns || span->first_row < begin ||
            span->first_row > end)
            continue;
        until_ns = span->end_ns;
        sum += span->end_ns - span->begin_ns;
    }
    return sum;
}
