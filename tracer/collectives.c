/* Nothing is counted on a communicator that we do not know: its size is 0 here, and arguments
 * that only the members of a communicator with two groups could read are left alone. */
#include "collectives.h"

#include "communicator_handles.h"
#include "recorder.h"

static bool is_known(const struct operation *op)
{
    return op->communicator != COMMUNICATOR_NONE;
}

static void look_at(struct operation *op, MPI_Comm comm)
{
    *op = (struct operation){.communicator = communicator_id(comm)};
    if (!is_known(op))
        return;
    PMPI_Comm_rank(comm, &op->rank);
    PMPI_Comm_size(comm, &op->size);
}

void operation_begin(struct operation *op, const struct call *call, MPI_Comm comm)
{
    look_at(op, comm);
    if (is_known(op))
        record_collective_begin(call->begin_ns);
}

void operation_end(const struct operation *op, struct call *call, OTF2_CollectiveOp operation,
                   uint32_t root)
{
    if (is_known(op))
        record_collective_end(&(struct collective_record){.communicator = op->communicator,
                                                          .operation = operation,
                                                          .root = root,
                                                          .sent_bytes = op->sent_bytes,
                                                          .received_bytes = op->received_bytes},
                              call_returned(call));
}

void operation_starts(struct operation *op, const struct call *call, MPI_Comm comm)
{
    look_at(op, comm);
    if (!is_known(op))
        return;
    op->request = request_id();
    record_request(RECORD_ICOLLECTIVE_REQUEST, op->request, call->begin_ns);
}

void operation_opened(const struct operation *op, OTF2_CollectiveOp operation, uint32_t root,
                      struct request_list request)
{
    request_put(
        &(struct open_request){.kind = is_known(op) ? REQUEST_COLLECTIVE : REQUEST_SILENT,
                               .id = op->request,
                               .communicator = op->communicator,
                               .is_active = true,
                               .bytes = op->sent_bytes,
                               .operation = operation,
                               .root = root,
                               .received_bytes = op->received_bytes,
                               .key = request_key(request, 0)});
}

/* The sum of n counts. */
static uint64_t total(const int counts[], int n)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;
    return sum;
}

/* Of n counts with a type each; that of rank `without` is left out, -1: none. */
static uint64_t total_bytes(const int counts[], struct type_list types, int n, int without)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += i == without ? 0 : bytes_of(counts[i], type_at(types, i));
    return sum;
}

/* The ranks whose part moves: all, or all but this one. */
static uint64_t movers(const struct operation *op, const void *sendbuf)
{
    return (uint64_t)op->size - (sendbuf == MPI_IN_PLACE);
}

/* ------------------------------------------------------------------------ without a root */

void count_alike(struct operation *op, const void *sendbuf, int count, MPI_Datatype type)
{
    if (is_known(op))
        op->sent_bytes = op->received_bytes = movers(op, sendbuf) * bytes_of(count, type);
}

/* Blocks of recvcounts[]: of this rank's own, how much goes to all, and what comes from all. */
static void count_blocks(const struct operation *op, const void *sendbuf,
                         const int recvcounts[], MPI_Datatype type, uint64_t *own_to_all,
                         uint64_t *all)
{
    uint64_t each = bytes_of(1, type), mine = each * (uint64_t)recvcounts[op->rank];

    *own_to_all = movers(op, sendbuf) * mine;
    *all = each * total(recvcounts, op->size) - (sendbuf == MPI_IN_PLACE ? mine : 0);
}

void count_allgatherv(struct operation *op, const void *sendbuf, const int recvcounts[],
                      MPI_Datatype recvtype)
{
    if (is_known(op))
        count_blocks(op, sendbuf, recvcounts, recvtype, &op->sent_bytes, &op->received_bytes);
}

void count_reduce_scatter(struct operation *op, const void *sendbuf, const int recvcounts[],
                          MPI_Datatype type)
{
    if (is_known(op))
        count_blocks(op, sendbuf, recvcounts, type, &op->received_bytes, &op->sent_bytes);
}

void count_alltoallv(struct operation *op, const void *sendbuf, const int sendcounts[],
                     MPI_Datatype sendtype, const int recvcounts[], MPI_Datatype recvtype)
{
    if (!is_known(op))
        return;
    op->received_bytes = bytes_of(1, recvtype) * total(recvcounts, op->size);
    if (sendbuf != MPI_IN_PLACE) {
        op->sent_bytes = bytes_of(1, sendtype) * total(sendcounts, op->size);
        return;
    }
    op->received_bytes -= bytes_of(recvcounts[op->rank], recvtype);
    op->sent_bytes = op->received_bytes;
}

