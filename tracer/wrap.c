/* A function that the filter excludes still has its messages recorded, in whatever called it.
 */
#include "wrap.h"

#include "recorder.h"
#include "regions.h"
#include "stack.h"
#include "structure.h"

struct call call_begin(enum mpi_call which)
{
    struct call call = {0};
    struct recorder *r = recorder_begin();

    if (r == NULL)
        return call;
    call.is_recorded = true;
    call.region = region_of_mpi(which);
    call.begin_ns = structure_is(STRUCTURE_STACKS) ? stack_enter(r) : clock_ns();
    if (call.region != REGION_FILTERED)
        recorder_enter(r, call.region, call.begin_ns);
    recorder_end(r);
    return call;
}

uint64_t call_returned(struct call *call)
{
    if (call->end_ns == 0)
        call->end_ns = clock_ns();
    return call->end_ns;
}

void call_end(struct call *call)
{
    struct recorder *r;

    if (!call->is_recorded)
        return;
    r = recorder_begin();
    if (r == NULL)
        return;
    if (call->region != REGION_FILTERED)
        recorder_leave(r, call->region, recorder_time(r, call_returned(call)));
    stack_left(r, call_returned(call));
    recorder_end(r);
}

uint64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;

    if (type == MPI_DATATYPE_NULL || count <= 0 || PMPI_Type_size(type, &size) != MPI_SUCCESS)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

uint64_t bytes_received(const MPI_Status *status)
{
    MPI_Count n = 0;

    if (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n < 0)
        return 0;
    return (uint64_t)n;
}
