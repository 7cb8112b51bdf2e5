/*
 * Executions: all of them as columns, the strangest as a list, one of them closely. In lists
 * each has a sketch of its tree, which is the dear part and never changes, so it is kept.
 */
#include "analysis/label_store.h"
#include "base/checksum.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "learn/query.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "serve/api.h"
#include "serve/api_tree.h"
#include "serve/foi_filter.h"
#include "serve/served.h"
#include "view/execution_detail.h"
#include "view/incident_list.h"
#include "view/results_json.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define MAX_NODES 40 /* of a sketch */

/* The executions of one answer, on their way into an array. */
struct items {
    struct worker *worker;
    struct foi_state *state;
    json_t *array;
    int rc;
};

static int sketch(struct items *items, const struct execution *x, json_t **out)
{
    struct worker *worker = items->worker;
    struct execution_detail c;
    struct call_paths paths;
    int rc;

    execution_detail_init(&c, worker->db, &worker->served->run.columns,
                          &worker->served->run.defs);
    rc = execution_detail_sketch(&c, x, &items->state->model);
    if (rc == 0) {
        call_paths_of(&paths, &c);
        *out = call_paths_sketch(&paths, MAX_NODES);
        call_paths_release(&paths);
    }
    execution_detail_release(&c);
    return rc;
}

static void forget_sketches(struct foi_state *state)
{
    for (uint32_t t = 0; t < state->n; t++) {
        json_decref(state->sketch[t]);
        state->sketch[t] = NULL;
    }
    state->n_sketches = 0;
}

static int add_sketch(struct items *items, const struct execution *x, json_t *item)
{
    struct foi_state *state = items->state;
    int rc;

    if (state->sketch[x->tree] == NULL) {
        if (state->n_sketches == FOI_STATE_MAX_SKETCHES)
            forget_sketches(state);
        rc = sketch(items, x, &state->sketch[x->tree]);
        if (rc < 0)
            return rc;
        state->n_sketches++;
    }
    json_object_set(item, "sketch", state->sketch[x->tree]);
    return 0;
}

static void add(const struct execution *x, void *ctx)
{
    struct items *items = ctx;
    json_t *item = execution_to_json(x);

    json_object_set_new(item, "tree", json_integer(x->tree));
    json_object_set_new(item, "location", json_count(x->location));
    json_object_set_new(item, "call", json_count(x->call));
    json_object_set_new(item, "part", json_text(x->part));
    json_object_set_new(item, "cause", x->cause ? json_text(x->cause) : json_null());
    json_object_set_new(item, "rank_now",
                        json_count(items->state->table->scores->place[x->tree]));
    json_object_set_new(item, "rank_before",
                        json_count(items->state->table->facts->place_before[x->tree]));
    json_object_set_new(
        item, "verdict_before",
        json_string(items->state->table->facts->was_anomaly[x->tree] ? "anomaly" : "normal"));
    items->rc = add_sketch(items, x, item);
    json_array_append_new(items->array, item);
}

/*
 * These trees in this order, as an array.
 *   tree  (n) each below state->n
 * Returns 0 or ERR_*; *out is set only when 0 is returned.
 */
static int execution_items(struct worker *worker, struct foi_state *state, const uint32_t *tree,
                           size_t n, json_t **out)
{
    struct items items = {worker, state, json_array(), 0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = executions_tree(worker->db, state->foi, tree[i], add, &items);
        if (rc == 0)
            rc = items.rc;
    }
    if (rc == 0)
        *out = items.array;
    else
        json_decref(items.array);
    return rc;
}

#define MAX_ITEMS 1000
#define TYPICAL_ITEMS 50
#define MAX_QUESTIONS 1000
#define TYPICAL_QUESTIONS 10

/* ------------------------------------------------------------------------------ columns */

