/* The kind of a store, and a writer for each of its sinks. */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_kind.h"
#include "prov/prov_rows.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

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
                           why ? why : "it was so for a moment");
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

int prov_store_rejudge(struct prov_store *store, prov_judge_fn *judge, void *ctx,
                       struct prov_rejudged *out)
{
    struct prov_rejudged counts = {0};
    int rc = prov_store_flush(store);

    if (rc == 0)
        rc = store->ops->rejudge(&store->base, judge, ctx, &counts);
    if (out)
        *out = counts;
    return rc;
}
