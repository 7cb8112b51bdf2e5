/*
 * Collectives: a begin and an end record inside the call, with what was sent and received.
 *
 * Bytes are counted as other tools that write OTF2 count them: every rank is taken to send to
 * and receive from each rank the operation names, itself included, unless MPI_IN_PLACE says
 * that its own part stays where it is. So the root of an MPI_Bcast of b bytes to n ranks sends
 * n b and receives b, and each rank of an MPI_Allreduce sends and receives n b. Arguments that
 * MPI says are significant at the root only are looked at there only.
 *
 * On a communicator we do not know (see communicators.h) only the call is recorded.
 */
#include "communicator_handles.h"
#include "recorder.h"
#include "wrap.h"

#define ROOT_NONE OTF2_COLLECTIVE_ROOT_NONE

struct operation {
    struct call call;
    uint32_t communicator; /* COMMUNICATOR_NONE: no records */
    int rank, size;        /* in the communicator */
    uint64_t sent_bytes, received_bytes;
};

static struct operation begin(enum mpi_call which, MPI_Comm comm)
{
    struct operation op = {.call = call_begin(which), .communicator = COMMUNICATOR_NONE};

    if (!op.call.is_recorded)
        return op;
    op.communicator = communicator_id(comm);
    if (op.communicator == COMMUNICATOR_NONE)
        return op;
    PMPI_Comm_rank(comm, &op.rank);
    PMPI_Comm_size(comm, &op.size);
    record_collective_begin(op.call.begin_ns);
    return op;
}

/* Whether the bytes need to be counted at all. */
static bool is_counted(const struct operation *op)
{
    return op->communicator != COMMUNICATOR_NONE;
}

static int end(struct operation *op, OTF2_CollectiveOp operation, uint32_t root, int rc)
{
    if (is_counted(op))
        record_collective_end(&(struct collective){op->communicator, operation, root,
                                                   op->sent_bytes, op->received_bytes},
                              call_returned(&op->call));
    call_end(&op->call);
    return rc;
}

/* The sum of n counts. */
static uint64_t total(const int counts[], int n)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return sum;
}

/* The ranks whose part moves: all, or all but this one. */
static uint64_t movers(const struct operation *op, const void *sendbuf)
{
    return (uint64_t)op->size - (sendbuf == MPI_IN_PLACE);
}

/* ------------------------------------------------------------------------ without a root */

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    struct operation op = begin(CALL_Barrier, comm);

    return end(&op, OTF2_COLLECTIVE_OP_BARRIER, ROOT_NONE, PMPI_Barrier(comm));
}

EXPORTED int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                           MPI_Op reduce, MPI_Comm comm)
{
    struct operation op = begin(CALL_Allreduce, comm);

    if (is_counted(&op))
        op.sent_bytes = op.received_bytes = movers(&op, sendbuf) * bytes_of(count, type);
    return end(&op, OTF2_COLLECTIVE_OP_ALLREDUCE, ROOT_NONE,
               PMPI_Allreduce(sendbuf, recvbuf, count, type, reduce, comm));
}

EXPORTED int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct operation op = begin(CALL_Allgather, comm);

    if (is_counted(&op))
        op.sent_bytes = op.received_bytes =
            movers(&op, sendbuf) * bytes_of(recvcount, recvtype);
    return end(
        &op, OTF2_COLLECTIVE_OP_ALLGATHER, ROOT_NONE,
        PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

EXPORTED int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm)
{
    struct operation op = begin(CALL_Allgatherv, comm);

    if (is_counted(&op)) {
        uint64_t each = bytes_of(1, recvtype);
        uint64_t mine = each * (uint64_t)recvcounts[op.rank];

        op.sent_bytes = movers(&op, sendbuf) * mine;
        op.received_bytes =
            each * total(recvcounts, op.size) - (sendbuf == MPI_IN_PLACE ? mine : 0);
    }
    return end(&op, OTF2_COLLECTIVE_OP_ALLGATHERV, ROOT_NONE,
               PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                               recvtype, comm));
}

EXPORTED int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct operation op = begin(CALL_Alltoall, comm);

    if (is_counted(&op))
        op.sent_bytes = op.received_bytes =
            movers(&op, sendbuf) * bytes_of(recvcount, recvtype);
    return end(&op, OTF2_COLLECTIVE_OP_ALLTOALL, ROOT_NONE,
               PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

EXPORTED int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct operation op = begin(CALL_Alltoallv, comm);

    if (is_counted(&op) && sendbuf == MPI_IN_PLACE)
        op.sent_bytes = op.received_bytes =
            bytes_of(1, recvtype) *
            (total(recvcounts, op.size) - (uint64_t)recvcounts[op.rank]);
    else if (is_counted(&op)) {
        op.sent_bytes = bytes_of(1, sendtype) * total(sendcounts, op.size);
        op.received_bytes = bytes_of(1, recvtype) * total(recvcounts, op.size);
    }
    return end(&op, OTF2_COLLECTIVE_OP_ALLTOALLV, ROOT_NONE,
               PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                              rdispls, recvtype, comm));
}

EXPORTED int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                MPI_Datatype type, MPI_Op reduce, MPI_Comm comm)
{
    struct operation op = begin(CALL_Reduce_scatter, comm);

    if (is_counted(&op)) {
        uint64_t each = bytes_of(1, type);
        uint64_t mine = each * (uint64_t)recvcounts[op.rank];

        op.sent_bytes =
            each * total(recvcounts, op.size) - (sendbuf == MPI_IN_PLACE ? mine : 0);
        op.received_bytes = movers(&op, sendbuf) * mine;
    }
    return end(&op, OTF2_COLLECTIVE_OP_REDUCE_SCATTER, ROOT_NONE,
               PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, reduce, comm));
}

