/* The rows before a call, in preorder, are those around it, and those that ended before it began. */
#include "explain/probes.h"

#include <string.h>

static const struct region *region_of(const struct trace_view *view,
                                      const struct call_view *calls, uint32_t row)
{
    return &view->defs->region[calls->region[row]];
}

static bool is_probe(const struct region *region)
{
    return region_is_mpi(region, "MPI_Probe") || region_is_mpi(region, "MPI_Iprobe") ||
           region_is_mpi(region, "MPI_Mprobe") || region_is_mpi(region, "MPI_Improbe");
}

static bool is_receive(const struct region *region)
{
    return region_is_mpi(region, "MPI_Recv") || region_is_mpi(region, "MPI_Mrecv") ||
           region_is_mpi(region, "MPI_Sendrecv");
}

/* What a program asks a status for before it receives; the tracer may write its buffer anywhere. */
static bool is_between(const struct region *region)
{
    return region->kind == REGION_TRACER ||
           (region->kind == REGION_MPI && strncmp(region->function, "MPI_Get_", 8) == 0);
}

static bool is_soon(uint64_t apart_ns, uint64_t probed_ns)
{
    return apart_ns <= PROBES_APART_NS || apart_ns <= probed_ns / PROBES_SHARE;
}

uint32_t probes_before(const struct trace_view *view, uint32_t location, uint32_t row)
{
    const struct call_view *calls = &view->calls[location];

    if (!is_receive(region_of(view, calls, row)))
        return NO_CALL;
    for (uint32_t i = 1; i <= PROBES_MAX_BETWEEN && i <= row; i++) {
        uint32_t before = row - i;
        const struct region *region = region_of(view, calls, before);

        if (before + calls->subtree_len[before] > row) /* it is around the receive */
            continue;
        if (is_probe(region))
            return is_soon(calls->enter_ns[row] - calls_leave(calls, before),
                           calls->inclusive_ns[before])
                       ? before
                       : NO_CALL;
        if (!is_between(region))
            return NO_CALL;
    }
    return NO_CALL;
}

uint32_t probes_receive(const struct trace_view *view, uint32_t location, uint32_t row)
{
    const struct call_view *calls = &view->calls[location];

    if (!is_probe(region_of(view, calls, row)))
        return NO_CALL;
    for (uint32_t i = row + 1; i <= row + PROBES_MAX_BETWEEN && i < calls->n; i++)
        if (is_receive(region_of(view, calls, i)))
            return probes_before(view, location, i) == row ? i : NO_CALL;
    return NO_CALL;
}
