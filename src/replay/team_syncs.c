/* Spans and barriers are gone through as the program did: spans that are over are closed before
 * the next begins, and a span's barriers come before those spans that have later rows. */
#include "replay/team_syncs.h"

#include "replay/syncs_needs.h"

#include <stdlib.h>

static bool is_there(uint32_t sync)
{
    return sync < NEED_INDEX;
}

/* -------------------------------------------------------------------------------- points */

/* A span that is open while a location is gone through. */
struct open_team_span {
    size_t span;   /* of the location */
    uint32_t next; /* of its barriers */
};

struct team_walk {
    const struct trace_view *view;
    const struct call_view *calls;
    struct record_syncs *at;
    struct points *points;
    size_t first, first_barrier; /* of the location, among all */
    uint64_t begin_ns;
    struct open_team_span *open;
    size_t n, cap;
};

/* Whether the team of a span is known, and was made by another location. */
static bool is_of_others(const struct team_walk *w, const struct team_span *span)
{
    return span->team != NO_TEAM &&
           (span->team < w->first || span->team - w->first >= w->calls->n_spans);
}

/* When the last call before a span ended that is no caller of the span. */
static uint64_t idle_from(const struct team_walk *w, const struct team_span *span)
{
    const struct call_view *calls = w->calls;
    uint32_t depth = span->call < calls->n ? (uint32_t)calls->depth[span->call] + 1 : 0, row;

    if (span->first_row == 0 || span->first_row > calls->n)
        return w->begin_ns;
    row = span->first_row - 1;
    if (row == span->call || calls->depth[row] < depth)
        return calls->enter_ns[row];
    return calls_leave(calls, calls_ancestor(calls, row, (uint16_t)depth));
}

static void add_begin(struct team_walk *w, size_t i)
{
    const struct team_span *span = &w->calls->span[i];
    struct point p = {span->begin_ns, span->begin_ns, &w->at->span_begin[w->first + i], NO_CALL,
                      POINT_SIGNAL};

    if (span->kind == SPAN_WAIT) {
        p.kind = span->call < w->calls->n && w->calls->subtree_len[span->call] == 1
                     ? POINT_CALL
                     : POINT_WAIT;
        p.call = span->call;
    } else if (is_of_others(w, span)) {
        p.kind = POINT_IDLE;
        p.begin_ns = idle_from(w, span);
    } else if (span->kind == SPAN_MEMBER || span->kind == SPAN_THREAD) {
        return;
    }
    points_add(w->points, p);
}

static void add_end(struct team_walk *w, size_t i)
{
    const struct team_span *span = &w->calls->span[i];
    struct point p = {span->end_ns, span->end_ns, &w->at->span_end[w->first + i], NO_CALL,
                      POINT_END};

    if (span->kind == SPAN_CREATE || span->kind == SPAN_WAIT || span->team == NO_TEAM)
        return;
    if (span->kind == SPAN_FORK) {
        p.kind = POINT_JOIN;
        /* From when on the thread that forked has nothing to do but to wait for the join. */
        if (i + 1 < w->calls->n_spans && span[1].kind == SPAN_MEMBER &&
            span[1].team == w->first + i && span[1].end_ns < span->end_ns)
            p.begin_ns = span[1].end_ns;
        p.call = span->call;
    }
    points_add(w->points, p);
}

/* The barriers of a span before a row. */
static void add_barriers(struct team_walk *w, struct open_team_span *open, uint32_t row)
{
    const struct team_span *span = &w->calls->span[open->span];

    if (span->kind != SPAN_MEMBER || span->team == NO_TEAM)
        return;
    for (; open->next < span->n_barriers; open->next++) {
        uint32_t k = span->first_barrier + open->next, call = w->calls->barrier[k];

        if (call >= row)
            break;
        points_add(w->points,
                   (struct point){calls_leave(w->calls, call), w->calls->enter_ns[call],
                                  &w->at->barrier[w->first_barrier + k], call, POINT_CALL});
    }
}

static void close_last(struct team_walk *w)
{
    struct open_team_span *open = &w->open[w->n - 1];

    add_barriers(w, open, UINT32_MAX);
    add_end(w, open->span);
    w->n--;
}

static bool is_over(const struct team_walk *w, const struct team_span *next)
{
    const struct team_span *span = &w->calls->span[w->open[w->n - 1].span];

    return span->end_ns <= next->begin_ns &&
           (uint64_t)span->first_row + span->n_rows <= next->first_row;
}

