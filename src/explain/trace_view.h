/*
 * trace_view -- the calls and the traffic of all locations at once, to be walked across.
 *
 * Calls are found by time and depth, records by time: everything here is a binary search over
 * columns that lie somewhere else, mostly in mapped files.
 */
#ifndef SNAG_EXPLAIN_TRACE_VIEW_H
#define SNAG_EXPLAIN_TRACE_VIEW_H

#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest that a send of a location took, from when it was posted until it was complete:
 * known once that was asked for often enough. */
struct longest_send {
    _Atomic uint64_t ns; /* + 1; 0: not known yet */
    _Atomic uint64_t
        n_spared; /* messages that need not have been looked at, had it been known */
};

struct unrecorded;
struct device_typical;

struct trace_view {
    const struct definitions *defs; /* regions, locations; members of communicators if known */
    uint32_t n_locations;
    struct call_view *calls;       /* [n_locations] with by_depth */
    size_t *first_message;         /* [n_locations + 1] among all messages */
    const struct message *message; /* all of them, those of a location one after another */
    size_t *first_span;            /* [n_locations + 1] among all spans */
    const struct dependency *dependency; /* [n_dependencies] by location and begin; or NULL */
    size_t n_dependencies;
    struct longest_send *longest_send;        /* [n_locations] */
    _Atomic(struct unrecorded *) *unrecorded; /* one, NULL until asked for: unrecorded_of */
    _Atomic(struct device_typical *) *device_typical; /* [n_locations] device_typical_ns */
    bool is_whole; /* a run from its begin, so that calls of locations can be counted against
                      each other: in a part each location begins at another time */

    /* Looks at the calls of a location before any is followed; NULL: there is no need. */
    bool (*is_sound)(const struct trace_view *view, uint32_t location);
    /* Told when all calls have been gone through, or those of a location; NULL: nobody has to
     * be. */
    void (*on_passed)(const struct trace_view *view);
    /* The other end of a message, where message.match is no row among all of them; else NULL.
     * See trace_view_other_end. */
    const struct message *(*other_end)(const struct trace_view *view, const struct message *m,
                                       uint32_t *location);
    /* What calls such as a row take typically, without what they call; 0: not known. NULL: of
     * none is it known, so ranks are compared with each other alone. */
    uint64_t (*typical_ns)(const struct trace_view *view, uint32_t location, uint32_t row);
    const void *ctx; /* whatever these need */
};

/*
 * trace_view_init -- look at the calls of all locations.
 *   calls    (defs->n_locations) allocated by the caller, who gives it away
 *   message  those of all locations, to whose rows message.match refers
 */
void trace_view_init(struct trace_view *view, const struct definitions *defs,
                     struct call_view *calls, const struct message *message);
void trace_view_release(struct trace_view *view);

/*
 * trace_view_calls -- the calls of a location, to be followed: those of one that is not sound
 * are none. (Its messages and collectives refer to rows, which are looked at when they are
 * used.)
 */
const struct call_view *trace_view_calls(const struct trace_view *view, uint32_t location);

/* trace_view_passed -- many calls have been looked at and few will be again: their memory may
 * go. */
void trace_view_passed(const struct trace_view *view);

/* trace_view_location_of -- the location of a row among all messages. O(log locations). */
uint32_t trace_view_location_of(const struct trace_view *view, size_t message);

/*
 * trace_view_other_end -- where the other end of a message is, of one that is in the view.
 *   location  out, if there is one
 * Returns NULL where there is none. O(log locations).
 */
const struct message *trace_view_other_end(const struct trace_view *view,
                                           const struct message *m, uint32_t *location);

/* trace_view_typical_ns -- what calls such as a row take typically (typical_ns); where nobody says
 * that, of operations of a GPU what they took (device_typical_ns); 0: not known. */
uint64_t trace_view_typical_ns(const struct trace_view *view, uint32_t location, uint32_t row);

/*
 * trace_view_longest_send -- see struct longest_send; UINT64_MAX while it is not known.
 *   n_spared  messages that this call will look at where it is not
 * Once those of all calls are as many as the location has, it is found out: O(1) a message that
 * was looked at. Thread-safe.
 */
uint64_t trace_view_longest_send(const struct trace_view *view, uint32_t location,
                                 size_t n_spared);

/* calls_leave -- when a call ended. */
static inline uint64_t calls_leave(const struct call_view *calls, uint32_t row)
{
    return calls->enter_ns[row] + calls->inclusive_ns[row];
}

/* calls_own_ns -- time in a call but not in its direct children. O(children). */
uint64_t calls_own_ns(const struct call_view *calls, uint32_t row);

/* calls_until -- how many rows were entered at or before a time. O(log n). */
uint32_t calls_until(const struct call_view *calls, uint64_t time_ns);

/*
 * calls_begun -- the row of a call that began at a time, by its region; or, of ANY_REGION, of
 * the innermost one then: what launched it may say that it began up to
 * CALLS_BEGUN_ROUNDING_NS earlier. NO_CALL: there is none. O(log n + depth x log n).
 */
#define CALLS_BEGUN_ROUNDING_NS 1000u
uint32_t calls_begun(const struct call_view *calls, uint64_t begin_ns, uint32_t region);

/* calls_ancestor -- the call at this depth around a row, or the row itself. O(log n). */
uint32_t calls_ancestor(const struct call_view *calls, uint32_t row, uint16_t depth);

/*
 * calls_message_from, calls_collective_from -- the first row whose record was written at or
 * after a time: a send when it was posted, the others when they were complete. O(log n).
 */
size_t calls_message_from(const struct call_view *calls, uint64_t time_ns);
size_t calls_collective_from(const struct call_view *calls, uint64_t time_ns);

/*
 * calls_collective_part -- a location's own part in a collective that another took part in, or
 * NULL. On one communicator they come in order, so from where it should be by the clock there
 * is one way to go. Looks at 1,024 records at most.
 */
const struct collective *calls_collective_part(const struct call_view *calls,
                                               const struct collective *c);

/* calls_collective_near -- the same, of 64 records on either side of a row. */
const struct collective *calls_collective_near(const struct call_view *calls,
                                               const struct collective *c, size_t row);

/* calls_posted_ns -- when a send or receive began: for a blocking one, when it was entered. */
uint64_t calls_posted_ns(const struct call_view *calls, const struct message *m);

#endif
