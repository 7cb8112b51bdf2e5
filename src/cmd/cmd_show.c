/*
 * snag show -- one execution: what it took and usually takes on every call path, drawn as a
 * tree; what is strange about it; what went on elsewhere at the same time.
 */
#include "analysis/causes.h"
#include "analysis/model_store.h"
#include "analysis/subtrees.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/cause_print.h"
#include "cmd/commands.h"
#include "cmd/executions.h"
#include "cmd/path_tree.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "cmd/subtree_print.h"
#include "explain/why.h"
#include "features/wl.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTEXTS 10 /* in the list of what is strange */
#define MOST_PEERS 5
#define RARE_NATS 2.3 /* a combination of calls that one in ten has is not worth a table */

/* Calls of a location whose checksums cost no time to speak of. */
#define MOST_VERIFIED 4000000

struct show {
    const struct settings *settings;
    struct run run;
    struct definitions defs;
    struct execution x; /* foi, verdict, why and label are copies */
    char *foi, *verdict, *why_text, *label;
    uint64_t place, n_executions; /* it is the place-th by score */

    struct forest forest; /* of this one tree */
    struct wl wl;
    struct residual_model model;
    struct residual_place location;
    struct residual_measure measure;
    struct why why;
    struct causes causes;
    bool has_cause;
    struct pool *pool;
    struct subtrees subtrees; /* with --subtrees */
};

/* --------------------------------------------------------------------------- finding it */

static void keep(const struct execution *x, void *ctx)
{
    struct show *s = ctx;

    s->x = *x;
    s->foi = strdup(x->foi);
    s->verdict = strdup(x->verdict);
    s->why_text = strdup(x->why);
    s->x.foi = s->foi;
    s->x.verdict = s->verdict;
    s->x.why = s->why_text;
    s->label = x->label ? strdup(x->label) : NULL;
    s->x.label = s->label;
}

static int complain_missing(struct show *s, int64_t foi, const char *id, uint32_t rank,
                            uint32_t thread)
{
    sqlite3_stmt *query;
    int64_t n = 0;
    int rc = rundb_prepare(
        s->run.db, "SELECT count(*) FROM execution WHERE foi = ? AND rank = ? AND thread = ?",
        &query);

    if (rc == 0)
        rc = rundb_bind(s->run.db, query, "iii", foi, (int64_t)rank, (int64_t)thread);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    if (rc < 0)
        return rc;
    if (n == 0)
        return err_set(ERR_NOT_FOUND, "no execution '%s': none on rank %u, thread %u", id, rank,
                       thread);
    return err_set(ERR_NOT_FOUND,
                   "no execution '%s': those of rank %u, thread %u are 0 to %lld", id, rank,
                   thread, (long long)n - 1);
}

static int find_execution(struct show *s, const char *id)
{
    char foi_name[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;
    int64_t foi = 0;
    int rc = execution_parse(id, foi_name, sizeof foi_name, &rank, &thread, &index);

    if (rc == 0)
        rc = executions_foi(s->run.db,
                            *foi_name                ? foi_name
                            : s->settings->n_foi > 0 ? s->settings->foi[0]
                                                     : NULL,
                            &foi);
    if (rc == 0)
        rc = executions_one(s->run.db, foi, rank, thread, index, keep, s);
    if (rc == 0 && s->foi == NULL)
        rc = complain_missing(s, foi, id, rank, thread);
    return rc;
}

static int find_place(struct show *s)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(s->run.db,
                           "SELECT count(*), sum(score > ?2) + 1 FROM execution WHERE foi = ?1",
                           &query);

    if (rc == 0)
        rc = rundb_bind(s->run.db, query, "ir", s->x.foi_id, s->x.score);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        s->n_executions = (uint64_t)sqlite3_column_int64(query, 0);
        s->place = (uint64_t)sqlite3_column_int64(query, 1);
    }
    sqlite3_finalize(query);
    return rc;
}

