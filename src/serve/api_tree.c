/*
 * Executions as trees: one of them, and the typical one, in which repeated calls of a path are
 * one node; and executions by call path: which of them have it, how often, and how long they
 * were there.
 *
 * Paths are numbered callers first, in order of first appearance. Linking each after the last
 * of its siblings and walking with a stack makes preorder of it.
 */
#include "serve/api_tree.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "features/context.h"
#include "serve/api.h"
#include "serve/served.h"
#include "view/results_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void call_paths_release(struct call_paths *paths)
{
    free(paths->node);
    *paths = (struct call_paths){0};
}

/* Puts nodes that are numbered callers first into preorder; siblings keep their order. */
static void order(struct call_paths *paths)
{
    uint32_t n = paths->n, n_waiting = 0, n_done = 0;
    uint32_t *below = mem_alloc(n, sizeof *below), *beside = mem_alloc(n, sizeof *beside);
    uint32_t *waiting = mem_alloc((size_t)n + 1, sizeof *waiting);
    uint32_t *number = mem_alloc(n, sizeof *number);
    struct call_path *ordered = mem_alloc(n, sizeof *ordered);

    memset(below, 0xff, n * sizeof *below);
    for (uint32_t p = n; p-- > 0;) {
        uint32_t caller = paths->node[p].parent;

        beside[p] = PATH_NONE;
        if (caller != PATH_NONE) {
            beside[p] = below[caller];
            below[caller] = p;
        } else {
            waiting[n_waiting++] = p; /* roots: the first ends up on top */
        }
    }
    while (n_waiting > 0) {
        uint32_t p = waiting[--n_waiting], caller = paths->node[p].parent;

        number[p] = n_done;
        ordered[n_done] = paths->node[p];
        ordered[n_done].depth = 0;
        if (caller != PATH_NONE) {
            ordered[n_done].parent = number[caller];
            ordered[n_done].depth = ordered[number[caller]].depth + 1;
        }
        n_done++;
        if (beside[p] != PATH_NONE)
            waiting[n_waiting++] = beside[p];
        if (below[p] != PATH_NONE)
            waiting[n_waiting++] = below[p];
    }
    free(below);
    free(beside);
    free(waiting);
    free(number);
    free(paths->node);
    paths->node = ordered;
}

/* ------------------------------------------------------------------------ an execution */

static void add_call(struct call_path *node, const struct execution_detail *c, uint32_t v,
                     const uint64_t *inclusive, uint64_t *longest)
{
    uint32_t path = c->location.path[v];
    double typical = NAN, exclusive = (double)c->forest.exclusive_ns[v], rarity;

    if (residual_is_typical(c->model, path))
        typical = residual_typical(c->model, &c->location, &c->forest, 0, v);
    rarity = residual_rarity(c->model, &c->location, &c->forest, 0, v);
    node->region = c->forest.region[v];
    node->typical_calls = execution_detail_typical_calls(c, path);
    node->exclusive_ns += exclusive;
    node->inclusive_ns += (double)inclusive[v];
    node->typical_ns =
        node->n_calls == 0 ? fmax(typical, 0) : node->typical_ns + fmax(typical, 0);
    node->excess_ns += isnan(typical) ? exclusive : exclusive - fmax(typical, 0);
    node->rarity = fmax(node->rarity, rarity);
    if (isnan(typical))
        node->typical_ns = NAN;
    if (node->n_calls++ == 0 || inclusive[v] > *longest) {
        *longest = inclusive[v];
        node->call = c->x.call + v;
    }
}

void call_paths_of(struct call_paths *paths, const struct execution_detail *c)
{
    uint32_t n = c->forest.n;
    struct context own = {0}; /* also of what the model does not know */
    uint32_t *path = mem_alloc(n, sizeof *path);
    uint64_t *inclusive = mem_alloc(n, sizeof *inclusive), *longest;

    context_number(&own, &c->forest, true, path);
    forest_inclusive(&c->forest, 0, inclusive);
    *paths = (struct call_paths){own.n, mem_alloc(own.n, sizeof *paths->node)};
    longest = mem_alloc(own.n, sizeof *longest);
    for (uint32_t p = 0; p < own.n; p++)
        paths->node[p].parent = own.parent[p];
    for (uint32_t v = 0; v < n; v++)
        add_call(&paths->node[path[v]], c, v, inclusive, &longest[path[v]]);
    order(paths);
    context_release(&own);
    free(longest);
    free(inclusive);
    free(path);
}

