/*
 * The rows come in the order of the primary key, so that reading them is one sequential scan.
 * Every label and every retrain has a number, and an undo marks one of these: three numbers
 * say whether anything is to be read again. They are read in the same transaction as what they
 * stand for.
 */
#include "serve/execution_table.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "explain/why.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the order of executions depends on, as in the index execution_by_score. */
struct order_key {
    double score, time, gross;
    uint32_t tree;
};

/* On whose behalf a table is made. */
struct making {
    sqlite3 *db;
    int64_t foi;
    uint32_t n;
};

/* ------------------------------------------------------------------------------ lifetimes */

static void free_facts(struct shared *shared)
{
    struct execution_facts *f = (struct execution_facts *)shared;

    free(f->enter_ns);
    free(f->exit_ns);
    free(f->duration_ns);
    free(f->lost_ns);
    free(f->cost_ns);
    free(f->cost_is_bound);
    free(f->rank);
    free(f->thread);
    free(f->index);
    free(f->location);
    free(f->call);
    free(f->way);
    free(f->reason);
    for (uint32_t i = 0; i < f->function.n; i++)
        free(f->place[i]);
    free(f->place);
    names_release(&f->function);
    free(f->vertices);
    free(f->messages);
    free(f->part);
    free(f->time);
    free(f->gross);
    free(f->place_before);
    free(f->was_anomaly);
    free(f);
}

static struct execution_facts *new_facts(uint32_t n)
{
    struct execution_facts *f = mem_alloc(1, sizeof *f);

    *f = (struct execution_facts){.shared = {1, free_facts},
                                  .enter_ns = mem_alloc(n, sizeof(double)),
                                  .exit_ns = mem_alloc(n, sizeof(double)),
                                  .duration_ns = mem_alloc(n, sizeof(double)),
                                  .lost_ns = mem_alloc(n, sizeof(double)),
                                  .cost_ns = mem_alloc(n, sizeof(double)),
                                  .cost_is_bound = mem_alloc(n, 1),
                                  .rank = mem_alloc(n, sizeof(uint32_t)),
                                  .thread = mem_alloc(n, sizeof(uint32_t)),
                                  .index = mem_alloc(n, sizeof(uint32_t)),
                                  .location = mem_alloc(n, sizeof(uint32_t)),
                                  .call = mem_alloc(n, sizeof(uint32_t)),
                                  .way = mem_alloc(n, sizeof(uint32_t)),
                                  .vertices = mem_alloc(n, sizeof(uint32_t)),
                                  .messages = mem_alloc(n, sizeof(uint32_t)),
                                  .part = mem_alloc(n, 1),
                                  .time = mem_alloc(n, sizeof(double)),
                                  .gross = mem_alloc(n, sizeof(double)),
                                  .place_before = mem_alloc(n, sizeof(uint32_t)),
                                  .was_anomaly = mem_alloc(n, 1)};
    return f;
}

static void free_scores(struct shared *shared)
{
    struct execution_scores *s = (struct execution_scores *)shared;

    free(s->score);
    free(s->is_anomaly);
    free(s->order);
    free(s->place);
    free(s);
}

static struct execution_scores *new_scores(uint32_t n)
{
    struct execution_scores *s = mem_alloc(1, sizeof *s);

    *s = (struct execution_scores){.shared = {1, free_scores},
                                   .score = mem_alloc(n, sizeof(float)),
                                   .is_anomaly = mem_alloc(n, 1),
                                   .order = mem_alloc(n, sizeof(uint32_t)),
                                   .place = mem_alloc(n, sizeof(uint32_t))};
    return s;
}

static void free_table(struct shared *shared)
{
    struct execution_table *table = (struct execution_table *)shared;

    if (table->facts)
        shared_drop(&table->facts->shared);
    if (table->scores)
        shared_drop(&table->scores->shared);
    free(table->label);
    free(table);
}

/* ------------------------------------------------------------------------------- reading */

static int by_score(const void *a, const void *b)
{
    const struct order_key *p = a, *q = b;

    return ORDER(q->score, p->score) ?:
           ORDER(q->time, p->time) ?:
           ORDER(q->gross, p->gross) ?:
           ORDER(p->tree, q->tree);
}

