/*
 * waiting -- whom a call waits for, and how much of the time.
 *
 *     kind             the call                              waits until
 *     for a sender     receives, or completes a receive      the message is sent
 *     for a receiver   sends, or completes a send            the receive is posted
 *     for all          is in a collective                    the last rank has entered, or the
 *                                                            root where only that matters; if
 *                                                            it does not block, has entered the
 *                                                            call that completes it
 *
 *     for a team       is in a barrier of a team of threads  the last member has come
 *     for a device     waits for its GPU (device_...)        the GPU has done it; the GPU of
 *                                                            another rank has begun, or its CPU
 *                                                            has told it to, if ours waits so
 *
 * A call that completes several operations waits for the one that was released last. When even
 * that was released before the call began, or soon after, nobody came too late, but the
 * operation itself may have taken long: a large message moves only while both ends are in MPI.
 * Then the other end matters for as long as its own part of the operation lasted. A send that was
 * over well before its receive was posted did not wait for that (waiting_is_over).
 *
 * Of scans, of ranks in the middle of a tree, and of calls that no trace has a record of
 * (unrecorded.h), the times alone say who waited: one that stayed until another had come, and
 * then hardly longer (waiting_ended_by). `is_guess` says so.
 *
 * Some tracers write no receives (EZTrace). Where the rank at the other end has none at all, a
 * send is taken to be received when it ended, and a call without any record to wait for the
 * last message that was sent to its rank before the call ended; `is_guess` says so.
 */
#ifndef SNAG_EXPLAIN_WAITING_H
#define SNAG_EXPLAIN_WAITING_H

#include "base/text.h"
#include "explain/device_wait.h"
#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITING_MAX_RECORDS 4096u /* looked at in one call */
#define WAITING_MAX_PENDING 1024u /* before it, among which its sends are looked for */
#define WAITING_MATERIAL 0.25     /* of a wait: who was late by less did not cause it */

enum waiting_kind {
    WAITING_NOT,          /* not a call that could wait */
    WAITING_UNKNOWN,      /* MPI, but without a record of what it does */
    WAITING_FOR_SENDER,   /* "late sender" where that was late */
    WAITING_FOR_RECEIVER, /* "late receiver" */
    WAITING_FOR_ALL,      /* wait at a barrier or another collective */
    WAITING_FOR_TEAM,     /* wait at a barrier of threads */
    WAITING_FOR_DEVICE,   /* wait for what a GPU does */
};

struct waiting {
    enum waiting_kind kind;
    uint32_t rank;     /* who is waited for; NO_RANK: not known */
    uint32_t thread;   /* of that, where it is one of the same rank; else 0 */
    uint32_t location; /* of that; NO_LOCATION: it has no data, or the message no partner */
    uint64_t bytes;    /* of the message, or that the collective received */
    uint32_t tag;
    uint32_t n_missing; /* members of the communicator without data */
    bool has_data;      /* the rank that is waited for has events in the trace */
    bool is_late;       /* it came well after the wait had begun, and not only after its end */
    bool is_guess;
    uint64_t until_ns; /* when it was there, or its part had ended, by its own clock */
    uint64_t delay_ns; /* how long the call waited for that */
};

/*
 * waiting_ended_by -- whether who was in a call from one time to another waited for what came in
 * between: it stayed until that, and then hardly longer, three times as long before as after.
 */
static inline bool waiting_ended_by(uint64_t from_ns, uint64_t came_ns, uint64_t until_ns)
{
    return came_ns > from_ns && came_ns < until_ns &&
           until_ns - came_ns <= (came_ns - from_ns) / 3;
}

/* waiting_is_over -- it ended without its receiver: that was done before, or came only then. */
static inline bool waiting_is_over(const struct waiting *w)
{
    return w->kind == WAITING_FOR_RECEIVER && w->location != NO_LOCATION && w->delay_ns == 0;
}

/*
 * waiting_of -- what call `row` of a location waits for between two moments.
 * What has no partner has delay_ns 0 and location NO_LOCATION. O(log n + the records in the
 * call), times the number of locations for collectives and guesses.
 */
void waiting_of(const struct trace_view *view, uint32_t location, uint32_t row,
                uint64_t from_ns, uint64_t to_ns, struct waiting *out);

/*
 * waiting_behind_device -- where who was waited for is an operation of a GPU that came late: what
 * made it so, the call that launched it or operations before it (device_path_of).
 *   from_ns, to_ns  of the wait
 *   w               by waiting_of, which follows waits for a location's own GPU itself; anything
 *                   else stays as it is
 */
void waiting_behind_device(const struct trace_view *view, uint64_t from_ns, uint64_t to_ns,
                           struct waiting *w);

/*
 * waiting_of_device -- of a call that waits for its GPU (REGION_DEVICE).
 *   from_ns  what was before does not matter
 *   last     out: the operation that ended last of those it waits for
 *   beyond   out: what that waits for itself, as waiting_of
 * Returns false, and sets nothing, where its GPU has no operation.
 */
bool waiting_of_device(const struct trace_view *view, uint32_t location, uint32_t row,
                       uint64_t from_ns, struct device_operation *last, struct waiting *beyond);

/*
 * waiting_others_ns -- how long a call waited for other ranks that came late, or were stopped
 * while it needed them (exchange.h).
 *   typical_ns  what the call takes; NAN: not known, and then only who came late counts
 *   ns          out: 0 where nobody did, or who was waited for is of the same rank
 * Returns false for a call that waits for a GPU of which no operation is known. Costs as
 * waiting_of.
 */
bool waiting_others_ns(const struct trace_view *view, uint32_t location, uint32_t row,
                       double typical_ns, uint64_t *ns);

/* waiting_is_likely -- a function of MPI that may wait, which posting and asking does not; a
 * barrier of threads; one that waits for a GPU. */
bool waiting_is_likely(const struct region *region);

/* waiting_kind_name -- "sender", "receiver", "collective", ... */
const char *waiting_kind_name(enum waiting_kind kind);

#endif
