/*
 * The kind of a store, and a writer for each of its sinks: a queue, and a thread that takes
 * rows from it, all that wait up to BATCH: one by one while there are few, many at once when
 * there are many. When they cannot be written it keeps them and tries again, ever more seldom;
 * meanwhile the queue fills, and then puts are turned away. Nothing else than the queue and
 * some counters is shared. A row is a job: values for the columns of prov_schema.sql.
 */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/queue.h"
#include "base/text.h"
#include "base/thread.h"
#include "prov/prov_stats.h"
#include "prov/prov_kind.h"
#include "prov/prov_shard.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ------------------------------------------------------------------------------------- rows */

static void add_stats(struct prov_job *job, const char *column, const struct prov_stats *s)
{
    char *text = prov_stats_text(s);

    prov_job_text(job, column, text);
    free(text);
}

/* All return a new job, of which the writer is the owner. O(size of the row). */
static struct prov_job *prov_rows_record(enum prov_kind kind, const struct prov_record *r)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_RECORD);
    size_t at;

    prov_job_text(job, "function", r->func);
    prov_job_whole(job, "is_normal", kind == PROV_NORMAL);
    prov_job_whole(job, "program", r->program);
    prov_job_whole(job, "rank", r->event.rank);
    prov_job_whole(job, "thread", r->thread);
    prov_job_whole(job, "step", r->event.step);
    prov_job_whole(job, "idx", r->event.index);
    prov_job_whole(job, "fid", r->fid);
    prov_job_whole(job, "enter_ns", r->enter_ns);
    prov_job_whole(job, "leave_ns", r->leave_ns);
    prov_job_whole(job, "inclusive_ns", r->inclusive_ns);
    prov_job_whole(job, "exclusive_ns", r->exclusive_ns);
    prov_job_real(job, "score", r->score);
    prov_job_real(job, "p", r->p);
    prov_job_whole(job, "severity_ns", r->severity_ns);
    prov_job_whole(job, "model_version", r->model_version);
    prov_job_whole(job, "is_gpu", r->is_gpu);
    prov_job_real(job, "execution", r->is_execution ? r->execution.index : NAN);
    prov_job_real(job, "calls", r->is_execution ? (double)r->execution.n_calls : NAN);
    prov_job_real(job, "messages", r->is_execution ? (double)r->execution.n_messages : NAN);
    at = job->data.n;
    prov_record_pack(r, &job->data);
    prov_job_bytes(job, "data", at);
    return job;
}

static struct prov_job *prov_rows_cost(const struct prov_cost *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_COST);

    prov_job_whole(job, "program", row->program);
    prov_job_whole(job, "rank", row->event.rank);
    prov_job_whole(job, "step", row->event.step);
    prov_job_whole(job, "idx", row->event.index);
    prov_job_whole(job, "is_execution", row->is_execution);
    prov_job_whole(job, "cost_ns", row->cost_ns);
    prov_job_whole(job, "is_bound", row->is_bound);
    return job;
}

static struct prov_job *prov_rows_metadata(const struct prov_metadata *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_METADATA);

    prov_job_whole(job, "program", row->program);
    prov_job_whole(job, "rank", row->rank);
    prov_job_whole(job, "thread", row->thread);
    prov_job_text(job, "descr", row->descr);
    prov_job_text(job, "value", row->value);
    return job;
}

static struct prov_job *prov_rows_func_stats(const struct prov_func_stats *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_FUNC_STATS);

    prov_job_whole(job, "program", row->program);
    prov_job_whole(job, "fid", row->fid);
    prov_job_text(job, "name", row->func);
    prov_job_whole(job, "calls", row->n_calls);
    prov_job_whole(job, "anomalies", row->n_anomalies);
    add_stats(job, "exclusive", &row->exclusive);
    add_stats(job, "inclusive", &row->inclusive);
    add_stats(job, "severity", &row->severity);
    add_stats(job, "score", &row->score);
    return job;
}

static struct prov_job *prov_rows_counter_stats(const struct prov_counter_stats *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_COUNTER_STATS);

    prov_job_whole(job, "program", row->program);
    prov_job_text(job, "counter", row->counter);
    add_stats(job, "stats", &row->stats);
    return job;
}

static struct prov_job *prov_rows_model(const struct prov_model *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_AD_MODEL);
    size_t at;

    prov_job_whole(job, "version", row->version);
    prov_job_whole(job, "program", row->program);
    prov_job_whole(job, "fid", row->fid);
    prov_job_text(job, "name", row->func);
    prov_job_text(job, "algorithm", row->algorithm);
    add_stats(job, "stats", &row->stats);
    at = job->data.n;
    pack_bytes(&job->data, row->data, row->bytes);
    prov_job_bytes(job, "data", at);
    return job;
}

