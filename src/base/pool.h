/*
 * pool -- threads that share out the rows of one loop.
 *
 * The caller takes part, so a pool of one thread starts none. Rows are handed out in
 * ascending order, in pieces of `grain`. A body writes only what belongs to its rows, so the
 * result does not depend on the number of threads.
 */
#ifndef SNAG_BASE_POOL_H
#define SNAG_BASE_POOL_H

#include <stddef.h>

#define POOL_MAX_THREADS 1024u /* more are not started: nothing here would gain by them */

struct pool;

/* The body of a loop: rows begin..end-1, on worker 0..pool_threads()-1. */
typedef void pool_fn(void *ctx, size_t begin, size_t end, unsigned worker);

/* pool_new -- n_threads >= 1, the caller included; 0 for one per processor we may run on. Fewer
 * are started where the system does not let us have as many. */
struct pool *pool_new(unsigned n_threads);

/* pool_free -- joins the threads. NULL is harmless. */
void pool_free(struct pool *pool);

/* pool_threads -- the caller included; 1 of NULL. */
unsigned pool_threads(const struct pool *pool);

/* pool_grain -- how many of n rows to hand out at once, when they are not alike: several pieces
 * for each thread. */
size_t pool_grain(const struct pool *pool, size_t n);

/*
 * pool_for -- run fn over rows 0..n-1 and return when all are done.
 *   pool   NULL: the caller alone
 *   grain  rows handed out at once, >= 1
 * Not reentrant: fn must not use the same pool.
 */
void pool_for(struct pool *pool, size_t n, size_t grain, pool_fn *fn, void *ctx);

#endif
