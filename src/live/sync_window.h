/*
 * sync_window -- where the ranks of a program that runs have waited for each other lately, to
 * be replayed without some of the time.
 *
 *     sync_window_take(&w, step);              in every step
 *     sync_window_open(&w, step);              when something is asked: w.replay is ready
 *     replay_cut_after(&w.replay, ...); replay_run(&w.replay, &result);
 *     sync_window_close(&w);
 *     view = sync_window_view(&w, step);       or looked at as it is, see live_waits.h
 *     sync_window_forget(&w, who, time_ns);    what was over by then
 *
 * Of all calls only those of MPI that are in no other one are kept, with their messages and
 * collectives: 60 to 130 bytes each. To a replay, that is a trace of its own that begins where
 * the window does and ends with the last step:
 *
 *     rank 0   |begin   [Send]       [Barrier]         end|
 *     rank 1   |begin         [Recv] [Barrier]         end|
 *
 * Messages are matched step by step, because MPI's order counts from the start; what has found
 * no partner stays for the next steps, a bounded number. Teams of threads are not in it.
 */
#ifndef SNAG_LIVE_SYNC_WINDOW_H
#define SNAG_LIVE_SYNC_WINDOW_H

#include "forest/traffic.h"
#include "live/ad.h"
#include "live/sync_order.h"
#include "replay/replay.h"

#include <stdbool.h>

#define SYNC_WINDOW_MAX_PENDING 65536 /* messages without a partner, in all */

/* What is kept of one location; what was forgotten was before. */
struct window_location {
    uint64_t *enter_ns, *inclusive_ns; /* [n] of an open call, until the end of the last step */
    uint32_t *region, *id;             /* [n] */
    uint32_t n;
    struct message *message; /* [n_messages]; call: NO_CALL or a row; end_ns of a send that is
                                not complete yet: SYNC_NOT_SENT; match: MESSAGE_UNMATCHED, or
                                location << 32 | row, counted from the start */
    size_t n_messages, message_cap;
    uint32_t n_messages_before;
    struct collective *collective; /* [n_collectives]; call as above, instance: order */
    size_t n_collectives, collective_cap;
    struct calls pending; /* messages without a partner; call: row of it, from the start */
    size_t cap;           /* of the four columns */
    uint64_t last_ns;
    uint64_t sent_before_ns;  /* sends that were forgotten and are complete were so by then */
    uint64_t longest_send_ns; /* from when one was posted until it was complete, so far */
    bool is_seen;             /* something was read of it */
    bool has_received;        /* messages, so far */
    bool tells_sent;          /* when non-blocking sends are complete is in its trace */
    uint32_t open_row;        /* while it is open: the first of each that is looked at */
    size_t open_message, open_collective;
};

#define SYNC_NOT_SENT UINT64_MAX

/* Who needs what is kept. */
enum sync_reader { SYNC_COSTS, SYNC_WAITS, N_SYNC_READERS };

struct sync_window {
    struct window_location *of; /* [n_locations] */
    struct quality *quality;    /* [n_locations] nobody looks at it */
    uint32_t n_locations;
    size_t cap, quality_cap;
    uint64_t begin_ns;                  /* what was over by then is forgotten */
    bool is_read[N_SYNC_READERS];       /* for its owner to say */
    uint64_t needed_ns[N_SYNC_READERS]; /* what was over by then is not needed any more */
    uint64_t n_too_early;    /* messages that were received before they were sent, and parts of
                                collectives that were left before another had come; so far, for
                                SYNC_WAITS */
    struct sync_order order; /* likewise */
    bool is_nested;          /* calls of MPI are in other calls of MPI, and do something */
    uint64_t n_dropped;      /* that had no partner when there were too many of these */
    uint32_t *order_from; /* [n_comms] the first collective of a communicator that is whole */
    uint32_t n_comms;
    size_t comm_cap;

    struct calls active; /* messages of a location that may find a partner in this step */

    struct trace_view as_it_is; /* sync_window_view, of this step */
    bool is_looked_at;

    /* While it is open. */
    bool is_open;
    uint64_t open_ns; /* from when on */
    struct trace_view view;
    struct syncs syncs;
    struct replay replay;
    struct window_columns { /* of all locations, one after another */
        uint64_t *enter_ns, *inclusive_ns;
        uint32_t *region, *subtree_len;
        uint16_t *depth;
        struct message *message;
        struct collective *collective;
        size_t call_cap, message_cap, collective_cap;
    } columns;
};

void sync_window_release(struct sync_window *w);

/* sync_window_take -- a step is there. O(calls + messages + collectives of the step, and
 * messages without a partner). */
void sync_window_take(struct sync_window *w, const struct ad_step *step);

/*
 * sync_window_forget -- a reader does not need any more what was over before a time; of what
 * nobody needs is forgotten.
 * O(what is kept).
 */
void sync_window_forget(struct sync_window *w, enum sync_reader who, uint64_t time_ns);

/*
 * sync_window_view -- all that is kept, to be looked at where it lies: rows of calls are those
 * of the columns, nobody calls another. Until the next step. O(locations), once per step.
 */
const struct trace_view *sync_window_view(struct sync_window *w, const struct ad_step *step);

/* sync_window_call -- the row of a call by its number on its location, or NO_CALL: it is not
 * kept, or in another call of MPI. O(log calls). */
uint32_t sync_window_call(const struct sync_window *w, uint32_t location, uint32_t id);

/* sync_window_middle -- until when there is half of what is kept of those locations that half
 * of all is of; UINT64_MAX: nothing is kept. O(locations x log). */
uint64_t sync_window_middle(const struct sync_window *w);

/* sync_window_size -- calls, messages and collectives that are kept. */
size_t sync_window_size(const struct sync_window *w);

/*
 * sync_window_sees_all -- whether next to all that was waited for can be seen: of the messages
 * and collectives up to a time, at most a tenth miss another end or a member, or are in no call
 * of MPI; with those, whenever they were, whose other end is of a rank that was never seen.
 */
bool sync_window_sees_all(const struct sync_window *w, const struct ad_step *step,
                          uint64_t until_ns);

/* sync_window_is_under_way -- whether a message sent between two times was not received yet. */
bool sync_window_is_under_way(const struct sync_window *w, uint64_t from_ns, uint64_t to_ns);

/*
 * sync_window_open -- make w->syncs and w->replay of what is kept, with this step the last.
 *   from_ns  what was over by then is left out
 * Returns 0, or as syncs_init; then it is not open. O(what is kept x log).
 */
int sync_window_open(struct sync_window *w, const struct ad_step *step, uint64_t from_ns);
void sync_window_close(struct sync_window *w);

/* sync_window_row -- while it is open: the call of MPI that a location was in at a time, as a
 * row for replay_cut, or NO_CALL. O(log calls). */
uint32_t sync_window_row(const struct sync_window *w, uint32_t location, uint64_t time_ns);

#endif
