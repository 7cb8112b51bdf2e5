/* One pass that copies; who is around new calls is told by searching for them. */
#include "stack/calls_insert.h"

#include "base/search.h"

#include <string.h>

#define MAX_ROWS (UINT32_MAX - 1)

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
    if (enter_ns + insert->usual_ns <= leave_ns || latest_ns <= leave_ns)
        return leave_ns - enter_ns;
    return latest_ns - enter_ns < insert->usual_ns ? latest_ns - enter_ns : insert->usual_ns;
}

static void add_new(struct calls *into, const struct call_view *from,
                    const struct insertion *insert, uint32_t i)
{
    uint32_t row = into->n++, begin = insert->begin[i];

    into->enter_ns[row] = from->enter_ns[begin];
    into->inclusive_ns[row] = insertion_ns(from, insert, i);
    into->region[row] = insert->region;
    into->subtree_len[row] = insert->end[i] - begin + 1;
    into->depth[row] = from->depth[begin];
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

/* How many calls begin before what comes after n of the rows, new ones included. */
static uint32_t n_moved(const struct insertion *insert, uint32_t n)
{
    return n == 0 ? 0 : calls_moved(insert, n - 1) + 1;
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
        reading->row = n_moved(insert, reading->row);
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
        copy_outside(into, from, insert, row, insert->begin[i]);
        add_new(into, from, insert, i);
        copy_rows(into, from, insert->begin[i], insert->end[i], 1);
        row = insert->end[i];
    }
    copy_outside(into, from, insert, row, from->n);
    insert_estimates(from, insert, into);
    insert_details(from, insert, into);
}

uint32_t calls_moved(const struct insertion *insert, uint32_t row)
{
    return row == NO_CALL ? NO_CALL : row + n_begun(insert, 0, row + 1);
}
