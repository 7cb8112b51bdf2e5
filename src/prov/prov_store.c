/*
 * A writer owns its shard and takes rows from its queue, all that wait up to BATCH: one by one
 * while there are few, in large transactions when there are many. When a transaction fails it
 * keeps its rows and tries again, ever more seldom; meanwhile the queue fills, and then puts
 * are turned away. Nothing else than the queue and some counters is shared.
 */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/queue.h"
#include "prov/prov_rejudge.h"
#include "prov/prov_rows.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 512
#define QUEUE 4096
#define WAIT_MS 1000
#define FIRST_RETRY_MS 20
#define MOST_RETRY_MS 500

struct writer {
    pthread_t thread;
    bool has_thread;
    uint32_t index;
    struct prov_shard shard;
    struct queue queue;                               /* of struct prov_job */
    atomic_uint_fast64_t n_stored, n_done, n_dropped; /* done: taken and stored or dropped */
    atomic_int failure;   /* SQLite's code of the last transaction, 0 if it worked */
    atomic_bool is_stuck; /* a put waited in vain: the next ones do not */
};

struct prov_store {
    struct prov_place place;
    uint32_t n;
    unsigned wait_ms;
    struct writer *writer;           /* [n] */
    atomic_uint_fast64_t n_reported; /* dropped rows that a flush told of */
};

/* --------------------------------------------------------------------------------- writing */

static void pause_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static void note_failure(struct writer *w, int status)
{
    int before = atomic_exchange(&w->failure, status);

    if (status != 0 && before == 0)
        log_warn("prov", "shard %u cannot be written: %s", w->index, sqlite3_errstr(status));
    else if (status == 0 && before != 0)
        log_warn("prov", "shard %u can be written again", w->index);
}

/* The rows are done with; of them so many are lost. */
static void finish(struct writer *w, struct prov_job **job, size_t n, size_t n_lost)
{
    for (size_t i = 0; i < n; i++)
        prov_job_free(job[i]);
    atomic_fetch_add(&w->n_stored, n - n_lost);
    atomic_fetch_add(&w->n_dropped, n_lost);
    atomic_fetch_add(&w->n_done, n);
}

/* Tries until it works or, when the store is being closed, once more. */
static void write_batch(struct writer *w, struct prov_job **job, size_t n)
{
    for (unsigned retry_ms = FIRST_RETRY_MS;; retry_ms *= 2) {
        bool is_last = queue_is_closed(&w->queue);
        size_t n_bad;
        int status = prov_shard_write(&w->shard, job, n, &n_bad);

        note_failure(w, status);
        if (status == 0 || is_last) {
            finish(w, job, n, status == 0 ? n_bad : n);
            return;
        }
        retry_ms = retry_ms < MOST_RETRY_MS ? retry_ms : MOST_RETRY_MS;
        pause_ms(retry_ms);
    }
}

