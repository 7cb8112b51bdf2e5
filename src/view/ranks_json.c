#include "view/ranks_json.h"

#include "base/json.h"
#include "ranks/peer_few.h"

#include <math.h>
#include <stdlib.h>

static json_t *path_json(const struct why *why, const struct peer_path *x)
{
    char name[WHY_NAME_SIZE];
    json_t *json = json_object();

    json_object_set_new(json, "path", json_text(why_path_name(why, x->path, name)));
    json_object_set_new(json, "stage",
                        x->stage == NO_STAGE ? json_null() : json_count(x->stage));
    json_object_set_new(json, "kind", json_text(x->is_more ? "more to do" : "slower"));
    json_object_set_new(json, "factor",
                        isinf(x->factor) ? json_null() : json_number(x->factor));
    json_object_set_new(json, "kernel",
                        x->kernel_factor > 0
                            ? json_text(why->defs->region[x->kernel].short_name)
                            : json_null());
    json_object_set_new(json, "kernel_factor",
                        x->kernel_factor > 0 ? json_number(x->kernel_factor) : json_null());
    json_object_set_new(json, "excess_ns", json_count((uint64_t)llrint(x->excess_ns)));
    json_set_off(json, x->off_ns);
    json_object_set_new(json, "share", json_number(x->share));
    json_object_set_new(json, "since_ns", json_count(x->since_ns));
    json_object_set_new(json, "is_sure", json_boolean(x->is_sure));
    return json;
}

static json_t *place_json(const struct why *why, const struct peers *peers, uint32_t place)
{
    const struct peer_place *p = &peers->place[place];
    json_t *json = json_object(), *paths = json_array();
    char name[PEER_NAME_SIZE];

    for (uint32_t i = 0; i < p->n_paths; i++)
        json_array_append_new(paths, path_json(why, &p->path[i]));
    json_object_set_new(json, "place", json_text(peer_place_name(peers, place, name)));
    json_object_set_new(json, "program", json_count(p->program));
    json_object_set_new(json, "rank", json_count(p->rank));
    json_object_set_new(json, "thread", json_count(p->thread));
    json_object_set_new(json, "stage",
                        p->stage == NO_STAGE ? json_null() : json_count(p->stage));
    json_object_set_new(json, "node", p->node[0] ? json_text(p->node) : json_null());
    json_object_set_new(json, "verdict", json_text(peer_verdict_name(p->verdict)));
    json_object_set_new(json, "executions", json_count(p->n_executions));
    json_object_set_new(json, "own_ns", json_count((uint64_t)llrint(p->own_ns)));
    json_object_set_new(json, "wait_ns", json_count((uint64_t)llrint(p->wait_ns)));
    json_object_set_new(json, "slowdown", json_number(peer_slowdown(p)));
    json_object_set_new(json, "cost_ns",
                        p->has_cost ? json_count((uint64_t)p->cost_ns) : json_null());
    if (p->cost_off_ns > 0)
        json_object_set_new(json, "cost_off_ns", json_count((uint64_t)p->cost_off_ns));
    json_object_set_new(json, "paths", paths);
    json_object_set_new(json, "waits_for",
                        p->waits_for == PEERS_NONE
                            ? json_null()
                            : json_text(peer_place_name(peers, p->waits_for, name)));
    return json;
}

static json_t *operations_json(const struct scoring *scoring, const struct peers *peers)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < peers->n_operations; i++) {
        const struct peer_operation *x = &peers->operation[i];
        json_t *operation = json_object();

        json_object_set_new(operation, "name",
                            json_text(scoring->defs->region[x->region].name));
        json_object_set_new(operation, "slowdown", json_number(x->slowdown));
        json_object_set_new(operation, "time_ns", json_count((uint64_t)llrint(x->sum_ns)));
        json_array_append_new(json, operation);
    }
    return json;
}

static json_t *history_json(const struct scoring *scoring, const struct peers *peers,
                            uint32_t width)
{
    struct peer_history history;
    json_t *json = json_object(), *factor = json_array();

    peers_history(scoring, peers, width, &history);
    for (size_t i = 0; i < (size_t)peers->n * width; i++)
        json_array_append_new(factor, json_number(rint(1e4 * history.factor[i]) / 1e4));
    json_object_set_new(json, "begin_ns", json_count(history.begin_ns));
    json_object_set_new(json, "bin_ns", json_count(history.bin_ns));
    json_object_set_new(json, "width", json_count(width));
    json_object_set_new(json, "factor", factor);
    free(history.factor);
    return json;
}

static json_t *teams_json(const struct definitions *defs, const struct peer_teams *teams)
{
    json_t *json = json_object(), *slow = json_array();
    char name[PEER_NAME_SIZE];

    for (uint32_t i = 0; i < teams->n; i++) {
        const struct peer_thread *x = &teams->thread[i];
        json_t *thread = json_object();
        char *text = peer_teams_text(defs, x);

        json_object_set_new(thread, "place", json_text(peer_teams_place(defs, x, name)));
        json_object_set_new(thread, "rank", json_count(defs->location[x->location].rank));
        json_object_set_new(thread, "thread", json_count(defs->location[x->location].thread));
        json_object_set_new(thread, "verdict",
                            json_text(peer_verdict_name(peer_teams_verdict(x))));
        json_object_set_new(thread, "region", json_text(defs->region[x->region].short_name));
        json_object_set_new(thread, "inside", json_text(defs->region[x->inside].short_name));
        json_object_set_new(thread, "factor", json_number(x->factor));
        json_object_set_new(thread, "excess_ns", json_count((uint64_t)llrint(x->excess_ns)));
        json_object_set_new(thread, "share", json_number(x->share));
        json_object_set_new(thread, "teams", json_count(x->n_teams));
        json_object_set_new(thread, "why", json_text(text));
        free(text);
        json_object_set_new(thread, "cost_ns",
                            x->has_cost ? json_count((uint64_t)x->cost_ns) : json_null());
        json_array_append_new(slow, thread);
    }
    json_object_set_new(json, "compared", json_count(teams->n_teams));
    json_object_set_new(json, "threads", json_count(teams->n_threads));
    json_object_set_new(json, "slow", slow);
    return json;
}

json_t *ranks_to_json(const struct scoring *scoring, const struct why *why,
                      const struct peers *peers, uint32_t width)
{
    json_t *json = json_object(), *places = json_array();
    uint32_t foi = scoring->forest.region[0];

    for (uint32_t i = 0; i < peers->n; i++)
        json_array_append_new(places, place_json(why, peers, i));
    json_object_set_new(json, "foi", json_text(scoring->defs->region[foi].name));
    json_object_set_new(json, "slowdown",
                        isnan(peers->slowdown) ? json_null() : json_number(peers->slowdown));
    json_object_set_new(json, "by", json_text(peer_by_name(peers->opts.by)));
    json_object_set_new(json, "compared", json_count(peers->n_compared));
    json_object_set_new(json, "places", places);
    json_object_set_new(json, "operations", operations_json(scoring, peers));
    if (peers->teams.n_teams > 0)
        json_object_set_new(json, "teams", teams_json(scoring->defs, &peers->teams));
    if (width > 0)
        json_object_set_new(json, "history", history_json(scoring, peers, width));
    return json;
}