static void open_span(struct team_walk *w, size_t i)
{
    const struct team_span *span = &w->calls->span[i];
    bool is_own = i > 0 && span->kind == SPAN_MEMBER && span->team == w->first + i - 1;

    while (w->n > 0 && !is_own && is_over(w, span)) /* a fork is open while its member is */
        close_last(w);
    if (w->n > 0)
        add_barriers(w, &w->open[w->n - 1], span->first_row);
    add_begin(w, i);
    *mem_push(&w->open, &w->n, &w->cap) = (struct open_team_span){.span = i};
}

void team_syncs_collect(const struct trace_view *view, uint32_t l, uint64_t begin_ns,
                        struct record_syncs *at, struct points *p)
{
    struct team_walk w = {.view = view, .calls = &view->calls[l], .at = at, .points = p};

    w.first = view->first_span[l];
    w.first_barrier = at->first_barrier[l];
    w.begin_ns = begin_ns;
    for (size_t i = 0; i < w.calls->n_spans; i++)
        open_span(&w, i);
    while (w.n > 0)
        close_last(&w);
    free(w.open);
}

/* ------------------------------------------------------------------------------- members */

/* Spans of a location in one team follow each other but for those of teams inside. */
static void list_members(struct team_syncs *t, uint32_t l, uint32_t *slot)
{
    const struct call_view *calls = &t->view->calls[l];
    size_t first = t->view->first_span[l];
    uint32_t n_before = t->n_members;

    for (size_t i = 0; i < calls->n_spans; i++) {
        uint32_t team = calls->span[i].team;

        t->has_created |= calls->span[i].kind == SPAN_THREAD;
        if (calls->span[i].kind != SPAN_MEMBER || team == NO_TEAM)
            continue;
        if (slot[team] <= n_before) { /* the number of one, + 1 */
            t->member[t->n_members++] = (struct team_member){
                .team = team,
                .location = l,
                .first = (uint32_t)(first + i),
                .barrier = (uint32_t)t->at->first_barrier[l] + calls->span[i].first_barrier,
                .n_barriers = calls->span[i].n_barriers};
            slot[team] = t->n_members;
        }
        t->member[slot[team] - 1].last = (uint32_t)(first + i);
    }
}

static const struct team_span *span_of(const struct team_syncs *t,
                                       const struct team_member *member, size_t span)
{
    return &t->view->calls[member->location].span[span - t->view->first_span[member->location]];
}

/* The sync of a member's barrier, or NEED_INDEX. */
static uint32_t barrier_sync(const struct team_syncs *t, const struct team_member *m,
                             uint32_t number)
{
    return t->at->barrier[m->barrier + number];
}

static void count_barriers(struct team_syncs *t, size_t n_spans)
{
    t->first_barrier = mem_alloc(n_spans + 1, sizeof *t->first_barrier);
    for (uint32_t i = 0; i < t->n_members; i++) {
        uint32_t n = t->member[i].n_barriers, *most = &t->first_barrier[t->member[i].team + 1];

        *most = n > *most ? n : *most;
    }
    for (size_t i = 0; i < n_spans; i++)
        t->first_barrier[i + 1] += t->first_barrier[i];
    t->n_barriers = t->first_barrier[n_spans];
}

static void find_barrier_times(struct team_syncs *t, const struct syncs *s)
{
    t->first_leave = mem_alloc(t->n_barriers, sizeof *t->first_leave);
    t->last_enter = mem_alloc(t->n_barriers, sizeof *t->last_enter);
    for (uint32_t i = 0; i < t->n_barriers; i++)
        t->first_leave[i] = UINT64_MAX;
    for (uint32_t i = 0; i < t->n_members; i++) {
        const struct team_member *m = &t->member[i];
        uint32_t n = m->n_barriers;

        for (uint32_t k = 0; k < n; k++) {
            uint32_t b = t->first_barrier[m->team] + k, at = barrier_sync(t, m, k);

            if (!is_there(at))
                continue;
            if (s->sync[at].leave_ns < t->first_leave[b])
                t->first_leave[b] = s->sync[at].leave_ns;
            if (s->sync[at].enter_ns > t->last_enter[b])
                t->last_enter[b] = s->sync[at].enter_ns;
        }
    }
}

