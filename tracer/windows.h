/*
 * windows -- one-sided communication, as OTF2's records of it (and Score-P) have it:
 *
 *     MPI_Win_create .. MPI_Win_free   RmaCollectiveBegin, RmaWinCreate or RmaWinDestroy,
 *                                      RmaCollectiveEnd
 *     MPI_Put, MPI_Get, others         RmaPut, RmaGet, RmaAtomic, where the call begins
 *     MPI_Win_fence                    RmaCollectiveBegin, completions, RmaCollectiveEnd
 *     MPI_Win_lock, MPI_Win_unlock     RmaRequestLock; completions, RmaReleaseLock
 *     MPI_Win_post, MPI_Win_start      RmaGroupSync with the processes of the epoch
 *     MPI_Win_complete, MPI_Win_wait   completions, RmaGroupSync with them again
 *     MPI_Win_flush, its like          completions
 *     MPI_Win_sync                     RmaSync with oneself
 *
 * When a transfer is complete is said by the call that waits for it: at the origin
 * (RmaOpCompleteNonBlocking) by MPI_Win_flush_local, fence and complete, or MPI_Wait for
 * MPI_Rput; at the target too (RmaOpCompleteRemote) by MPI_Win_flush and unlock. What brings
 * something back is complete at both at once. MPI does not say that a lock is held when
 * MPI_Win_lock returns, nor do we.
 *
 * On a window of a communicator that we do not know only the calls are recorded.
 */
#ifndef SNAG_TRACER_WINDOWS_H
#define SNAG_TRACER_WINDOWS_H

#include "open_requests.h"
#include "wrap.h"

#define EVERY_TARGET -1

/*
 * window_making, window_made -- before a window is made and after, or NULL if that failed.
 * Collective over comm.
 *   has_memory  of its own, which goes with it
 */
void window_making(const struct call *call, MPI_Comm comm);
void window_made(struct call *call, MPI_Comm comm, bool has_memory, const MPI_Win *win);

/* window_freeing, window_freed -- before MPI_Win_free and after; the former gives the window.
 */
struct mpi_window *window_freeing(const struct call *call, MPI_Win win);
void window_freed(struct mpi_window *w, struct call *call);

/* FETCH: and something is done with what was there; SWAP: if it was what it should be. */
enum transfer_kind {
    TRANSFER_PUT,
    TRANSFER_GET,
    TRANSFER_ACCUMULATE,
    TRANSFER_FETCH,
    TRANSFER_SWAP,
};

struct transfer {
    uint64_t sent_bytes, received_bytes; /* seen from the origin */
    struct mpi_window *window;           /* the last two ours; NULL: no records */
    uint64_t id;
};

/* transfer_starts -- before MPI is called. MPI_PROC_NULL is no target. */
void transfer_starts(struct transfer *t, const struct call *call, enum transfer_kind kind,
                     int target, MPI_Win win);

/* transfer_opened -- there is a request for it; transfer_complete: that is complete. */
void transfer_opened(const struct transfer *t, struct request_list request);
void transfer_complete(const struct open_request *r, uint64_t time_ns);

/* window_flushed, window_flushed_local -- what goes to this target, or to EVERY_TARGET, is
 * complete: everywhere, or at the origin. */
void window_flushed(struct call *call, int target, MPI_Win win);
void window_flushed_local(struct call *call, int target, MPI_Win win);

void window_fencing(const struct call *call, MPI_Win win);
void window_fenced(struct call *call, MPI_Win win);

void window_locking(const struct call *call, int type, int target, MPI_Win win);
void window_unlocked(struct call *call, int target, MPI_Win win);

/* window_started, window_posted -- an epoch begins, of access or exposure, with the processes
 * of a group; window_completed, window_waited -- it has ended. */
void window_started(struct call *call, MPI_Group group, MPI_Win win);
void window_posted(struct call *call, MPI_Group group, MPI_Win win);
void window_completed(struct call *call, MPI_Win win);
void window_waited(struct call *call, MPI_Win win);

void window_synced(struct call *call, MPI_Win win);

#endif
