/*
 * All columns of calls grow together, so one capacity serves them. When a location is complete,
 * calls may still be put between those that the trace has, begins and ends that are not known
 * be moved, and writes that were held up be told from others.
 */
#include "stack/calls.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS (UINT32_MAX - 1)
#define BELIEVED ((size_t)16) /* times what is there: more calls than that are not expected */
#define TIMES_A_CALL 4 /* at most so often, in one of what is around it, is about as often */
#define MIN_TIMED_WRITES 9u /* writes that say how long one takes */
#define TIMES 10u           /* of the median */
#define MAX_HELD_UP 50u     /* one in so many; one, where there are fewer */

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
    if (calls->n_expected >= need && calls->n_expected <= BELIEVED * calls->n)
        cap = calls->n_expected;
    resize(calls, cap);
}

void calls_copy_step(struct calls *to, const struct calls *step)
{
    uint32_t n = step->n;

    *to = (struct calls){.n = n,
                         .cap = n,
                         .has_steps = true,
                         .n_messages = step->n_messages,
                         .message_cap = step->n_messages,
                         .n_messages_before = step->n_messages_before,
                         .first_ns = step->first_ns,
                         .last_ns = step->last_ns,
                         .n_open = step->n_open,
                         .n_carried = step->n_carried,
                         .carried_cap = step->n_carried,
                         .first_id = step->first_id,
                         .top = step->top};
    to->enter_ns = mem_copy(step->enter_ns, n, sizeof *to->enter_ns);
    to->inclusive_ns = mem_copy(step->inclusive_ns, n, sizeof *to->inclusive_ns);
    to->exclusive_ns = mem_copy(step->exclusive_ns, n, sizeof *to->exclusive_ns);
    to->region = mem_copy(step->region, n, sizeof *to->region);
    to->subtree_len = mem_copy(step->subtree_len, n, sizeof *to->subtree_len);
    to->depth = mem_copy(step->depth, n, sizeof *to->depth);
    to->caller = mem_copy(step->caller, n, sizeof *to->caller);
    to->carried_id = mem_copy(step->carried_id, step->n_carried, sizeof *to->carried_id);
    to->message = mem_copy(step->message, step->n_messages, sizeof *to->message);
}

uint64_t calls_off_ns(const struct call_view *calls, uint32_t row, bool is_leave)
{
    const struct call_estimate *e = calls->estimate;
    size_t k = FIRST_NOT(i, 0, calls->n_estimates,
                         e[i].call < row || (e[i].call == row && e[i].is_leave < is_leave));

    if (k == calls->n_estimates || e[k].call != row || e[k].is_leave != is_leave ||
        e[k].placed != PLACED_AS_SAID)
        return 0;
    return e[k].off_ns;
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
    *mem_push(&calls->estimate, &calls->n_estimates, &calls->estimate_cap) = estimate;
}

