/*
 * Autograd's outermost calls of a process are intervals in order of time, and what the thread that asks
 * records falls into one of them or into a gap between two. Intervals without anything between them
 * are one pass.
 *
 *     forward    | | |                 |  | |                | |
 *     autograd         [--][-----][-]          [---][------]
 *     gap              0   1      2    3            4          5
 */
#include "trace/chrome/backward.h"

#include "base/mem.h"
#include "base/order.h"
#include "trace/region_name.h"

#include <stdlib.h>
#include <string.h>

struct interval {
    int64_t begin_ns, end_ns;
    int64_t until_ns; /* the latest end of this one and all before */
    uint32_t thread;
    bool is_disturbed; /* the other thread recorded something in it */
};

/* What the thread that asks recorded between two intervals. */
struct gap {
    int64_t first_ns, last_ns; /* first > last: nothing */
};

#define NOT_YET SIZE_MAX

struct intervals {
    struct interval *interval; /* [n] by begin_ns */
    struct gap *gap;           /* [n + 1] before each, and behind the last */
    size_t *last;              /* [threads] the last one of a pass, or NOT_YET */
    size_t n, cap;
};

void backward_release(struct backward *b)
{
    free(b->record);
    *b = (struct backward){0};
}

static bool is_of_autograd(const struct chrome_trace *t, uint32_t thread, uint32_t asks)
{
    return thread != asks && t->thread[thread].n_marks > 0 &&
           t->thread[thread].n_evaluated > 0 &&
           t->thread[thread].process == t->thread[asks].process;
}

/* The thread of a process that asks autograd to go back, or CHROME_NOWHERE. */
static uint32_t who_asks(const struct chrome_trace *t, uint32_t process)
{
    uint32_t asks = CHROME_NOWHERE;
    uint64_t most = 0;

    for (uint32_t i = 0; i < t->thread_id.n; i++) {
        const struct chrome_thread *thread = &t->thread[i];

        if (thread->process != process || thread->n_marks == 0)
            continue;
        if (thread->n_forward > most) {
            most = thread->n_forward;
            asks = i;
        } else if (most == 0 && thread->tid == t->process[process].pid) {
            asks = i;
        }
    }
    return asks;
}

/* ------------------------------------------------------------------------- intervals */

