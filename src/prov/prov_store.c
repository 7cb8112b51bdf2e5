/*
 * A writer owns its shard and takes rows from its queue, all that wait up to BATCH: one by one
 * while there are few, in large transactions when there are many. When a transaction fails it
 * keeps its rows and tries again, ever more seldom; meanwhile the queue fills, and then puts
 * are turned away. Nothing else than the queue and some counters is shared.
 *
 * Whether a shard is still there is seen by its name, whenever it is written or somebody asks
 * for counts.
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

/* What a row is, for the counts. */
enum tag {
    TAG_OTHER,
    TAG_STATISTICS, /* one takes the place of another: they are no more rows */
    TAG_ANOMALY,
    TAG_LATE,
    TAG_NORMAL,
    TAG_EXECUTION,
    TAG_NORMAL_EXECUTION,
    N_TAGS
};

struct writer {
    pthread_t thread;
    bool has_thread;
    uint32_t index;
    const struct prov_home *home;
    struct prov_shard shard;
    struct queue queue; /* of struct prov_job */
    atomic_uint_fast64_t n_stored[N_TAGS];
    atomic_uint_fast64_t n_done, n_dropped; /* done: taken and stored or dropped */
    atomic_int failure;   /* of the last transaction, see prov_shard_why; 0 if it worked */
    atomic_bool is_gone;  /* what was stored is lost */
    atomic_bool is_stuck; /* a put waited in vain: the next ones do not */
};