/* --------------------------------------------------------------------------------- a writer */

struct prov_writer {
    pthread_t thread;
    bool has_thread;
    uint32_t index;
    const struct prov_sink_ops *ops;
    void *sink;
    struct queue queue; /* of struct prov_job, while there is a thread; */
    uint64_t n_put;     /* how many ever, afterwards */
    struct prov_tally tally;
    atomic_int failure;   /* of the last attempt to write; 0 if it worked */
    atomic_bool is_gone;  /* what was stored is lost */
    atomic_bool is_stuck; /* a put waited in vain: the next ones do not */
};

#define BATCH 512
#define FIRST_RETRY_MS 20
#define MAX_RETRY_MS 500

void prov_wait_again(unsigned *ms)
{
    *ms = *ms == 0 ? FIRST_RETRY_MS : 2 * *ms < MAX_RETRY_MS ? 2 * *ms : MAX_RETRY_MS;
    nanosleep(&(struct timespec){.tv_nsec = (long)*ms * 1000000}, NULL);
}

void prov_tally_add(struct prov_tally *tally, unsigned tag, bool is_stored)
{
    atomic_fetch_add(is_stored ? &tally->n_stored[tag] : &tally->n_dropped, 1);
    atomic_fetch_add(&tally->n_done, 1);
}

void prov_tally_removed(struct prov_tally *tally, uint64_t n)
{
    if (n > 0 && atomic_fetch_add(&tally->n_removed, n) == 0)
        log_warn("prov", "the run has reached its limit in the store: records with the least "
                         "lost time are removed for new ones; --store-limit MIB sets a "
                         "larger one");
}

/* Why it cannot be written: NULL, or a reason that a put need not wait for. */
static const char *why_not_written(const struct prov_writer *w)
{
    int failure = atomic_load(&w->failure);

    if (atomic_load(&w->is_gone))
        return "its file was removed or replaced";
    return failure ? w->ops->why(w->sink, failure) : NULL;
}

/* Why nothing can be stored now, or NULL. */
static const char *prov_writer_why(struct prov_writer *w)
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
    for (unsigned waited_ms = 0;; prov_wait_again(&waited_ms)) {
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
    }
}

