/* The tree is built again from the columns: nothing else of the forest is needed. */
#include "view/execution_detail.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "explain/team_barrier.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "view/incident_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------ a chain of causes */

const struct region *cause_region_at(const struct trace_view *view,
                                     const struct cause_link *link, uint32_t depth)
{
    const struct call_view *calls = &view->calls[link->location];
    uint32_t row = calls_ancestor(calls, link->call, (uint16_t)depth);

    return &view->defs->region[calls->region[row]];
}

static json_t *path_to_json(const struct trace_view *view, const struct cause_link *link)
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    json_t *path = json_array();

    for (uint32_t d = 0; d <= depth; d++)
        json_array_append_new(path, json_text(cause_region_at(view, link, d)->name));
    return path;
}

static void waiting_to_json(json_t *json, const struct waiting *w)
{
    bool is_waiting = w->kind != WAITING_NOT;
    bool is_message = w->kind == WAITING_FOR_SENDER || w->kind == WAITING_FOR_RECEIVER;

    json_object_set_new(json, "waits_for",
                        is_waiting ? json_text(waiting_kind_name(w->kind)) : json_null());
    json_object_set_new(json, "peer", w->rank != NO_RANK ? json_count(w->rank) : json_null());
    if (w->thread > 0 || w->kind == WAITING_FOR_TEAM)
        json_object_set_new(json, "peer_thread", json_count(w->thread));
    json_object_set_new(json, "late", json_boolean(w->is_late));
    json_object_set_new(json, "guessed", json_boolean(w->is_guess));
    json_object_set_new(json, "delay_ns", json_count(w->delay_ns));
    json_object_set_new(json, "bytes", is_message ? json_count(w->bytes) : json_null());
    json_object_set_new(json, "tag", is_message ? json_count(w->tag) : json_null());
}

/* The array described in explain/cause.h. */
static json_t *cause_to_json(const struct trace_view *view, const struct cause *cause)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        const struct location *location = &view->defs->location[link->location];
        uint32_t region = view->calls[link->location].region[link->call];
        json_t *json = json_object();

        json_object_set_new(json, "rank", json_count(location->rank));
        json_object_set_new(json, "thread", json_count(location->thread));
        json_object_set_new(json, "call", json_count(link->call));
        json_object_set_new(json, "function", json_text(view->defs->region[region].name));
        json_object_set_new(json, "path", path_to_json(view, link));
        json_object_set_new(json, "begin_ns", json_count(link->begin_ns));
        json_object_set_new(json, "end_ns", json_count(link->end_ns));
        json_object_set_new(json, "time_ns", json_count(link->time_ns));
        json_object_set_new(json, "calls", json_count(link->n_calls));
        json_object_set_new(json, "explained_ns", json_count(link->explained_ns));
        waiting_to_json(json, &link->waiting);
        json_array_append_new(list, json);
    }
    return list;
}

/* ----------------------------------------------------------------------------- an execution */

#define MAX_PEERS 5
#define MAX_NAMES 65536u /* in all call paths of an execution together */

/* Calls of a location whose checksums cost no time to speak of. */
#define MAX_VERIFIED 4000000

void execution_detail_init(struct execution_detail *c, sqlite3 *db,
                           const struct columns *columns, const struct definitions *defs)
{
    *c = (struct execution_detail){.db = db, .columns = columns, .defs = defs};
}

void execution_detail_release(struct execution_detail *c)
{
    causes_release(&c->causes);
    why_release(&c->why);
    residual_place_release(&c->location);
    residual_release(&c->own);
    wl_release(&c->wl);
    forest_release(&c->forest);
    for (size_t i = 0; i < c->n_texts; i++)
        free(c->text[i]);
    *c = (struct execution_detail){0};
}

/* --------------------------------------------------------------------------- finding it */

static const char *keep_text(struct execution_detail *c, const char *text)
{
    return text ? c->text[c->n_texts++] = mem_copy_string(text) : NULL;
}

