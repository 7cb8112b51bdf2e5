/* Executions as trees: one of them, and the typical one. */
#include "view/subtree_json.h"
#include "serve/api.h"
#include "serve/call_paths.h"
#include "serve/window.h"

#include <math.h>

int api_tree(struct worker *worker, const struct request *request, struct response *response)
{
    struct foi_state *state;
    struct closeup c;
    struct call_paths paths;
    int rc = worker_model(worker, request->id[0], &state);

    closeup_init(&c, worker->db, &worker->served->run.columns, &worker->served->run.defs);
    if (rc == 0)
        rc = closeup_find_tree(&c, request->id[0], request->id[1]);
    if (rc == 0)
        rc = closeup_locate(&c, &state->model);
    if (rc == 0) {
        call_paths_of(&paths, &c);
        response_json(response, call_paths_to_json(&paths, c.x.location));
        call_paths_release(&paths);
    }
    closeup_release(&c);
    return rc;
}

int api_typical(struct worker *worker, const struct request *request, struct response *response)
{
    struct foi_state *state;
    struct call_paths paths;
    int rc = worker_model(worker, request->id[0], &state);

    if (rc < 0)
        return rc;
    call_paths_typical(&paths, &state->model, LOCAL_NONE);
    response_json(response, call_paths_to_json(&paths, NO_LOCATION));
    call_paths_release(&paths);
    return 0;
}

/* The nodes whose own time is usually another one at a site than everywhere: [node, ns] each.
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
            local_usual_site_at(&state->model.local, forest_place(&served->run.defs, l));

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
    struct closeup c;
    struct subtrees *subtrees;
    double threshold;
    int rc = request_real(request, "threshold", 0, REQUEST_MAX_NUMBER, NAN, &threshold);

    closeup_init(&c, worker->db, &served->run.columns, &served->run.defs);
    if (rc == 0)
        rc = closeup_find_tree(&c, request->id[0], request->id[1]);
    if (rc == 0)
        rc = worker_subtrees(worker, request->id[0], &subtrees);
    if (rc == 0)
        rc = subtrees_choose(subtrees, c.x.location, c.x.index);
    if (rc == 0)
        response_json(response,
                      json_pack("{s:o}", "subtrees", subtree_to_json(subtrees, threshold)));
    closeup_release(&c);
    return rc;
}
