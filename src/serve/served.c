/*
 * A run's timeline needs its levels; where it has none, a thread makes them meanwhile. A
 * worker asks the database for its version before it answers: what it had read before a change
 * it reads again.
 *
 *     served   columns, definitions, levels     made once, read by all threads
 *              events, points, tables, incidents  what threads tell each other
 *     worker   connection, foi_state, rankings  of one thread
 */
#include "serve/served.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/thread.h"
#include "compare/run_history.h"
#include "http/metrics.h"
#include "monitor/api_live.h"
#include "prov/prov_store.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "trace/monotone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The last part of the path, without what may stand after it. */
static void take_name(struct served *served)
{
    char path[FS_PATH_SIZE];
    char *name;

    if (realpath(served->run.path, path) == NULL)
        snprintf(path, sizeof path, "%s", served->run.path);
    name = strrchr(path, '/');
    snprintf(served->name, sizeof served->name, "%.255s", name && name[1] ? name + 1 : path);
}

/* In the run if that may be written, else in memory. */
static void *make_levels(void *arg)
{
    struct served *s = arg;
    struct pool *pool = pool_new(1); /* requests come first */
    int rc = levels_write(&s->run.columns, pool, &s->is_closing);

    if (rc == 0)
        rc = levels_open(&s->levels, &s->scattered);
    if (rc < 0 && !atomic_load(&s->is_closing)) {
        levels_close(&s->levels);
        rc = levels_make(&s->levels, &s->run.columns, pool, &s->is_closing);
        s->levels.columns = &s->scattered; /* they are the same */
    }
    if (rc == 0)
        atomic_store(&s->has_levels, true);
    else if (!atomic_load(&s->is_closing))
        log_warn("serve", "the timeline is slow: %s", err_message());
    pool_free(pool);
    return NULL;
}

static void find_levels(struct served *served)
{
    if (levels_open(&served->levels, &served->scattered) == 0) {
        atomic_store(&served->has_levels, true);
        return;
    }
    levels_close(&served->levels);
    thread_start(&served->levelling, &served->is_levelling, "snag-levels", make_levels, served);
}

const struct levels *served_levels(const struct served *served)
{
    return atomic_load(&served->has_levels) ? &served->levels : NULL;
}

static int open_run(struct served *served, const struct served_opts *opts)
{
    int rc = run_open(&served->run, opts->path, false);

    if (rc < 0)
        return rc;
    take_name(served);
    served->begin_ns = (uint64_t)rundb_get(served->run.db, "begin_ns");
    served->end_ns = (uint64_t)rundb_get(served->run.db, "end_ns");
    rc = columns_open_at(&served->scattered, served->run.dir, opts->path);
    if (rc < 0)
        return rc;
    columns_scatter(&served->scattered);
    if (!opts->is_brief)
        find_levels(served);
    return 0;
}

int served_open(struct served *served, const struct served_opts *opts)
{
    *served = (struct served){.what = opts->what,
                              .live = opts->live,
                              .comparison = opts->comparison,
                              .path = opts->path,
                              .snag = opts->snag,
                              .command = opts->command,
                              .job = opts->job,
                              .run_id = opts->run_id,
                              .author = opts->author,
                              .report = opts->report,
                              .report_ctx = opts->report_ctx,
                              .n_threads = opts->n_threads,
                              .started_ns = clock_ns(),
                              .has_opened = true};
    if (getrandom(&served->nonce, sizeof served->nonce, 0) != sizeof served->nonce)
        served->nonce = served->started_ns;
    event_ring_init(&served->events, opts->wake);
    latest_value_init(&served->points);
    shared_cache_init(&served->tables);
    shared_cache_init(&served->incidents);
    shared_cache_init(&served->dependencies);
    if (opts->what == SERVED_RUN)
        return open_run(served, opts);
    snprintf(served->name, sizeof served->name, "%.255s", opts->path);
    return 0;
}

void served_close(struct served *served)
{
    atomic_store(&served->is_closing, true);
    if (served->is_levelling)
        pthread_join(served->levelling, NULL);
    levels_close(&served->levels);
    columns_close(&served->scattered);
    event_ring_release(&served->events);
    latest_value_release(&served->points);
    shared_cache_release(&served->tables);
    shared_cache_release(&served->incidents);
    shared_cache_release(&served->dependencies);
    run_close(&served->run);
}