static int by_call(const void *a, const void *b)
{
    const struct call_estimate *p = a, *q = b;

    return ORDER(p->call, q->call) ?: ORDER(p->is_leave, q->is_leave);
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

uint32_t calls_caller(const struct call_view *calls, uint32_t row)
{
    uint32_t depth = calls->depth[row];

    if (depth == 0)
        return NO_CALL;
    if (calls->by_depth && depth <= calls->n_depths) {
        const uint64_t *start = &calls->depth_start[depth - 1];
        const uint32_t *above = calls->by_depth + start[0]; /* the last before `row` is it */
        size_t n_before = lower_bound_u32(above, start[1] - start[0], row);

        return n_before > 0 ? above[n_before - 1] : NO_CALL;
    }
    while (row > 0)
        if (calls->depth[--row] < depth)
            return row;
    return NO_CALL;
}

/* -------------------------------------------------------------------------------- new calls */

/* One pass that copies; who is around new calls is told by searching for them. */

/* Begins of new calls in the rows [begin, end). */
static uint32_t n_begun(const struct insertion *insert, uint32_t begin, uint32_t end)
{
    return (uint32_t)(lower_bound_u32(insert->begin, insert->n, end) -
                      lower_bound_u32(insert->begin, insert->n, begin));
}

/* The last call on the level of `begin` before `end`, or NO_CALL when there is none that ends
 * there. */
static uint32_t last_on_level(const struct call_view *from, uint32_t begin, uint32_t end)
{
    uint32_t row = begin, last = NO_CALL;

    if (begin >= end || end > from->n)
        return NO_CALL;
    while (row < end && from->depth[row] == from->depth[begin]) {
        last = row;
        row += from->subtree_len[row];
    }
    return row == end ? last : NO_CALL;
}

static bool has_room(const struct call_view *from, uint32_t n)
{
    if (n > MAX_ROWS - from->n)
        return false;
    for (uint32_t i = 0; i < from->n; i++)
        if (from->depth[i] == DEEPEST_CALL)
            return false;
    return true;
}

static void take_out_what_crosses(const struct call_view *from, struct insertion *insert)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < insert->n; i++) {
        uint32_t begin = insert->begin[i], end = insert->end[i];

        if (last_on_level(from, begin, end) == NO_CALL)
            continue;
        insert->begin[n] = begin;
        insert->end[n++] = end;
    }
    insert->n = has_room(from, n) ? n : 0;
}

/* When what is around or after the rows of a new call was called, or left, at the latest. */
static uint64_t latest_end_ns(const struct call_view *calls, uint32_t begin, uint32_t end,
                              uint64_t leave_ns)
{
    uint32_t caller;

    if (end < calls->n && calls->depth[end] == calls->depth[begin])
        return calls->enter_ns[end];
    caller = calls_caller(calls, begin);
    return caller == NO_CALL ? leave_ns : calls->enter_ns[caller] + calls->inclusive_ns[caller];
}

uint64_t insertion_ns(const struct call_view *calls, const struct insertion *insert, uint32_t i)
{
    uint32_t begin = insert->begin[i], end = insert->end[i];
    uint32_t last = last_on_level(calls, begin, end);
    uint64_t enter_ns = calls->enter_ns[begin], leave_ns, latest_ns;

    if (i + 1 < insert->n && insert->begin[i + 1] == end &&
        calls->depth[end] == calls->depth[begin])
        return calls->enter_ns[end] - enter_ns;
    leave_ns = calls->enter_ns[last] + calls->inclusive_ns[last];
    latest_ns = latest_end_ns(calls, begin, end, leave_ns);
    if (enter_ns + insert->typical_ns <= leave_ns || latest_ns <= leave_ns)
        return leave_ns - enter_ns;
    return latest_ns - enter_ns < insert->typical_ns ? latest_ns - enter_ns
                                                     : insert->typical_ns;
}

/* Rows that are in no new call may be around some, or in one: n_deeper says. */
static void copy_rows(struct calls *into, const struct call_view *from, uint32_t begin,
                      uint32_t end, uint16_t n_deeper)
{
    uint32_t at = into->n, n = end - begin;

    memcpy(into->enter_ns + at, from->enter_ns + begin, n * sizeof *into->enter_ns);
    memcpy(into->inclusive_ns + at, from->inclusive_ns + begin, n * sizeof *into->inclusive_ns);
    memcpy(into->region + at, from->region + begin, n * sizeof *into->region);
    memcpy(into->subtree_len + at, from->subtree_len + begin, n * sizeof *into->subtree_len);
    for (uint32_t i = 0; i < n; i++)
        into->depth[at + i] = (uint16_t)(from->depth[begin + i] + n_deeper);
    into->n += n;
}

static void copy_outside(struct calls *into, const struct call_view *from,
                         const struct insertion *insert, uint32_t begin, uint32_t end)
{
    uint32_t at = into->n;

    if (begin == end)
        return;
    copy_rows(into, from, begin, end, 0);
    for (uint32_t i = begin; i < end; i++)
        into->subtree_len[at + i - begin] += n_begun(insert, i + 1, i + from->subtree_len[i]);
}

