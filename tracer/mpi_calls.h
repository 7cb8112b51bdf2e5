/*
 * mpi_calls -- the MPI functions that are traced, with the role OTF2 gives each as a region.
 *
 * A new wrapper starts with a row here: CALL_<name> then is its number.
 */
#ifndef SNAG_TRACER_MPI_CALLS_H
#define SNAG_TRACER_MPI_CALLS_H

#include <otf2/otf2.h>

#define MPI_CALLS(X)                                                                           \
    X(Init, FUNCTION)                                                                          \
    X(Init_thread, FUNCTION)                                                                   \
    X(Finalize, FUNCTION)                                                                      \
    X(Abort, FUNCTION)                                                                         \
    X(Send, POINT2POINT)                                                                       \
    X(Ssend, POINT2POINT)                                                                      \
    X(Rsend, POINT2POINT)                                                                      \
    X(Bsend, POINT2POINT)                                                                      \
    X(Recv, POINT2POINT)                                                                       \
    X(Sendrecv, POINT2POINT)                                                                   \
    X(Sendrecv_replace, POINT2POINT)                                                           \
    X(Probe, POINT2POINT)                                                                      \
    X(Iprobe, POINT2POINT)                                                                     \
    X(Isend, POINT2POINT)                                                                      \
    X(Issend, POINT2POINT)                                                                     \
    X(Irsend, POINT2POINT)                                                                     \
    X(Ibsend, POINT2POINT)                                                                     \
    X(Irecv, POINT2POINT)                                                                      \
    X(Send_init, POINT2POINT)                                                                  \
    X(Ssend_init, POINT2POINT)                                                                 \
    X(Rsend_init, POINT2POINT)                                                                 \
    X(Bsend_init, POINT2POINT)                                                                 \
    X(Recv_init, POINT2POINT)                                                                  \
    X(Start, POINT2POINT)                                                                      \
    X(Startall, POINT2POINT)                                                                   \
    X(Wait, POINT2POINT)                                                                       \
    X(Waitall, POINT2POINT)                                                                    \
    X(Waitany, POINT2POINT)                                                                    \
    X(Waitsome, POINT2POINT)                                                                   \
    X(Test, POINT2POINT)                                                                       \
    X(Testall, POINT2POINT)                                                                    \
    X(Testany, POINT2POINT)                                                                    \
    X(Testsome, POINT2POINT)                                                                   \
    X(Cancel, POINT2POINT)                                                                     \
    X(Request_free, POINT2POINT)                                                               \
    X(Barrier, BARRIER)                                                                        \
    X(Bcast, COLL_ONE2ALL)                                                                     \
    X(Scatter, COLL_ONE2ALL)                                                                   \
    X(Scatterv, COLL_ONE2ALL)                                                                  \
    X(Gather, COLL_ALL2ONE)                                                                    \
    X(Gatherv, COLL_ALL2ONE)                                                                   \
    X(Reduce, COLL_ALL2ONE)                                                                    \
    X(Allgather, COLL_ALL2ALL)                                                                 \
    X(Allgatherv, COLL_ALL2ALL)                                                                \
    X(Allreduce, COLL_ALL2ALL)                                                                 \
    X(Alltoall, COLL_ALL2ALL)                                                                  \
    X(Alltoallv, COLL_ALL2ALL)                                                                 \
    X(Reduce_scatter, COLL_ALL2ALL)                                                            \
    X(Reduce_scatter_block, COLL_ALL2ALL)                                                      \
    X(Scan, COLL_OTHER)                                                                        \
    X(Exscan, COLL_OTHER)                                                                      \
    X(Comm_dup, COLL_OTHER)                                                                    \
    X(Comm_dup_with_info, COLL_OTHER)                                                          \
    X(Comm_split, COLL_OTHER)                                                                  \
    X(Comm_split_type, COLL_OTHER)                                                             \
    X(Comm_create, COLL_OTHER)                                                                 \
    X(Comm_create_group, COLL_OTHER)                                                           \
    X(Cart_create, COLL_OTHER)                                                                 \
    X(Cart_sub, COLL_OTHER)                                                                    \
    X(Graph_create, COLL_OTHER)                                                                \
    X(Dist_graph_create, COLL_OTHER)                                                           \
    X(Dist_graph_create_adjacent, COLL_OTHER)                                                  \
    X(Intercomm_merge, COLL_OTHER)                                                             \
    X(Comm_free, COLL_OTHER)                                                                   \
    X(Comm_disconnect, COLL_OTHER)

enum mpi_call {
#define CALL_AS_NUMBER(name, role) CALL_##name,
    MPI_CALLS(CALL_AS_NUMBER)
#undef CALL_AS_NUMBER
        N_MPI_CALLS
};

#endif
