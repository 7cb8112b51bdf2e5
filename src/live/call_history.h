/*
 * call_history -- what is still known of the calls of a location when their step is over, and what
 * every call is called.
 *
 * A call's event is the step in which it was entered and its number on its rank in that
 * step: location after location, each in the order of entering. So a call has its name from the
 * moment it is entered, whatever happens to it later.
 *
 *     step 7 of rank 2    thread 0   main   solve  send      2:7:0  2:7:1  2:7:2
 *                         thread 1   work   work             2:7:3  2:7:4
 *
 * The last calls of a location, open or not, stay for windows that reach back over the border
 * of a step; a call that is open when the step ends keeps its own surroundings.
 */
#ifndef SNAG_LIVE_CALL_HISTORY_H
#define SNAG_LIVE_CALL_HISTORY_H

#include "base/idmap.h"
#include "live/ad.h"
#include "prov/prov_record.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_STEPS 64       /* of which the events of late calls are known */
#define HISTORY_MAX_OPEN 256   /* open calls of a location that keep their surroundings */
#define AROUND_MAX_MESSAGES 64 /* in one window */

/* The calls of a location that were entered in a step: first_id and on. */
struct entered {
    uint64_t step, begin_ns, end_ns;
    uint64_t index; /* of the first one */
    uint32_t first_id;
};

/*
 * The calls of a location before and after one of them, in the order they were entered, and the
 * messages in them.
 *
 *     ... step  solve  send [wait] solve  send ...        two on either side of the wait
 *
 * What is before comes from the history of the location, and what is after may have to be added
 * when the next step is there.
 */
struct around {
    struct prov_call *call; /* [n] at most 2 window + 1 */
    uint32_t n, centre;     /* call[centre] is what this is about */
    size_t cap;
    struct prov_message *message; /* [n_messages] */
    size_t n_messages, message_cap;
};

/* A call that was open when the last step ended. */
struct unfinished_call {
    struct entered entered;
    struct prov_event event;
    struct around around; /* n is 0 when there were too many */
};

struct call_history {
    uint32_t group; /* the process it belongs to, see call_histories_group */
    struct entered recent[HISTORY_STEPS]; /* of step s at s modulo their number */
    struct unfinished_call *open;         /* [n_open] row i of this step is open[i] */
    uint32_t n_open;
    size_t open_cap;
    struct unfinished_call *next_open; /* being made for the next step */
    size_t next_cap;
    struct around tail;          /* the last calls before this step */
    const struct verdict *first; /* [n_verdicts] of this step, with a row, ascending */
    size_t n_verdicts;
};

struct call_histories {
    struct call_history *of; /* [n] by location */
    uint32_t n;
    size_t cap;
    uint32_t window; /* calls on either side */
    struct idmap groups;
    uint64_t *n_entered; /* [groups.n] calls of the process in this step so far */
    size_t entered_cap;
};

void call_histories_init(struct call_histories *h, uint32_t window);
void call_histories_release(struct call_histories *h);

/* call_histories_group -- the number of a process, new if it was not known. */
uint32_t call_histories_group(struct call_histories *h, uint32_t program, uint32_t rank);

/* call_histories_begin -- a step that was judged. O(locations + open calls). */
void call_histories_begin(struct call_histories *h, const struct ad_step *step);

/* call_histories_end -- it is over: keep what the next one may want of it. */
void call_histories_end(struct call_histories *h, const struct ad_step *step);

/* history_entered -- in which step a call of this step was entered. */
const struct entered *call_history_entered(const struct call_histories *h,
                                           const struct ad_step *step, uint32_t location,
                                           uint32_t row);

/* history_event -- the name of a call of this step. O(1). */
struct prov_event call_history_event(const struct call_histories *h, const struct ad_step *step,
                                     uint32_t location, uint32_t row);

/*
 * history_late_event -- the name of a call of an earlier step.
 *   entered  out: that step; its times are 0 where it is too long ago, and the name then is one
 *            that no other call has: with the step in which the call ended, and a number beyond
 *            those of any step
 */
struct prov_event call_history_late_event(const struct call_histories *h,
                                          const struct ad_step *step,
                                          const struct verdict *call, struct entered *entered);

/* history_call -- a call of this step, with its name and its caller's. O(log verdicts). */
void call_history_call(const struct call_histories *h, const struct ad_step *step,
                       uint32_t location, uint32_t row, struct prov_call *out);

/* history_message -- a message of a location as records have it; event: the call it is in. */
struct prov_message call_history_message(const struct ad_step *step, uint32_t location,
                                         const struct message *message,
                                         struct prov_event event);

/* ------------------------------------------------------------------- around a call */

/* around_release -- let go of what it holds. */
void around_release(struct around *around);

/* around_take -- what is around a call of this step, as far as it is known by now. */
void around_take(struct around *around, const struct call_histories *h,
                 const struct ad_step *step, uint32_t location, uint32_t row);

/* around_is_full -- nothing is missing after the call. */
bool around_is_full(const struct around *around, uint32_t window);

/*
 * around_continue -- the next step is there: add what is missing after the call, and the ends
 * and messages of calls that were open.
 */
void around_continue(struct around *around, const struct call_histories *h,
                     const struct ad_step *step, uint32_t location);

/* around_window -- as it stands in a record; the arrays are those of around. */
struct prov_window around_window(const struct around *around);

/* event_before -- in the order of entering, of two calls of one location. */
static inline bool event_before(const struct prov_event *a, const struct prov_event *b)
{
    return a->step != b->step ? a->step < b->step : a->index < b->index;
}

#endif