static void add_estimate(struct calls *into, uint32_t row, bool is_leave, uint64_t off)
{
    if (off > 0)
        calls_add_estimate(into, (struct call_estimate){row, is_leave, PLACED_AS_SAID, off});
}

/* A new call begins with the first call in it, and ends with the last or with the next. */
static void estimate_new(struct calls *into, const struct call_view *from,
                         const struct insertion *insert, uint32_t i)
{
    uint32_t begin = insert->begin[i], end = insert->end[i];
    uint32_t row = calls_moved(insert, begin) - 1;
    uint64_t end_ns = from->enter_ns[begin] + insertion_ns(from, insert, i);
    bool is_next = end < from->n && from->depth[end] == from->depth[begin] &&
                   from->enter_ns[end] == end_ns;

    add_estimate(into, row, 0, calls_off_ns(from, begin, false));
    if (is_next)
        add_estimate(into, row, 1, calls_off_ns(from, end, false));
    else
        add_estimate(into, row, 1, calls_off_ns(from, last_on_level(from, begin, end), true));
}

static void insert_estimates(const struct call_view *from, const struct insertion *insert,
                             struct calls *into)
{
    if (from->n_estimates == 0)
        return;
    for (size_t i = 0; i < from->n_estimates; i++) {
        struct call_estimate e = from->estimate[i];

        e.call = calls_moved(insert, e.call);
        calls_add_estimate(into, e);
    }
    for (uint32_t i = 0; i < insert->n; i++)
        estimate_new(into, from, insert, i);
    calls_sort_estimates(into);
}

/* Whether a reading was taken within a new call: after its first row has begun, and no later
 * than in its last. */
static bool is_within_new(const struct call_view *from, const struct insertion *insert,
                          const struct detail_reading *reading)
{
    size_t n_begun = lower_bound_u32(insert->begin, insert->n, reading->row);
    uint32_t begin;

    if (n_begun == 0)
        return false;
    begin = insert->begin[n_begun - 1];
    return reading->row <= insert->end[n_begun - 1] && reading->depth > from->depth[begin];
}

static void insert_details(const struct call_view *from, const struct insertion *insert,
                           struct calls *into)
{
    struct details *details = &into->details;

    details_copy(details, into->paged, &from->details);
    for (size_t i = 0; i < details->n_readings; i++) {
        struct detail_reading *reading = &details->reading[i];

        reading->depth += is_within_new(from, insert, reading);
        if (reading->row > 0) /* so many calls begin before it, new ones included */
            reading->row = calls_moved(insert, reading->row - 1) + 1;
    }
    for (size_t i = 0; i < details->n_arguments; i++)
        details->argument[i].call = calls_moved(insert, details->argument[i].call);
}

void calls_insert(const struct call_view *from, struct insertion *insert, struct calls *into)
{
    uint32_t row = 0;

    calls_clear(into);
    take_out_what_crosses(from, insert);
    calls_reserve(into, (size_t)from->n + insert->n);
    for (uint32_t i = 0; i < insert->n; i++) {
        uint32_t begin = insert->begin[i], end = insert->end[i];

        copy_outside(into, from, insert, row, begin);
        into->enter_ns[into->n] = from->enter_ns[begin];
        into->inclusive_ns[into->n] = insertion_ns(from, insert, i);
        into->region[into->n] = insert->region;
        into->subtree_len[into->n] = end - begin + 1;
        into->depth[into->n++] = from->depth[begin];
        copy_rows(into, from, begin, end, 1);
        row = end;
    }
    copy_outside(into, from, insert, row, from->n);
    insert_estimates(from, insert, into);
    insert_details(from, insert, into);
}

uint32_t calls_moved(const struct insertion *insert, uint32_t row)
{
    return row == NO_CALL ? NO_CALL : row + n_begun(insert, 0, row + 1);
}

/* -------------------------------------------------------------------- where borders are put */

/* Ends and inner begins from the last row to the first, as each is limited by the rows behind
 * it; then outermost begins from the first to the last, limited by those before. */