/* Rebuilds the tree and finds it in the model of its forest. */
static int locate(struct show *s)
{
    struct call_view calls;
    int rc = find_place(s);

    if (rc == 0)
        rc = model_store_load(s->run.db, s->x.foi_id, s->defs.names.n, &s->model);
    if (rc < 0)
        return rc;
    if (s->x.location >= s->run.columns.n_locations ||
        s->defs.n_locations != s->run.columns.n_locations)
        return err_set(ERR_FORMAT, "damaged run: '%s' is on a location that is not there",
                       s->x.id);
    calls = columns_view(&s->run.columns, s->x.location);
    if (s->x.call >= calls.n)
        return err_set(ERR_FORMAT, "damaged run: the call of '%s' is not there", s->x.id);
    if (calls.n <= MOST_VERIFIED)
        rc = columns_verify_location(&s->run.columns, s->x.location);
    if (rc == 0)
        rc = columns_check_tree(&s->run.columns, s->x.location, s->x.call, s->defs.names.n);
    if (rc < 0)
        return rc;
    forest_of_call(&s->forest, s->x.location, &calls, s->x.call);
    s->forest.index[0] = s->x.index; /* first executions have contexts of their own */
    wl_init(&s->wl, &s->forest, &s->defs, false);
    residual_locate(&s->model, &s->location, &s->forest, &s->wl.vocab, s->wl.complete,
                    &s->defs);
    residual_measures(&s->model, &s->location, &s->forest, &s->measure);
    why_init(&s->why, &s->model, &s->location, &s->forest, &s->defs);
    causes_init(&s->causes, &s->run.columns, &s->defs);
    s->has_cause = causes_of(&s->causes, &s->model, &s->location, &s->forest, 0);
    return 0;
}

static int find_subtrees(struct show *s)
{
    const struct settings *settings = s->settings;
    int rc;

    if (!settings->has_subtrees)
        return 0;
    s->pool = pool_new(settings->threads);
    rc = subtrees_load(&s->subtrees, s->run.db, &s->run.columns, &s->defs, s->x.foi_id,
                       s->x.location, s->x.index, s->pool);
    if (rc == 0 && s->subtrees.work.is_embedding_new && !settings->is_quiet)
        fputs("snag: the run has no embedding; one was trained, and is not kept\n", stderr);
    return rc;
}

/* ------------------------------------------------------------------------------- as text */

static void print_head(const struct show *s)
{
    char duration[TEXT_SIZE], usual[TEXT_SIZE], vertices[TEXT_SIZE], messages[TEXT_SIZE];
    char enter[TEXT_SIZE], place[TEXT_SIZE], all[TEXT_SIZE];

    printf("%s  %s: %s%s%s, score %.2f, %s of %s\n", s->x.id, s->x.foi, s->x.verdict,
           s->x.label ? ", labelled " : "", s->x.label ? s->x.label : "", s->x.score,
           text_count(s->place, place), text_count(s->n_executions, all));
    printf("%s\n\n", s->x.why);
    printf("rank %u thread %u, entered at %s: %s (usually %s), %s calls, %s messages\n",
           s->x.rank, s->x.thread, text_duration((double)s->x.enter_ns, enter),
           text_duration((double)s->x.duration_ns, duration),
           text_duration(s->model.root_ns, usual), text_count(s->x.n_vertices, vertices),
           text_count(s->x.n_messages, messages));
}

static double usual_calls(const struct show *s, uint32_t path)
{
    if (path == PATH_NONE)
        return 0;
    return (double)s->model.path[path].n_calls / (double)s->model.n_trees;
}

static void print_time(struct show *s)
{
    size_t n = why_sort_pairs(&s->why, 0);
    struct table *t;
    char text[TEXT_SIZE], name[WHY_NAME_SIZE];

    if (n == 0)
        return;
    printf("\nwhere the time went, against calls of the same path and subtree:\n");
    t = table_new("rrrrrl", "excess", "took", "usually", "calls", "usually", "call path");
    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        const struct residual_pair *pair = &s->why.pairs.pair[i];

        table_cell(t, "+%s", text_duration(pair->lost_ns, text));
        table_cell(t, "%s", text_duration(pair->observed_ns, text));
        table_cell(t, "%s",
                   why_is_usual(&s->why, pair->path)
                       ? text_duration(fmax(pair->typical_ns, 0), text)
                       : "none");
        table_cell(t, "%u", pair->n_calls);
        table_cell(t, "%.4g", usual_calls(s, pair->path));
        table_cell(t, "%s", why_path_name(&s->why, pair->path, name));
    }
    table_print(t, stdout);
}