/* What can be asked for: in which part of the table it is, and as what it goes out. */
static const struct wanted {
    const char *name;
    enum { IN_FACTS, IN_SCORES, IN_TABLE } where;
    size_t at; /* of the pointer to it */
    enum bundle_type type;
} wanted_columns[] = {
    {"enter_ns", IN_FACTS, offsetof(struct execution_facts, enter_ns), BUNDLE_F64},
    {"exit_ns", IN_FACTS, offsetof(struct execution_facts, exit_ns), BUNDLE_F64},
    {"duration_ns", IN_FACTS, offsetof(struct execution_facts, duration_ns), BUNDLE_F64},
    {"score", IN_SCORES, offsetof(struct execution_scores, score), BUNDLE_F32},
    {"rank", IN_FACTS, offsetof(struct execution_facts, rank), BUNDLE_U32},
    {"thread", IN_FACTS, offsetof(struct execution_facts, thread), BUNDLE_U32},
    {"index", IN_FACTS, offsetof(struct execution_facts, index), BUNDLE_U32},
    {"location", IN_FACTS, offsetof(struct execution_facts, location), BUNDLE_U32},
    {"vertices", IN_FACTS, offsetof(struct execution_facts, vertices), BUNDLE_U32},
    {"messages", IN_FACTS, offsetof(struct execution_facts, messages), BUNDLE_U32},
    {"verdict", IN_SCORES, offsetof(struct execution_scores, is_anomaly), BUNDLE_U8},
    {"part", IN_FACTS, offsetof(struct execution_facts, part), BUNDLE_U8},
    {"label", IN_TABLE, offsetof(struct execution_table, label), BUNDLE_I8},
};
#define N_WANTED (sizeof wanted_columns / sizeof *wanted_columns)

/* The columns of an answer, and what keeps them where they are until it is sent. */
struct answer_columns {
    struct shared_cache *tables;
    const struct execution_table *table;
    float *own[BUNDLE_MAX_COLUMNS]; /* [n_own] those that were read for it */
    size_t n_own;
};

static void free_columns(void *owner)
{
    struct answer_columns *columns = owner;

    for (size_t c = 0; c < columns->n_own; c++)
        free(columns->own[c]);
    if (columns->table)
        execution_table_give_back(columns->tables, columns->table);
    free(columns);
}

/* Rows (tree, value), each to its place. Returns how many rows there were, or ERR_*. */
static int64_t read_coordinate(struct worker *worker, const struct foi_state *state,
                               const char *sql, const char *method, float *column)
{
    sqlite3_stmt *query = NULL;
    int64_t n = 0;
    int rc = rundb_query(worker->db, &query, sql, "it", state->foi, method);

    for (; rc == 0 && sqlite3_step(query) == SQLITE_ROW; n++) {
        int64_t t = sqlite3_column_int64(query, 0);

        if (t >= 0 && t < state->n)
            column[t] = (float)sqlite3_column_double(query, 1);
    }
    sqlite3_finalize(query);
    return rc < 0 ? rc : n;
}

/* "pca.x" and its like. */
static int read_projection(struct worker *worker, const struct foi_state *state,
                           const char *name, float *column)
{
    char method[16];
    const char *dot = strchr(name, '.');
    int64_t n = 0;

    if (dot && dot - name < (int)sizeof method && (dot[1] == 'x' || dot[1] == 'y') &&
        dot[2] == '\0') {
        snprintf(method, sizeof method, "%.*s", (int)(dot - name), name);
        n = read_coordinate(worker, state,
                            dot[1] == 'x' ? run_sql_projection_x : run_sql_projection_y, method,
                            column);
    }
    if (n == 0)
        return err_set(ERR_NOT_FOUND, "there is no column '%.40s'", name);
    return n < 0 ? (int)n : 0;
}

static const void *find_wanted(const struct execution_table *table, const struct wanted *wanted)
{
    const char *in = wanted->where == IN_FACTS    ? (const char *)table->facts
                     : wanted->where == IN_SCORES ? (const char *)table->scores
                                                  : (const char *)table;
    const void *column;

    memcpy(&column, in + wanted->at, sizeof column);
    return column;
}