/* The first, where a damaged run has several of that name. */
static void keep(const struct execution *x, void *ctx)
{
    struct execution_detail *c = ctx;

    if (c->n_texts > 0)
        return;
    c->x = *x;
    c->x.foi = keep_text(c, x->foi);
    c->x.verdict = keep_text(c, x->verdict);
    c->x.why = keep_text(c, x->why);
    c->x.label = keep_text(c, x->label);
    c->x.part = keep_text(c, x->part);
    c->x.cause = keep_text(c, x->cause);
}

static int complain_missing(struct execution_detail *c, int64_t foi, uint32_t rank,
                            uint32_t thread, uint32_t index)
{
    char id[EXECUTION_ID_SIZE];
    int64_t n = 0;
    int rc = rundb_number(c->db, &n, run_sql_n_executions_of_thread, "iii", foi, (int64_t)rank,
                          (int64_t)thread);

    if (rc < 0)
        return rc;
    execution_id(id, NULL, rank, thread, index);
    if (n == 0)
        return err_set(ERR_NOT_FOUND, "no execution '%s': none on rank %u, thread %u", id, rank,
                       thread);
    return err_set(ERR_NOT_FOUND,
                   "no execution '%s': those of rank %u, thread %u are 0 to %lld", id, rank,
                   thread, (long long)n - 1);
}

int execution_detail_find(struct execution_detail *c, int64_t foi, uint32_t rank,
                          uint32_t thread, uint32_t index)
{
    int rc = executions_one(c->db, foi, rank, thread, index, keep, c);

    return rc == 0 && c->n_texts == 0 ? complain_missing(c, foi, rank, thread, index) : rc;
}

int execution_detail_find_tree(struct execution_detail *c, int64_t foi, int64_t tree)
{
    int rc = executions_tree(c->db, foi, tree, keep, c);

    if (rc == 0 && c->n_texts == 0)
        rc = err_set(ERR_NOT_FOUND, "no execution has the tree %lld", (long long)tree);
    return rc;
}

static int find_place(struct execution_detail *c)
{
    sqlite3_stmt *query;
    int rc = rundb_query(c->db, &query, run_sql_place, "ir", c->x.foi_id, c->x.score);

    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        c->n_executions = (uint64_t)sqlite3_column_int64(query, 0);
        c->place = (uint64_t)sqlite3_column_int64(query, 1);
    }
    sqlite3_finalize(query);
    return rc;
}

static struct residual_input input_of(const struct execution_detail *c)
{
    return (struct residual_input){.forest = &c->forest, .wl = &c->wl, .defs = c->defs};
}

/* Rebuilds the tree and finds it in the model of its forest. */
static int build(struct execution_detail *c, bool is_verified)
{
    struct residual_input input = input_of(c);
    struct call_view calls;
    int rc = 0;

    if (c->x.location >= c->columns->n_locations)
        return err_set(ERR_FORMAT, "damaged run: '%s' is on a location that is not there",
                       c->x.id);
    calls = columns_view(c->columns, c->x.location);
    if (c->x.call >= calls.n)
        return err_set(ERR_FORMAT, "damaged run: the call of '%s' is not there", c->x.id);
    if (is_verified && calls.n <= MAX_VERIFIED)
        rc = columns_verify_location(c->columns, c->x.location);
    if (rc == 0)
        rc = columns_check_tree(c->columns, c->x.location, c->x.call, c->defs);
    if (rc < 0)
        return rc;
    forest_of_call(&c->forest, c->x.location, &calls, c->x.call, c->defs);
    c->forest.index[0] = c->x.index; /* first executions have contexts of their own */
    wl_init(&c->wl, &c->forest, c->defs, false, NULL);
    residual_locate(c->model, &c->location, &input);
    why_init(&c->why, c->model, &c->location, &c->forest, c->defs);
    return 0;
}

int execution_detail_sketch(struct execution_detail *c, const struct execution *x,
                            const struct residual_model *model)
{
    c->x = *x;
    c->model = model;
    return build(c, false);
}