static void print_structure(const struct show *s)
{
    struct why_child child[WHY_MOST_CHILDREN];
    size_t n = why_children(&s->why, s->measure.rarest, child);
    const char *name = s->defs.region[s->forest.region[s->measure.rarest]].short_name;
    char share[TEXT_SIZE];
    struct table *t;

    if (n == 0 || s->measure.structure < RARE_NATS)
        return;
    printf("\nwhat %s calls directly, where that differs (1 in %s of its calls is so rare):\n",
           name, text_count((uint64_t)llrint(exp(fmin(s->measure.structure, 40))), share));
    t = table_new("rrl", "calls", "usually", "function");
    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        table_cell(t, "%u", child[i].observed);
        if (child[i].least == child[i].most)
            table_cell(t, "%u", child[i].most);
        else
            table_cell(t, "%u to %u", child[i].least, child[i].most);
        table_cell(t, "%s", s->defs.region[child[i].region].short_name);
    }
    table_print(t, stdout);
}

/* Other locations' executions that overlap it in time and are anomalies, strangest first. */
static const char peers_sql[] =
    "SELECT p.rank, p.thread, p.idx, p.score, p.enter_ns - ?3, p.duration_ns, p.why "
    "FROM execution p WHERE p.foi = ?1 AND p.location <> ?2 AND p.verdict = 'anomaly' "
    "AND p.enter_ns < ?3 + ?4 AND p.enter_ns + p.duration_ns > ?3 "
    "ORDER BY p.score DESC, p.time DESC, p.tree LIMIT ?5";

static int prepare_peers(const struct show *s, sqlite3_stmt **query)
{
    int rc = rundb_prepare(s->run.db, peers_sql, query);

    if (rc == 0)
        rc = rundb_bind(s->run.db, *query, "iiiii", s->x.foi_id, (int64_t)s->x.location,
                        (int64_t)s->x.enter_ns, (int64_t)s->x.duration_ns, (int64_t)MOST_PEERS);
    return rc;
}

static int print_peers(const struct show *s)
{
    sqlite3_stmt *query = NULL;
    struct table *t = NULL;
    int rc = prepare_peers(s, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE], text[TEXT_SIZE];

        if (t == NULL) {
            printf("\nanomalies on other ranks at the same time:\n");
            t = table_new("lrrrl", "execution", "score", "entered", "duration", "why");
        }
        execution_id(id, NULL, (uint32_t)sqlite3_column_int64(query, 0),
                     (uint32_t)sqlite3_column_int64(query, 1),
                     (uint32_t)sqlite3_column_int64(query, 2));
        table_cell(t, "%s", id);
        table_cell(t, "%.2f", sqlite3_column_double(query, 3));
        table_cell(t, "%s%s", sqlite3_column_int64(query, 4) >= 0 ? "+" : "",
                   text_duration((double)sqlite3_column_int64(query, 4), text));
        table_cell(t, "%s", text_duration((double)sqlite3_column_int64(query, 5), text));
        table_cell(t, "%s", rundb_text(query, 6));
    }
    sqlite3_finalize(query);
    if (t)
        table_print(t, stdout);
    return rc;
}

static int print_as_text(struct show *s)
{
    print_head(s);
    print_time(s);
    print_structure(s);
    if (s->has_cause && cause_has_news(&s->causes.cause))
        cause_print(&s->causes.view, &s->causes.cause);
    if (s->settings->has_subtrees)
        subtree_print(&s->subtrees, s->settings->threshold, s->settings->is_all);
    path_tree_print(&s->why, s->settings->depth, s->settings->is_all);
    return print_peers(s);
}

/* ------------------------------------------------------------------------------- as JSON */

