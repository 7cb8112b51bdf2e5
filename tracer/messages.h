/*
 * messages -- what is recorded of messages, blocking and not, and of how non-blocking ones
 * start; how they end is in completions.h. The wrappers (mpi_calls.table) say when.
 *
 * The sender of a message is known when its receive is complete: MPI_ANY_SOURCE and MPI_ANY_TAG
 * are resolved from the status. MPI_PROC_NULL makes no message.
 */
#ifndef SNAG_TRACER_MESSAGES_H
#define SNAG_TRACER_MESSAGES_H

#include "open_requests.h"
#include "wrap.h"

void message_sent(const struct call *call, int count, MPI_Datatype type, int dest, int tag,
                  MPI_Comm comm);
void message_received(struct call *call, const MPI_Status *status, MPI_Comm comm);

/*
 * send_starts, receive_starts, matched_starts -- before MPI_Isend, MPI_Irecv and MPI_Imrecv;
 * request_opened, when there is the request.
 *   r  out: what will be known of the request
 */
void send_starts(struct open_request *r, const struct call *call, int count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm);
void receive_starts(struct open_request *r, const struct call *call, int source, MPI_Comm comm);
void matched_starts(struct open_request *r, const struct call *call,
                    struct message_list message);
void request_opened(struct open_request *r, struct request_list request);

/* request_opened_silent -- of something else than a message: nothing is recorded of its end. */
void request_opened_silent(struct request_list request);

/* send_prepared, receive_prepared -- there is a persistent request; requests_start: they start.
 */
void send_prepared(struct request_list request, int count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm);
void receive_prepared(struct request_list request, int source, MPI_Comm comm);
void requests_start(const struct call *call, int n, struct request_list requests);

/* message_matched -- a probe has found it; matched_taken, matched_received: before MPI_Mrecv
 * and after it. */
void message_matched(struct message_list message, MPI_Comm comm);
void matched_taken(struct open_request *r, struct message_list message);
void matched_received(const struct open_request *r, struct call *call,
                      const MPI_Status *status);

#endif
