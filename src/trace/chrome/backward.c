/*
 * Outermost calls in which autograd goes back are intervals in order of time; those of the thread
 * that asks, too, which it is left with. What that records besides falls into one of them or into
 * a gap between two. Intervals without anything between them are one pass.
 *
 *     asks       | | |                 |  | |                | |
 *     autograd         [--][-----][-]          [---][------]
 *     gap              0   1      2    3            4          5
 */
#include "trace/chrome/backward.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "trace/region_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct interval {
    int64_t begin_ns, end_ns;
    int64_t until_ns; /* the latest end of this one and all before */
    uint32_t thread;
    bool goes_back;    /* autograd went back in it */
    bool is_disturbed; /* the thread that asks recorded something else in it */
};

struct intervals {
    struct interval *interval; /* [n] by begin_ns */
    bool *is_seen;             /* [n + 1] whether the thread that asks recorded something before
                                  each of them, and behind the last */
    size_t *part; /* [threads] how many parts there were with its last one; shared */
    size_t n, cap;
};

void backward_release(struct backward *b)
{
    free(b->waits.span);
    free(b->parts.span);
    *b = (struct backward){0};
}

/* More goes back on it than starts there: with checkpoints operations are done once more by
 * autograd's thread. On a CPU alone so does a thread that trains by itself. */
static bool is_autograds(const struct chrome_thread *thread)
{
    return thread->n_marks > 0 && thread->n_evaluated > 0 &&
           thread->n_evaluated >= thread->n_forward;
}

#define MANY_FORWARD 0.1 /* of what goes forward on the first thread */

/* The thread of a process that asks autograd to go back, or CHROME_NOWHERE: of several that go
 * forward much nobody knows which it is. */
static uint32_t who_asks(const struct chrome_trace *t, uint32_t process)
{
    uint32_t asks = CHROME_NOWHERE;
    uint64_t most = 0, second = 0;

    for (uint32_t i = 0; i < t->thread_id.n; i++) {
        const struct chrome_thread *thread = &t->thread[i];
        bool is_first = thread->tid == t->process[process].pid;

        if (thread->process != process || thread->n_marks == 0 ||
            (is_autograds(thread) && !is_first))
            continue;
        if (thread->n_forward > most) {
            second = most;
            most = thread->n_forward;
            asks = i;
        } else if (thread->n_forward > second) {
            second = thread->n_forward;
        } else if (most == 0 && is_first) {
            asks = i;
        }
    }
    return (double)second > MANY_FORWARD * (double)most ? CHROME_NOWHERE : asks;
}

/* ------------------------------------------------------------------------- intervals */

/* All outermost calls of a thread, or those alone in which it goes back. */
static void add_intervals(struct intervals *v, const struct chrome_trace *t,
                          struct marks_cursor *cursor, uint32_t thread, bool is_all)
{
    size_t first = v->n;
    const struct mark *mark;