/* Where rows go to: arrays of the two orders, and what is made of the rest. */
struct table_reading {
    struct execution_facts *facts;
    struct execution_scores *scores;
    struct order_key *now, *before; /* [n]; before only where facts are read */
    bool is_as_before;              /* all scores are the detector's own */
};

typedef void take_fn(struct table_reading *r, uint32_t t, sqlite3_stmt *row);

/* Runs a query whose first column is the tree, and calls take for all n rows, in order. */
static int each_row(const struct making *m, const char *sql, take_fn *take,
                    struct table_reading *r)
{
    sqlite3_stmt *query = NULL;
    uint32_t t = 0;
    int rc = rundb_query(m->db, &query, sql, "i", m->foi);

    for (; rc == 0 && t < m->n && sqlite3_step(query) == SQLITE_ROW; t++) {
        if (sqlite3_column_int64(query, FACT_TREE) != t)
            break;
        take(r, t, query);
    }
    sqlite3_finalize(query);
    if (rc == 0 && t < m->n)
        rc = err_set(ERR_FORMAT, "damaged run: %u of %u executions are in it", t, m->n);
    return rc;
}

static void take_score(struct table_reading *r, uint32_t t, sqlite3_stmt *row)
{
    double score = sqlite3_column_double(row, FACT_SCORE);

    r->scores->score[t] = (float)score;
    r->scores->is_anomaly[t] = sqlite3_column_int(row, FACT_IS_ANOMALY) != 0;
    r->now[t] = (struct order_key){score, r->facts->time[t], r->facts->gross[t], t};
}

static void take_all(struct table_reading *r, uint32_t t, sqlite3_stmt *row)
{
    struct execution_facts *f = r->facts;
    uint64_t enter = (uint64_t)sqlite3_column_int64(row, FACT_ENTER);
    uint64_t duration = (uint64_t)sqlite3_column_int64(row, FACT_DURATION);

    f->enter_ns[t] = (double)enter;
    f->duration_ns[t] = (double)duration;
    f->exit_ns[t] = (double)(enter + duration);
    f->rank[t] = (uint32_t)sqlite3_column_int64(row, FACT_RANK);
    f->thread[t] = (uint32_t)sqlite3_column_int64(row, FACT_THREAD);
    f->index[t] = (uint32_t)sqlite3_column_int64(row, FACT_INDEX);
    f->location[t] = (uint32_t)sqlite3_column_int64(row, FACT_LOCATION);
    f->call[t] = (uint32_t)sqlite3_column_int64(row, FACT_CALL);
    f->lost_ns[t] = sqlite3_column_double(row, FACT_LOST);
    f->cost_ns[t] = sqlite3_column_type(row, FACT_COST) == SQLITE_NULL
                        ? NAN
                        : sqlite3_column_double(row, FACT_COST);
    f->cost_is_bound[t] = sqlite3_column_int(row, FACT_COST_IS_BOUND) != 0;
    f->vertices[t] = (uint32_t)sqlite3_column_int64(row, FACT_VERTICES);
    f->messages[t] = (uint32_t)sqlite3_column_int64(row, FACT_MESSAGES);
    f->part[t] = (unsigned char)sqlite3_column_int(row, FACT_PART);
    f->time[t] = sqlite3_column_double(row, FACT_TIME);
    f->gross[t] = sqlite3_column_double(row, FACT_GROSS);
    f->was_anomaly[t] = sqlite3_column_int(row, FACT_DETECTOR_VERDICT) != 0;
    take_score(r, t, row);
    r->before[t] = r->now[t];
    r->before[t].score = sqlite3_column_double(row, FACT_DETECTOR_SCORE);
    r->is_as_before &= r->before[t].score == r->now[t].score;
}

static void put_order(struct table_reading *r, uint32_t n)
{
    qsort(r->now, n, sizeof *r->now, by_score);
    for (uint32_t i = 0; i < n; i++) {
        r->scores->order[i] = r->now[i].tree;
        r->scores->place[r->now[i].tree] = i + 1;
    }
}

static int read_scores(const struct making *m, struct table_reading *r)
{
    int rc = each_row(m, run_sql_scores, take_score, r);

    if (rc == 0)
        put_order(r, m->n);
    return rc;
}