static int add_column(struct answer_columns *columns, struct bundle *bundle,
                      struct worker *worker, const struct foi_state *state, const char *name)
{
    float *own;

    if (bundle->n_columns == BUNDLE_MAX_COLUMNS)
        return err_set(ERR_USAGE, "'names' takes up to %d columns", BUNDLE_MAX_COLUMNS);
    for (size_t w = 0; w < N_WANTED; w++) {
        const struct wanted *wanted = &wanted_columns[w];

        if (strcmp(wanted->name, name) != 0)
            continue;
        bundle_add(bundle, name, wanted->type, find_wanted(columns->table, wanted), state->n);
        return 0;
    }
    columns->own[columns->n_own++] = own = mem_alloc(state->n, sizeof *own);
    bundle_add(bundle, name, BUNDLE_F32, own, state->n);
    return read_projection(worker, state, name, own);
}

/*
 * What the columns depend on, instead of the columns: when this server began, the function,
 * the names, the last label and retrain; and those columns that were read for it.
 */
static void put_etag(char etag[40], const struct served *served, int64_t foi, const char *names,
                     const struct answer_columns *columns)
{
    const struct execution_table *table = columns->table;
    const uint64_t stamp[] = {served->nonce, (uint64_t)foi, (uint64_t)table->newest_label,
                              (uint64_t)table->newest_retrain, (uint64_t)table->n_undone};
    uint64_t sum = checksum_seeded(names, strlen(names), checksum_of(stamp, sizeof stamp));

    for (size_t c = 0; c < columns->n_own; c++)
        sum = checksum_seeded(columns->own[c], table->n * sizeof(float), sum);
    snprintf(etag, 40, "\"%016llx-%llx\"", (unsigned long long)sum,
             (unsigned long long)served->nonce);
}

int api_columns(struct worker *worker, const struct request *request, struct response *response)
{
    const char *wanted = request_text(request, "names", "enter_ns,duration_ns,score");
    char *names = mem_copy_string(wanted), *rest = NULL;
    struct answer_columns *columns = mem_alloc(1, sizeof *columns);
    struct bundle bundle = {.n_columns = 0};
    struct foi_state *state;
    int rc = worker_foi(worker, request->id[0], &state);

    columns->tables = &worker->served->tables;
    if (rc == 0)
        rc = execution_table_take(columns->tables, worker->db, state->foi, state->n,
                                  &columns->table);
    for (char *name = strtok_r(names, ",", &rest); rc == 0 && name;
         name = strtok_r(NULL, ",", &rest))
        rc = add_column(columns, &bundle, worker, state, name);
    free(names);
    if (rc < 0) {
        bundle_release(&bundle);
        free_columns(columns);
        return rc;
    }
    response_parts(response, &bundle, columns->n_own * state->n * sizeof(float), free_columns,
                   columns);
    put_etag(response->etag, worker->served, state->foi, wanted, columns);
    return 0;
}

/* --------------------------------------------------------------------------- candidates */

static int answer_items(struct worker *worker, struct foi_state *state, const uint32_t *tree,
                        size_t n, uint32_t total, struct response *response)
{
    json_t *items;
    int rc = execution_items(worker, state, tree, n, &items);

    return rc < 0 ? rc
                  : response_json(response, json_pack("{s:I, s:o}", "total", (json_int_t)total,
                                                      "items", items));
}

int api_candidates(struct worker *worker, const struct request *request,
                   struct response *response)
{
    const struct definitions *defs = &worker->served->run.defs;
    struct foi_state *state;
    struct foi_filter filter;
    const struct foi_list *list;
    uint32_t tree[MAX_ITEMS], n = 0;
    double offset, limit;
    int rc = worker_model(worker, request->id[0], &state);

