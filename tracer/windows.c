/*
 * Of each window the transfers are kept that are not known to be complete everywhere, in the
 * order of their numbers. The window's lock guards them, so completions of one window are
 * recorded by one thread at a time.
 *
 * A window's struct stays when it is freed, for the sake of requests that were not waited for;
 * there are no more of them than objects.h allows.
 */
#include "windows.h"

#include "communicator_handles.h"
#include "handle_map.h"
#include "memory.h"
#include "objects.h"
#include "recorder.h"
#include "session.h"

#include "base/search.h"

#include <stdatomic.h>
#include <stdlib.h>

#define MAX_TRANSFERS                                                                          \
    ((size_t)1 << 20) /* of one window; the completion of others is not seen */
#define EVERY_PEER UINT32_MAX
#define LEVEL_BOTH (OTF2_RMA_SYNC_LEVEL_MEMORY | OTF2_RMA_SYNC_LEVEL_PROCESS)

struct pending {
    uint64_t id;
    int target;
    bool brings_back;      /* something to the origin */
    bool is_complete_here; /* at the origin */
    bool is_over;          /* nothing is to come of it any more */
};

/* Where transfers are complete: at the origin; there, and of the target nothing is to be known;
 * at both. */
enum where { AT_ORIGIN, AT_ORIGIN_LAST, EVERYWHERE };

struct mpi_window {
    uint32_t object;
    uint32_t started,
        posted; /* groups of the epochs of access and exposure, OBJECT_NONE: none */
    uint32_t own_rank;
    bool has_memory; /* of its own */

    pthread_mutex_t lock;
    struct pending *pending; /* [n] */
    size_t n, cap;
};

static struct handle_map windows = HANDLE_MAP_EMPTY;
static atomic_size_t n_pending; /* of all windows */

static uint64_t bits_of(MPI_Win win)
{
    uint64_t bits = 0;

    memcpy(&bits, &win, sizeof win);
    return bits;
}

static struct mpi_window *window_of(MPI_Win win)
{
    return handle_map_get(&windows, bits_of(win));
}

static void record_end(const struct mpi_window *w, OTF2_CollectiveOp operation,
                       OTF2_RmaSyncLevel level, uint64_t time_ns)
{
    record_access(RECORD_WINDOW_END,
                  &(struct object_access){.object = w->object, .peer = operation, .how = level},
                  time_ns);
}

/* ------------------------------------------------------------------------- made and freed */

void window_making(const struct call *call, MPI_Comm comm)
{
    if (call->is_recorded && session_is_open() && communicator_id(comm) != COMMUNICATOR_NONE)
        record_access(RECORD_WINDOW_BEGIN, &(struct object_access){0}, call->begin_ns);
}

static struct mpi_window *window_new(uint32_t object, MPI_Comm comm, bool has_memory)
{
    struct mpi_window *w = memory_resize(NULL, 1, sizeof *w);
    int rank = 0;

    PMPI_Comm_rank(comm, &rank);
    *w = (struct mpi_window){.object = object,
                             .started = OBJECT_NONE,
                             .posted = OBJECT_NONE,
                             .has_memory = has_memory,
                             .own_rank = (uint32_t)rank,
                             .lock = PTHREAD_MUTEX_INITIALIZER};
    return w;
}

/* One that could not be made has a number too, as it may have been made elsewhere. */
void window_made(struct call *call, MPI_Comm comm, bool has_memory, const MPI_Win *win)
{
    uint32_t object = session_is_open() ? object_window(communicator_id(comm)) : OBJECT_NONE;
    struct mpi_window *w;

    if (object == OBJECT_NONE)
        return;
    w = window_new(object, comm, has_memory);
    if (call->is_recorded) {
        if (win)
            record_access(RECORD_WINDOW_CREATE, &(struct object_access){.object = object},
                          call_returned(call));
        record_end(w,
                   has_memory ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE
                              : OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                   OTF2_RMA_SYNC_LEVEL_PROCESS, call_returned(call));
    }
    if (win)
        handle_map_put(&windows, bits_of(*win), w);
    else
        memory_free(w);
}

struct mpi_window *window_freeing(const struct call *call, MPI_Win win)
{
    struct mpi_window *w = handle_map_take(&windows, bits_of(win));

    if (w)
        record_access(RECORD_WINDOW_BEGIN, &(struct object_access){0}, call->begin_ns);
    return w;
}

/* ----------------------------------------------------------------------------- transfers */

/* Those that are over make room; with the lock held. */
static void tidy(struct mpi_window *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (!w->pending[i].is_over)
            w->pending[n++] = w->pending[i];
    atomic_fetch_sub_explicit(&n_pending, w->n - n, memory_order_relaxed);
    w->n = n;
}