/* What people ask for by the kind of a way. */
static int reason_of(enum way_kind kind)
{
    static const int reasons[N_WAY_KINDS] = {
        [WAY_NONE] = FILTER_NOWHERE,
        [WAY_LONGER] = REASON_WORK,
        [WAY_WAIT] = REASON_MPI,
        [WAY_BARRIER] = REASON_BARRIER,
        [WAY_SHORTER] = REASON_LESS,
        [WAY_LONGER_IN_ALL] = REASON_ALL,
        [WAY_SHORTER_IN_ALL] = REASON_LESS,
        [WAY_MORE_CALLS] = REASON_CALLS,
        [WAY_FEWER_CALLS] = REASON_CALLS,
        [WAY_COMBINATION] = REASON_CALLS,
        [WAY_ORDER] = REASON_CALLS,
        [WAY_OPEN] = REASON_OPEN,
    };

    return reasons[kind];
}

/* The place of a function among those of ways; of a new one, the next. */
static uint32_t function_at(struct execution_facts *f, const char *name, const char *place)
{
    uint32_t known = f->function.n, i = name ? names_add(&f->function, name) : NO_FUNCTION;

    if (f->function.n > known) {
        mem_grow(&f->place, &f->place_cap, f->function.n);
        f->place[i] = mem_copy_string(place ? place : "");
    }
    return i;
}

/* Numbers are from 1, without gaps; what a damaged run has beyond that is left out. */
static int read_ways(const struct making *m, struct execution_facts *f)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(m->db, &query, run_sql_ways, "i", m->foi);

    mem_grow(&f->reason, &f->reason_cap, 1);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW &&
           sqlite3_column_int64(query, 0) == (int64_t)f->n_ways + 1) {
        mem_grow(&f->reason, &f->reason_cap, ++f->n_ways + 1);
        f->reason[f->n_ways].kind = reason_of(way_read(rundb_text(query, 1)));
        f->reason[f->n_ways].function =
            function_at(f, rundb_text_or_null(query, 2), rundb_text_or_null(query, 3));
    }
    rc = rundb_close_query(m->db, query, rc, "cannot read the groups");
    query = NULL;
    if (rc == 0)
        rc = rundb_query(m->db, &query, run_sql_execution_ways, "i", m->foi);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t t = sqlite3_column_int64(query, 0), way = sqlite3_column_int64(query, 1);

        if (t >= 0 && t < m->n && way > 0 && way <= f->n_ways)
            f->way[t] = (uint32_t)way;
    }
    return rundb_close_query(m->db, query, rc, "cannot read the groups");
}

static int read_all(const struct making *m, struct table_reading *r)
{
    uint32_t *place_before = r->facts->place_before;
    int rc;

    r->is_as_before = true;
    r->before = mem_alloc(m->n, sizeof *r->before);
    rc = each_row(m, run_sql_facts, take_all, r);
    if (rc == 0)
        rc = read_ways(m, r->facts);
    if (rc == 0)
        put_order(r, m->n);
    if (rc == 0 && r->is_as_before) {
        memcpy(place_before, r->scores->place, m->n * sizeof *place_before);
    } else if (rc == 0) {
        qsort(r->before, m->n, sizeof *r->before, by_score);
        for (uint32_t i = 0; i < m->n; i++)
            place_before[r->before[i].tree] = i + 1;
    }
    free(r->before);
    return rc;
}

/* When labels and scores were last written. */
static int read_stamp(const struct making *m, struct execution_table *table)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(m->db, &query, run_sql_stamp, "i", m->foi);

    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = rundb_error(m->db, "cannot read the labels");
    if (rc == 0) {
        table->newest_label = sqlite3_column_int64(query, 0);
        table->newest_retrain = sqlite3_column_int64(query, 1);
        table->n_undone = sqlite3_column_int64(query, 2);
    }
    sqlite3_finalize(query);
    return rc;
}

/* -------------------------------------------------------------------------------- making */

static bool has_scores_of(const struct execution_table *table,
                          const struct execution_table *old)
{
    return old && old->newest_retrain == table->newest_retrain &&
           old->n_undone == table->n_undone;
}