void served_wrote(struct served *served, int rc)
{
    if (rc == 0 || rc == ERR_IO || rc == ERR_DATABASE)
        atomic_store(&served->is_write_failing, rc < 0);
}

void served_tell(struct served *served, const char *event, json_t *data)
{
    char text[EVENT_RING_TEXT_SIZE];
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12));

    snprintf(text, sizeof text, "event: %s\ndata: %s\n\n", event, json);
    free(json);
    json_decref(data);
    event_ring_tell(&served->events, text);
}

/* --------------------------------------------------------- the part that a request is about */

int window_read(struct window *window, const struct served *served,
                const struct request *request)
{
    uint32_t n = served->run.columns.n_locations;
    double begin = 0, end = 0;
    int rc = request_number(request, "begin", 0, (double)TIME_MAX_SPAN_NS,
                            (double)served->begin_ns, &begin);

    *window = (struct window){.location = mem_alloc(n, sizeof *window->location)};
    if (rc == 0)
        rc = request_number(request, "end", 0, (double)TIME_MAX_SPAN_NS, (double)served->end_ns,
                            &end);
    if (rc == 0)
        rc = request_list(request, "locations", n, window->location, &window->n_locations);
    window->begin_ns = (uint64_t)begin;
    window->end_ns = (uint64_t)end;
    if (rc == 0 && end <= begin && request_text(request, "begin", NULL) == NULL &&
        request_text(request, "end", NULL) == NULL)
        window->end_ns = window->begin_ns + 1; /* a trace without length */
    else if (rc == 0 && end <= begin)
        rc = err_set(ERR_USAGE, "the window ends before it begins");
    return rc;
}

void window_release(struct window *window)
{
    free(window->location);
    *window = (struct window){0};
}

/* ------------------------------------------------------------------------ one thread's view */

int worker_open(struct worker *worker, struct served *served, bool is_writable)
{
    int rc;

    *worker = (struct worker){.served = served};
    if (served->what != SERVED_RUN)
        return 0;
    rc = run_connect(&served->run, is_writable, &worker->database);
    worker->db = worker->database.sql;
    if (rc == 0)
        rc = rundb_prepare(worker->db, run_sql_version, &worker->ask_version);
    if (rc == 0)
        worker_refresh(worker);
    return rc;
}

static void forget_subtrees(struct worker *worker)
{
    if (worker->subtrees)
        subtrees_release(worker->subtrees);
    free(worker->subtrees);
    worker->subtrees = NULL;
}

void worker_close(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_foi_states; i++) {
        foi_state_release(worker->foi_state[i], &worker->served->tables);
        free(worker->foi_state[i]);
    }
    for (size_t i = 0; i < worker->n_ready; i++) {
        ranking_close(&worker->ready[i]->ranking);
        free(worker->ready[i]);
    }
    forget_subtrees(worker);
    free(worker->report);
    free(worker->foi_state);
    pool_free(worker->pool);
    sqlite3_finalize(worker->ask_version);
    database_close(&worker->database);
    *worker = (struct worker){0};
}

bool worker_refresh(struct worker *worker)
{
    int64_t version = worker->version;

    if (worker->served->live)
        version = (int64_t)live_state_version(worker->served->live);
    else if (worker->db && sqlite3_step(worker->ask_version) == SQLITE_ROW)
        version = sqlite3_column_int64(worker->ask_version, 0);
    sqlite3_reset(worker->ask_version);
    if (version == worker->version)
        return false;
    worker->version = version;
    worker_forget(worker);
    return true;
}

void worker_forget(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_foi_states; i++)
        worker->foi_state[i]->is_current = false;
    free(worker->report);
    worker->report = NULL;
}

static struct foi_state *find_state(const struct worker *worker, int64_t foi)
{
    for (size_t i = 0; i < worker->n_foi_states; i++)
        if (worker->foi_state[i]->foi == foi)
            return worker->foi_state[i];
    return NULL;
}

int worker_foi(struct worker *worker, int64_t foi, struct foi_state **state)
{
    *state = find_state(worker, foi);
    if (*state == NULL) {
        struct foi_state new;
        int rc = foi_state_find(&new, worker->db, foi);

        if (rc < 0)
            return rc;
        mem_grow(&worker->foi_state, &worker->foi_state_cap, worker->n_foi_states + 1);
        *state = mem_alloc(1, sizeof **state);
        **state = new;
        worker->foi_state[worker->n_foi_states++] = *state;
    }
    return (*state)->is_current ? 0
                                : foi_state_load(*state, &worker->served->tables, worker->db);
}