/* For one more, unless there are too many; with the lock held. */
static void make_room(struct mpi_window *w)
{
    tidy(w);
    if (w->n <= w->cap / 2 && w->cap > 0)
        return;
    if (w->cap == MAX_TRANSFERS)
        return;
    memory_grow(&w->pending, w->cap, w->cap);
}

/* Remember a transfer, and give it a number. */
static uint64_t begin(struct mpi_window *w, int target, bool brings_back)
{
    uint64_t id;

    pthread_mutex_lock(&w->lock);
    id = request_id();
    if (w->n == w->cap)
        make_room(w);
    if (w->n < w->cap) {
        w->pending[w->n++] = (struct pending){id, target, brings_back, false, false};
        atomic_fetch_add_explicit(&n_pending, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&w->lock);
    return id;
}

void transfer_starts(struct transfer *t, const struct call *call, enum transfer_kind kind,
                     int target, MPI_Win win)
{
    static const struct {
        enum record_kind record;
        OTF2_RmaAtomicType type;
    } row[] = {
        [TRANSFER_PUT] = {RECORD_PUT, 0},
        [TRANSFER_GET] = {RECORD_GET, 0},
        [TRANSFER_ACCUMULATE] = {RECORD_ATOMIC, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE},
        [TRANSFER_FETCH] = {RECORD_ATOMIC, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
        [TRANSFER_SWAP] = {RECORD_ATOMIC, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP},
    };

    t->window = target >= 0 ? window_of(win) : NULL;
    if (t->window == NULL)
        return;
    t->id = begin(t->window, target, t->received_bytes > 0);
    record_access(row[kind].record,
                  &(struct object_access){.object = t->window->object,
                                          .peer = (uint32_t)target,
                                          .how = row[kind].type,
                                          .id = t->id,
                                          .bytes = t->sent_bytes,
                                          .received_bytes = t->received_bytes},
                  call->begin_ns);
}

void transfer_opened(const struct transfer *t, struct request_list request)
{
    request_put(&(struct open_request){.kind = t->window ? REQUEST_TRANSFER : REQUEST_SILENT,
                                       .id = t->id,
                                       .window = t->window,
                                       .is_active = true,
                                       .key = request_key(request, 0)});
}

/* -------------------------------------------------------------------------- completions */

/* With the lock held. */
static void complete(const struct mpi_window *w, struct pending *p, enum where where,
                     uint64_t time_ns)
{
    struct object_access a = {.object = w->object, .id = p->id};

    if (!p->is_complete_here)
        record_access(RECORD_TRANSFERRED, &a, time_ns);
    p->is_complete_here = true;
    if (where == EVERYWHERE || p->brings_back)
        record_access(RECORD_TRANSFERRED_REMOTE, &a, time_ns);
    p->is_over = where != AT_ORIGIN || p->brings_back;
}

/* The clock is not read where nothing is to be completed. */
static void complete_to(struct mpi_window *w, int target, enum where where, struct call *call)
{
    if (__atomic_load_n(&w->n, __ATOMIC_RELAXED) == 0)
        return; /* of this thread's, whose completion it asks for */
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->n; i++)
        if (!w->pending[i].is_over &&
            (target == EVERY_TARGET || w->pending[i].target == target))
            complete(w, &w->pending[i], where, call_returned(call));
    tidy(w);
    pthread_mutex_unlock(&w->lock);
}

/* The one with this number, NULL if it is over; with the lock held. */
static struct pending *find(const struct mpi_window *w, uint64_t id)
{
    size_t low = FIRST_NOT(i, 0, w->n, w->pending[i].id < id);

    return low < w->n && w->pending[low].id == id && !w->pending[low].is_over ? &w->pending[low]
                                                                              : NULL;
}

void transfer_complete(const struct open_request *r, uint64_t time_ns)
{
    struct mpi_window *w = r->window;
    struct pending *p;

    pthread_mutex_lock(&w->lock);
    p = find(w, r->id);
    if (p)
        complete(w, p, AT_ORIGIN, time_ns);
    pthread_mutex_unlock(&w->lock);
}

/* Programs flush all the time, and mostly there is nothing. A transfer of this thread's, whose
 * completion it asks for, would be seen. */
static struct mpi_window *window_to_flush(MPI_Win win)
{
    return atomic_load_explicit(&n_pending, memory_order_relaxed) > 0 ? window_of(win) : NULL;
}

void window_flushed(struct call *call, int target, MPI_Win win)
{
    struct mpi_window *w = window_to_flush(win);

    if (w)
        complete_to(w, target, EVERYWHERE, call);
}

void window_flushed_local(struct call *call, int target, MPI_Win win)
{
    struct mpi_window *w = window_to_flush(win);

    if (w)
        complete_to(w, target, AT_ORIGIN, call);
}

void window_freed(struct mpi_window *w, struct call *call)
{
    if (w == NULL)
        return;
    complete_to(w, EVERY_TARGET, AT_ORIGIN_LAST, call);
    record_access(RECORD_WINDOW_DESTROY, &(struct object_access){.object = w->object},
                  call_returned(call));
    record_end(w,
               w->has_memory ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE
                             : OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
               OTF2_RMA_SYNC_LEVEL_PROCESS, call_returned(call));
    pthread_mutex_lock(&w->lock);
    atomic_fetch_sub_explicit(&n_pending, w->n, memory_order_relaxed);
    memory_free(w->pending);
    w->pending = NULL;
    w->n = w->cap = 0;
    pthread_mutex_unlock(&w->lock);
}

/* -------------------------------------------------------------------------------- epochs */

void window_fencing(const struct call *call, MPI_Win win)
{
    if (window_of(win))
        record_access(RECORD_WINDOW_BEGIN, &(struct object_access){0}, call->begin_ns);
}

void window_fenced(struct call *call, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL)
        return;
    complete_to(w, EVERY_TARGET, AT_ORIGIN_LAST, call);
    record_end(w, OTF2_COLLECTIVE_OP_BARRIER, LEVEL_BOTH, call_returned(call));
}