EXPORTED int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                      MPI_Datatype type, MPI_Op reduce, MPI_Comm comm)
{
    struct operation op = begin(CALL_Reduce_scatter_block, comm);

    if (is_counted(&op))
        op.sent_bytes = op.received_bytes = movers(&op, sendbuf) * bytes_of(recvcount, type);
    return end(&op, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, ROOT_NONE,
               PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, reduce, comm));
}

/* A scan sends to the ranks from this one up, and receives from those up to it; an exclusive
 * one leaves out this rank itself, as does one in place. */
static void count_scan(struct operation *op, bool is_without_self, uint64_t bytes)
{
    uint64_t self = is_without_self ? 0 : 1;

    op->sent_bytes = ((uint64_t)(op->size - op->rank - 1) + self) * bytes;
    op->received_bytes = ((uint64_t)op->rank + self) * bytes;
}

EXPORTED int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                      MPI_Op reduce, MPI_Comm comm)
{
    struct operation op = begin(CALL_Scan, comm);

    if (is_counted(&op))
        count_scan(&op, sendbuf == MPI_IN_PLACE, bytes_of(count, type));
    return end(&op, OTF2_COLLECTIVE_OP_SCAN, ROOT_NONE,
               PMPI_Scan(sendbuf, recvbuf, count, type, reduce, comm));
}

EXPORTED int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                        MPI_Op reduce, MPI_Comm comm)
{
    struct operation op = begin(CALL_Exscan, comm);

    if (is_counted(&op))
        count_scan(&op, true, bytes_of(count, type));
    return end(&op, OTF2_COLLECTIVE_OP_EXSCAN, ROOT_NONE,
               PMPI_Exscan(sendbuf, recvbuf, count, type, reduce, comm));
}

/* --------------------------------------------------------------------------- with a root */

EXPORTED int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct operation op = begin(CALL_Bcast, comm);

    if (is_counted(&op)) {
        op.received_bytes = bytes_of(count, type);
        op.sent_bytes = op.rank == root ? (uint64_t)op.size * op.received_bytes : 0;
    }
    return end(&op, OTF2_COLLECTIVE_OP_BCAST, (uint32_t)root,
               PMPI_Bcast(buf, count, type, root, comm));
}

EXPORTED int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                        MPI_Op reduce, int root, MPI_Comm comm)
{
    struct operation op = begin(CALL_Reduce, comm);

    if (is_counted(&op)) {
        uint64_t bytes = bytes_of(count, type);

        op.sent_bytes = sendbuf == MPI_IN_PLACE ? 0 : bytes;
        op.received_bytes = op.rank == root ? movers(&op, sendbuf) * bytes : 0;
    }
    return end(&op, OTF2_COLLECTIVE_OP_REDUCE, (uint32_t)root,
               PMPI_Reduce(sendbuf, recvbuf, count, type, reduce, root, comm));
}

EXPORTED int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                        void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm)
{
    struct operation op = begin(CALL_Gather, comm);

    if (is_counted(&op)) {
        op.sent_bytes = sendbuf == MPI_IN_PLACE ? 0 : bytes_of(sendcount, sendtype);
        if (op.rank == root)
            op.received_bytes = movers(&op, sendbuf) * bytes_of(recvcount, recvtype);
    }
    return end(
        &op, OTF2_COLLECTIVE_OP_GATHER, (uint32_t)root,
        PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

EXPORTED int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int displs[],
                         MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct operation op = begin(CALL_Gatherv, comm);

    if (is_counted(&op)) {
        op.sent_bytes = sendbuf == MPI_IN_PLACE ? 0 : bytes_of(sendcount, sendtype);
        if (op.rank == root)
            op.received_bytes = bytes_of(1, recvtype) *
                                (total(recvcounts, op.size) -
                                 (sendbuf == MPI_IN_PLACE ? (uint64_t)recvcounts[root] : 0));
    }
    return end(&op, OTF2_COLLECTIVE_OP_GATHERV, (uint32_t)root,
               PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm));
}

EXPORTED int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm)
{
    struct operation op = begin(CALL_Scatter, comm);

    if (is_counted(&op)) {
        op.received_bytes = recvbuf == MPI_IN_PLACE ? 0 : bytes_of(recvcount, recvtype);
        if (op.rank == root)
            op.sent_bytes = movers(&op, recvbuf) * bytes_of(sendcount, sendtype);
    }
    return end(
        &op, OTF2_COLLECTIVE_OP_SCATTER, (uint32_t)root,
        PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

EXPORTED int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct operation op = begin(CALL_Scatterv, comm);

    if (is_counted(&op)) {
        op.received_bytes = recvbuf == MPI_IN_PLACE ? 0 : bytes_of(recvcount, recvtype);
        if (op.rank == root)
            op.sent_bytes = bytes_of(1, sendtype) *
                            (total(sendcounts, op.size) -
                             (recvbuf == MPI_IN_PLACE ? (uint64_t)sendcounts[root] : 0));
    }
    return end(&op, OTF2_COLLECTIVE_OP_SCATTERV, (uint32_t)root,
               PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                             recvtype, root, comm));
}