void team_syncs_init(struct team_syncs *t, const struct syncs *s, const struct record_syncs *at)
{
    size_t n_spans = s->view->first_span[s->n_locations];
    uint32_t *slot = mem_alloc(n_spans, sizeof *slot);

    *t = (struct team_syncs){.view = s->view, .at = at};
    t->member = mem_alloc(n_spans, sizeof *t->member); /* what is not used takes no memory */
    for (uint32_t l = 0; l < s->n_locations; l++)
        list_members(t, l, slot);
    free(slot);
    count_barriers(t, n_spans);
    find_barrier_times(t, s);
}

void team_syncs_release(struct team_syncs *t)
{
    free(t->member);
    free(t->first_barrier);
    free(t->first_leave);
    free(t->last_enter);
    *t = (struct team_syncs){0};
}

/* --------------------------------------------------------------------------------- needs */

void team_syncs_each_part(const struct team_syncs *t, const struct syncs *s,
                          team_syncs_part *fn, void *ctx)
{
    for (uint32_t i = 0; i < t->n_members; i++) {
        const struct team_member *m = &t->member[i];
        uint32_t n = m->n_barriers, end = t->at->span_end[m->last];

        for (uint32_t k = 0; k <= n; k++) {
            uint32_t b = t->first_barrier[m->team] + k;
            uint32_t at = k < n ? barrier_sync(t, m, k) : end;

            if (b == t->first_barrier[m->team + 1])
                break;
            if (is_there(at) && team_syncs_is_waited(t, b) &&
                (k < n || s->sync[at].enter_ns <= t->first_leave[b]))
                fn(b, at, k < n, ctx);
        }
    }
}

/* The join needs the ends of the others, the begin of each of them the fork. */
static void each_fork(const struct team_syncs *t, const struct syncs *s,
                      void (*fn)(void *ctx, uint32_t who, uint32_t need), void *ctx)
{
    const struct record_syncs *at = t->at;

    for (uint32_t i = 0; i < t->n_members; i++) {
        const struct team_member *m = &t->member[i];
        uint32_t fork = at->span_begin[m->team], join = at->span_end[m->team];
        uint32_t end = at->span_end[m->last];

        if (!is_there(fork) || syncs_location(s, fork) == m->location)
            continue;
        for (size_t k = m->first; k <= m->last; k++)
            if (span_of(t, m, k)->kind == SPAN_MEMBER && span_of(t, m, k)->team == m->team &&
                is_there(at->span_begin[k]))
                fn(ctx, at->span_begin[k], fork);
        if (is_there(join) && is_there(end) && s->sync[end].enter_ns <= s->sync[join].leave_ns)
            fn(ctx, join, end);
    }
}

/* What was created needs that, and who waited for it that it has ended. */
static void each_created(const struct team_syncs *t, const struct syncs *s,
                         void (*fn)(void *ctx, uint32_t who, uint32_t need), void *ctx)
{
    size_t n_spans = s->view->first_span[s->n_locations];
    uint32_t *ended = mem_alloc(n_spans, sizeof *ended); /* of a creation: the end, + 1 */

    for (int is_second = 0; is_second < 2; is_second++)
        for (uint32_t l = 0; l < s->n_locations; l++)
            for (size_t i = 0; i < s->view->calls[l].n_spans; i++) {
                const struct team_span *span = &s->view->calls[l].span[i];
                uint32_t begin = t->at->span_begin[s->view->first_span[l] + i];
                uint32_t end = t->at->span_end[s->view->first_span[l] + i];

                if (span->team == NO_TEAM || !is_there(begin))
                    continue;
                if (span->kind == SPAN_THREAD && !is_second) {
                    ended[span->team] = is_there(end) ? end + 1 : 0;
                    if (is_there(t->at->span_begin[span->team]))
                        fn(ctx, begin, t->at->span_begin[span->team]);
                }
                if (span->kind == SPAN_WAIT && is_second && ended[span->team] > 0 &&
                    syncs_location(s, ended[span->team] - 1) != l)
                    fn(ctx, begin, ended[span->team] - 1);
            }
    free(ended);
}

void team_syncs_each_need(const struct team_syncs *t, const struct syncs *s,
                          void (*fn)(void *ctx, uint32_t who, uint32_t need), void *ctx)
{
    if (s->view->first_span[s->n_locations] == 0)
        return;
    each_fork(t, s, fn, ctx);
    if (t->has_created)
        each_created(t, s, fn, ctx);
}
