/*
 * collectives -- a begin and an end record inside the call, with what was sent and received, or
 * for those that do not block a record where they start and one where they are complete.
 *
 * Bytes are counted as other tools that write OTF2 count them: every rank is taken to send to
 * and receive from each rank the operation names, itself included, unless MPI_IN_PLACE says
 * that its own part stays where it is. So the root of an MPI_Bcast of b bytes to n ranks sends
 * n b and receives b, and each rank of an MPI_Allreduce sends and receives n b. Arguments that
 * MPI says are significant at the root only are looked at there only.
 *
 * On a communicator we do not know (see communicators.h) only the call is recorded.
 */
#ifndef SNAG_TRACER_COLLECTIVES_H
#define SNAG_TRACER_COLLECTIVES_H

#include "open_requests.h"
#include "wrap.h"

#define ROOT_NONE OTF2_COLLECTIVE_ROOT_NONE

struct operation {
    uint32_t communicator; /* COMMUNICATOR_NONE: no records */
    int rank, size;        /* in the communicator */
    uint64_t sent_bytes, received_bytes;
    uint64_t request; /* of one that does not block */
};

/* operation_begin -- before MPI is called; then one of those that count; operation_end. */
void operation_begin(struct operation *op, const struct call *call, MPI_Comm comm);
void operation_end(const struct operation *op, struct call *call, OTF2_CollectiveOp operation,
                   uint32_t root);

/* operation_starts -- as operation_begin for one that does not block, which operation_opened
 * makes an open request of. */
void operation_starts(struct operation *op, const struct call *call, MPI_Comm comm);
void operation_opened(const struct operation *op, OTF2_CollectiveOp operation, uint32_t root,
                      struct request_list request);

/* count_alike -- what each rank sends to each other one is count elements of a type. */
void count_alike(struct operation *op, const void *sendbuf, int count, MPI_Datatype type);

/* The others, each for the function of its name. */
void count_allgatherv(struct operation *op, const void *sendbuf, const int recvcounts[],
                      MPI_Datatype recvtype);
void count_alltoallv(struct operation *op, const void *sendbuf, const int sendcounts[],
                     MPI_Datatype sendtype, const int recvcounts[], MPI_Datatype recvtype);
void count_alltoallw(struct operation *op, const void *sendbuf, const int sendcounts[],
                     struct type_list sendtypes, const int recvcounts[],
                     struct type_list recvtypes);
void count_reduce_scatter(struct operation *op, const void *sendbuf, const int recvcounts[],
                          MPI_Datatype type);
void count_scan(struct operation *op, const void *sendbuf, int count, MPI_Datatype type);
void count_exscan(struct operation *op, int count, MPI_Datatype type);
void count_bcast(struct operation *op, int count, MPI_Datatype type, int root);
void count_reduce(struct operation *op, const void *sendbuf, int count, MPI_Datatype type,
                  int root);
void count_gather(struct operation *op, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype, int root);
void count_gatherv(struct operation *op, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, const int recvcounts[], MPI_Datatype recvtype,
                   int root);
void count_scatter(struct operation *op, int sendcount, MPI_Datatype sendtype,
                   const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root);
void count_scatterv(struct operation *op, const int sendcounts[], MPI_Datatype sendtype,
                    const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root);

#endif
