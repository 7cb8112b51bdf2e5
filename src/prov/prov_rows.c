#include "prov/prov_rows.h"

#include <math.h>
#include <stdlib.h>

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void add_stats(struct prov_job *job, const struct prov_stats *s)
{
    json_t *json = json_object();
    char *text;

    json_object_set_new(json, "count", json_integer((json_int_t)s->count));
    json_object_set_new(json, "accumulate", real(s->accumulate));
    json_object_set_new(json, "minimum", real(s->minimum));
    json_object_set_new(json, "maximum", real(s->maximum));
    json_object_set_new(json, "mean", real(s->mean));
    json_object_set_new(json, "stddev", real(s->stddev));
    json_object_set_new(json, "skewness", real(s->skewness));
    json_object_set_new(json, "kurtosis", real(s->kurtosis));
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    prov_job_text(job, text);
    free(text);
    json_decref(json);
}

struct prov_job *prov_rows_record(enum prov_kind kind, const struct prov_record *r)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_RECORD);
    size_t at;

    prov_job_text(job, r->func);
    prov_job_whole(job, kind == PROV_NORMAL);
    prov_job_whole(job, r->program);
    prov_job_whole(job, r->event.rank);
    prov_job_whole(job, r->thread);
    prov_job_whole(job, r->event.step);
    prov_job_whole(job, r->event.index);
    prov_job_whole(job, r->fid);
    prov_job_whole(job, r->enter_ns);
    prov_job_whole(job, r->leave_ns);
    prov_job_whole(job, r->inclusive_ns);
    prov_job_whole(job, r->exclusive_ns);
    prov_job_real(job, r->score);
    prov_job_real(job, r->p);
    prov_job_whole(job, r->severity_ns);
    prov_job_whole(job, r->model_version);
    prov_job_whole(job, r->is_gpu);
    prov_job_real(job, r->is_execution ? r->execution.index : NAN);
    prov_job_real(job, r->is_execution ? (double)r->execution.n_calls : NAN);
    prov_job_real(job, r->is_execution ? (double)r->execution.n_messages : NAN);
    at = job->data.n;
    prov_record_pack(r, &job->data);
    prov_job_bytes(job, at);
    return job;
}

struct prov_job *prov_rows_metadata(const struct prov_metadata *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_METADATA);

    prov_job_whole(job, row->program);
    prov_job_whole(job, row->rank);
    prov_job_whole(job, row->thread);
    prov_job_text(job, row->descr);
    prov_job_text(job, row->value);
    return job;
}

struct prov_job *prov_rows_func_stats(const struct prov_func_stats *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_FUNC_STATS);

    prov_job_whole(job, row->program);
    prov_job_whole(job, row->fid);
    prov_job_text(job, row->func);
    prov_job_whole(job, row->n_calls);
    prov_job_whole(job, row->n_anomalies);
    add_stats(job, &row->exclusive);
    add_stats(job, &row->inclusive);
    add_stats(job, &row->severity);
    add_stats(job, &row->score);
    return job;
}

struct prov_job *prov_rows_counter_stats(const struct prov_counter_stats *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_COUNTER_STATS);

    prov_job_whole(job, row->program);
    prov_job_text(job, row->counter);
    add_stats(job, &row->stats);
    return job;
}

struct prov_job *prov_rows_model(const struct prov_model *row)
{
    struct prov_job *job = prov_job_new(PROV_TABLE_AD_MODEL);
    size_t at;

    prov_job_whole(job, row->version);
    prov_job_whole(job, row->program);
    prov_job_whole(job, row->fid);
    prov_job_text(job, row->func);
    prov_job_text(job, row->algorithm);
    add_stats(job, &row->stats);
    at = job->data.n;
    pack_bytes(&job->data, row->data, row->bytes);
    prov_job_bytes(job, at);
    return job;
}