struct prov_store {
    struct prov_place place;
    struct prov_home home;
    uint32_t n;
    int64_t run; /* all rows are of it */
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

/* Nanoseconds since 1970. */
static uint64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Why nothing can be written now, or NULL. */
static const char *why(const struct writer *w)
{
    return atomic_load(&w->is_gone) ? "its file was removed or replaced"
                                    : prov_shard_why(atomic_load(&w->failure));
}

static void note_failure(struct writer *w, int status)
{
    int before = atomic_exchange(&w->failure, status);

    if (status != 0 && before == 0)
        log_warn("prov", "shard %u cannot be written: %s", w->index, why(w));
    else if (status == 0 && before != 0)
        log_warn("prov", "shard %u can be written again", w->index);
}

/* Once it is gone, it stays so. By any thread, while the shard is open. */
static bool is_gone(struct writer *w)
{
    if (!atomic_load(&w->is_gone) && prov_shard_is_gone(&w->shard, w->home->dir) &&
        !atomic_exchange(&w->is_gone, true))
        log_warn("prov", "shard %u cannot be written: %s", w->index, why(w));
    return atomic_load(&w->is_gone);
}

/* The rows are done with. */
static void finish(struct writer *w, struct prov_job **job, size_t n, bool is_stored)
{
    for (size_t i = 0; i < n; i++) {
        bool is_safe = is_stored && !job[i]->is_lost;

        atomic_fetch_add(is_safe ? &w->n_stored[job[i]->tag] : &w->n_dropped, 1);
        prov_job_free(job[i]);
    }
    atomic_fetch_add(&w->n_done, n);
}

/* Tries until it works or, when the store is being closed, once more. */
static void write_batch(struct writer *w, struct prov_job **job, size_t n)
{
    for (unsigned retry_ms = FIRST_RETRY_MS;; retry_ms *= 2) {
        bool is_last = queue_is_closed(&w->queue);
        int status;

        if (is_gone(w)) {
            finish(w, job, n, false);
            return;
        }
        status = prov_shard_write(&w->shard, job, n);
        note_failure(w, status);
        if (status == 0 || is_last) {
            finish(w, job, n, status == 0);
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

/* A shard, and with the first one a run. */
static int open_shard(struct prov_store *store, uint32_t i, const struct prov_store_opts *opts)
{
    struct prov_shard *shard = &store->writer[i].shard;
    struct prov_run run = {opts->program, opts->rank, wall_ns()};
    int rc = prov_shard_open(&store->place, store->home.dir, i, store->n, shard);

    if (rc < 0 || i > 0)
        return rc;
    rc = prov_shard_run(shard, &run, &store->run);
    if (rc < 0)
        prov_shard_close(shard);
    return rc;
}

static int begin_writer(struct prov_store *store, uint32_t i,
                        const struct prov_store_opts *opts)
{
    struct writer *w = &store->writer[i];
    int rc = open_shard(store, i, opts);

    if (rc < 0)
        return rc;
    w->index = i;
    w->home = &store->home;
    queue_init(&w->queue, opts->queue ? opts->queue : QUEUE);
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
    is_gone(w);
    queue_release(&w->queue);
    prov_shard_close(&w->shard);
    w->has_thread = false;
}

int prov_store_open(const char *url, const struct prov_store_opts *opts,
                    struct prov_store **out)
{
    struct prov_store *store = mem_alloc(1, sizeof *store);
    struct prov_store_opts o = opts ? *opts : (struct prov_store_opts){.queue = 0};
    int rc = prov_place_parse(url, &store->place);

    *out = NULL;
    if (rc == 0)
        rc = prov_home_open(&store->home, &store->place, o.program, o.rank);
    store->n = store->place.n_shards;
    if (rc == 0 && store->n == 0)
        store->n = prov_shard_count(&store->place, store->home.dir);
    store->n = store->n ? store->n : 1;
    store->wait_ms = o.wait_ms ? o.wait_ms : WAIT_MS;
    store->writer = mem_alloc(store->n, sizeof *store->writer);
    for (uint32_t i = 0; i < store->n && rc == 0; i++)
        rc = begin_writer(store, i, &o);
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
    prov_home_close(&store->home);
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
    bool is_in, is_hopeless = why(w) || atomic_load(&w->is_stuck);

    prov_job_whole(job, "run", (uint64_t)store->run);
    is_in = w->has_thread && queue_put_within(&w->queue, job, is_hopeless ? 0 : store->wait_ms);

    atomic_store(&w->is_stuck, !is_in);
    if (is_in)
        return true;
    prov_job_free(job);
    if (atomic_fetch_add(&w->n_dropped, 1) == 0)
        log_warn("prov", "shard %u is not written fast enough: rows are dropped", w->index);
    return false;
}

static enum tag tag_of(enum prov_kind kind, const struct prov_record *record)
{
    if (kind == PROV_NORMAL)
        return record->is_execution ? TAG_NORMAL_EXECUTION : TAG_NORMAL;
    if (record->is_execution)
        return TAG_EXECUTION;
    return record->is_late ? TAG_LATE : TAG_ANOMALY;
}

bool prov_store_put(struct prov_store *store, enum prov_kind kind,
                    const struct prov_record *record)
{
    struct prov_job *job = prov_rows_record(kind, record);

    job->tag = tag_of(kind, record);
    return put(store, record->event.rank, job);
}

bool prov_store_put_metadata(struct prov_store *store, const struct prov_metadata *row)
{
    return put(store, row->rank, prov_rows_metadata(row));
}

static bool put_statistics(struct prov_store *store, struct prov_job *job)
{
    job->tag = TAG_STATISTICS;
    return put(store, 0, job);
}

bool prov_store_put_func_stats(struct prov_store *store, const struct prov_func_stats *row)
{
    return put_statistics(store, prov_rows_func_stats(row));
}

bool prov_store_put_counter_stats(struct prov_store *store,
                                  const struct prov_counter_stats *row)
{
    return put_statistics(store, prov_rows_counter_stats(row));
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

        if (why(w))
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
                           why(&store->writer[i]));
    prov_store_counts(store, &counts);
    before = atomic_exchange(&store->n_reported, counts.n_dropped);
    if (counts.n_dropped > before)
        return err_set(ERR_IO, "%llu rows of provenance were not stored",
                       (unsigned long long)(counts.n_dropped - before));
    return 0;
}

static void add_counts(struct writer *w, struct prov_counts *out)
{
    uint64_t n_done = atomic_load(&w->n_done); /* before the total, which is never less */
    uint64_t n[N_TAGS];

    if (w->has_thread)
        is_gone(w);
    for (int t = 0; t < N_TAGS; t++) {
        uint64_t sum = atomic_load(&w->n_stored[t]);

        n[t] = atomic_load(&w->is_gone) ? 0 : sum;
        out->n_stored += t == TAG_STATISTICS ? 0 : n[t];
        out->n_dropped += sum - n[t];
    }
    out->n_anomalies += n[TAG_ANOMALY] + n[TAG_LATE];
    out->n_late += n[TAG_LATE];
    out->n_normals += n[TAG_NORMAL];
    out->n_executions += n[TAG_EXECUTION];
    out->n_normal_executions += n[TAG_NORMAL_EXECUTION];
    out->n_dropped += atomic_load(&w->n_dropped);
    out->n_waiting += w->has_thread ? queue_total(&w->queue) - n_done : 0;
    if (out->why == NULL)
        out->why = why(w);
    out->is_failing = out->why != NULL;
}

void prov_store_counts(struct prov_store *store, struct prov_counts *out)
{
    *out = (struct prov_counts){0};
    for (uint32_t i = 0; i < store->n; i++)
        add_counts(&store->writer[i], out);
}

int prov_store_rejudge(struct prov_store *store, prov_judge_fn *judge, void *ctx,
                       struct prov_rejudged *out)
{
    struct prov_rejudged counts = {0};
    int rc = prov_store_flush(store);

    for (uint32_t i = 0; i < store->n && rc == 0; i++)
        rc = prov_rejudge_shard(
            &(struct prov_rejudge){&store->place, store->home.dir, i, store->run, judge, ctx},
            &counts);
    if (out)
        *out = counts;
    return rc;
}