/* ------------------------------------------------------------- the typical execution */

/* Of a call of a path, as context_of of residual.c has it. */
static double typical_own(const struct residual_model *model, uint32_t path, uint32_t site)
{
    uint32_t at =
        site == LOCAL_NONE ? LOCAL_NONE : local_typical_find(&model->local, site, path);
    double factor = at == LOCAL_NONE ? 1 : model->local.factor[at];

    return fmax(model->path[path].typical * factor - model->offset_ns, 0);
}

static void call_paths_typical(struct call_paths *paths, const struct residual_model *model,
                               uint32_t site)
{
    uint32_t *node = mem_alloc(model->paths.n, sizeof *node);

    *paths = (struct call_paths){0, mem_alloc(model->paths.n, sizeof *paths->node)};
    for (uint32_t p = 0; p < model->paths.n; p++) {
        const struct residual_context *typical = &model->path[p];
        uint32_t caller = model->paths.parent[p];
        double calls = (double)typical->n_calls / (double)model->n_trees;
        double own = typical_own(model, p, site) * calls;

        node[p] = PATH_NONE;
        if (2 * (uint64_t)typical->n_trees < model->n_trees ||
            (caller != PATH_NONE && node[caller] == PATH_NONE))
            continue;
        node[p] = paths->n;
        paths->node[paths->n++] =
            (struct call_path){.parent = caller == PATH_NONE ? PATH_NONE : node[caller],
                               .region = model->paths.region[p],
                               .n_calls = calls,
                               .typical_calls = calls,
                               .inclusive_ns = own,
                               .exclusive_ns = own,
                               .typical_ns = own,
                               .call = NO_CALL};
    }
    for (uint32_t k = paths->n; k-- > 0;)
        if (paths->node[k].parent != PATH_NONE)
            paths->node[paths->node[k].parent].inclusive_ns += paths->node[k].inclusive_ns;
    order(paths);
    free(node);
}

/* ----------------------------------------------------------------------------- as JSON */

/*
 * The nodes as in the API.
 *   location  of the execution, or NO_LOCATION
 */
static json_t *call_paths_to_json(const struct call_paths *paths, uint32_t location)
{
    json_t *nodes = json_array();

    for (uint32_t p = 0; p < paths->n; p++) {
        const struct call_path *x = &paths->node[p];

        json_array_append_new(
            nodes,
            json_pack("{s:I, s:I, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:o, s:o}", "parent",
                      x->parent == PATH_NONE ? (json_int_t)-1 : (json_int_t)x->parent, "region",
                      (json_int_t)x->region, "calls", x->n_calls, "inclusive_ns",
                      x->inclusive_ns, "exclusive_ns", x->exclusive_ns, "usual_ns",
                      json_number(x->typical_ns), "usual_calls", x->typical_calls, "excess_ns",
                      x->excess_ns, "rarity", x->rarity, "call",
                      x->call == NO_CALL ? json_null() : json_integer(x->call), "location",
                      location == NO_LOCATION ? json_null() : json_integer(location)));
    }
    return json_pack("{s:o}", "nodes", nodes);
}

/* Two decimals are enough for a picture of the size of a thumb. */
static double rounded(double share)
{
    return isfinite(share) ? round(100 * fmin(fmax(share, 0), 1)) / 100 : 0;
}

json_t *call_paths_sketch(const struct call_paths *paths, uint32_t most)
{
    double *time = mem_alloc(paths->n, sizeof *time), all, least;
    uint32_t n_left = most;
    json_t *sketch = json_array();

    for (uint32_t p = 0; p < paths->n; p++)
        time[p] = paths->node[p].inclusive_ns;
    qsort(time, paths->n, sizeof *time, order_f64_down);
    all = paths->n > 0 && time[0] > 0 ? time[0] : 1;
    least = paths->n > most ? time[most - 1] : 0;
    for (uint32_t p = 0; p < paths->n && n_left > 0; p++) {
        const struct call_path *x = &paths->node[p];

        if (x->inclusive_ns < least)
            continue;
        n_left--;
        json_array_append_new(sketch,
                              json_pack("[I, f, I, f]", (json_int_t)x->depth,
                                        rounded(x->inclusive_ns / all), (json_int_t)x->region,
                                        rounded(x->excess_ns / all)));
    }
    free(time);
    return sketch;
}

