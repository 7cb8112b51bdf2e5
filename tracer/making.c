/* A wrapper gets here also when its call is not recorded, for the sake of the other members. */
#include "making.h"

#include "communicator_handles.h"
#include "recorder.h"
#include "session.h"

void making_begin(struct communicator_making *m, const struct call *call, MPI_Comm comm)
{
    *m = (struct communicator_making){
        call->is_recorded ? communicator_id(comm) : COMMUNICATOR_NONE, comm};
    if (m->communicator != COMMUNICATOR_NONE)
        record_collective_begin(call->begin_ns);
}

static void end(const struct communicator_making *m, struct call *call,
                OTF2_CollectiveOp operation)
{
    if (m->communicator != COMMUNICATOR_NONE)
        record_collective_end(&(struct collective_record){.communicator = m->communicator,
                                                          .operation = operation,
                                                          .root = OTF2_COLLECTIVE_ROOT_NONE},
                              call_returned(call));
}

void making_end(const struct communicator_making *m, struct call *call, const MPI_Comm *made)
{
    making_apart(m->from, made);
    end(m, call, OTF2_COLLECTIVE_OP_CREATE_HANDLE);
}

void making_apart(MPI_Comm comm, const MPI_Comm *made)
{
    if (made && session_is_open())
        communicator_add(*made, comm);
}

void freeing_begin(struct communicator_making *m, const struct call *call, MPI_Comm comm)
{
    uint32_t id = comm == MPI_COMM_NULL ? COMMUNICATOR_NONE : communicator_id(comm);

    m->communicator = call->is_recorded ? id : COMMUNICATOR_NONE;
    if (m->communicator != COMMUNICATOR_NONE)
        record_collective_begin(call->begin_ns);
    if (id != COMMUNICATOR_NONE) /* its handle may not be used any more */
        communicator_remove(comm);
}

void freeing_end(const struct communicator_making *m, struct call *call)
{
    end(m, call, OTF2_COLLECTIVE_OP_DESTROY_HANDLE);
}
