/*
 * late_senders -- receives that were entered before their message was sent, as Scalasca has
 * them: how many, how long they waited, and which waited longest.
 *
 * Source: Wolf, Mohr. Automatic performance analysis of hybrid MPI/OpenMP applications. Journal
 * of Systems Architecture 49, 2003 (pattern Late Sender).
 */
#ifndef SNAG_RANKS_LATE_SENDERS_H
#define SNAG_RANKS_LATE_SENDERS_H

#include "explain/trace_view.h"

#include <stdint.h>

#define MAX_LATE_SENDERS 20u

struct late_sender {
    uint32_t rank, sender;
    uint64_t enter_ns; /* of the call in which the message was received */
    uint64_t wait_ns;  /* from there to where the call was entered in which it was sent */
};

struct late_senders {
    uint64_t n, sum_ns;
    struct late_sender worst[MAX_LATE_SENDERS]; /* [n_worst] */
    uint32_t n_worst;
};

/* late_senders_find -- of all messages whose ends are in calls. O(messages x log locations). */
void late_senders_find(const struct trace_view *view, struct late_senders *out);

#endif