    if (rc == 0)
        rc = request_number(request, "offset", 0, UINT32_MAX, 0, &offset);
    if (rc == 0)
        rc = request_number(request, "limit", 0, MAX_ITEMS, TYPICAL_ITEMS, &limit);
    if (rc == 0)
        rc = foi_filter_read(request, defs, state->table->facts, true, &filter);
    if (rc == 0 && strcmp(request_text(request, "order", "score"), "score") != 0)
        rc = err_set(ERR_USAGE, "'order' takes score or next, not '%.40s'",
                     request_text(request, "order", ""));
    if (rc < 0)
        return rc;
    list = foi_filter_select(state, defs, &filter);
    for (size_t i = (size_t)offset; i < list->n && n < limit; i++)
        tree[n++] = list->tree ? list->tree[i] : state->table->scores->order[i];
    return answer_items(worker, state, tree, n, list->n, response);
}

/* What is asked of incidents. */
struct incident_request {
    struct foi_filter wanted;       /* what of it executions are asked for by, */
    struct rundb_set set;           /* who passes that, as marks of the state, */
    struct execution_filter filter; /* and all of it */
};

/* The same parameters as those of the candidates. */
static int read_incident_request(const struct worker *worker, const struct request *request,
                                 struct foi_state *state, struct incident_request *out)
{
    const struct definitions *defs = &worker->served->run.defs;
    double offset = 0, limit = 0, group = 0;
    int rc = foi_filter_read(request, defs, state->table->facts, false, &out->wanted);

    if (rc == 0)
        rc = request_number(request, "group", 0, UINT32_MAX, 0, &group);
    if (rc == 0)
        rc = request_number(request, "offset", 0, UINT32_MAX, 0, &offset);
    if (rc == 0)
        rc = request_number(request, "limit", 1, MAX_ITEMS, TYPICAL_ITEMS, &limit);
    if (rc < 0)
        return rc;
    out->set =
        (struct rundb_set){foi_filter_select(state, defs, &out->wanted)->marks, state->n};
    out->filter = (struct execution_filter){
        .foi_id = request->id[0],
        .rank = NO_RANK,
        .verdict = request_text(request, "verdict", NULL),
        .label = request_text(request, "label", NULL),
        .offset = (uint64_t)offset,
        .most = (uint64_t)limit,
        .group = (int64_t)group,
        .set = out->set.marks ? &out->set : NULL,
    };
    return 0;
}

/*
 * Incidents, one by one and by cause, as all threads that are asked for them have them: whoever
 * pages through them does not read and group them anew.
 */
struct kept_incidents {
    struct shared shared;
    struct foi_filter wanted;
    int64_t group, newest_label, newest_retrain, n_undone; /* the latter as in the table */
    struct incident_groups all;
};

struct making_incidents {
    const struct worker *worker;
    const struct execution_table *table;
    const struct incident_request *asked;
};

static void free_incidents(struct shared *value)
{
    struct kept_incidents *kept = (struct kept_incidents *)value;

    incident_groups_release(&kept->all);
    free(kept);
}

static bool are_asked_for(const struct kept_incidents *kept, const struct making_incidents *m)
{
    return kept->group == m->asked->filter.group &&
           kept->newest_label == m->table->newest_label &&
           kept->newest_retrain == m->table->newest_retrain &&
           kept->n_undone == m->table->n_undone &&
           foi_filter_is_same(&kept->wanted, &m->asked->wanted);
}

static int renew_incidents(struct shared *old, void *ctx, struct shared **out)
{
    const struct making_incidents *m = ctx;
    struct kept_incidents *kept;
    int rc;

    if (old && are_asked_for((const struct kept_incidents *)old, m)) {
        *out = old;
        return 0;
    }
    kept = mem_alloc(1, sizeof *kept);
    *kept = (struct kept_incidents){.shared = {1, free_incidents},
                                    .wanted = m->asked->wanted,
                                    .group = m->asked->filter.group,
                                    .newest_label = m->table->newest_label,
                                    .newest_retrain = m->table->newest_retrain,
                                    .n_undone = m->table->n_undone};
    rc = incident_groups_find(m->worker->db, &m->asked->filter, &kept->all);
    if (rc < 0)
        shared_drop(&kept->shared);
    else
        *out = &kept->shared;
    return rc;
}

