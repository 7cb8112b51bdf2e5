/*
 * late_senders -- receives that were entered before their message was sent, as Scalasca has
 * them: how many, how long they waited, and which waited longest. A call that completes several
 * (MPI_Waitall) waits once, for the last of their senders.
 *
 * Source: Wolf, Mohr. Automatic performance analysis of hybrid MPI/OpenMP applications. Journal
 * of Systems Architecture 49, 2003 (pattern Late Sender).
 */
#ifndef SNAG_RANKS_LATE_SENDERS_H
#define SNAG_RANKS_LATE_SENDERS_H

#include "explain/trace_view.h"
#include "trace/event.h"

#include <stdint.h>

#define MAX_LATE_SENDERS 20u

struct late_sender {
    uint32_t rank, sender;
    uint64_t enter_ns; /* of the call in which the message was received */
    uint64_t wait_ns;  /* from there to where the call was entered in which it was sent */
};

struct late_senders {
    uint64_t n, sum_ns;                         /* n: receiving calls */
    struct late_sender worst[MAX_LATE_SENDERS]; /* [n_worst] */
    uint32_t n_worst;
};

/*
 * late_sender_ns -- how long the call in which a message was received had to wait until the one
 * was entered in which it was sent; 0 where one of them is not known.
 */
static inline uint64_t late_sender_ns(const struct call_view *calls,
                                      const struct message *received,
                                      const struct call_view *theirs,
                                      const struct message *sent)
{
    uint64_t enter, until, leave;

    if (received->call >= calls->n || sent->call >= theirs->n)
        return 0;
    enter = calls->enter_ns[received->call];
    leave = calls_leave(calls, received->call);
    until = theirs->enter_ns[sent->call];
    until = until < leave ? until : leave;
    return until > enter ? until - enter : 0;
}

/* late_senders_find -- of all messages whose ends are in calls. O(messages x log locations). */
void late_senders_find(const struct trace_view *view, struct late_senders *out);

#endif