int execution_detail_locate(struct execution_detail *c, const struct residual_model *model)
{
    struct residual_input input = input_of(c);
    int rc = find_place(c);

    c->model = model ? model : &c->own;
    if (rc == 0 && model == NULL)
        rc = model_store_load(c->db, c->x.foi_id, c->defs->names.n, &c->own);
    if (rc == 0)
        rc = build(c, model == NULL);
    if (rc < 0)
        return rc;
    residual_measures(c->model, &c->location, &input, &c->measure);
    rc = columns_check(c->columns, c->x.location, c->defs);
    if (rc < 0)
        return rc;
    causes_init(&c->causes, c->columns, c->defs);
    c->has_cause = causes_of(&c->causes, c->model, &c->location, &c->forest, 0);
    return 0;
}

double execution_detail_typical_calls(const struct execution_detail *c, uint32_t path)
{
    if (path == PATH_NONE)
        return 0;
    return (double)c->model->path[path].n_calls / (double)c->model->n_trees;
}

int execution_detail_peers(const struct execution_detail *c, sqlite3_stmt **query)
{
    int rc = rundb_prepare(c->db, run_sql_peers, query);

    if (rc == 0)
        rc = rundb_bind(c->db, *query, "iiiii", c->x.foi_id, (int64_t)c->x.location,
                        (int64_t)c->x.enter_ns, (int64_t)c->x.duration_ns, (int64_t)MAX_PEERS);
    return rc;
}

/* ------------------------------------------------------------------------------- as JSON */

/* The names of a path, the outermost first; NULL if they are more than *n_left, which they
 * lessen. */
static json_t *json_path(const struct execution_detail *c, uint32_t path, size_t *n_left)
{
    const struct context *paths = &c->model->paths;
    json_t *names = json_array();
    size_t depth = 0, i;

    for (uint32_t p = path; p != PATH_NONE; p = paths->parent[p])
        depth++;
    if (depth > *n_left) {
        json_decref(names);
        return NULL;
    }
    for (i = 0; i < depth; i++)
        json_array_append_new(names, json_null());
    for (uint32_t p = path; p != PATH_NONE; p = paths->parent[p])
        json_array_set_new(names, --i, json_text(c->defs->region[paths->region[p]].name));
    *n_left -= depth;
    return names;
}

/* All paths of a deep recursion have as many names as its depth squared: those are said that
 * lost most, until there are MAX_NAMES of them. */
static json_t *json_paths(struct execution_detail *c, size_t *n_left_out)
{
    json_t *list = json_array();
    size_t n_names = MAX_NAMES;

    why_sort_pairs(&c->why, 0, (int64_t)c->x.lost_ns);
    *n_left_out = 0;
    for (size_t i = 0; i < c->why.pairs.n; i++) {
        const struct residual_pair *pair = &c->why.pairs.pair[i];
        json_t *names = json_path(c, pair->path, &n_names), *item;

        if (names == NULL) {
            ++*n_left_out;
            continue;
        }
        item = json_object();
        json_object_set_new(item, "path", names);
        json_object_set_new(item, "calls", json_count(pair->n_calls));
        json_object_set_new(item, "usual_calls",
                            json_number(execution_detail_typical_calls(c, pair->path)));
        json_object_set_new(item, "exclusive_ns", json_number(pair->observed_ns));
        json_object_set_new(item, "usual_ns", json_number(fmax(pair->typical_ns, 0)));
        json_object_set_new(item, "excess_ns", json_number(rint(pair->excess_ns)));
        json_object_set_new(item, "largest_residual", json_number(pair->z_call));
        json_array_append_new(list, item);
    }
    return list;
}

/* Null where what is called is the matter, and not its order. */
static json_t *json_order(const struct execution_detail *c)
{
    struct why_order order;
    json_t *object;

    if (!why_order(&c->why, c->measure.rarest, &order))
        return json_null();
    object = json_object();
    json_object_set_new(object, "early", json_text(c->defs->region[order.early].name));
    json_object_set_new(object, "late", json_text(c->defs->region[order.late].name));
    json_object_set_new(object, "calls", json_count(order.calls));
    json_object_set_new(object, "of", json_count(order.of));
    return object;
}

