/* A function that the filter excludes still has its messages recorded, in whatever called it.
 */
#include "wrap.h"

#include "budget.h"
#include "communicator_handles.h"
#include "polls.h"
#include "python.h"
#include "recorder.h"
#include "regions.h"
#include "stack.h"
#include "structure.h"

#define MIN_LEFT_SLOTS (CHUNK_SLOTS / 8) /* of a chunk: as much as a call of MPI mostly notes */

/* One of few. */
static bool watch(struct recorder *r)
{
    r->until_watched = BUDGET_EVERY - 1;
    budget_watch_begin(r, clock_ns());
    return true;
}

/* Nothing is looked at: no clock, and no stack. What it completes has the time when it does. */
static void leave_out(struct call *call, struct recorder *r, bool is_whole)
{
    budget_left_out(r, call->region);
    call->region = REGION_FILTERED;
    call->is_recorded = !is_whole;
    if (!call->is_recorded && call->is_watched) { /* its wrapper does nothing any more */
        call_asks_watched(call);
        budget_watch_end(r, clock_ns(), false);
    }
}

static struct call begin(enum mpi_call which, const void *returns_to, bool is_alone)
{
    struct call call = {0};
    struct recorder *r = recorder_begin();
    uintptr_t place;

    if (r == NULL) {
        recorder_missed();
        return call;
    }
    call.is_recorded = true;
    place = python_place();
    if (place == 0)
        place = stack_address((uintptr_t)returns_to);
    call.region = region_of_call(which, is_alone, place);
    if (__builtin_expect(r->until_watched-- == 0, 0))
        call.is_watched = watch(r);
    if (budget_leaves_out(call.region)) {
        leave_out(&call, r, is_alone || region_of_mpi_is_left_out_whole(which));
        recorder_end(r);
        return call;
    }
    call.begin_ns = structure_is(STRUCTURE_STACKS) ? stack_enter(r) : clock_ns();
    if (__builtin_expect(call.region == REGION_CALLED_BY_MPI, 0))
        call.region = region_of_call_behind(which, is_alone, stack_caller(r));
    call.is_continued = polls_continue(r, call.region, call.begin_ns);
    if (call.region != REGION_FILTERED && !call.is_continued)
        recorder_enter(r, call.region, call.begin_ns);
    recorder_end(r);
    return call;
}

struct call call_begin(enum mpi_call which, const void *returns_to)
{
    return begin(which, returns_to, false);
}

struct call call_begin_on(enum mpi_call which, const void *returns_to, MPI_Comm comm)
{
    return begin(which, returns_to, budget_has_limit() && communicator_is_alone(comm));
}

void call_asks_watched(struct call *call)
{
    (void)call;
    if (recorder_self)
        recorder_self->budget->watch.asked_ns = clock_ns();
}

uint64_t call_returned(struct call *call)
{
    if (call->end_ns == 0)
        call->end_ns = clock_ns();
    return call->end_ns;
}

void call_polled(struct call *call, bool found_nothing)
{
    struct recorder *r;

    call->is_in_vain = found_nothing;
    if (!call->is_continued || found_nothing)
        return;
    r = recorder_begin();
    if (r == NULL)
        return;
    polls_until(r, recorder_time(r, call->begin_ns));
    recorder_enter(r, call->region, recorder_time(r, call->begin_ns));
    call->is_continued = false;
    recorder_end(r);
}

/*
 * While we are here, as what the next call of MPI notes might not fit: a write in its midst would
 * part the time since this one, somewhere in which functions begin and end.
 */
static void hand_over_early(struct recorder *r)
{
    if (r->limit - recorder_next(r) < MIN_LEFT_SLOTS)
        recorder_hand_over(r);
}

void call_end(struct call *call)
{
    struct recorder *r;

    if (!call->is_recorded ||
        (call->region == REGION_FILTERED && call->begin_ns == 0 && !call->is_watched))
        return;
    r = recorder_begin();
    if (r == NULL)
        return;
    call_returned(call);
    if (call->region != REGION_FILTERED) {
        if (call->is_continued)
            polls_extend(r, call->end_ns);
        else if (call->is_in_vain)
            polls_leave(r, call->region, recorder_time(r, call->end_ns));
        else
            recorder_leave(r, call->region, recorder_time(r, call->end_ns));
    }
    if (call->is_watched)
        budget_watch_end(r, call->end_ns, call->begin_ns != 0);
    if (call->begin_ns) {
        hand_over_early(r);
        stack_left(r, recorder_time(r, call->end_ns));
    }
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