static uint32_t peer_of(int target)
{
    return target == EVERY_TARGET ? EVERY_PEER : (uint32_t)target;
}

void window_locking(const struct call *call, int type, int target, MPI_Win win)
{
    const struct mpi_window *w = window_of(win);

    if (w && target >= EVERY_TARGET && call->begin_ns)
        record_access(RECORD_LOCK_REQUEST,
                      &(struct object_access){.object = w->object,
                                              .peer = peer_of(target),
                                              .how = type == MPI_LOCK_EXCLUSIVE
                                                         ? OTF2_LOCK_EXCLUSIVE
                                                         : OTF2_LOCK_SHARED},
                      call->begin_ns);
}

void window_unlocked(struct call *call, int target, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL || target < EVERY_TARGET)
        return;
    complete_to(w, target, EVERYWHERE, call);
    if (call->begin_ns)
        record_access(RECORD_LOCK_RELEASE,
                      &(struct object_access){.object = w->object, .peer = peer_of(target)},
                      call_returned(call));
}

/* The members of a group that are of this program, OBJECT_NONE if there are others. */
static uint32_t group_object(MPI_Group group)
{
    uint32_t *member, object;
    int n = 0;
    bool is_known = true;

    PMPI_Group_size(group, &n);
    member = group_members(group, n);
    if (member == NULL)
        return OBJECT_NONE;
    for (int i = 0; i < n; i++)
        is_known = is_known && member[i] != (uint32_t)MPI_UNDEFINED;
    object = is_known ? object_group(member, (uint32_t)n) : OBJECT_NONE;
    memory_free(member);
    return object;
}

static void record_epoch(const struct mpi_window *w, uint32_t group, OTF2_RmaSyncLevel level,
                         uint64_t time_ns)
{
    if (group != OBJECT_NONE)
        record_access(RECORD_GROUP_SYNC,
                      &(struct object_access){.object = w->object, .peer = group, .how = level},
                      time_ns);
}

void window_started(struct call *call, MPI_Group group, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL)
        return;
    w->started = group_object(group);
    record_epoch(w, w->started, OTF2_RMA_SYNC_LEVEL_PROCESS, call_returned(call));
}

void window_posted(struct call *call, MPI_Group group, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL)
        return;
    w->posted = group_object(group);
    record_epoch(w, w->posted, OTF2_RMA_SYNC_LEVEL_PROCESS, call_returned(call));
}

void window_completed(struct call *call, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL)
        return;
    complete_to(w, EVERY_TARGET, AT_ORIGIN_LAST, call);
    record_epoch(w, w->started, LEVEL_BOTH, call_returned(call));
    w->started = OBJECT_NONE;
}

void window_waited(struct call *call, MPI_Win win)
{
    struct mpi_window *w = window_of(win);

    if (w == NULL)
        return;
    record_epoch(w, w->posted, LEVEL_BOTH, call_returned(call));
    w->posted = OBJECT_NONE;
}

void window_synced(struct call *call, MPI_Win win)
{
    const struct mpi_window *w = window_of(win);

    if (w)
        record_access(RECORD_MEMORY_SYNC,
                      &(struct object_access){.object = w->object,
                                              .peer = w->own_rank,
                                              .how = OTF2_RMA_SYNC_TYPE_MEMORY},
                      call_returned(call));
}
