/*
 * A writer takes rows from its queue, all that wait up to BATCH: one by one while there are
 * few, many at once when there are many. When they cannot be written it keeps them and tries
 * again, ever more seldom; meanwhile the queue fills, and then puts are turned away. Nothing
 * else than the queue and some counters is shared.
 */
#include "prov/prov_writer.h"

#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <time.h>

#define BATCH 512
#define FIRST_RETRY_MS 20
#define MAX_RETRY_MS 500

static void pause_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

void prov_tally_add(struct prov_tally *tally, unsigned tag, bool is_stored)
{
    atomic_fetch_add(is_stored ? &tally->n_stored[tag] : &tally->n_dropped, 1);
    atomic_fetch_add(&tally->n_done, 1);
}

void prov_tally_removed(struct prov_tally *tally, uint64_t n)
{
    if (n > 0 && atomic_fetch_add(&tally->n_removed, n) == 0)
        log_warn("prov",
                 "the store has reached its limit: what is least strange in it gives way "
                 "to what comes (--store-limit)");
}

/* Why it cannot be written: NULL, or a reason that a put need not wait for. */
static const char *why_not_written(const struct prov_writer *w)
{
    int failure = atomic_load(&w->failure);

    if (atomic_load(&w->is_gone))
        return "its file was removed or replaced";
    return failure ? w->ops->why(w->sink, failure) : NULL;
}

const char *prov_writer_why(struct prov_writer *w)
{
    const char *why = why_not_written(w);

    return why ? why : w->ops->why(w->sink, 0);
}

static void note_failure(struct prov_writer *w, int status)
{
    int before = atomic_exchange(&w->failure, status);

    if (status != 0 && before == 0)
        log_warn("prov", "shard %u cannot be written: %s", w->index, why_not_written(w));
    else if (status == 0 && before != 0)
        log_warn("prov", "shard %u can be written again", w->index);
}

/* Once it is gone, it stays so. By any thread, while the sink is open. */
static bool is_gone(struct prov_writer *w)
{
    if (!atomic_load(&w->is_gone) && w->ops->is_gone && w->ops->is_gone(w->sink) &&
        !atomic_exchange(&w->is_gone, true))
        log_warn("prov", "shard %u cannot be written: %s", w->index, why_not_written(w));
    return atomic_load(&w->is_gone);
}

/* The rows are done with, here. */
static void finish(struct prov_writer *w, struct prov_job **job, size_t n, bool is_written)
{
    for (size_t i = 0; i < n; i++) {
        bool is_safe = is_written && !job[i]->is_lost;

        if (!is_safe || !w->ops->stores_later)
            prov_tally_add(&w->tally, job[i]->tag, is_safe);
        prov_job_free(job[i]);
    }
}

/* Tries until it works or, when the store is being closed, once more. */
static void write_batch(struct prov_writer *w, struct prov_job **job, size_t n)
{
    for (unsigned retry_ms = FIRST_RETRY_MS;; retry_ms *= 2) {
        bool is_last = queue_is_closed(&w->queue);
        size_t n_written;
        int status;

        if (is_gone(w)) {
            finish(w, job, n, false);
            return;
        }
        status = w->ops->write(w->sink, job, n, &n_written);
        note_failure(w, status);
        finish(w, job, n_written, true);
        job += n_written;
        n -= n_written;
        if (status == 0 || is_last) {
            finish(w, job, n, false);
            return;
        }
        retry_ms = retry_ms < MAX_RETRY_MS ? retry_ms : MAX_RETRY_MS;
        pause_ms(retry_ms);
    }
}

static void *write_all(void *arg)
{
    struct prov_writer *w = arg;
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

int prov_writer_begin(struct prov_writer *w, uint32_t index, size_t queue,
                      const struct prov_sink_ops *ops, void *sink)
{
    w->index = index;
    w->ops = ops;
    w->sink = sink;
    queue_init(&w->queue, queue);
    w->has_thread = pthread_create(&w->thread, NULL, write_all, w) == 0;
    if (w->has_thread)
        return 0;
    queue_release(&w->queue);
    return err_set(ERR_IO, "cannot start a thread for shard %u", index);
}

void prov_writer_end(struct prov_writer *w)
{
    if (!w->has_thread)
        return;
    queue_close(&w->queue);
    pthread_join(w->thread, NULL);
    is_gone(w);
    w->n_put = queue_total(&w->queue);
    queue_release(&w->queue);
    w->has_thread = false;
}

bool prov_writer_put(struct prov_writer *w, struct prov_job *job, unsigned wait_ms)
{
    bool is_hopeless = why_not_written(w) || atomic_load(&w->is_stuck);
    bool is_in = w->has_thread && queue_put_within(&w->queue, job, is_hopeless ? 0 : wait_ms);

    atomic_store(&w->is_stuck, !is_in);
    if (is_in)
        return true;
    prov_job_free(job);
    if (atomic_fetch_add(&w->tally.n_dropped, 1) == 0)
        log_warn("prov", "shard %u is not written fast enough: rows are dropped", w->index);
    return false;
}

bool prov_writer_drain(struct prov_writer *w)
{
    uint64_t until = w->has_thread ? queue_total(&w->queue) : 0;
    long nap_ns = 20000;

    while (atomic_load(&w->tally.n_done) < until) {
        struct timespec nap = {0, nap_ns};

        if (prov_writer_why(w))
            return false;
        nanosleep(&nap, NULL);
        nap_ns = nap_ns < 2000000 ? nap_ns * 2 : nap_ns;
    }
    return true;
}

void prov_writer_counts(struct prov_writer *w, struct prov_counts *out)
{
    uint64_t n_done = atomic_load(&w->tally.n_done); /* before the total, which is never less */
    uint64_t n[N_PROV_TAGS];

    if (w->has_thread)
        is_gone(w);
    for (int t = 0; t < N_PROV_TAGS; t++) {
        uint64_t sum = atomic_load(&w->tally.n_stored[t]);

        n[t] = atomic_load(&w->is_gone) ? 0 : sum;
        out->n_stored += t == PROV_TAG_STATISTICS ? 0 : n[t];
        out->n_dropped += sum - n[t];
    }
    out->n_anomalies += n[PROV_TAG_ANOMALY] + n[PROV_TAG_LATE];
    out->n_late += n[PROV_TAG_LATE];
    out->n_removed += atomic_load(&w->tally.n_removed);
    out->bytes += atomic_load(&w->tally.bytes);
    out->n_normals += n[PROV_TAG_NORMAL];
    out->n_executions += n[PROV_TAG_EXECUTION];
    out->n_normal_executions += n[PROV_TAG_NORMAL_EXECUTION];
    out->n_dropped += atomic_load(&w->tally.n_dropped);
    out->n_waiting += (w->has_thread ? queue_total(&w->queue) : w->n_put) - n_done;
    if (out->why == NULL && w->ops)
        out->why = prov_writer_why(w);
    out->is_failing = out->why != NULL;
}