int worker_model(struct worker *worker, int64_t foi, struct foi_state **state)
{
    int rc = worker_foi(worker, foi, state);

    if (rc < 0 || (*state)->has_model)
        return rc;
    rc = model_store_load(worker->db, foi, worker->served->run.defs.names.n, &(*state)->model);
    (*state)->has_model = rc == 0;
    if (rc < 0)
        residual_release(&(*state)->model);
    return rc;
}

int worker_warm(struct worker *worker)
{
    sqlite3_stmt *query = NULL;
    struct foi_state *state;
    int rc;

    if (worker->db == NULL)
        return 0;
    rc = rundb_prepare(worker->db, run_sql_fois, &query);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        rc = worker_foi(worker, sqlite3_column_int64(query, 0), &state);
    return rundb_close_query(worker->db, query, rc, "cannot read the functions of interest");
}

struct pool *worker_pool(struct worker *worker)
{
    if (worker->pool == NULL)
        worker->pool = pool_new(worker->served->n_threads);
    return worker->pool;
}

static bool ranks_alike(const struct retrain_settings *a, const struct retrain_settings *b)
{
    const struct stack2vec_opts *p = &a->learnt.embedding, *q = &b->learnt.embedding;

    return strcmp(a->learner, b->learner) == 0 && strcmp(a->features, b->features) == 0 &&
           a->seed == b->seed && a->learnt.gamma == b->learnt.gamma &&
           a->learnt.nu == b->learnt.nu && p->dims == q->dims && p->epochs == q->epochs &&
           p->learning_rate == q->learning_rate && p->negatives == q->negatives;
}

static struct ready *find_ready(const struct worker *worker, int64_t foi,
                                const struct retrain_settings *as)
{
    for (size_t i = 0; i < worker->n_ready; i++) {
        struct ready *r = worker->ready[i];

        if (r->foi == foi && ranks_alike(&r->as, as))
            return r;
    }
    return NULL;
}

int worker_ranking(struct worker *worker, int64_t foi, const struct retrain_settings *as,
                   struct ranking **ranking)
{
    struct ready *r = find_ready(worker, foi, as);
    struct ranking_opts opts;
    int rc;

    if (r) {
        *ranking = &r->ranking;
        return 0;
    }
    opts = retrain_opts(as, worker_pool(worker));
    r = mem_alloc(1, sizeof *r);
    r->foi = foi;
    r->as = *as;
    rc = ranking_open(&r->ranking, worker->db, &worker->served->run.columns,
                      &worker->served->run.defs, foi, &opts);
    if (rc < 0) {
        ranking_close(&r->ranking);
        free(r);
        return rc;
    }
    /* They are as large as the forest, so there are few. */
    if (worker->n_ready == WORKER_MAX_READY) {
        ranking_close(&worker->ready[0]->ranking);
        free(worker->ready[0]);
        worker->n_ready--;
        memmove(worker->ready, worker->ready + 1, worker->n_ready * sizeof(struct ready *));
    }
    worker->ready[worker->n_ready++] = r;
    *ranking = &r->ranking;
    return 0;
}

/* It is as large as the forest, so there is one. */
int worker_subtrees(struct worker *worker, int64_t foi, struct subtrees **subtrees)
{
    struct served *s = worker->served;
    int rc = 0;

    if (worker->subtrees == NULL || worker->subtrees_foi != foi) {
        forget_subtrees(worker);
        worker->subtrees = mem_alloc(1, sizeof *worker->subtrees);
        worker->subtrees_foi = foi;
        rc = subtrees_open(worker->subtrees, worker->db, &s->run.columns, &s->run.defs, foi,
                           worker_pool(worker));
    }
    if (rc < 0)
        forget_subtrees(worker);
    *subtrees = worker->subtrees;
    return rc;
}

/* ----------------------------------------------------------------------------------- health */

