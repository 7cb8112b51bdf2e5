/* Runs against each other: as snag compare has it, and as a tree for a picture. */
#include "base/json.h"
#include "serve/api.h"
#include "view/compare_json.h"
#include "view/compare_tree.h"

int api_comparison(struct worker *worker, const struct request *request,
                   struct response *response)
{
    (void)request;
    return response_json(response, compare_to_json(worker->served->comparison->comparison, 0));
}

int api_comparison_tree(struct worker *worker, const struct request *request,
                        struct response *response)
{
    (void)request;
    return response_json(response,
                         compare_tree_to_json(worker->served->comparison->comparison));
}

/* "runs/0/", where its page and its API are. */
static json_t *page_of(const struct served_side *side)
{
    return side->page < 0 ? json_null() : json_sprintf("runs/%d/", side->page);
}

static json_t *side_json(const struct served_side *side)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "side", side->is_after ? "after" : "before",
                     "run", json_text(side->path), "number",
                     side->number > 0 ? json_integer(side->number) : json_null(), "foi",
                     side->foi > 0 ? json_integer(side->foi) : json_null(), "page",
                     page_of(side));
}

int api_comparison_runs(struct worker *worker, const struct request *request,
                        struct response *response)
{
    const struct served_comparison *c = worker->served->comparison;
    json_t *runs = json_array(), *renames = json_array();

    (void)request;
    for (uint32_t i = 0; i < c->n; i++)
        json_array_append_new(runs, side_json(&c->side[i]));
    for (uint32_t i = 0; i < c->n_renames; i++)
        json_array_append_new(renames, json_pack("[o, o]", json_text(c->rename[i].from),
                                                 json_text(c->rename[i].to)));
    return response_json(response, json_pack("{s:o, s:o}", "runs", runs, "renames", renames));
}