/* What of them is answered: so many from an offset on, and how many there are. */
typedef int incidents_to_json_fn(sqlite3 *db, const struct incident_groups *all,
                                 uint64_t offset, uint64_t most, json_t **out);

static int answer_incidents(struct worker *worker, const struct request *request,
                            bool is_by_cause, struct response *response)
{
    incidents_to_json_fn *to_json =
        is_by_cause ? incident_groups_to_json : incident_groups_list_to_json;
    struct shared_cache *cache = &worker->served->incidents;
    struct incident_request asked;
    struct making_incidents making = {.worker = worker, .asked = &asked};
    struct shared *kept = NULL;
    struct foi_state *state;
    json_t *items;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = read_incident_request(worker, request, state, &asked);
    if (rc == 0) {
        making.table = state->table;
        rc = shared_cache_take(cache, state->foi, renew_incidents, &making, &kept);
    }
    if (rc == 0) {
        const struct incident_groups *all = &((const struct kept_incidents *)kept)->all;
        size_t n = is_by_cause ? all->n : all->n_rows;

        rc = to_json(worker->db, all, asked.filter.offset, asked.filter.most, &items);
        if (rc == 0)
            rc = response_json(response,
                               json_pack("{s:o, s:o}", "total", json_count(n), "items", items));
        shared_cache_give_back(cache, kept);
    }
    return rc;
}

int api_incidents(struct worker *worker, const struct request *request,
                  struct response *response)
{
    return answer_incidents(worker, request, false, response);
}

int api_causes(struct worker *worker, const struct request *request, struct response *response)
{
    return answer_incidents(worker, request, true, response);
}

/* All of them are anomalies; of label "none" are those without a labelled execution. */
static bool passes(const struct group *g, const struct execution_filter *filter)
{
    const char *label = filter->label;

    if (filter->verdict && strcmp(filter->verdict, "anomaly") != 0)
        return false;
    return label == NULL                    ? true
           : strcmp(label, "abnormal") == 0 ? g->n_abnormal > 0
           : strcmp(label, "normal") == 0   ? g->n_normal > 0
                                            : g->n_abnormal + g->n_normal == 0;
}

int api_groups(struct worker *worker, const struct request *request, struct response *response)
{
    struct incident_request asked;
    struct foi_state *state;
    struct groups groups = {0};
    json_t *items = json_array();
    bool has_several = executions_have_several(worker->db);
    uint64_t total = 0;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = read_incident_request(worker, request, state, &asked);
    if (rc == 0)
        rc = groups_find(worker->db, &asked.filter, &groups);
    for (size_t i = 0; rc == 0 && i < groups.n; i++) {
        if (!passes(&groups.group[i], &asked.filter))
            continue;
        if (total >= asked.filter.offset && total - asked.filter.offset < asked.filter.most)
            json_array_append_new(items, group_to_json(&groups.group[i], has_several));
        total++;
    }
    groups_release(&groups);
    if (rc == 0)
        return response_json(
            response, json_pack("{s:I, s:o}", "total", (json_int_t)total, "items", items));
    json_decref(items);
    return rc;
}

/* -------------------------------------------------------------------------------- next */

/* What a worker is asked for, and what the questions are made from. */
struct asking {
    struct worker *worker;
    struct foi_state *state;
    struct ranking *ranking;
    double *score; /* by what is learnt from the labels there are */
};

/* Each question beside its execution. */
static void add_questions(const struct asking *a, const struct question *question, size_t n,
                          json_t *items)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t n_moved;
        bool is_known = query_moved(&a->ranking->learner, a->state->table->label, a->score,
                                    &question[i], &n_moved);

        json_object_set_new(json_array_get(items, i), "question",
                            question_to_json(&question[i], a->ranking,
                                             &a->worker->served->run.defs,
                                             is_known ? &n_moved : NULL));
    }
}

