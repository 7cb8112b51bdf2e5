/*
 * One job at a time. `generation` tells sleeping threads that there is a new one; a job's rows
 * are taken from `next` with an atomic add. The lock guards generation, busy and is_stopping,
 * and is never held while a body runs.
 */
#include "base/pool.h"

#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECES 16u /* for each thread, so that all of them end at about the same time */

struct pool_worker {
    struct pool *pool;
    unsigned index;
    pthread_t thread;
};

struct pool {
    unsigned n_threads;
    struct pool_worker *worker; /* [n_threads], [0] is the caller and has no thread */

    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    unsigned long generation;
    unsigned busy; /* threads, without the caller, still in this generation */
    bool is_stopping;

    pool_fn *fn;
    void *ctx;
    size_t n, grain;
    atomic_size_t next;
};

static void take_rows(struct pool *pool, unsigned worker)
{
    for (;;) {
        size_t begin = atomic_fetch_add(&pool->next, pool->grain);
        size_t end;

        if (begin >= pool->n)
            return;
        end = pool->n - begin > pool->grain ? begin + pool->grain : pool->n;
        pool->fn(pool->ctx, begin, end, worker);
    }
}

static void *run(void *arg)
{
    struct pool_worker *self = arg;
    struct pool *pool = self->pool;
    unsigned long seen = 0;

    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (pool->generation == seen && !pool->is_stopping)
            pthread_cond_wait(&pool->wake, &pool->lock);
        seen = pool->generation;
        if (pool->is_stopping) {
            pthread_mutex_unlock(&pool->lock);
            return NULL;
        }
        pthread_mutex_unlock(&pool->lock);

        take_rows(pool, self->index);

        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
}

static unsigned processors(void)
{
    cpu_set_t set;
    long n;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set) > 0 ? (unsigned)CPU_COUNT(&set) : 1;
    n = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t has room for */
    return n > 0 ? (unsigned)n : 1;
}

struct pool *pool_new(unsigned n_threads)
{
    struct pool *pool = mem_alloc(1, sizeof *pool);
    unsigned want = n_threads ? n_threads : processors();
    char name[16];

    want = want < POOL_MAX_THREADS ? want : POOL_MAX_THREADS;
    pool->worker = mem_alloc(want, sizeof *pool->worker);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->n_threads = 1;
    for (unsigned i = 1; i < want; i++) {
        pool->worker[i] = (struct pool_worker){.pool = pool, .index = i};
        snprintf(name, sizeof name, "snag-pool-%u", i % 1000);
        if (thread_start(&pool->worker[i].thread, NULL, name, run, &pool->worker[i]) < 0)
            break; /* fewer threads than asked for still give the same result */
        pool->n_threads++;
    }
    return pool;
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->n_threads; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    free(pool->worker);
    free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
    return pool ? pool->n_threads : 1;
}

size_t pool_grain(const struct pool *pool, size_t n)
{
    return n / (PIECES * pool_threads(pool)) + 1;
}

void pool_for(struct pool *pool, size_t n, size_t grain, pool_fn *fn, void *ctx)
{
    if (pool_threads(pool) == 1 || n <= grain) {
        for (size_t begin = 0; begin < n; begin += grain)
            fn(ctx, begin, n - begin > grain ? begin + grain : n, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->fn = fn;
    pool->ctx = ctx;
    pool->n = n;
    pool->grain = grain;
    atomic_store(&pool->next, 0);
    pool->busy = pool->n_threads - 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    take_rows(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