static int check_run(struct worker *worker)
{
    sqlite3_stmt *query = NULL;
    int rc, step;

    if (database_is_moved(&worker->database))
        return err_set(ERR_IO, "the run is no longer there");
    rc = rundb_prepare(worker->db, run_sql_meta_any, &query);
    if (rc < 0)
        return rc;
    step = sqlite3_step(query);
    if (step != SQLITE_ROW)
        rc = step == SQLITE_DONE
                 ? err_set(ERR_FORMAT, "damaged run: run.db does not say of what it is")
                 : rundb_error(worker->db, "cannot read the run");
    sqlite3_finalize(query);
    if (rc == 0 && atomic_load(&worker->served->is_write_failing))
        rc = err_set(ERR_IO, "the last change could not be written");
    return rc;
}

static int check_live(struct live_state *live)
{
    char why[256];

    if (live_state_trouble(live, why))
        return err_set(ERR_IO, "%s", why);
    return live_state_has_store(live) ? prov_store_look(live_state_store_url(live)) : 0;
}

static int check_history(const char *path)
{
    struct history history = {0};
    int rc = history_open(&history, path, DATABASE_READ);

    history_close(&history);
    return rc;
}

int health_check(struct worker *worker)
{
    const struct served *served = worker->served;

    switch (served->what) {
    case SERVED_PROGRAM:
        return check_live(served->live);
    case SERVED_HISTORY:
        return check_history(served->path);
    case SERVED_COMPARISON:
        return 0;
    case SERVED_RUN:
        break;
    }
    return check_run(worker);
}

/* -------------------------------------------------------------------- what Prometheus reads */

/* What only who judged has counted. */
static double of_steps(const struct live_state *live, uint64_t n)
{
    return live->opts.is_past ? NAN : (double)n;
}

/* Zeroes where a run is served. */
static struct live_counts live_counts(struct live_state *live)
{
    struct live_counts n = {.lag_ns = NAN, .reduction = reduction_of(0, NULL, NULL)};

    if (live == NULL)
        return n;
    live_state_lock(live);
    n = (struct live_counts){
        .n_steps = of_steps(live, live->totals.n_steps),
        .n_events = of_steps(live, live->totals.n_events),
        .n_calls = live_state_knows_calls(live) ? (double)live->totals.n_calls : NAN,
        .n_anomalies = live->totals.n_anomalies + live->totals.n_taken_back,
        .n_unjudged = of_steps(live, live->totals.n_unjudged),
        .n_slight = of_steps(live, live->totals.n_slight),
        .n_lost = of_steps(live, live->totals.n_lost),
        .lag_ns = live->totals.lag_ns,
        .n_executions = of_steps(live, live->executions.n),
        .n_strange_executions = live->executions.n_anomalies,
        .execution_ns = live->strange.at_ns,
        .store = live->store,
        .reduction = live->reduction,
    };
    snprintf(n.execution, sizeof n.execution, "%s", live->strange.id);
    live_state_unlock(live);
    return n;
}

void site_metrics(struct served *served, unsigned n_connections, const char *accept,
                  struct response *response)
{
    const struct live_counts live = live_counts(served->live);
    const struct metric rows[] = {
        {"snag_requests", METRIC_COUNTER, "Requests answered",
         (double)atomic_load(&served->n_requests), NULL, 0},
        {"snag_requests_failed", METRIC_COUNTER, "Requests answered by an error",
         (double)atomic_load(&served->n_failed), NULL, 0},
        {"snag_labels", METRIC_COUNTER, "Labels taken", (double)atomic_load(&served->n_labels),
         NULL, 0},
        {"snag_retrains", METRIC_COUNTER, "Rankings computed or undone",
         (double)atomic_load(&served->n_retrains), NULL, 0},
        {"snag_connections", METRIC_GAUGE, "Open connections", n_connections, NULL, 0},
        {"snag_projection_running", METRIC_GAUGE, "A projection is running",
         atomic_load(&served->is_projecting), NULL, 0},
        {"snag_calls", METRIC_GAUGE, "Calls in the run",
         live.n_calls + (double)served->run.columns.n_calls, NULL, 0},
    };
    const struct metrics_job job = {.version = served->snag,
                                    .command = served->command,
                                    .id = served->job,
                                    .run_id = served->run_id,
                                    .started_ns = served->started_ns};
    struct metrics metrics;

    metrics_init(&metrics, accept);
    metrics_job(&metrics, &job);
    metrics_add(&metrics, rows, sizeof rows / sizeof *rows);
    live_metrics(&metrics, &live);
    metrics_answer(&metrics, response);
}