static json_t *json_paths(struct show *s)
{
    json_t *list = json_array();

    why_sort_pairs(&s->why, 0);
    for (size_t i = 0; i < s->why.pairs.n; i++) {
        const struct residual_pair *pair = &s->why.pairs.pair[i];
        json_t *item = json_object(), *names = json_array();

        for (uint32_t p = pair->path; p != PATH_NONE; p = s->model.paths.parent[p])
            json_array_insert_new(names, 0,
                                  json_text(s->defs.region[s->model.paths.region[p]].name));
        json_object_set_new(item, "path", names);
        json_object_set_new(item, "calls", json_count(pair->n_calls));
        json_object_set_new(item, "usual_calls", json_real(usual_calls(s, pair->path)));
        json_object_set_new(item, "exclusive_ns", json_real(pair->observed_ns));
        json_object_set_new(item, "usual_ns", json_real(fmax(pair->typical_ns, 0)));
        json_object_set_new(item, "excess_ns", json_real(pair->lost_ns));
        json_object_set_new(item, "sure_excess_ns", json_real(pair->sure_ns));
        json_object_set_new(item, "largest_residual", json_real(pair->z_call));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_structure(const struct show *s)
{
    struct why_child child[WHY_MOST_CHILDREN];
    size_t n = why_children(&s->why, s->measure.rarest, child);
    json_t *object = json_object(), *list = json_array();

    json_object_set_new(object, "function",
                        json_text(s->defs.region[s->forest.region[s->measure.rarest]].name));
    json_object_set_new(object, "rarity_nats", json_real(s->measure.structure));
    for (size_t i = 0; i < n; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "function", json_text(s->defs.region[child[i].region].name));
        json_object_set_new(item, "calls", json_count(child[i].observed));
        json_object_set_new(item, "usual_least", json_count(child[i].least));
        json_object_set_new(item, "usual_most", json_count(child[i].most));
        json_array_append_new(list, item);
    }
    json_object_set_new(object, "differences", list);
    return object;
}

static int print_as_json(struct show *s)
{
    json_t *json = execution_to_json(&s->x), *peers = json_array();
    sqlite3_stmt *query = NULL;
    int rc = prepare_peers(s, &query);

    json_object_set_new(json, "place", json_count(s->place));
    json_object_set_new(json, "of", json_count(s->n_executions));
    json_object_set_new(json, "usual_duration_ns", json_real(s->model.root_ns));
    json_object_set_new(json, "usual_vertices", json_real(exp(s->model.log_size)));
    json_object_set_new(json, "paths", json_paths(s));
    json_object_set_new(json, "structure", json_structure(s));
    json_object_set_new(json, "cause",
                        s->has_cause ? cause_to_json(&s->causes.view, &s->causes.cause)
                                     : json_array());
    json_object_set_new(json, "cause_end",
                        s->has_cause ? json_text(cause_end_name(s->causes.cause.end))
                                     : json_null());
    if (s->settings->has_subtrees)
        json_object_set_new(json, "subtrees",
                            subtree_to_json(&s->subtrees, s->settings->threshold));
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE];

        execution_id(id, NULL, (uint32_t)sqlite3_column_int64(query, 0),
                     (uint32_t)sqlite3_column_int64(query, 1),
                     (uint32_t)sqlite3_column_int64(query, 2));
        json_array_append_new(peers, json_text(id));
    }
    sqlite3_finalize(query);
    json_object_set_new(json, "peers", peers);
    print_json(json, true);
    return rc;
}

static void show_release(struct show *s)
{
    subtrees_release(&s->subtrees);
    pool_free(s->pool);
    causes_release(&s->causes);
    why_release(&s->why);
    residual_place_release(&s->location);
    residual_release(&s->model);
    wl_release(&s->wl);
    forest_release(&s->forest);
    definitions_release(&s->defs);
    free(s->foi);
    free(s->verdict);
    free(s->why_text);
    free(s->label);
    run_close(&s->run);
}

int cmd_show(const struct settings *settings)
{
    struct show s = {.settings = settings};
    int rc = executions_open(&s.run, settings);

    if (rc == 0)
        rc = run_summary_definitions(s.run.db, &s.defs);
    if (rc == 0)
        rc = find_execution(&s, settings->args[1]);
    if (rc == 0)
        rc = locate(&s);
    if (rc == 0)
        rc = find_subtrees(&s);
    if (rc == 0)
        rc = settings->is_json ? print_as_json(&s) : print_as_text(&s);
    show_release(&s);
    return rc < 0 ? rc : STATUS_DONE;
}