/* ---------------------------------------------------------------------------- one execution */

int api_tree(struct worker *worker, const struct request *request, struct response *response)
{
    struct foi_state *state;
    struct execution_detail c;
    struct call_paths paths;
    int rc = worker_model(worker, request->id[0], &state);

    execution_detail_init(&c, worker->db, &worker->served->run.columns,
                          &worker->served->run.defs);
    if (rc == 0)
        rc = execution_detail_find_tree(&c, request->id[0], request->id[1]);
    if (rc == 0)
        rc = execution_detail_locate(&c, &state->model);
    if (rc == 0) {
        call_paths_of(&paths, &c);
        response_json(response, call_paths_to_json(&paths, c.x.location));
        call_paths_release(&paths);
    }
    execution_detail_release(&c);
    return rc;
}

int api_typical(struct worker *worker, const struct request *request, struct response *response)
{
    const struct definitions *defs = &worker->served->run.defs;
    struct foi_state *state;
    struct call_paths paths;
    uint32_t site = LOCAL_NONE;
    double location = 0;
    int rc = worker_model(worker, request->id[0], &state);

    if (rc == 0)
        rc = request_number(request, "location", 0, defs->n_locations - 1.0, 0, &location);
    if (rc < 0)
        return rc;
    if (request_text(request, "location", NULL))
        site =
            local_typical_site_at(&state->model.local, forest_place(defs, (uint32_t)location));
    call_paths_typical(&paths, &state->model, site);
    response_json(response, call_paths_to_json(&paths, NO_LOCATION));
    call_paths_release(&paths);
    return 0;
}

/* The nodes whose own time is typically another one at a site than everywhere: [node, ns] each.
 */
static json_t *own_times_there(const struct call_paths *everywhere,
                               const struct residual_model *model, uint32_t site)
{
    struct call_paths there;
    json_t *own = json_array();

    call_paths_typical(&there, model, site);
    for (uint32_t k = 0; k < there.n; k++)
        if (there.node[k].exclusive_ns != everywhere->node[k].exclusive_ns)
            json_array_append_new(
                own, json_pack("[I, f]", (json_int_t)k, there.node[k].exclusive_ns));
    call_paths_release(&there);
    return own;
}

int api_typical_there(struct worker *worker, const struct request *request,
                      struct response *response)
{
    const struct served *served = worker->served;
    struct window window = {0};
    struct foi_state *state;
    struct call_paths everywhere = {0};
    json_t *items = json_array();
    int rc = worker_model(worker, request->id[0], &state);

    if (rc == 0)
        rc = window_read(&window, served, request);
    if (rc == 0)
        call_paths_typical(&everywhere, &state->model, LOCAL_NONE);
    for (uint32_t k = 0; rc == 0 && k < window.n_locations; k++) {
        uint32_t l = window.location[k];
        uint32_t site =
            local_typical_site_at(&state->model.local, forest_place(&served->run.defs, l));

        if (site != LOCAL_NONE)
            json_array_append_new(items,
                                  json_pack("{s:I, s:o}", "location", (json_int_t)l, "own_ns",
                                            own_times_there(&everywhere, &state->model, site)));
    }
    call_paths_release(&everywhere);
    window_release(&window);
    if (rc == 0)
        return response_json(response, json_pack("{s:o}", "items", items));
    json_decref(items);
    return rc;
}

int api_subtrees(struct worker *worker, const struct request *request,
                 struct response *response)
{
    struct served *served = worker->served;
    struct execution_detail c;
    struct subtrees *subtrees;
    double threshold;
    int rc = request_real(request, "threshold", 0, REQUEST_MAX_NUMBER, NAN, &threshold);

    execution_detail_init(&c, worker->db, &served->run.columns, &served->run.defs);
    if (rc == 0)
        rc = execution_detail_find_tree(&c, request->id[0], request->id[1]);
    if (rc == 0)
        rc = worker_subtrees(worker, request->id[0], &subtrees);
    if (rc == 0)
        rc = subtrees_choose(subtrees, c.x.location, c.x.index);
    if (rc == 0)
        response_json(response,
                      json_pack("{s:o}", "subtrees", subtree_to_json(subtrees, threshold)));
    execution_detail_release(&c);
    return rc;
}

