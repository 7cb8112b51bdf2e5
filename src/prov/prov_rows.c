#include "prov/prov_rows.h"

#include "prov/moments.h"

#include <math.h>
#include <stdlib.h>

static void add_stats(struct prov_job *job, const char *column, const struct prov_stats *s)
{
    char *text = prov_stats_text(s);

    prov_job_text(job, column, text);
    free(text);
}

struct prov_job *prov_rows_record(enum prov_kind kind, const struct prov_record *r)
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

struct prov_job *prov_rows_cost(const struct prov_cost *row)
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

struct prov_job *prov_rows_metadata(const struct prov_metadata *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_METADATA);

    prov_job_whole(job, "program", row->program);
    prov_job_whole(job, "rank", row->rank);
    prov_job_whole(job, "thread", row->thread);
    prov_job_text(job, "descr", row->descr);
    prov_job_text(job, "value", row->value);
    return job;
}

struct prov_job *prov_rows_func_stats(const struct prov_func_stats *row)
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

struct prov_job *prov_rows_counter_stats(const struct prov_counter_stats *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_COUNTER_STATS);

    prov_job_whole(job, "program", row->program);
    prov_job_text(job, "counter", row->counter);
    add_stats(job, "stats", &row->stats);
    return job;
}

struct prov_job *prov_rows_model(const struct prov_model *row)
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
