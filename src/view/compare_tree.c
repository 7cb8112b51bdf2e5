#include "view/compare_tree.h"

#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static json_t *times(double before, double after)
{
    return json_pack("[I, I]", (json_int_t)llrint(before), (json_int_t)llrint(after));
}

static json_t *path_text(const struct comparison *c, uint32_t path)
{
    char name[COMPARE_NAME_SIZE];

    return path == COMPARE_NONE ? json_null() : json_text(compare_path_name(c, path, name));
}

static json_t *short_name(const struct comparison *c, uint32_t path)
{
    return json_text(c->shown.shown[c->paths.region[path]]);
}

/* What is not listed among the paths has no calls: it is there for those below it. */
static void add_change(const struct comparison *c, const struct compare_path *x, json_t *node)
{
    static const struct compare_path none = {.from = COMPARE_NONE, .kind = COMPARE_NONE};
    const struct compare_path *of = x ? x : &none;

    json_object_set_new(node, "verdict", json_text(compare_verdict_name(of->own.verdict)));
    json_object_set_new(node, "time_ns", times(of->own.ns[0], of->own.ns[1]));
    json_object_set_new(node, "calls", json_pack("[f, f]", of->calls[0], of->calls[1]));
    json_object_set_new(node, "executions", json_pack("[f, f]", of->share[0], of->share[1]));
    json_object_set_new(node, "is_waiting", json_boolean(of->is_waiting));
    json_object_set_new(node, "from", path_text(c, of->from));
}

static json_t *nodes(const struct comparison *c)
{
    const struct compare_path **of = mem_alloc(c->paths.n, sizeof *of);
    json_t *json = json_array();

    for (uint32_t i = 0; i < c->n_paths; i++)
        of[c->path[i].path] = &c->path[i];
    for (uint32_t p = 0; p < c->paths.n; p++) {
        uint32_t parent = c->paths.parent[p];
        json_t *node = json_object();

        json_object_set_new(node, "name", short_name(c, p));
        json_object_set_new(node, "path", path_text(c, p));
        json_object_set_new(node, "parent",
                            parent == PATH_NONE ? json_null() : json_count(parent));
        add_change(c, of[p], node);
        json_array_append_new(json, node);
    }
    free(of);
    return json;
}

static json_t *kind_times(const struct comparison *c, int side, uint32_t kind)
{
    const double *ns = &c->kind_ns[side][(size_t)kind * c->paths.n];
    json_t *json = json_array();

    for (uint32_t p = 0; p < c->paths.n; p++)
        json_array_append_new(json, json_integer((json_int_t)llrint(ns[p])));
    return json;
}

static json_t *kinds(const struct comparison *c)
{
    json_t *json = json_array();
    char name[COMPARE_NAME_SIZE];

    for (uint32_t k = 0; k < c->n_kinds; k++) {
        const double *share = c->kind[k].share;

        json_array_append_new(json, json_pack("{s:o, s:[f, f], s:[o, o]}", "kind",
                                              json_text(compare_kind_name(c, k, name)),
                                              "executions", share[0], share[1], "time_ns",
                                              kind_times(c, 0, k), kind_times(c, 1, k)));
    }
    return json;
}

json_t *compare_tree_to_json(const struct comparison *c)
{
    json_t *json = json_object();

    json_object_set_new(json, "foi", path_text(c, 0));
    json_object_set_new(json, "nodes", nodes(c));
    json_object_set_new(json, "kinds", kinds(c));
    return json;
}
