/*
 * A projection takes long, so it has a thread of its own; there is one at a time. While it
 * runs, its points are in its latest value and its progress is told to all pages.
 */
#include "analysis/projection.h"
#include "analysis/retrain.h"
#include "base/blas.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "serve/api.h"

#include <math.h>
#include <stdlib.h>

#define EVERY 10 /* iterations between two pictures */
#define MAX_ITERATIONS 100000

struct job {
    struct served *served;
    int64_t foi;
    struct projection_opts opts;
};

static void tell(const struct job *job, uint32_t iteration, uint32_t iterations, double cost,
                 bool is_running)
{
    served_tell(job->served, "projection",
                json_pack("{s:I, s:s, s:I, s:I, s:f, s:b}", "foi", (json_int_t)job->foi,
                          "method", job->opts.method->name, "iteration", (json_int_t)iteration,
                          "iterations", (json_int_t)iterations, "cost",
                          isfinite(cost) ? cost : 0, "running", (int)is_running));
}

static bool is_given_up(const struct served *served)
{
    return atomic_load(&served->is_cancelled) || atomic_load(&served->is_closing);
}

static bool on_step(const struct project_step *step, void *ctx)
{
    const struct job *job = ctx;
    float *xy = mem_alloc(2 * step->rows, sizeof *xy);
    struct bundle bundle = {.n_columns = 0};
    size_t size;
    void *bytes;

    for (size_t t = 0; t < step->rows; t++) {
        xy[t] = (float)step->points[2 * t];
        xy[step->rows + t] = (float)step->points[2 * t + 1];
    }
    bundle_add(&bundle, "x", BUNDLE_F32, xy, step->rows);
    bundle_add(&bundle, "y", BUNDLE_F32, xy + step->rows, step->rows);
    bundle_say(&bundle, "foi", json_integer(job->foi));
    bundle_say(&bundle, "method", json_text(job->opts.method->name));
    bundle_say(&bundle, "iteration", json_count(step->iteration));
    bundle_say(&bundle, "iterations", json_count(step->n_iterations));
    bundle_say(&bundle, "cost", json_number(isfinite(step->cost) ? step->cost : 0));
    bundle_say(&bundle, "running", json_true());
    bytes = bundle_bytes(&bundle, &size);
    latest_value_write(&job->served->points, bytes, size);
    free(bytes);
    free(xy);
    tell(job, step->iteration, step->n_iterations, step->cost, true);
    return !is_given_up(job->served);
}

static void *project(void *arg)
{
    struct job *job = arg;
    struct served *s = job->served;
    struct projection projection = {0};
    struct database db = {.dir = -1};
    int rc = run_connect(&s->run, true, &db);

    job->opts.project.pool = pool_new(s->n_threads);
    if (rc == 0)
        rc = projection_make(&projection, db.sql, &s->run.columns, &s->run.defs, job->foi,
                             &job->opts);
    if (rc == 0 && !is_given_up(s)) {
        rc = projection_save(db.sql, job->foi, &projection, &job->opts);
        served_wrote(s, rc);
    }
    if (rc < 0)
        log_warn("serve", "projection: %s", err_message());
    atomic_store(&s->is_projecting, false);
    latest_value_write(&s->points, NULL, 0);
    tell(job, projection.result.n_iterations, projection.result.n_iterations,
         projection.result.cost, false);
    projection_release(&projection);
    database_close(&db);
    pool_free(job->opts.project.pool);
    free(job);
    return NULL;
}

int api_projection(struct worker *worker, const struct request *request,
                   struct response *response)
{
    struct foi_state *state;
    size_t size;
    void *bytes;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc < 0)
        return rc;
    bytes = latest_value_copy(&worker->served->points, &size);
    if (bytes == NULL || atomic_load(&worker->served->projecting_foi) != request->id[0]) {
        free(bytes);
        return err_set(ERR_NOT_FOUND, "no projection is running");
    }
    return response_bytes(response, BUNDLE_TYPE, bytes, size);
}

/* A number of the body within bounds; 0 when it is missing. */
static int read_number(const json_t *body, const char *name, double least, double most,
                       double *out)
{
    const json_t *value = json_object_get(body, name);

    *out = 0;
    if (value == NULL || json_is_null(value))
        return 0;
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out >= least && *out <= most))
        return err_set(ERR_USAGE, "'%s' takes a number from %g to %g", name, least, most);
    return 0;
}

static const char *read_word(const json_t *body, const char *name, const char *typical)
{
    const json_t *value = json_object_get(body, name);

    if (value == NULL || json_is_null(value))
        return typical;
    return json_is_string(value) ? json_string_value(value) : "";
}

static int choose(struct worker *worker, const struct request *request,
                  struct projection_opts *opts)
{
    const char *features;
    double perplexity, iterations;
    int rc = read_number(request->body, "perplexity", 1, 10000, &perplexity);

    if (rc == 0)
        rc = read_number(request->body, "iterations", 1, MAX_ITERATIONS, &iterations);
    if (rc < 0)
        return rc;
    opts->method = project_find(read_word(request->body, "method", "tsne"));
    features = read_word(request->body, "features", NULL);
    opts->features = features ? feature_find(features) : NULL;
    if (features == NULL) /* those that the scores are made of */
        rc = retrain_features(worker->db, request->id[0], &opts->features);
    if (rc < 0)
        return rc;
    if (opts->method == NULL)
        return err_set(ERR_USAGE, "'method' takes tsne, pca or mds");
    if (opts->features == NULL)
        return err_set(ERR_USAGE, "'features' takes residual, time, subtrees or stack2vec");
    if (blas_load() < 0)
        return ERR_UNSUPPORTED;
    opts->project.perplexity = perplexity > 0 ? perplexity : PROJECT_PERPLEXITY;
    opts->project.iterations = (uint32_t)iterations;
    opts->project.seed = 1;
    opts->project.every = EVERY;
    opts->project.on_step = on_step;
    return 0;
}

int api_project(struct worker *worker, const struct request *request, struct response *response)
{
    struct served *s = worker->served;
    struct projection_opts opts = {.project = {.pool = NULL}};
    struct foi_state *state;
    struct job *job;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = choose(worker, request, &opts);
    if (rc == 0 && atomic_load(&s->is_projecting))
        rc = err_set(ERR_EXISTS, "a projection is running already");
    if (rc < 0)
        return rc;
    if (s->has_projected)
        pthread_join(s->projecting, NULL);
    job = mem_alloc(1, sizeof *job);
    *job = (struct job){s, request->id[0], opts};
    job->opts.project.ctx = job;
    atomic_store(&s->is_cancelled, false);
    atomic_store(&s->projecting_foi, job->foi);
    atomic_store(&s->is_projecting, true);
    rc = thread_start(&s->projecting, &s->has_projected, "snag-project", project, job);
    if (rc < 0) {
        atomic_store(&s->is_projecting, false);
        free(job);
        return rc;
    }
    response_json(response, json_pack("{s:s}", "method", opts.method->name));
    response->status = 202;
    return 0;
}

int api_cancel(struct worker *worker, const struct request *request, struct response *response)
{
    bool is_running = atomic_load(&worker->served->is_projecting);

    (void)request;
    atomic_store(&worker->served->is_cancelled, true);
    return response_json(response, json_pack("{s:b}", "cancelled", (int)is_running));
}