struct placing {
    struct calls *calls;
    uint32_t *caller; /* [n] */
    uint32_t *n_of;   /* [regions] calls */
    uint32_t *around; /* [n] of what is around it, and itself: that of the most calls */
    uint64_t *end_ns; /* [n] of what it called, the last of what was looked at */
};

static uint64_t leave_ns(const struct calls *calls, uint32_t row)
{
    return calls->enter_ns[row] + calls->inclusive_ns[row];
}

static void begin_at(struct calls *calls, uint32_t row, uint64_t time_ns)
{
    calls->inclusive_ns[row] = leave_ns(calls, row) - time_ns;
    calls->enter_ns[row] = time_ns;
}

static void count(struct placing *p)
{
    const struct calls *calls = p->calls;
    uint32_t n_regions = 0;

    for (uint32_t row = 0; row < calls->n; row++)
        n_regions = calls->region[row] >= n_regions ? calls->region[row] + 1 : n_regions;
    p->n_of = mem_alloc(n_regions, sizeof *p->n_of);
    for (uint32_t row = 0; row < calls->n; row++)
        p->n_of[calls->region[row]]++;
    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t n = p->n_of[calls->region[row]], by = p->caller[row];

        p->around[row] = by != NO_CALL && p->around[by] > n ? p->around[by] : n;
    }
}

/* Whether a call begins at the end of its gap. */
static bool is_late(const struct placing *p, uint32_t row)
{
    const struct calls *calls = p->calls;
    uint32_t by = p->caller[row];

    if (by == NO_CALL)
        return false;
    if (by + 1 == row && calls->enter_ns[by] == calls->enter_ns[row])
        return true; /* inner: its caller begins in that gap, too */
    return p->around[by] > 1 &&
           (uint64_t)TIMES_A_CALL * p->around[by] >= p->n_of[calls->region[row]];
}

static uint64_t later_of(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static uint64_t before(uint64_t time_ns, uint64_t by_ns)
{
    return time_ns > by_ns ? time_ns - by_ns : 0;
}

/* From now on the estimate is at one end of the gap, and off by all of it. */
static void set_placed(struct call_estimate *e, enum placed placed)
{
    e->placed = (uint16_t)placed;
    e->off_ns *= 2;
}

static void end_early(const struct placing *p, struct call_estimate *e)
{
    struct calls *calls = p->calls;
    uint64_t enter_ns = calls->enter_ns[e->call];
    uint64_t at_ns = before(leave_ns(calls, e->call), e->off_ns);

    calls->inclusive_ns[e->call] =
        later_of(at_ns, later_of(enter_ns, p->end_ns[e->call])) - enter_ns;
    set_placed(e, PLACED_OTHERS);
}

static void begin_late(const struct placing *p, struct call_estimate *e)
{
    const struct calls *calls = p->calls;
    uint32_t row = e->call;
    uint64_t at_ns = calls->enter_ns[row] + e->off_ns, most_ns = leave_ns(calls, row);

    if (row + 1 < calls->n && calls->enter_ns[row + 1] < most_ns)
        most_ns = calls->enter_ns[row + 1];
    begin_at(p->calls, row, at_ns < most_ns ? at_ns : most_ns);
    set_placed(e, PLACED_OTHERS);
}

/* least_ns: when the call before, by the same caller, has ended. */
static void begin_early(const struct placing *p, struct call_estimate *e, uint64_t least_ns)
{
    const struct calls *calls = p->calls;
    uint64_t enter_ns = calls->enter_ns[e->call];

    if (e->call > 0)
        least_ns = later_of(least_ns, calls->enter_ns[e->call - 1]);
    least_ns = later_of(least_ns, before(enter_ns, e->off_ns));
    if (least_ns < enter_ns)
        begin_at(p->calls, e->call, least_ns);
    set_placed(e, PLACED_OWN);
}

/* The estimate with number i - 1, if it is of that border. */
static struct call_estimate *last_of(const struct calls *calls, size_t i, uint32_t row,
                                     bool is_leave)
{
    struct call_estimate *e = i > 0 ? &calls->estimate[i - 1] : NULL;

    return e && e->call == row && e->is_leave == is_leave ? e : NULL;
}

static void place_backward(struct placing *p)
{
    struct calls *calls = p->calls;
    size_t i = calls->n_estimates;

    for (uint32_t row = calls->n; row-- > 0;) {
        struct call_estimate *leave = last_of(calls, i, row, true), *enter;
        uint32_t by = p->caller[row];

        i -= leave != NULL;
        enter = last_of(calls, i, row, false);
        i -= enter != NULL;
        if (leave && leave->placed == PLACED_MIDDLE)
            end_early(p, leave);
        if (by != NO_CALL)
            p->end_ns[by] = later_of(p->end_ns[by], leave_ns(calls, row));
        if (enter && enter->placed == PLACED_MIDDLE && is_late(p, row))
            begin_late(p, enter);
    }
}

static void place_forward(struct placing *p)
{
    struct calls *calls = p->calls;
    uint64_t root_end_ns = 0;
    size_t i = 0;

    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t by = p->caller[row];
        uint64_t *last_end_ns = by == NO_CALL ? &root_end_ns : &p->end_ns[by];

        p->end_ns[row] = 0;
        for (; i < calls->n_estimates && calls->estimate[i].call == row; i++)
            if (calls->estimate[i].placed == PLACED_MIDDLE)
                begin_early(p, &calls->estimate[i], *last_end_ns);
        *last_end_ns = leave_ns(calls, row);
    }
}

