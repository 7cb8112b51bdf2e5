/* Rows are numbered in order of time, so what a thread began in a span are rows that follow
 * each other, whatever repairs make of who called whom. */
#include "stack/spans.h"

#include "base/mem.h"

#include <stdlib.h>

void open_spans_release(struct open_spans *open)
{
    free(open->open);
    *open = (struct open_spans){0};
}

static const struct {
    uint32_t kind;
    bool is_begin, is_end;
} meaning[] = {
    [TEAM_FORK] = {SPAN_FORK, true, false},
    [TEAM_JOIN] = {SPAN_FORK, false, true},
    [TEAM_BEGIN] = {SPAN_MEMBER, true, false},
    [TEAM_END] = {SPAN_MEMBER, false, true},
    [TEAM_CREATE] = {SPAN_CREATE, true, true},
    [TEAM_THREAD_BEGIN] = {SPAN_THREAD, true, false},
    [TEAM_THREAD_END] = {SPAN_THREAD, false, true},
    [TEAM_WAIT] = {SPAN_WAIT, true, true},
};

static void begin_span(struct open_spans *open, struct calls *calls,
                       const struct team_span *span)
{
    mem_grow(&calls->span, &calls->span_cap, calls->n_spans + 1, sizeof *calls->span);
    mem_grow(&open->open, &open->cap, open->n + 1, sizeof *open->open);
    open->open[open->n++] = (uint32_t)calls->n_spans;
    calls->span[calls->n_spans++] = *span;
}

static void end_span(struct calls *calls, uint32_t i, uint64_t time_ns)
{
    struct team_span *span = &calls->span[i];

    span->end_ns = time_ns > span->begin_ns ? time_ns : span->begin_ns;
    span->n_rows = calls->n - span->first_row;
}

/* Ends the innermost of this kind, and what is still open inside it. */
static void end_innermost(struct open_spans *open, struct calls *calls, uint32_t kind,
                          uint64_t time_ns)
{
    size_t at = open->n;

    while (at > 0 && calls->span[open->open[at - 1]].kind != kind)
        at--;
    while (at > 0 && open->n >= at)
        end_span(calls, open->open[--open->n], time_ns);
}

void spans_take(struct open_spans *open, struct calls *calls, const struct team_record *record,
                uint64_t time_ns, uint32_t call)
{
    uint32_t kind = meaning[record->kind].kind;

    if (meaning[record->kind].is_begin)
        begin_span(open, calls,
                   &(struct team_span){.begin_ns = time_ns,
                                       .call = call,
                                       .kind = kind,
                                       .team = NO_TEAM,
                                       .comm = record->comm,
                                       .number = record->number,
                                       .first_row = calls->n});
    if (meaning[record->kind].is_end)
        end_innermost(open, calls, kind, time_ns);
}

void spans_end(struct open_spans *open, struct calls *calls)
{
    while (open->n > 0)
        end_span(calls, open->open[--open->n], calls->last_ns);
}

/* The next member's span, from `at` on, that has calls and begins at this row or later. */
static size_t next_inside(const struct calls *calls, size_t at, uint32_t row)
{
    while (at < calls->n_spans &&
           (calls->span[at].kind != SPAN_MEMBER || calls->span[at].n_rows == 0 ||
            calls->span[at].first_row < row))
        at++;
    return at;
}

static void add_barriers(struct calls *calls, const struct definitions *defs, size_t i)
{
    struct team_span *span = &calls->span[i];
    uint32_t row = span->first_row, end = row + span->n_rows;
    size_t inside = i + 1;

    while (row < end) {
        inside = next_inside(calls, inside, row);
        if (inside < calls->n_spans && calls->span[inside].first_row == row) {
            row += calls->span[inside].n_rows;
            continue;
        }
        if (defs->region[calls->region[row]].is_barrier) {
            mem_grow(&calls->barrier, &calls->barrier_cap, calls->n_barriers + 1,
                     sizeof *calls->barrier);
            calls->barrier[calls->n_barriers++] = row;
        }
        row++;
    }
    span->n_barriers = (uint32_t)calls->n_barriers - span->first_barrier;
}

void spans_find_barriers(struct calls *calls, const struct definitions *defs)
{
    for (size_t i = 0; i < calls->n_spans; i++) {
        calls->span[i].first_barrier = (uint32_t)calls->n_barriers;
        if (calls->span[i].kind == SPAN_MEMBER)
            add_barriers(calls, defs, i);
    }
}