static void *write_all(void *arg)
{
    struct prov_writer *w = arg;
    struct prov_job *job[BATCH];
    void *item[BATCH];
    size_t n;

    while ((n = queue_take_some(&w->queue, item, BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            job[i] = item[i];
        write_batch(w, job, n);
    }
    return NULL;
}

/* Start it. Returns 0 or ERR_IO. */
static int prov_writer_begin(struct prov_writer *w, uint32_t index, size_t queue,
                             const struct prov_sink_ops *ops, void *sink)
{
    char name[16];
    int rc;

    w->index = index;
    w->ops = ops;
    w->sink = sink;
    queue_init(&w->queue, queue);
    snprintf(name, sizeof name, "snag-prov-%u", index % 10000);
    rc = thread_start(&w->thread, &w->has_thread, name, write_all, w);
    if (rc < 0)
        queue_release(&w->queue);
    return rc;
}

/* Write what waits and stop; twice is harmless. The sink is still needed. */
static void prov_writer_end(struct prov_writer *w)
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

/* Takes the job. Returns false when it was dropped. Thread-safe. */
static bool prov_writer_put(struct prov_writer *w, struct prov_job *job, unsigned wait_ms)
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

/* Wait for what was put so far; false when it cannot be stored now. */
static bool prov_writer_drain(struct prov_writer *w)
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

/* Add its counts, at any time until the sink is closed. */
static void prov_writer_counts(struct prov_writer *w, struct prov_counts *out)
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

/* -------------------------------------------------------------------------------- the store */

#define QUEUE 4096
#define WAIT_MS 1000

struct prov_store {
    const struct prov_kind_ops *ops;
    struct prov_base base;
    char *url;
    unsigned wait_ms;
    bool is_of_rank; /* others may write those of other ranks */
    uint32_t n;
    struct prov_writer *writer;      /* [n] */
    atomic_uint_fast64_t n_reported; /* dropped rows that a flush told of */
};

const struct prov_kind_ops *prov_kind_of(const char *url)
{
    static const struct prov_kind_ops *const kinds[] = {&prov_postgres, &prov_sqlite};
    size_t i = 0;

    while (!kinds[i]->is_mine(url))
        i++;
    return kinds[i];
}

bool prov_store_is(const char *url)
{
    return prov_kind_of(url)->is_there(url);
}

int prov_store_look(const char *url)
{
    return prov_kind_of(url)->look(url);
}

bool prov_store_is_written(const char *url)
{
    return prov_kind_of(url)->is_written(url);
}

void prov_store_discard(const char *url)
{
    prov_kind_of(url)->discard(url);
}

/* --------------------------------------------------------------------------------- opening */

static int begin_writers(struct prov_store *store, size_t queue)
{
    int rc = 0;

    store->n = store->base.n_sinks;
    store->writer = mem_alloc(store->n, sizeof *store->writer);
    for (uint32_t i = 0; i < store->n && rc == 0; i++) {
        struct prov_writer *w = &store->writer[i];
        void *sink = store->ops->sink(store->base.state, i, &w->tally);

        rc = sink ? prov_writer_begin(w, i, queue, store->ops->sink_ops, sink) : ERR_IO;
    }
    return rc;
}

int prov_store_open(const char *url, const struct prov_store_opts *opts,
                    struct prov_store **out)
{
    struct prov_store *store = mem_alloc(1, sizeof *store);
    struct prov_store_opts o = opts ? *opts : (struct prov_store_opts){.queue = 0};
    int rc;

    *out = NULL;
    store->ops = prov_kind_of(url);
    store->url = mem_copy_string(url);
    store->wait_ms = o.wait_ms ? o.wait_ms : WAIT_MS;
    store->is_of_rank = o.rank != NULL;
    rc = store->ops->open(url, &o, &store->base);
    if (rc == 0)
        rc = begin_writers(store, o.queue ? o.queue : QUEUE);
    if (rc == 0)
        *out = store;
    else
        prov_store_close(store);
    return rc;
}

void prov_store_end(struct prov_store *store)
{
    for (uint32_t i = 0; i < store->n; i++)
        prov_writer_end(&store->writer[i]);
    if (store->base.state)
        store->ops->end(store->base.state);
}

int prov_store_close(struct prov_store *store)
{
    struct prov_counts counts;

    if (store == NULL)
        return 0;
    prov_store_end(store);
    prov_store_counts(store, &counts);
    store->ops->close(store->base.state);
    free(store->writer);
    free(store->url);
    free(store);
    if (counts.n_dropped > 0)
        return err_set(ERR_IO, "%llu rows of provenance were not stored",
                       (unsigned long long)counts.n_dropped);
    return 0;
}

/* --------------------------------------------------------------------------------- putting */

static bool put(struct prov_store *store, uint32_t rank, struct prov_job *job)
{
    prov_job_whole(job, "run", (uint64_t)store->base.run);
    return prov_writer_put(&store->writer[rank % store->n], job, store->wait_ms);
}

static enum prov_tag tag_of(enum prov_kind kind, const struct prov_record *record)
{
    if (kind == PROV_NORMAL)
        return record->is_execution ? PROV_TAG_NORMAL_EXECUTION : PROV_TAG_NORMAL;
    if (record->is_execution)
        return PROV_TAG_EXECUTION;
    return record->is_late ? PROV_TAG_LATE : PROV_TAG_ANOMALY;
}

bool prov_store_put(struct prov_store *store, enum prov_kind kind,
                    const struct prov_record *record)
{
    struct prov_job *job = prov_rows_record(kind, record);

    job->tag = tag_of(kind, record);
    prov_job_whole(job, "stored_ns", text_now_ns());
    return put(store, record->event.rank, job);
}

bool prov_store_put_cost(struct prov_store *store, const struct prov_cost *row)
{
    struct prov_job *job = prov_rows_cost(row);

    job->tag = PROV_TAG_STATISTICS;
    return put(store, row->event.rank, job);
}

bool prov_store_put_metadata(struct prov_store *store, const struct prov_metadata *row)
{
    struct prov_job *job = prov_rows_metadata(row);

    prov_job_whole(job, "stored_ns", text_now_ns());
    return put(store, row->rank, job);
}

static bool put_statistics(struct prov_store *store, struct prov_job *job)
{
    job->tag = PROV_TAG_STATISTICS;
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

static bool put_size(struct prov_store *store, const char *descr, uint64_t bytes)
{
    char value[32];
    struct prov_job *job;

    snprintf(value, sizeof value, "%llu", (unsigned long long)bytes);
    job = prov_rows_metadata(&(struct prov_metadata){.descr = descr, .value = value});
    prov_job_whole(job, "stored_ns", text_now_ns());
    return put_statistics(store, job);
}

bool prov_store_put_size(struct prov_store *store, uint64_t trace_bytes)
{
    struct prov_counts counts;

    prov_store_counts(store, &counts);
    return put_size(store, PROV_TRACE_BYTES, trace_bytes) &&
           (!counts.is_sent || put_size(store, PROV_SENT_BYTES, counts.bytes));
}

int prov_store_flush(struct prov_store *store)
{
    struct prov_counts counts;
    uint64_t before;

    for (uint32_t i = 0; i < store->n; i++)
        if (!prov_writer_drain(&store->writer[i])) {
            const char *why = prov_writer_why(&store->writer[i]);

            return err_set(ERR_IO, "cannot write '%s', shard %u: %s", store->url, i,
                           why ? why : "it could not for a moment");
        }
    prov_store_counts(store, &counts);
    before = atomic_exchange(&store->n_reported, counts.n_dropped);
    if (counts.n_dropped > before)
        return err_set(ERR_IO, "%llu rows of provenance were not stored",
                       (unsigned long long)(counts.n_dropped - before));
    return 0;
}

void prov_store_counts(struct prov_store *store, struct prov_counts *out)
{
    *out = (struct prov_counts){.run = store->base.run};
    for (uint32_t i = 0; i < store->n; i++)
        prov_writer_counts(&store->writer[i], out);
    out->is_sent = store->ops->grown == NULL;
    out->is_shared = !out->is_sent && store->is_of_rank;
    if (store->ops->grown && store->base.state)
        out->bytes = store->ops->grown(store->base.state);
}

/* ---------------------------------------------------------------------------- judged again */

#define SOME 1024 /* records that are read before their verdicts are kept */

/* Of the record in a row; false when it has none. */
static bool judge_row(const struct prov_rejudge *r, sqlite3_stmt *row, struct arena *arena,
                      struct prov_rejudged *counts, struct prov_verdict *out)
{
    enum prov_kind kind = sqlite3_column_int(row, 1) ? PROV_NORMAL : PROV_ANOMALY;
    struct arena_mark mark = arena_mark(arena);
    struct prov_final final = {.is_judged = false};
    struct prov_record record;

    counts->n_records++;
    if (prov_record_read(sqlite3_column_blob(row, 2), (size_t)sqlite3_column_bytes(row, 2),
                         arena, &record) == 0)
        r->judge(r->ctx, kind, &record, &final);
    else
        counts->n_damaged++;
    counts->n_judged += final.is_judged;
    counts->n_pruned += final.is_judged && final.is_pruned;
    if (final.is_judged && final.is_pruned && kind == PROV_ANOMALY) {
        counts->n_taken_back++;
        counts->taken_back_ns += record.severity_ns;
    }
    arena_restore(arena, mark);
    *out = (struct prov_verdict){sqlite3_column_int64(row, 0), final.is_pruned, final.score,
                                 final.p};
    return final.is_judged;
}

int prov_rejudge_records(const struct prov_rejudge *r, struct prov_rejudged *counts)
{
    struct prov_verdict *verdict = mem_alloc(SOME, sizeof *verdict);
    struct arena arena = {0};
    sqlite3_stmt *query = NULL;
    int64_t last = INT64_MIN;
    int n_rows = SOME, rc = 0;
    int status = sqlite3_prepare_v2(r->from->sql,
                                    "SELECT id, is_normal, data FROM record WHERE id > ?1 AND "
                                    "run = ?2 ORDER BY id LIMIT ?3",
                                    -1, &query, NULL);

    while (status == SQLITE_OK && rc == 0 && n_rows == SOME) {
        size_t n = 0;

        sqlite3_bind_int64(query, 1, last);
        sqlite3_bind_int64(query, 2, r->run);
        sqlite3_bind_int(query, 3, SOME);
        for (n_rows = 0; sqlite3_step(query) == SQLITE_ROW; n_rows++) {
            last = sqlite3_column_int64(query, 0);
            n += judge_row(r, query, &arena, counts, &verdict[n]);
        }
        status = sqlite3_reset(query);
        if (status == SQLITE_OK && n > 0)
            rc = r->keep(r->keeper, verdict, n);
    }
    if (status != SQLITE_OK)
        rc = database_error(r->from->sql, "cannot read the records of", r->path);
    sqlite3_finalize(query);
    arena_release(&arena);
    free(verdict);
    return rc;
}

int prov_store_rejudge(struct prov_store *store, prov_judge_fn *judge, void *ctx,
                       struct prov_rejudged *out)
{
    struct prov_rejudged counts = {0};
    int rc = prov_store_flush(store);

    if (rc == 0)
        rc = store->ops->rejudge(
            &store->base,
            &(struct prov_rejudge){.run = store->base.run, .judge = judge, .ctx = ctx},
            &counts);
    if (out)
        *out = counts;
    return rc;
}