void calls_place(struct calls *calls)
{
    struct placing p = {.calls = calls};
    struct call_view view = calls_view(calls);
    bool is_any = false;

    for (size_t i = 0; i < calls->n_estimates && !is_any; i++)
        is_any = calls->estimate[i].placed == PLACED_MIDDLE;
    if (!is_any)
        return;
    p.caller = paged_alloc(calls->paged, calls->n, sizeof *p.caller);
    p.around = paged_alloc(calls->paged, calls->n, sizeof *p.around);
    p.end_ns = paged_alloc(calls->paged, calls->n, sizeof *p.end_ns);
    memset(p.end_ns, 0, calls->n * sizeof *p.end_ns);
    calls_callers(&view, p.caller);
    count(&p);
    place_backward(&p);
    place_forward(&p);
    paged_release(calls->paged, p.caller);
    paged_release(calls->paged, p.around);
    paged_release(calls->paged, p.end_ns);
    free(p.n_of);
}

/* ----------------------------------------------------------------- writes that were held up */

#define TIMES_OF_LONG                                                                          \
    3u /* of the longest of the others: some regularly do more, as begin a file */

static int by_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return ORDER(x, y);
}

/* The longest that a write may take. */
static uint64_t most_of(const struct calls *calls, const uint32_t *row, size_t n)
{
    uint64_t *ns = mem_alloc(n, sizeof *ns), of_median, of_long;

    for (size_t i = 0; i < n; i++)
        ns[i] = calls->inclusive_ns[row[i]];
    qsort(ns, n, sizeof *ns, by_ns);
    of_median = TIMES * ns[n / 2];
    of_long = TIMES_OF_LONG * ns[n - 1 - (n > MAX_HELD_UP ? n / MAX_HELD_UP : 1)];
    free(ns);
    return of_median > of_long ? of_median : of_long;
}

static void tell(struct calls *calls, uint32_t region, uint32_t held_up)
{
    uint32_t *row = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t i = 0; i < calls->n; i++)
        if (calls->region[i] == region) {
            *mem_push(&row, &n, &cap) = i;
        }
    if (n >= MIN_TIMED_WRITES) {
        uint64_t most_ns = most_of(calls, row, n);

        for (size_t i = 0; i < n; i++)
            if (calls->inclusive_ns[row[i]] > most_ns)
                calls->region[row[i]] = held_up;
    }
    free(row);
}

void held_up_tell(struct calls *calls, const struct definitions *defs)
{
    for (uint32_t r = 0; r < defs->names.n; r++)
        if (defs->region[r].held_up > 0)
            tell(calls, r, defs->region[r].held_up);
}