    while ((mark = marks_cursor_next(cursor)) != NULL) {
        bool goes_back =
            mark->phase == 'X' && chrome_goes_back(t->defs->region[mark->ref].name);

        if (mark->phase != 'X' || (!is_all && !goes_back))
            continue;
        if (v->n == first || mark->time_ns >= v->interval[v->n - 1].end_ns) {
            *mem_push(&v->interval, &v->n, &v->cap) = (struct interval){
                .begin_ns = mark->time_ns, .end_ns = mark->end_ns, .thread = thread};
        } else if (mark->end_ns > v->interval[v->n - 1].end_ns) {
            v->interval[v->n - 1].end_ns = mark->end_ns;
        }
        v->interval[v->n - 1].goes_back |= goes_back;
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct interval *p = a, *q = b;

    return ORDER(p->begin_ns, q->begin_ns) ?: ORDER(p->thread, q->thread);
}

static void sort_intervals(struct intervals *v)
{
    int64_t until_ns = INT64_MIN;

    qsort(v->interval, v->n, sizeof *v->interval, by_begin);
    for (size_t i = 0; i < v->n; i++) {
        if (v->interval[i].end_ns > until_ns)
            until_ns = v->interval[i].end_ns;
        v->interval[i].until_ns = until_ns;
    }
    v->is_seen = mem_alloc(v->n + 1, sizeof *v->is_seen);
}

/* The thread that asks recorded something at time_ns: it is not waiting then. */
static void note_seen(struct intervals *v, int64_t time_ns)
{
    size_t at = FIRST_NOT(i, 0, v->n, v->interval[i].begin_ns < time_ns);

    if (at > 0 && time_ns < v->interval[at - 1].until_ns)
        v->interval[at - 1].is_disturbed = true;
    else
        v->is_seen[at] = true;
}

static struct marks_cursor *cursor_of(const struct chrome_trace *t,
                                      const struct chrome_locations *p, uint32_t thread)
{
    return marks_cursor_new(t->marks, &thread, &p->shift_ns[thread], 1);
}

static void find_intervals(struct intervals *v, const struct chrome_trace *t,
                           const struct chrome_locations *p, uint32_t asks)
{
    struct marks_cursor *cursor;
    const struct mark *mark;
    int64_t until_ns = INT64_MIN;
    bool goes_forward =
        t->thread[asks].n_forward > 0; /* else who does goes back by itself, too */

    for (uint32_t i = 0; i < t->thread_id.n; i++)
        if (t->thread[i].process == t->thread[asks].process &&
            (i == asks ? t->thread[i].n_evaluated > 0
                       : is_autograds(&t->thread[i]) &&
                             (goes_forward || t->thread[i].n_forward == 0))) {
            cursor = cursor_of(t, p, i);
            add_intervals(v, t, cursor, i, i != asks);
            marks_cursor_free(cursor);
        }
    if (v->n == 0)
        return;
    sort_intervals(v);
    cursor = cursor_of(t, p, asks);
    while ((mark = marks_cursor_next(cursor)) != NULL) {
        if (mark->time_ns < until_ns || strchr("XBE", mark->phase) == NULL)
            continue;
        if (mark->phase == 'X' && chrome_goes_back(t->defs->region[mark->ref].name)) {
            until_ns = mark->end_ns;
            continue;
        }
        note_seen(v, mark->time_ns);
        if (mark->phase == 'X')
            note_seen(v, mark->end_ns);
    }
    marks_cursor_free(cursor);
}

/* ---------------------------------------------------------------------------- passes */

static void add_span(struct backward_spans *to, struct backward_span span)
{
    *mem_push(&to->span, &to->n, &to->cap) = span;
}

/* What each thread of autograd does of intervals [first, end). Returns how many they are. */
static uint32_t add_parts(struct backward *b, struct intervals *v,
                          const struct chrome_locations *p, uint32_t asks, size_t first,
                          size_t end)
{
    size_t n_before = b->parts.n;

    for (size_t i = first; i < end; i++) {
        const struct interval *x = &v->interval[i];
        size_t *part = &v->part[x->thread];

        if (x->thread == asks)
            continue;
        if (*part > n_before) {
            b->parts.span[*part - 1].end_ns = x->end_ns;
            continue;
        }
        add_span(&b->parts, (struct backward_span){.location = p->location_of[x->thread],
                                                   .begin_ns = x->begin_ns,
                                                   .end_ns = x->end_ns});
        *part = b->parts.n;
    }
    return (uint32_t)(b->parts.n - n_before);
}

/* Whether autograd's threads go back in some interval of [first, end). */
static bool is_pass(const struct intervals *v, uint32_t asks, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (v->interval[i].thread != asks && v->interval[i].goes_back)
            return true;
    return false;
}

/* Intervals [first, end) are one pass. Where the thread that asks was not seen before it or behind
 * it, or is seen in it, it did not wait for it, as far as is known. What it goes back through by
 * itself, before or after the others, is no wait either. */
static void add_pass(struct backward *b, struct intervals *v, const struct chrome_locations *p,
                     uint32_t asks, size_t first, size_t end)
{
    uint32_t n;

    if (!v->is_seen[first] || !v->is_seen[end])
        return;
    for (size_t i = first; i < end; i++)
        if (v->interval[i].is_disturbed)
            return;
    while (first + 1 < end && v->interval[first].thread == asks &&
           v->interval[first].end_ns <= v->interval[first + 1].begin_ns)
        first++;
    while (end > first + 1 && v->interval[end - 1].thread == asks &&
           v->interval[end - 1].begin_ns >= v->interval[end - 2].until_ns)
        end--;
    if (!is_pass(v, asks, first, end))
        return;
    n = add_parts(b, v, p, asks, first, end);
    if (n == 0)
        return;
    add_span(&b->waits, (struct backward_span){.location = p->location_of[asks],
                                               .n_threads = n + 1,
                                               .begin_ns = v->interval[first].begin_ns,
                                               .end_ns = v->interval[end - 1].until_ns});
}

static void find_of_process(struct backward *b, const struct chrome_trace *t,
                            const struct chrome_locations *p, uint32_t asks, size_t *part)
{
    struct intervals v = {.part = part};

    find_intervals(&v, t, p, asks);
    for (size_t i = 0, end; i < v.n; i = end) {
        for (end = i + 1; end < v.n && !v.is_seen[end];)
            end++;
        add_pass(b, &v, p, asks, i, end);
    }
    free(v.interval);
    free(v.is_seen);
}

static int by_place(const void *a, const void *b)
{
    const struct backward_span *p = a, *q = b;

    return ORDER(p->location, q->location) ?: ORDER(p->begin_ns, q->begin_ns);
}

void backward_find(struct backward *b, struct chrome_trace *t, const struct chrome_locations *p)
{
    bool *is_asked = mem_alloc(t->process_id.n, sizeof *is_asked);
    size_t *part = mem_alloc(t->thread_id.n, sizeof *part);

    for (uint32_t i = 0; i < t->thread_id.n; i++)
        is_asked[t->thread[i].process] |= t->thread[i].n_evaluated > 0;
    for (uint32_t i = 0; i < t->process_id.n; i++) {
        uint32_t asks = is_asked[i] ? who_asks(t, i) : CHROME_NOWHERE;

        if (asks != CHROME_NOWHERE)
            find_of_process(b, t, p, asks, part);
    }
    free(is_asked);
    free(part);
    if (b->waits.n == 0)
        return;
    qsort(b->waits.span, b->waits.n, sizeof *b->waits.span, by_place);
    qsort(b->parts.span, b->parts.n, sizeof *b->parts.span, by_place);
    b->region = definitions_region(t->defs, REGION_AUTOGRAD_WAIT);
    t->defs->region[b->region].is_barrier = true;
}

size_t backward_first(const struct backward_spans *spans, uint32_t location)
{
    return FIRST_NOT(i, 0, spans->n, spans->span[i].location < location);
}