/* -------------------------------------------------------------- executions that have a path */

#define BETWEEN " > "

/* What executions have on the path. */
struct on_path {
    uint32_t *tree, *calls; /* [n] */
    double *time_ns;        /* exclusive */
    uint32_t n;
};

static void release_on_path(struct on_path *on)
{
    free(on->tree);
    free(on->calls);
    free(on->time_ns);
    free(on);
}

/* The path says "a > b > c", by short names: it is read from its end. */
static bool is_path(const struct context *c, const struct definitions *defs, uint32_t path,
                    const char *said)
{
    size_t left = strlen(said);
    bool is_so = true;

    for (uint32_t p = path; is_so && p != PATH_NONE; p = c->parent[p]) {
        const char *name = defs->region[c->region[p]].short_name;
        size_t n = strlen(name);

        is_so = n <= left && memcmp(said + left - n, name, n) == 0;
        left -= is_so ? n : 0;
        if (is_so && c->parent[p] != PATH_NONE) {
            n = sizeof BETWEEN - 1;
            is_so = n <= left && memcmp(said + left - n, BETWEEN, n) == 0;
            left -= is_so ? n : 0;
        }
    }
    return is_so && left == 0;
}

static void add_tree(struct on_path *on, const struct forest *f, uint32_t tree,
                     const uint32_t *path, const bool *is_on)
{
    uint32_t n_calls = 0;
    uint64_t time_ns = 0;

    for (uint32_t v = f->first[tree]; v < f->first[tree + 1]; v++)
        if (is_on[path[v]]) {
            n_calls++;
            time_ns += f->exclusive_ns[v];
        }
    if (n_calls == 0)
        return;
    on->tree[on->n] = tree;
    on->calls[on->n] = n_calls;
    on->time_ns[on->n++] = (double)time_ns;
}

static struct on_path *find_on_path(const struct scoring *s, const struct definitions *defs,
                                    const char *said)
{
    const struct forest *f = &s->forest;
    struct on_path *on = mem_alloc(1, sizeof *on);
    struct context paths = {0};
    uint32_t *path = mem_alloc(f->n, sizeof *path);
    bool *is_on;

    context_number(&paths, f, true, path);
    is_on = mem_alloc(paths.n, sizeof *is_on);
    for (uint32_t p = 0; p < paths.n; p++)
        is_on[p] = is_path(&paths, defs, p, said);
    on->tree = mem_alloc(f->n_trees, sizeof *on->tree);
    on->calls = mem_alloc(f->n_trees, sizeof *on->calls);
    on->time_ns = mem_alloc(f->n_trees, sizeof *on->time_ns);
    for (uint32_t t = 0; t < f->n_trees; t++)
        add_tree(on, f, t, path, is_on);
    context_release(&paths);
    free(is_on);
    free(path);
    return on;
}

static void answer(const struct scoring *s, const struct definitions *defs, const char *said,
                   struct response *response)
{
    struct on_path *on = find_on_path(s, defs, said);
    struct bundle bundle = {.n_columns = 0};

    bundle_add(&bundle, "tree", BUNDLE_U32, on->tree, on->n);
    bundle_add(&bundle, "calls", BUNDLE_U32, on->calls, on->n);
    bundle_add(&bundle, "time_ns", BUNDLE_F64, on->time_ns, on->n);
    response_bundle(response, &bundle);
    release_on_path(on);
}

int api_path(struct worker *worker, const struct request *request, struct response *response)
{
    const struct run *run = &worker->served->run;
    const char *said = request_text(request, "path", NULL);
    struct scoring s = {0};
    uint32_t region;
    int rc;

    if (said == NULL)
        return err_set(ERR_USAGE, "'path' is missing, such as 'step > solve'");
    rc = run_scoring_region(worker->db, &run->defs, request->id[0], &region);
    if (rc == 0)
        rc = run_scoring_collect(&s, &run->columns, &run->defs, region);
    if (rc == 0)
        answer(&s, &run->defs, said, response);
    scoring_release(&s);
    return rc;
}