/* The questions in order, with their executions. */
static int ask(struct asking *a, size_t most, json_t **items)
{
    const signed char *label = a->state->table->label;
    struct ranking *r = a->ranking;
    struct question question[MAX_QUESTIONS];
    bool *is_anomaly = mem_alloc(r->n, sizeof *is_anomaly);
    uint32_t tree[MAX_QUESTIONS] = {0};
    double threshold;
    size_t n = 0;
    int rc = learner_rank(&r->learner, label, a->score, is_anomaly, &threshold);

    if (rc == 0)
        n = query_next(&r->learner, label, a->score, most, question);
    for (size_t i = 0; i < n; i++)
        tree[i] = question[i].tree;
    if (rc == 0)
        rc = execution_items(a->worker, a->state, tree, n, items);
    if (rc == 0)
        add_questions(a, question, n, *items);
    free(is_anomaly);
    return rc;
}

static int answer_next(struct asking *a, size_t most, struct response *response)
{
    uint32_t total = 0;
    json_t *items;
    int rc;

    a->score = mem_alloc(a->ranking->n, sizeof *a->score);
    rc = ask(a, most < a->state->n ? most : a->state->n, &items);
    for (uint32_t t = 0; t < a->state->n; t++)
        total += a->state->table->label[t] == LABEL_NONE;
    free(a->score);
    return rc < 0 ? rc
                  : response_json(response, json_pack("{s:I, s:o}", "total", (json_int_t)total,
                                                      "items", items));
}

int api_next(struct worker *worker, const struct request *request, struct response *response)
{
    struct retrain_settings as = {.seed = 1};
    struct asking a = {.worker = worker};
    double most;
    int rc = request_number(request, "limit", 0, MAX_QUESTIONS, TYPICAL_QUESTIONS, &most);

    if (rc == 0)
        rc = request_number(request, "n", 0, MAX_QUESTIONS, most, &most);
    if (rc == 0)
        rc = worker_model(worker, request->id[0], &a.state);
    if (rc == 0)
        rc = retrain_next(worker->db, request->id[0], &as);
    if (rc == 0)
        rc = worker_ranking(worker, request->id[0], &as, &a.ranking);
    return rc < 0 ? rc : answer_next(&a, (size_t)most, response);
}

/* ------------------------------------------------------------------------------ one, all */

int api_execution(struct worker *worker, const struct request *request,
                  struct response *response)
{
    struct foi_state *state;
    struct execution_detail c;
    json_t *json = NULL;
    int rc = worker_model(worker, request->id[0], &state);

    execution_detail_init(&c, worker->db, &worker->served->run.columns,
                          &worker->served->run.defs);
    if (rc == 0)
        rc = execution_detail_find_tree(&c, request->id[0], request->id[1]);
    if (rc == 0)
        rc = execution_detail_locate(&c, &state->model);
    if (rc == 0)
        rc = execution_detail_to_json(&c, &json);
    if (rc == 0) {
        json_object_set_new(json, "tree", json_integer(c.x.tree));
        json_object_set_new(json, "location", json_count(c.x.location));
        json_object_set_new(json, "call", json_count(c.x.call));
        json_object_set_new(json, "exit_ns", json_count(c.x.enter_ns + c.x.duration_ns));
        response_json(response, json);
    }
    execution_detail_release(&c);
    return rc;
}

static void put_row(const struct execution *x, void *ctx)
{
    execution_to_csv(x, ctx);
}

int api_executions_csv(struct worker *worker, const struct request *request,
                       struct response *response)
{
    struct execution_filter filter = {.rank = NO_RANK, .is_in_order = true};
    double foi;
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    int rc = request_number(request, "foi", 0, REQUEST_MAX_NUMBER, -1, &foi);

    if (rc < 0)
        return rc;
    if (foi >= 0)
        filter.foi_id = (int64_t)foi;
    out = text_open(&text, &size);
    executions_csv_head(out);
    rc = executions_each(worker->db, &filter, put_row, out);
    fclose(out);
    if (rc < 0) {
        free(text);
        return rc;
    }
    response_bytes(response, "text/csv; charset=utf-8", text, size);
    response->download = "executions.csv";
    return 0;
}
