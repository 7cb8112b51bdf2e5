/* All columns of calls grow together, so one capacity serves them. */
#include "stack/calls.h"

#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>

void calls_release(struct calls *calls)
{
    paged_release(calls->paged, calls->enter_ns);
    paged_release(calls->paged, calls->inclusive_ns);
    paged_release(calls->paged, calls->region);
    paged_release(calls->paged, calls->subtree_len);
    paged_release(calls->paged, calls->depth);
    free(calls->message);
    free(calls->sent);
    free(calls->collective);
    free(calls->counter);
    free(calls->span);
    free(calls->barrier);
    free(calls->estimate);
    details_release(&calls->details, calls->paged);
    free(calls->exclusive_ns);
    free(calls->caller);
    free(calls->carried_id);
    free(calls->carried_ns);
    *calls = (struct calls){0};
}

void calls_clear(struct calls *calls)
{
    calls->n = 0;
    calls->n_messages = calls->n_messages_before = calls->n_collectives = 0;
    calls->n_counters = calls->n_spans = calls->n_barriers = calls->n_estimates = 0;
    calls->n_sent = 0;
    details_clear(&calls->details);
    calls->top = NO_CALL;
    calls->n_carried = calls->first_id = 0;
    calls->first_ns = UINT64_MAX;
    calls->last_ns = 0;
    calls->n_open = 0;
}

static void *resize_column(const struct calls *calls, void *column, size_t cap, size_t width)
{
    return paged_resize(calls->paged, column, calls->n, cap, width);
}

static void resize(struct calls *calls, size_t cap)
{
    calls->enter_ns = resize_column(calls, calls->enter_ns, cap, sizeof *calls->enter_ns);
    calls->inclusive_ns =
        resize_column(calls, calls->inclusive_ns, cap, sizeof *calls->inclusive_ns);
    calls->region = resize_column(calls, calls->region, cap, sizeof *calls->region);
    calls->subtree_len =
        resize_column(calls, calls->subtree_len, cap, sizeof *calls->subtree_len);
    calls->depth = resize_column(calls, calls->depth, cap, sizeof *calls->depth);
    if (calls->has_steps) {
        calls->exclusive_ns = mem_resize(calls->exclusive_ns, cap, sizeof(uint64_t));
        calls->caller = mem_resize(calls->caller, cap, sizeof(uint32_t));
    }
    calls->cap = cap;
}

void calls_reserve(struct calls *calls, size_t n)
{
    size_t need = calls->n + n, cap = calls->cap ? calls->cap : 1024;

    if (need <= calls->cap)
        return;
    while (cap < need)
        cap *= 2;
    resize(calls, cap);
}

uint64_t calls_off_ns(const struct call_view *calls, uint32_t row, bool is_leave)
{
    size_t low = 0, high = calls->n_estimates;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct call_estimate *e = &calls->estimate[middle];

        if (e->call < row || (e->call == row && e->is_leave < is_leave))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == calls->n_estimates || calls->estimate[low].call != row ||
        calls->estimate[low].is_leave != is_leave ||
        calls->estimate[low].placed != PLACED_AS_SAID)
        return 0;
    return calls->estimate[low].off_ns;
}

struct call_view calls_view(const struct calls *calls)
{
    return (struct call_view){
        .n = calls->n,
        .enter_ns = calls->enter_ns,
        .inclusive_ns = calls->inclusive_ns,
        .region = calls->region,
        .subtree_len = calls->subtree_len,
        .depth = calls->depth,
        .message = calls->message,
        .n_messages = calls->n_messages,
        .collective = calls->collective,
        .n_collectives = calls->n_collectives,
        .span = calls->span,
        .n_spans = calls->n_spans,
        .barrier = calls->barrier,
        .n_barriers = calls->n_barriers,
        .estimate = calls->estimate,
        .n_estimates = calls->n_estimates,
        .details = details_view(&calls->details),
        .n_open = calls->n_open,
    };
}

void calls_add_estimate(struct calls *calls, struct call_estimate estimate)
{
    mem_grow(&calls->estimate, &calls->estimate_cap, calls->n_estimates + 1,
             sizeof *calls->estimate);
    calls->estimate[calls->n_estimates++] = estimate;
}

static int by_call(const void *a, const void *b)
{
    const struct call_estimate *p = a, *q = b;

    if (p->call != q->call)
        return p->call < q->call ? -1 : 1;
    return (p->is_leave > q->is_leave) - (p->is_leave < q->is_leave);
}

void calls_sort_estimates(struct calls *calls)
{
    if (calls->n_estimates > 0)
        qsort(calls->estimate, calls->n_estimates, sizeof *calls->estimate, by_call);
}

void calls_callers(const struct call_view *calls, uint32_t *caller)
{
    const uint16_t *depth = calls->depth;

    for (uint32_t i = 0; i < calls->n; i++) {
        uint32_t at = i > 0 ? i - 1 : NO_CALL; /* the call before, or one that it is inside */
        int n_ended = i > 0 ? depth[i - 1] + 1 - depth[i] : 0;

        while (n_ended-- > 0 && at != NO_CALL)
            at = caller[at];
        caller[i] = at;
    }
}

void calls_exclusive(const struct call_view *calls, uint32_t *caller, uint64_t *exclusive_ns)
{
    calls_callers(calls, caller);
    for (uint32_t i = 0; i < calls->n; i++) { /* a caller is before the calls it made */
        exclusive_ns[i] = calls->inclusive_ns[i];
        if (caller[i] != NO_CALL)
            exclusive_ns[caller[i]] -= calls->inclusive_ns[i];
    }
}

/* The last of the rows first[0 .. n) that is before `row`, or NO_CALL. */
static uint32_t last_before(const uint32_t *first, uint64_t n, uint32_t row)
{
    size_t n_before = lower_bound_u32(first, n, row);

    return n_before > 0 ? first[n_before - 1] : NO_CALL;
}

uint32_t calls_caller(const struct call_view *calls, uint32_t row)
{
    uint32_t depth = calls->depth[row];

    if (depth == 0)
        return NO_CALL;
    if (calls->by_depth && depth <= calls->n_depths) {
        const uint64_t *start = &calls->depth_start[depth - 1];

        return last_before(calls->by_depth + start[0], start[1] - start[0], row);
    }
    while (row > 0)
        if (calls->depth[--row] < depth)
            return row;
    return NO_CALL;
}
