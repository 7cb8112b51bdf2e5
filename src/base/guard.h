/*
 * guard -- run something that may crash or hang in a child process, and go on without the part
 * that made it do so.
 *
 * libraries that read damaged files sometimes die of them. The child says which item (for us: a
 * location of the trace) each of its workers is reading and how far it got; when it dies of a
 * signal, or none of its workers gets anywhere for a while, it is started again with that item
 * limited to what could be read of it. The parent only waits, so that it always can say what
 * happened and clean up.
 */
#ifndef SNAG_BASE_GUARD_H
#define SNAG_BASE_GUARD_H

#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GUARD_MAX_WORKERS POOL_MAX_THREADS
#define GUARD_MAX_BAD 64

/* One item that must not be read to its end. */
struct guard_bad {
    uint32_t item;
    int signal;      /* that killed the child, 0 for a hang */
    uint64_t n_good; /* records that were read before */
};

/* What one worker of the child is doing; written by it, read by the parent. */
struct guard_worker {
    atomic_uint item;            /* item + 1, 0 when idle */
    atomic_uint_fast64_t n_good; /* records of the item read so far */
};

struct guard {
    struct guard_worker worker[GUARD_MAX_WORKERS];
    atomic_int culprit; /* worker + 1 whose thread got the signal, 0 if that is not known */
    atomic_bool is_out_of_memory; /* the child is, which is no item's fault */
    uint32_t n_bad;
    struct guard_bad bad[GUARD_MAX_BAD];
};

struct guard_opts {
    unsigned patience_s; /* seconds without progress that count as a hang; 0: 60 */
    void (*clean_up)(
        void *ctx);   /* called in the parent when the child failed for good, or NULL */
    bool ends_itself; /* a signal to end is passed on to the child, which does so at its
                         leisure; the second one kills it */
    bool reopens;     /* SIGHUP is passed on, and ends neither: log_reopen */
    bool is_last; /* a child that dies is not started again: others would wait for what it has
                     said already */
    uint64_t (*now_ns)(void); /* what tells the time; NULL: clock_ns */
};

/*
 * guard_run -- run fn(ctx, guard) in a child process.
 *   fn     its return value, 0..125, becomes the child's exit status
 *   opts   may be NULL
 * Returns the exit status of the child, or ERR_FORMAT when it died while no item was being
 * read, the same item killed it twice or it was the last, ERR_IO when it ran out of memory or
 * could not be started, ERR_INTERRUPTED when a signal asked us or the child to stop, or the
 * child wrote to a closed pipe (the signal is then in *interrupted_by if that is not NULL).
 * Call before any thread is started.
 */
int guard_run(int (*fn)(void *ctx, struct guard *guard), void *ctx,
              const struct guard_opts *opts, int *interrupted_by);

/*
 * guard_begin, guard_end -- the calling thread is worker `worker` and reads `item`.
 * guard_limit -- how many records of the item may be read: UINT64_MAX, or less if it is bad.
 * guard_at -- the worker has read n_good records of its item.
 * All accept a NULL guard, for code that runs unguarded. worker < GUARD_MAX_WORKERS.
 */
void guard_begin(struct guard *guard, unsigned worker, uint32_t item);
void guard_end(struct guard *guard, unsigned worker);
uint64_t guard_limit(const struct guard *guard, uint32_t item);
const struct guard_bad *guard_find(const struct guard *guard, uint32_t item);

static inline void guard_at(struct guard *guard, unsigned worker, uint64_t n_good)
{
    if (guard)
        atomic_store_explicit(&guard->worker[worker].n_good, n_good, memory_order_relaxed);
}

#endif
