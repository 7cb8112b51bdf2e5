/*
 * Locations are merged by when they leave their next sync, each only once what that needs was
 * entered. Where nobody can go on, clocks disagree: the need of the first to leave is given up.
 */
#include "replay/syncs_needs.h"

#include "base/mem.h"
#include "base/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* When the last that each needs was there. */
static void set_last(struct syncs *s)
{
    uint64_t *all = mem_alloc(s->n_collectives, sizeof *all);

    for (uint32_t k = 0; k < s->n; k++)
        s->sync[k].last_ns = 0;
    for (uint32_t c = 0; c < s->n_collectives; c++)
        all[c] = syncs_last_entered(s, NEED_ALL | c);
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint64_t last = s->need[i] & NEED_ALL ? all[s->need[i] & NEED_INDEX]
                                                  : syncs_last_entered(s, s->need[i]);

            s->sync[k].last_ns = last > s->sync[k].last_ns ? last : s->sync[k].last_ns;
        }
    free(all);
}

/* Locations by when they leave their next sync, the first on top. */
struct heap {
    struct next {
        uint64_t leave_ns;
        uint32_t sync;
    } * next; /* [n] */
    uint32_t n;
};

static struct next next_of(const struct syncs *s, uint32_t sync)
{
    return (struct next){s->sync[sync].leave_ns, sync};
}

static bool is_before(const struct next *a, const struct next *b)
{
    return a->leave_ns != b->leave_ns ? a->leave_ns < b->leave_ns : a->sync < b->sync;
}

static void heap_add(struct heap *h, struct next what)
{
    h->next[h->n] = what;
    HEAP_RISE(h->next, h->n++, is_before);
}

static void heap_drop(struct heap *h)
{
    h->next[0] = h->next[--h->n];
    HEAP_SINK(h->next, 0, h->n, is_before);
}

/* Tracks whose next sync needs one that was not entered yet wait at that one. */
struct merge {
    struct heap heap;
    uint32_t *waiting;  /* [n] the first track that waits for a sync to be entered, + 1 */
    uint32_t *after_it; /* [n_tracks] the next one that does */
    uint32_t *entered;  /* [n_collectives] so many of its members, at least */
    uint32_t n_waiting;
};

/* A sync is entered at the place of the one before it on its track. */
static bool is_entered(const struct syncs *s, uint32_t sync)
{
    return s->place[sync - 1] != NEED_INDEX;
}

/*
 * Whether all that a sync needs was entered before it was left. In the order that syncs are
 * left, what is entered earlier than another is left comes before it: only streams wait for
 * each other whatever the clocks say, and threads where times are equal.
 */
static bool is_in_order(const struct syncs *s, uint32_t k)
{
    return !s->has_streams && s->sync[k].last_ns < s->sync[k].leave_ns;
}

/* Whether a need has the same clock: where times are equal, it decides what came first. */
static bool is_among_threads(const struct syncs *s, uint32_t k, uint32_t need)
{
    const struct location *location = s->view->defs->location;
    uint32_t index = need & NEED_INDEX;

    if (need & NEED_ALL)
        return index - s->first_team < s->n_teams;
    return !s->is_stream[syncs_location(s, index)] &&
           location[syncs_location(s, index)].rank == location[syncs_location(s, k)].rank;
}

/* A sync that has to be entered before this one is left, and was not yet; NEED_INDEX: none. */
static uint32_t blocker(const struct syncs *s, struct merge *m, uint32_t k)
{
    bool is_stream = s->is_stream[syncs_location(s, k)];

    if (is_in_order(s, k) || (!is_stream && s->view->calls[syncs_location(s, k)].n_spans == 0))
        return NEED_INDEX;
    for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
        uint32_t c = s->need[i] & NEED_INDEX, *entered;

        if (!is_stream && !is_among_threads(s, k, s->need[i]))
            continue;
        if ((s->need[i] & NEED_ALL) == 0) {
            if (!is_entered(s, c))
                return c;
            continue;
        }
        entered = &m->entered[c];
        while (s->first_member[c] + *entered < s->first_member[c + 1] &&
               is_entered(s, s->member[s->first_member[c] + *entered]))
            ++*entered;
        if (s->first_member[c] + *entered < s->first_member[c + 1])
            return s->member[s->first_member[c] + *entered];
    }
    return NEED_INDEX;
}

/* Puts a track's next sync among those that can be left, or where it waits. */
static void go_on(struct syncs *s, struct merge *m, uint32_t k)
{
    uint32_t on = blocker(s, m, k), track = s->sync[k].track;

    if (on == NEED_INDEX) {
        heap_add(&m->heap, next_of(s, k));
        return;
    }
    m->after_it[track] = m->waiting[on];
    m->waiting[on] = track + 1;
    m->n_waiting++;
}

/* A sync is entered: who waited for it looks again. */
static void wake(struct syncs *s, struct merge *m, uint32_t sync, const uint32_t *next)
{
    uint32_t track = m->waiting[sync];

    if (track == 0)
        return;
    m->waiting[sync] = 0;
    while (track > 0) {
        uint32_t after = m->after_it[track - 1];

        m->n_waiting--;
        go_on(s, m, next[track - 1]);
        track = after;
    }
}