static void *write_shard(void *arg)
{
    struct writer *w = arg;
    struct prov_job *job[BATCH];
    void *item[BATCH];
    char name[16];
    size_t n;

    snprintf(name, sizeof name, "snag-prov-%u", w->index % 10000);
    pthread_setname_np(pthread_self(), name);
    while ((n = queue_take_some(&w->queue, item, BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            job[i] = item[i];
        write_batch(w, job, n);
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- opening */

static int begin_writer(struct prov_store *store, uint32_t i, size_t queue)
{
    struct writer *w = &store->writer[i];
    int rc = prov_shard_open(&store->place, i, store->n, &w->shard);

    if (rc < 0)
        return rc;
    w->index = i;
    queue_init(&w->queue, queue);
    w->has_thread = pthread_create(&w->thread, NULL, write_shard, w) == 0;
    if (w->has_thread)
        return 0;
    queue_release(&w->queue);
    prov_shard_close(&w->shard);
    return err_set(ERR_IO, "cannot start a thread for shard %u", i);
}

static void end_writer(struct writer *w)
{
    if (!w->has_thread)
        return;
    queue_close(&w->queue);
    pthread_join(w->thread, NULL);
    queue_release(&w->queue);
    prov_shard_close(&w->shard);
    w->has_thread = false;
}

int prov_store_open(const char *url, const struct prov_store_opts *opts,
                    struct prov_store **out)
{
    struct prov_store *store = mem_alloc(1, sizeof *store);
    size_t queue = opts && opts->queue ? opts->queue : QUEUE;
    int rc = prov_place_parse(url, &store->place);

    *out = NULL;
    store->n = rc == 0 && store->place.n_shards == 0 ? prov_shard_count(&store->place)
                                                     : store->place.n_shards;
    store->n = store->n ? store->n : 1;
    store->wait_ms = opts && opts->wait_ms ? opts->wait_ms : WAIT_MS;
    store->writer = mem_alloc(store->n, sizeof *store->writer);
    for (uint32_t i = 0; i < store->n && rc == 0; i++)
        rc = begin_writer(store, i, queue);
    if (rc == 0)
        *out = store;
    else
        prov_store_close(store);
    return rc;
}

void prov_store_end(struct prov_store *store)
{
    for (uint32_t i = 0; i < store->n; i++)
        end_writer(&store->writer[i]);
}

int prov_store_close(struct prov_store *store)
{
    struct prov_counts counts;

    if (store == NULL)
        return 0;
    prov_store_end(store);
    prov_store_counts(store, &counts);
    free(store->writer);
    free(store);
    if (counts.n_dropped > 0)
        return err_set(ERR_IO, "%llu rows of provenance were not stored",
                       (unsigned long long)counts.n_dropped);
    return 0;
}

/* --------------------------------------------------------------------------------- putting */

static bool put(struct prov_store *store, uint32_t rank, struct prov_job *job)
{
    struct writer *w = &store->writer[rank % store->n];
    bool is_hopeless = atomic_load(&w->failure) != 0 || atomic_load(&w->is_stuck);
    bool is_in =
        w->has_thread && queue_put_within(&w->queue, job, is_hopeless ? 0 : store->wait_ms);

    atomic_store(&w->is_stuck, !is_in);
    if (is_in)
        return true;
    prov_job_free(job);
    if (atomic_fetch_add(&w->n_dropped, 1) == 0)
        log_warn("prov", "shard %u is not written fast enough: rows are dropped", w->index);
    return false;
}

bool prov_store_put(struct prov_store *store, enum prov_kind kind,
                    const struct prov_record *record)
{
    return put(store, record->event.rank, prov_rows_record(kind, record));
}

bool prov_store_put_metadata(struct prov_store *store, const struct prov_metadata *row)
{
    return put(store, row->rank, prov_rows_metadata(row));
}

bool prov_store_put_func_stats(struct prov_store *store, const struct prov_func_stats *row)
{
    return put(store, 0, prov_rows_func_stats(row));
}

bool prov_store_put_counter_stats(struct prov_store *store,
                                  const struct prov_counter_stats *row)
{
    return put(store, 0, prov_rows_counter_stats(row));
}

bool prov_store_put_model(struct prov_store *store, const struct prov_model *row)
{
    return put(store, 0, prov_rows_model(row));
}

/* Waits for the writer to have done with what is in its queue now; false while it fails. */
static bool drain(struct writer *w)
{
    uint64_t until = w->has_thread ? queue_total(&w->queue) : 0;
    long nap_ns = 20000;

    while (atomic_load(&w->n_done) < until) {
        struct timespec nap = {0, nap_ns};

        if (atomic_load(&w->failure) != 0)
            return false;
        nanosleep(&nap, NULL);
        nap_ns = nap_ns < 2000000 ? nap_ns * 2 : nap_ns;
    }
    return true;
}

int prov_store_flush(struct prov_store *store)
{
    struct prov_counts counts;
    uint64_t before;

    for (uint32_t i = 0; i < store->n; i++)
        if (!drain(&store->writer[i]))
            return err_set(ERR_IO, "cannot write '%s', shard %u: %s", store->place.dir, i,
                           sqlite3_errstr(atomic_load(&store->writer[i].failure)));
    prov_store_counts(store, &counts);
    before = atomic_exchange(&store->n_reported, counts.n_dropped);
    if (counts.n_dropped > before)
        return err_set(ERR_IO, "%llu rows of provenance were not stored",
                       (unsigned long long)(counts.n_dropped - before));
    return 0;
}

void prov_store_counts(struct prov_store *store, struct prov_counts *out)
{
    *out = (struct prov_counts){0};
    for (uint32_t i = 0; i < store->n; i++) {
        struct writer *w = &store->writer[i];
        uint64_t n_done = atomic_load(&w->n_done); /* before the total, which is never less */

        out->n_stored += atomic_load(&w->n_stored);
        out->n_dropped += atomic_load(&w->n_dropped);
        out->n_waiting += w->has_thread ? queue_total(&w->queue) - n_done : 0;
        out->is_failing |= atomic_load(&w->failure) != 0;
    }
}

int prov_store_rejudge(struct prov_store *store, prov_judge_fn *judge, void *ctx,
                       struct prov_rejudged *out)
{
    struct prov_rejudged counts = {0};
    int rc = prov_store_flush(store);

    for (uint32_t i = 0; i < store->n && rc == 0; i++)
        rc = prov_rejudge_shard(&store->place, i, judge, ctx, &counts);
    if (out)
        *out = counts;
    return rc;
}