static json_t *json_structure(const struct execution_detail *c)
{
    struct why_child child[WHY_MAX_CHILDREN];
    size_t n = why_children(&c->why, c->measure.rarest, child);
    json_t *object = json_object(), *list = json_array();

    json_object_set_new(object, "function",
                        json_text(c->defs->region[c->forest.region[c->measure.rarest]].name));
    json_object_set_new(object, "rarity_nats", json_number(c->measure.structure));
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "function", json_text(c->defs->region[child[i].region].name));
        json_object_set_new(item, "calls", json_count(child[i].observed));
        json_object_set_new(item, "usual_least", json_count(child[i].least));
        json_object_set_new(item, "usual_most", json_count(child[i].most));
        json_array_append_new(list, item);
    }
    json_object_set_new(object, "differences", list);
    json_object_set_new(object, "order", json_order(c));
    return object;
}

void execution_detail_peer_id(const struct execution_detail *c, sqlite3_stmt *row,
                              bool has_several, char id[EXECUTION_ID_SIZE])
{
    execution_id(id, has_several ? c->x.foi : NULL, (uint32_t)sqlite3_column_int64(row, 0),
                 (uint32_t)sqlite3_column_int64(row, 1),
                 (uint32_t)sqlite3_column_int64(row, 2));
}

/* The ids of execution_detail_peers. */
static int json_peers(const struct execution_detail *c, json_t **out)
{
    sqlite3_stmt *query = NULL;
    bool has_several = executions_have_several(c->db);
    int rc = execution_detail_peers(c, &query);

    *out = json_array();
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE];

        execution_detail_peer_id(c, query, has_several, id);
        json_array_append_new(*out, json_text(id));
    }
    return rundb_close_query(c->db, query, rc, "cannot read the executions");
}

/* What the threads did in its teams. */
static json_t *json_teams(const struct team_use *use, size_t n, uint32_t n_forks,
                          const struct definitions *defs)
{
    json_t *threads = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "thread", json_count(defs->location[use[i].location].thread));
        json_object_set_new(item, "teams", json_count(use[i].n_teams));
        json_object_set_new(item, "member_ns", json_count(use[i].member_ns));
        json_object_set_new(item, "barrier_ns", json_count(use[i].barrier_ns));
        json_object_set_new(item, "last", json_count(use[i].n_last));
        json_array_append_new(threads, item);
    }
    return json_pack("{s:I, s:o}", "forks", (json_int_t)n_forks, "threads", threads);
}

int execution_detail_to_json(struct execution_detail *c, json_t **out)
{
    json_t *json = execution_to_json(&c->x), *peers, *incident = NULL;
    uint32_t n_forks;
    size_t n_threads, n_left_out;
    struct team_use *use =
        team_use_of(&c->causes.view, c->x.location, c->x.call, &n_forks, &n_threads);
    int rc = json_peers(c, &peers);

    if (rc == 0)
        rc = incident_of_to_json(c->db, c->x.foi_id, c->x.tree, &incident);
    json_object_set_new(json, "place", json_count(c->place));
    json_object_set_new(json, "of", json_count(c->n_executions));
    json_object_set_new(json, "usual_duration_ns", json_count(c->x.typical_ns));
    json_object_set_new(json, "usual_vertices", json_number(exp(c->model->log_size)));
    json_object_set_new(json, "paths", json_paths(c, &n_left_out));
    json_object_set_new(json, "paths_left_out", json_count(n_left_out));
    json_object_set_new(json, "structure", json_structure(c));
    json_object_set_new(json, "cause",
                        c->has_cause ? cause_to_json(&c->causes.view, &c->causes.cause)
                                     : json_array());
    json_object_set_new(json, "cause_end",
                        c->has_cause ? json_text(cause_end_name(c->causes.cause.end))
                                     : json_null());
    if (use)
        json_object_set_new(json, "teams", json_teams(use, n_threads, n_forks, c->defs));
    free(use);
    json_object_set_new(json, "peers", peers);
    json_object_set_new(json, "incident", incident);
    if (rc == 0)
        *out = json;
    else
        json_decref(json);
    return rc;
}
