/*
 * Communicators are made and freed. Making one is a collective of the communicator it is made
 * from, and freeing one a collective of its own.
 *
 * Whether a new communicator is named must be the same on all its members, because naming it
 * is a broadcast (communicators.h). It depends on session_is_open only, never on whether this
 * process still records.
 */
#include "communicator_handles.h"
#include "recorder.h"
#include "session.h"
#include "wrap.h"

struct making {
    struct call call;
    uint32_t parent; /* COMMUNICATOR_NONE: no records of a collective */
    MPI_Comm from;
};

static struct making begin(enum mpi_call which, MPI_Comm from)
{
    struct making m = {.call = call_begin(which), .parent = COMMUNICATOR_NONE, .from = from};

    if (m.call.is_recorded)
        m.parent = communicator_id(from);
    if (m.parent != COMMUNICATOR_NONE)
        record_collective_begin(m.call.begin_ns);
    return m;
}

/* As begin, for a function that only some members of the communicator take part in. */
static struct making begin_apart(enum mpi_call which, MPI_Comm from)
{
    return (struct making){
        .call = call_begin(which), .parent = COMMUNICATOR_NONE, .from = from};
}

static int end(struct making *m, const MPI_Comm *made, int rc)
{
    if (rc == MPI_SUCCESS && session_is_open())
        communicator_add(*made, m->from);
    if (m->parent != COMMUNICATOR_NONE)
        record_collective_end(
            &(struct collective){.communicator = m->parent,
                                 .operation = OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                                 .root = OTF2_COLLECTIVE_ROOT_NONE},
            call_returned(&m->call));
    call_end(&m->call);
    return rc;
}

EXPORTED int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    struct making m = begin(CALL_Comm_dup, comm);

    return end(&m, made, PMPI_Comm_dup(comm, made));
}

EXPORTED int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made)
{
    struct making m = begin(CALL_Comm_dup_with_info, comm);

    return end(&m, made, PMPI_Comm_dup_with_info(comm, info, made));
}

EXPORTED int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    struct making m = begin(CALL_Comm_split, comm);

    return end(&m, made, PMPI_Comm_split(comm, color, key, made));
}

EXPORTED int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                 MPI_Comm *made)
{
    struct making m = begin(CALL_Comm_split_type, comm);

    return end(&m, made, PMPI_Comm_split_type(comm, type, key, info, made));
}

EXPORTED int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    struct making m = begin(CALL_Comm_create, comm);

    return end(&m, made, PMPI_Comm_create(comm, group, made));
}

EXPORTED int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    struct making m = begin_apart(CALL_Comm_create_group, comm);

    return end(&m, made, PMPI_Comm_create_group(comm, group, tag, made));
}

EXPORTED int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[],
                             int reorder, MPI_Comm *made)
{
    struct making m = begin(CALL_Cart_create, comm);

    return end(&m, made, PMPI_Cart_create(comm, ndims, dims, periods, reorder, made));
}

EXPORTED int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *made)
{
    struct making m = begin(CALL_Cart_sub, comm);

    return end(&m, made, PMPI_Cart_sub(comm, remain, made));
}

EXPORTED int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[],
                              int reorder, MPI_Comm *made)
{
    struct making m = begin(CALL_Graph_create, comm);

    return end(&m, made, PMPI_Graph_create(comm, nnodes, index, edges, reorder, made));
}

EXPORTED int MPI_Dist_graph_create(MPI_Comm comm, int n, const int nodes[], const int degrees[],
                                   const int targets[], const int weights[], MPI_Info info,
                                   int reorder, MPI_Comm *made)
{
    struct making m = begin(CALL_Dist_graph_create, comm);

    return end(
        &m, made,
        PMPI_Dist_graph_create(comm, n, nodes, degrees, targets, weights, info, reorder, made));
}

EXPORTED int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                            const int sourceweights[], int outdegree,
                                            const int destinations[], const int destweights[],
                                            MPI_Info info, int reorder, MPI_Comm *made)
{
    struct making m = begin(CALL_Dist_graph_create_adjacent, comm);

    return end(&m, made,
               PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights,
                                               outdegree, destinations, destweights, info,
                                               reorder, made));
}

EXPORTED int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *made)
{
    struct making m = begin_apart(CALL_Intercomm_merge, intercomm);

    return end(&m, made, PMPI_Intercomm_merge(intercomm, high, made));
}

/* -------------------------------------------------------------------------------- freeing */

typedef int free_fn(MPI_Comm *);

static int free_traced(enum mpi_call which, free_fn *pmpi, MPI_Comm *comm)
{
    struct call call = call_begin(which);
    uint32_t id = COMMUNICATOR_NONE;
    int rc;

    if (call.is_recorded && *comm != MPI_COMM_NULL)
        id = communicator_id(*comm);
    if (id != COMMUNICATOR_NONE) {
        record_collective_begin(call.begin_ns);
        communicator_remove(*comm);
    }
    rc = pmpi(comm);
    if (id != COMMUNICATOR_NONE)
        record_collective_end(
            &(struct collective){.communicator = id,
                                 .operation = OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
                                 .root = OTF2_COLLECTIVE_ROOT_NONE},
            call_returned(&call));
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Comm_free(MPI_Comm *comm)
{
    return free_traced(CALL_Comm_free, PMPI_Comm_free, comm);
}

EXPORTED int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_traced(CALL_Comm_disconnect, PMPI_Comm_disconnect, comm);
}
