/* Executions as trees: one of them, and the typical one. */
#include "view/subtree_json.h"
#include "serve/api.h"
#include "serve/call_paths.h"

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
    call_paths_typical(&paths, &state->model);
    response_json(response, call_paths_to_json(&paths, NO_LOCATION));
    call_paths_release(&paths);
    return 0;
}

int api_subtrees(struct worker *worker, const struct request *request,
                 struct response *response)
{
    struct served *served = worker->served;
    struct closeup c;
    struct subtrees *subtrees;
    double threshold;
    int rc = request_real(request, "threshold", 0, REQUEST_LARGEST, NAN, &threshold);

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
