/*
 * completions -- how non-blocking messages end. A wrapper takes what is known of its requests
 * before it calls MPI (batch_take), afterwards records those that are complete, and puts back
 * the others (batch_return): see open_requests.h.
 *
 * What MPI_Test and its like find incomplete leaves no record but the call.
 */
#ifndef SNAG_TRACER_COMPLETIONS_H
#define SNAG_TRACER_COMPLETIONS_H

#include "open_requests.h"
#include "wrap.h"

#define FEW 32 /* requests for which nothing is allocated */

/* The requests of one call. */
struct batch {
    int n; /* 0 also where there is no memory for what is known of them */
    struct open_request *request; /* [n] */
    bool *is_taken;               /* [n] */
    void *allocated[3];
    struct open_request few_requests[FEW];
    bool few_taken[FEW];
    MPI_Status few_statuses[FEW];
};

/* batch_take -- the n requests; batch_return ends the use of b. */
void batch_take(struct batch *b, int n, struct request_list requests);
void batch_return(struct batch *b);

/* batch_statuses -- the program's, or others if it ignores them and something is known of the
 * requests, which live as long as b. */
void *batch_statuses(struct batch *b, void *statuses, bool is_ignored);

/*
 * batch_complete, batch_complete_all, batch_complete_some -- request i is complete, which may
 * be negative: none is; all are; those of the n indices are, whose statuses come one after the
 * other. A persistent request stays known, and can be started again.
 */
void batch_complete(struct batch *b, struct call *call, int i, const MPI_Status *status);
void batch_complete_all(struct batch *b, struct call *call, struct status_list statuses);
void batch_complete_some(struct batch *b, struct call *call, int n, struct index_list index,
                         struct status_list statuses);

void request_cancelled(struct request_list request);

/* request_forgotten -- whether a request that is freed ever completes nobody can see. */
void request_forgotten(struct request_list request);

#endif
