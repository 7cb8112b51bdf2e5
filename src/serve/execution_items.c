/* A sketch is the dear part, and never changes, so it is kept. */
#include "serve/execution_items.h"

#include "run/rundb.h"
#include "view/closeup.h"
#include "base/json.h"
#include "serve/call_paths.h"

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
    struct closeup c;
    struct call_paths paths;
    int rc;

    closeup_init(&c, worker->db, &worker->served->run.columns, &worker->served->run.defs);
    rc = closeup_sketch(&c, x, &items->state->model);
    if (rc == 0) {
        call_paths_of(&paths, &c);
        *out = call_paths_sketch(&paths, MAX_NODES);
        call_paths_release(&paths);
    }
    closeup_release(&c);
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

int execution_items(struct worker *worker, struct foi_state *state, const uint32_t *tree,
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