/* They wait in a circle, as clocks disagree: the one that was left first goes on. */
static void break_circle(struct syncs *s, struct merge *m, const uint32_t *next)
{
    struct next best = {UINT64_MAX, NEED_INDEX};
    uint32_t at = 0, *link;

    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t t = m->waiting[k]; t > 0; t = m->after_it[t - 1]) {
            struct next what = next_of(s, next[t - 1]);

            if (is_before(&what, &best)) {
                best = what;
                at = k;
            }
        }
    for (link = &m->waiting[at]; *link != s->sync[best.sync].track + 1u;)
        link = &m->after_it[*link - 1];
    *link = m->after_it[s->sync[best.sync].track];
    m->n_waiting--;
    heap_add(&m->heap, best);
}

/* In the order they were left; on streams none before what it needs, whatever the clocks say,
 * and among threads none. */
static void merge(struct syncs *s)
{
    struct merge m = {.heap = {.next = mem_alloc(s->n_tracks, sizeof *m.heap.next)}};
    uint32_t *next = mem_alloc(s->n_tracks, sizeof *next), p = 0;

    m.waiting = mem_alloc(s->n, sizeof *m.waiting);
    m.after_it = mem_alloc(s->n_tracks, sizeof *m.after_it);
    m.entered = mem_alloc(s->n_collectives, sizeof *m.entered);
    for (uint32_t k = 0; k < s->n; k++)
        s->place[k] = NEED_INDEX;
    for (uint32_t t = 0; t < s->n_tracks; t++)
        heap_add(&m.heap, next_of(s, next[t] = s->first[t]));
    while (p < s->n) {
        uint32_t k;

        if (m.heap.n == 0)
            break_circle(s, &m, next);
        k = m.heap.next[0].sync;
        s->order[p] = k;
        s->place[k] = p++;
        if (syncs_is_last(s, k)) {
            heap_drop(&m.heap);
            continue;
        }
        next[s->sync[k].track] = k + 1;
        if (blocker(s, &m, k + 1) == NEED_INDEX) {
            m.heap.next[0] = next_of(s, k + 1);
            HEAP_SINK(m.heap.next, 0, m.heap.n, is_before);
        } else {
            heap_drop(&m.heap);
            go_on(s, &m, k + 1);
        }
        if (m.n_waiting > 0)
            wake(s, &m, k + 1, next);
    }
    free(m.heap.next);
    free(m.waiting);
    free(m.after_it);
    free(m.entered);
    free(next);
}

static uint32_t entered_at(const struct syncs *s, uint32_t sync)
{
    return s->place[sync - 1];
}

/* Marks the members of collectives that are entered after the first that needs them is left. */
static void mark_members(struct syncs *s, const bool *is_doubtful)
{
    uint32_t *first = mem_alloc(s->n_collectives, sizeof *first);

    for (uint32_t c = 0; c < s->n_collectives; c++)
        first[c] = UINT32_MAX;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t c = s->need[i] & NEED_INDEX;

            if (s->need[i] & NEED_ALL && s->place[k] < first[c])
                first[c] = s->place[k];
        }
    for (uint32_t c = 0; c < s->n_collectives; c++)
        for (uint32_t i = s->first_member[c]; is_doubtful[c] && i < s->first_member[c + 1]; i++)
            if (entered_at(s, s->member[i]) >= first[c])
                s->member[i] |= NEED_EARLY;
    free(first);
}

/* Marks what is entered after what needs it is left; few are near enough to that to be looked
 * at. */
static void mark_early(struct syncs *s)
{
    bool *is_doubtful = mem_alloc(s->n_collectives, sizeof *is_doubtful), is_any = false;

    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first_need[k]; i < s->first_need[k + 1]; i++) {
            uint32_t index = s->need[i] & NEED_INDEX;

            if (is_in_order(s, k))
                break;
            if (s->need[i] & NEED_ALL)
                is_doubtful[index] = is_any = true;
            else if (entered_at(s, index) >= s->place[k])
                s->need[i] |= NEED_EARLY;
        }
    if (is_any)
        mark_members(s, is_doubtful);
    free(is_doubtful);
}

/* A collective is a need of each of its members. */
static void count_early(struct syncs *s)
{
    uint32_t n_needs = s->first_need[s->n];
    uint32_t n_members = s->n_collectives > 0 ? s->first_member[s->n_collectives] : 0;

    s->n_needs = n_members;
    s->n_early = 0;
    for (uint32_t i = 0; i < n_needs; i++) {
        s->n_needs += !(s->need[i] & NEED_ALL);
        s->n_early += !(s->need[i] & NEED_ALL) && s->need[i] & NEED_EARLY;
    }
    for (uint32_t i = 0; i < n_members; i++)
        s->n_early += (s->member[i] & NEED_EARLY) != 0;
}

void syncs_retime(struct syncs *s)
{
    s->end_ns = s->begin_ns;
    for (uint32_t k = 0; k < s->n; k++)
        s->end_ns = s->sync[k].leave_ns > s->end_ns ? s->sync[k].leave_ns : s->end_ns;
    for (uint32_t i = 0; i < s->first_need[s->n]; i++)
        s->need[i] &= ~NEED_EARLY;
    for (uint32_t i = 0; s->n_collectives > 0 && i < s->first_member[s->n_collectives]; i++)
        s->member[i] &= ~NEED_EARLY;
    syncs_order(s);
}

void syncs_order(struct syncs *s)
{
    if (s->order == NULL) {
        s->order = mem_alloc(s->n, sizeof *s->order);
        s->place = mem_alloc(s->n, sizeof *s->place);
    }
    set_last(s);
    merge(s);
    mark_early(s);
    count_early(s);
}