/* Takes from the old one what still holds, and reads the rest. */
static int fill(const struct making *m, const struct execution_table *old,
                struct execution_table *table)
{
    struct table_reading r = {.now = NULL};
    int64_t newest;
    int rc = 0;

    table->facts = old ? old->facts : new_facts(m->n);
    if (old)
        shared_keep(&table->facts->shared);
    if (has_scores_of(table, old)) {
        table->scores = old->scores;
        shared_keep(&table->scores->shared);
    } else {
        table->scores = new_scores(m->n);
        r.facts = table->facts;
        r.scores = table->scores;
        r.now = mem_alloc(m->n, sizeof *r.now);
        rc = old ? read_scores(m, &r) : read_all(m, &r);
        free(r.now);
    }
    return rc < 0 ? rc
                  : label_store_load(m->db, m->foi, LABEL_LAST, m->n, table->label, &newest);
}

static int renew(struct shared *shared, void *ctx, struct shared **out)
{
    const struct making *m = ctx;
    const struct execution_table *old = (const struct execution_table *)shared;
    struct execution_table *table = mem_alloc(1, sizeof *table);
    int rc = rundb_exec(m->db, "BEGIN");

    if (rc < 0) {
        free(table);
        return rc;
    }
    *table = (struct execution_table){.shared = {1, free_table}, .n = m->n};
    rc = read_stamp(m, table);
    if (rc == 0 && has_scores_of(table, old) && old->newest_label == table->newest_label) {
        shared_drop(&table->shared);
        *out = shared;
    } else if (rc == 0) {
        table->label = mem_alloc(m->n, 1);
        rc = fill(m, old, table);
        *out = &table->shared;
    }
    if (rc < 0)
        shared_drop(&table->shared);
    sqlite3_exec(m->db, "COMMIT", NULL, NULL, NULL);
    return rc;
}

int execution_table_take(struct shared_cache *cache, sqlite3 *db, int64_t foi, uint32_t n,
                         const struct execution_table **table)
{
    struct making making = {db, foi, n};
    struct shared *value;
    int rc = shared_cache_take(cache, foi, renew, &making, &value);

    if (rc == 0)
        *table = (const struct execution_table *)value;
    return rc;
}

void execution_table_give_back(struct shared_cache *cache, const struct execution_table *table)
{
    shared_cache_give_back(cache, table ? (struct shared *)(uintptr_t)&table->shared : NULL);
}

/* -------------------------------------------------------------- of one function of interest */

int foi_state_find(struct foi_state *state, sqlite3 *db, int64_t foi)
{
    int64_t n = -1;
    int rc = rundb_number(db, &n, run_sql_n_trees, "i", foi);

    *state = (struct foi_state){.foi = foi};
    if (rc == 0 && n < 0)
        rc = err_set(ERR_NOT_FOUND, "the run has no function of interest %lld", (long long)foi);
    if (rc == 0 && n > INT32_MAX)
        rc = err_set(ERR_FORMAT, "damaged run: %lld executions", (long long)n);
    if (rc < 0)
        return rc;
    state->n = (uint32_t)n;
    state->sketch = mem_alloc(state->n, sizeof *state->sketch);
    return 0;
}

static void forget_list(struct foi_state *s)
{
    free(s->list.marks);
    free(s->list.tree);
    s->list = (struct foi_list){.n = 0};
}

void foi_state_release(struct foi_state *s, struct shared_cache *tables)
{
    forget_list(s);
    if (s->table)
        execution_table_give_back(tables, s->table);
    residual_release(&s->model);
    for (uint32_t t = 0; s->sketch && t < s->n; t++)
        json_decref(s->sketch[t]);
    free(s->sketch);
    *s = (struct foi_state){0};
}

int foi_state_load(struct foi_state *s, struct shared_cache *tables, sqlite3 *db)
{
    const struct execution_table *table = NULL;
    int rc = execution_table_take(tables, db, s->foi, s->n, &table);

    if (rc < 0)
        return rc;
    if (s->table != table)
        forget_list(s); /* while its table is there: another may come to the same place */
    if (s->table)
        execution_table_give_back(tables, s->table);
    s->table = table;
    s->is_current = true;
    return 0;
}
