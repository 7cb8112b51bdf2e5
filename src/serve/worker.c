#include "serve/worker.h"

#include "analysis/run_scoring.h"
#include "base/mem.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdlib.h>
#include <string.h>

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
        mem_grow(&worker->foi_state, &worker->foi_state_cap, worker->n_foi_states + 1,
                 sizeof *worker->foi_state);
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
    sqlite3_finalize(query);
    return rc;
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

/* They are as large as the forest, so there are few. */
static void keep_ready(struct worker *worker, struct ready *r)
{
    if (worker->n_ready == WORKER_MAX_READY) {
        ranking_close(&worker->ready[0]->ranking);
        free(worker->ready[0]);
        worker->n_ready--;
        memmove(worker->ready, worker->ready + 1, worker->n_ready * sizeof(struct ready *));
    }
    worker->ready[worker->n_ready++] = r;
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
    keep_ready(worker, r);
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