void count_alltoallw(struct operation *op, const void *sendbuf, const int sendcounts[],
                     struct type_list sendtypes, const int recvcounts[],
                     struct type_list recvtypes)
{
    bool is_in_place = sendbuf == MPI_IN_PLACE;

    if (!is_known(op))
        return;
    op->received_bytes =
        total_bytes(recvcounts, recvtypes, op->size, is_in_place ? op->rank : -1);
    op->sent_bytes =
        is_in_place ? op->received_bytes : total_bytes(sendcounts, sendtypes, op->size, -1);
}

/* A scan sends to the ranks from this one up, and receives from those up to it; an exclusive
 * one leaves out this rank itself, as does one in place. */
static void count_ranks(struct operation *op, bool is_without_self, uint64_t bytes)
{
    uint64_t self = is_without_self ? 0 : 1;

    op->sent_bytes = ((uint64_t)(op->size - op->rank - 1) + self) * bytes;
    op->received_bytes = ((uint64_t)op->rank + self) * bytes;
}

void count_scan(struct operation *op, const void *sendbuf, int count, MPI_Datatype type)
{
    if (is_known(op))
        count_ranks(op, sendbuf == MPI_IN_PLACE, bytes_of(count, type));
}

void count_exscan(struct operation *op, int count, MPI_Datatype type)
{
    if (is_known(op))
        count_ranks(op, true, bytes_of(count, type));
}

/* --------------------------------------------------------------------------- with a root */

static bool is_root(const struct operation *op, int root)
{
    return is_known(op) && op->rank == root;
}

void count_bcast(struct operation *op, int count, MPI_Datatype type, int root)
{
    if (!is_known(op))
        return;
    op->received_bytes = bytes_of(count, type);
    op->sent_bytes = is_root(op, root) ? (uint64_t)op->size * op->received_bytes : 0;
}

/* What each rank has for the root. */
static void count_own(struct operation *op, const void *sendbuf, int count, MPI_Datatype type)
{
    if (is_known(op) && sendbuf != MPI_IN_PLACE)
        op->sent_bytes = bytes_of(count, type);
}

void count_reduce(struct operation *op, const void *sendbuf, int count, MPI_Datatype type,
                  int root)
{
    count_own(op, sendbuf, count, type);
    if (is_root(op, root))
        op->received_bytes = movers(op, sendbuf) * bytes_of(count, type);
}

void count_gather(struct operation *op, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, int recvcount, MPI_Datatype recvtype, int root)
{
    count_own(op, sendbuf, sendcount, sendtype);
    if (is_root(op, root))
        op->received_bytes = movers(op, sendbuf) * bytes_of(recvcount, recvtype);
}

/* What the root has of all, or for all. */
static uint64_t root_bytes(const struct operation *op, const void *own, const int counts[],
                           MPI_Datatype type)
{
    uint64_t unmoved = own == MPI_IN_PLACE ? (uint64_t)counts[op->rank] : 0;

    return bytes_of(1, type) * (total(counts, op->size) - unmoved);
}

void count_gatherv(struct operation *op, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, const int recvcounts[], MPI_Datatype recvtype,
                   int root)
{
    count_own(op, sendbuf, sendcount, sendtype);
    if (is_root(op, root))
        op->received_bytes = root_bytes(op, sendbuf, recvcounts, recvtype);
}

void count_scatter(struct operation *op, int sendcount, MPI_Datatype sendtype,
                   const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root)
{
    if (is_known(op) && recvbuf != MPI_IN_PLACE)
        op->received_bytes = bytes_of(recvcount, recvtype);
    if (is_root(op, root))
        op->sent_bytes = movers(op, recvbuf) * bytes_of(sendcount, sendtype);
}

void count_scatterv(struct operation *op, const int sendcounts[], MPI_Datatype sendtype,
                    const void *recvbuf, int recvcount, MPI_Datatype recvtype, int root)
{
    if (is_known(op) && recvbuf != MPI_IN_PLACE)
        op->received_bytes = bytes_of(recvcount, recvtype);
    if (is_root(op, root))
        op->sent_bytes = root_bytes(op, recvbuf, sendcounts, sendtype);
}