static void add_intervals(struct intervals *v, struct marks_cursor *cursor, uint32_t thread)
{
    size_t first = v->n;
    const struct mark *mark;

    while ((mark = marks_cursor_next(cursor)) != NULL) {
        if (mark->phase != 'X')
            continue;
        if (v->n == first || mark->time_ns >= v->interval[v->n - 1].end_ns) {
            mem_grow(&v->interval, &v->cap, v->n + 1, sizeof *v->interval);
            v->interval[v->n++] = (struct interval){
                .begin_ns = mark->time_ns, .end_ns = mark->end_ns, .thread = thread};
        } else if (mark->end_ns > v->interval[v->n - 1].end_ns) {
            v->interval[v->n - 1].end_ns = mark->end_ns;
        }
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
    v->gap = mem_alloc(v->n + 1, sizeof *v->gap);
    for (size_t i = 0; i <= v->n; i++)
        v->gap[i] = (struct gap){INT64_MAX, INT64_MIN};
}

/* The thread that asks recorded something at time_ns: it is not waiting then. */
static void note_seen(struct intervals *v, int64_t time_ns)
{
    size_t low = 0, high = v->n; /* intervals that begin before time_ns */
    struct gap *gap;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (v->interval[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && time_ns < v->interval[low - 1].until_ns) {
        v->interval[low - 1].is_disturbed = true;
        return;
    }
    gap = &v->gap[low];
    if (time_ns < gap->first_ns)
        gap->first_ns = time_ns;
    if (time_ns > gap->last_ns)
        gap->last_ns = time_ns;
}

static struct marks_cursor *cursor_of(const struct chrome_trace *t,
                                      const struct chrome_locations *p, uint32_t thread)
{
    return marks_cursor_new(t->marks, &thread, &p->shift_ns[thread], 1);
}

/* What has to be done on the CPU in between is done by the thread that waits, which is still in its
 * wait then. */
static void find_intervals(struct intervals *v, const struct chrome_trace *t,
                           const struct chrome_locations *p, uint32_t asks)
{
    struct marks_cursor *cursor;
    const struct mark *mark;
    int64_t until_ns = INT64_MIN;

    for (uint32_t i = 0; i < t->thread_id.n; i++)
        if (is_of_autograd(t, i, asks)) {
            cursor = cursor_of(t, p, i);
            add_intervals(v, cursor, i);
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

static void add_record(struct backward *b, struct backward_record record,
                       enum backward_what what)
{
    mem_grow(&b->record, &b->cap, b->n + 1, sizeof *b->record);
    record.what = what;
    b->record[b->n++] = record;
}

/* Intervals [first, end) are one pass. Where the other thread was not seen before it or behind it,
 * or is seen in it, it did not wait for it, as far as is known. */
static void add_pass(struct backward *b, struct intervals *v, const struct chrome_locations *p,
                     uint32_t asks, size_t first, size_t end)
{
    const struct gap *before = &v->gap[first], *behind = &v->gap[end];
    struct backward_record record = {.time_ns = before->last_ns,
                                     .location = p->location_of[asks],
                                     .n_threads = 1,
                                     .is_behind = true};

    if (before->last_ns < before->first_ns || behind->last_ns < behind->first_ns)
        return;
    for (size_t i = first; i < end; i++)
        if (v->interval[i].is_disturbed)
            return;
    for (size_t i = first; i < end; i++)
        v->last[v->interval[i].thread] = NOT_YET;
    for (size_t i = end; i-- > first;)
        if (v->last[v->interval[i].thread] == NOT_YET) {
            v->last[v->interval[i].thread] = i;
            record.n_threads++;
        }
    for (size_t i = first; i < end; i++) {
        const struct interval *from = &v->interval[i];
        struct backward_record of = {.time_ns = from->begin_ns,
                                     .location = p->location_of[from->thread]};

        if (v->last[from->thread] == NOT_YET)
            continue;
        add_record(b, of, BACKWARD_BEGIN);
        of.time_ns = v->interval[v->last[from->thread]].end_ns;
        of.is_behind = true;
        add_record(b, of, BACKWARD_END);
        v->last[from->thread] = NOT_YET;
    }
    for (int what = BACKWARD_FORK; what <= BACKWARD_ENTER; what++)
        add_record(b, record, (enum backward_what)what);
    record.time_ns = behind->first_ns;
    record.is_behind = false;
    for (int what = BACKWARD_LEAVE; what <= BACKWARD_JOIN; what++)
        add_record(b, record, (enum backward_what)what);
}

static void find_of_process(struct backward *b, const struct chrome_trace *t,
                            const struct chrome_locations *p, uint32_t asks)
{
    struct intervals v = {.last = mem_alloc(t->thread_id.n, sizeof *v.last)};

    find_intervals(&v, t, p, asks);
    for (size_t i = 0, end; i < v.n; i = end) {
        for (end = i + 1; end < v.n && v.gap[end].first_ns > v.gap[end].last_ns;)
            end++;
        add_pass(b, &v, p, asks, i, end);
    }
    free(v.interval);
    free(v.gap);
    free(v.last);
}

static int by_place(const void *a, const void *b)
{
    const struct backward_record *p = a, *q = b;

    return ORDER(p->location, q->location) ?:
           ORDER(p->time_ns, q->time_ns) ?:
           ORDER(p->is_behind, q->is_behind) ?:
           ORDER(p->what, q->what);
}

void backward_find(struct backward *b, struct chrome_trace *t, const struct chrome_locations *p)
{
    bool *is_asked = mem_alloc(t->process_id.n, sizeof *is_asked);

    for (uint32_t i = 0; i < t->thread_id.n; i++)
        is_asked[t->thread[i].process] |= t->thread[i].n_evaluated > 0;
    for (uint32_t i = 0; i < t->process_id.n; i++) {
        uint32_t asks = is_asked[i] ? who_asks(t, i) : CHROME_NOWHERE;

        if (asks != CHROME_NOWHERE)
            find_of_process(b, t, p, asks);
    }
    free(is_asked);
    if (b->n == 0)
        return;
    qsort(b->record, b->n, sizeof *b->record, by_place);
    b->region = definitions_region(t->defs, REGION_AUTOGRAD_WAIT);
    t->defs->region[b->region].is_barrier = true;
}

size_t backward_first(const struct backward *b, uint32_t location)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->record[middle].location < location)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
