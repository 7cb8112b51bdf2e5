/* The times of the nodes are exclusive: those of what is below add up to what is drawn. */
#include "cmd/report_changes.h"

#include "base/json.h"
#include "base/mem.h"
#include "view/compare_tree.h"
#include "view/html.h"
#include "view/trend_json.h"

#include <math.h>
#include <stdlib.h>

#define NARROWEST 0.002    /* of an execution: what takes less is not drawn */
#define MAX_DEPTH 14u      /* rows of the drawing */
#define MAX_NAME 200u      /* bytes */
#define TREND_BYTES 150000 /* what stands beside the points is left out beyond this */

/* ------------------------------------------------------------------------------------ tree */

/* Of each node of a tree. */
struct weights {
    json_int_t *inclusive[2]; /* before, after */
    uint32_t *depth, *parent, *n_below;
    bool *is_kept;
    uint32_t n;
};

static json_int_t time_of(const json_t *node, int side)
{
    return json_integer_value(json_array_get(json_object_get(node, "time_ns"), (size_t)side));
}

static void weigh(struct weights *w, const json_t *nodes, double narrowest)
{
    w->n = (uint32_t)json_array_size(nodes);
    w->depth = mem_alloc(w->n + 1, sizeof *w->depth);
    w->parent = mem_alloc(w->n + 1, sizeof *w->parent);
    w->n_below = mem_alloc(w->n + 1, sizeof *w->n_below);
    w->is_kept = mem_alloc(w->n + 1, sizeof *w->is_kept);
    for (int side = 0; side < 2; side++)
        w->inclusive[side] = mem_alloc(w->n + 1, sizeof *w->inclusive[side]);
    for (uint32_t i = 0; i < w->n; i++) {
        const json_t *node = json_array_get(nodes, i);

        w->parent[i] = (uint32_t)json_integer_value(json_object_get(node, "parent"));
        w->depth[i] = i > 0 ? w->depth[w->parent[i]] + 1 : 0;
        for (int side = 0; side < 2; side++)
            w->inclusive[side][i] = time_of(node, side);
    }
    for (uint32_t i = w->n; i-- > 1;) {
        w->n_below[w->parent[i]] += w->n_below[i] + 1;
        for (int side = 0; side < 2; side++)
            w->inclusive[side][w->parent[i]] += w->inclusive[side][i];
    }
    for (uint32_t i = 0; i < w->n; i++) {
        bool is_wide = false;

        for (int side = 0; side < 2; side++)
            is_wide |=
                (double)w->inclusive[side][i] >= narrowest * (double)w->inclusive[side][0] &&
                w->inclusive[side][i] > 0;
        w->is_kept[i] =
            i == 0 || (w->is_kept[w->parent[i]] && w->depth[i] < MAX_DEPTH && is_wide);
    }
}

static void weights_release(struct weights *w)
{
    free(w->inclusive[0]);
    free(w->inclusive[1]);
    free(w->depth);
    free(w->parent);
    free(w->n_below);
    free(w->is_kept);
}

/* What is left out of the paths that one calls, together. */
struct rest {
    json_int_t ns[2];
    uint32_t n;
};

static json_t *rest_node(const struct rest *rest, uint32_t parent)
{
    return json_pack("{s:o, s:o, s:s, s:[I, I], s:[i, i], s:[i, i], s:b, s:n}", "name",
                     json_sprintf("%u more call path%s", rest->n, rest->n == 1 ? "" : "s"),
                     "parent", json_count(parent), "verdict", "unsure", "time_ns", rest->ns[0],
                     rest->ns[1], "calls", 0, 0, "executions", 0, 0, "is_waiting", 0, "from");
}

static void cut_text(json_t *node, const char *field)
{
    const char *text = json_string_value(json_object_get(node, field));
    char part[MAX_NAME + 1];

    if (text == NULL)
        return;
    snprintf(part, html_whole(text, MAX_NAME) + 1, "%s", text);
    json_object_set_new(node, field, json_text(part));
}

void report_tree_prune(json_t *tree, double narrowest)
{
    json_t *nodes = json_object_get(tree, "nodes"), *kept = json_array();
    struct weights w;
    struct rest *rest;
    uint32_t *at, n = 0;

    weigh(&w, nodes, narrowest);
    rest = mem_alloc(w.n + 1, sizeof *rest);
    at = mem_alloc(w.n + 1, sizeof *at);
    for (uint32_t i = 0; i < w.n; i++) {
        json_t *node = json_array_get(nodes, i);

        if (w.is_kept[i]) {
            at[i] = n++;
            if (i > 0)
                json_object_set_new(node, "parent", json_count(at[w.parent[i]]));
            json_object_del(node, "path");
            cut_text(node, "name");
            cut_text(node, "from");
            json_array_append(kept, node);
        } else if (w.is_kept[w.parent[i]]) {
            rest[w.parent[i]].n += w.n_below[i] + 1;
            for (int side = 0; side < 2; side++)
                rest[w.parent[i]].ns[side] += w.inclusive[side][i];
        }
    }
    for (uint32_t i = 0; i < w.n; i++)
        if (rest[i].n > 0)
            json_array_append_new(kept, rest_node(&rest[i], at[i]));
    json_object_set_new(tree, "nodes", kept);
    json_object_set_new(tree, "kinds", json_array());
    free(at);
    free(rest);
    weights_release(&w);
}

void report_add_tree(struct answers *answers, const struct comparison *c, bool *is_in)
{
    double narrowest = NARROWEST;
    json_t *tree = compare_tree_to_json(c);

    report_tree_prune(tree, narrowest);
    while (narrowest < 1 && json_dumpb(tree, NULL, 0, JSON_COMPACT) > REPORT_TREE_BYTES) {
        json_decref(tree);
        tree = compare_tree_to_json(c);
        narrowest *= 4;
        report_tree_prune(tree, narrowest);
    }
    answers_add(answers, REPORT_TREE_ADDRESS, tree, is_in);
}

/* ----------------------------------------------------------------------------------- trend */

static double largest_change(const struct trend_series *s)
{
    double largest = 0;

    for (uint32_t i = 0; i < s->n_changes; i++)
        largest = fmax(largest, fabs(s->change[i].after - s->change[i].before));
    return largest;
}

/* The whole, then those that changed most. */
static uint32_t choose_series(const struct trend *t, const char *path, uint32_t *series)
{
    uint32_t n = 1;

    series[0] = 0;
    for (uint32_t i = 1; i < t->n_series; i++) {
        uint32_t at = n;

        if (t->series[i].n_changes == 0 || !trend_is_on(t, i, path))
            continue;
        while (at > 1 &&
               largest_change(&t->series[series[at - 1]]) < largest_change(&t->series[i])) {
            if (at < REPORT_MAX_SERIES)
                series[at] = series[at - 1];
            at--;
        }
        if (at < REPORT_MAX_SERIES)
            series[at] = i;
        n += n < REPORT_MAX_SERIES;
    }
    return n;
}

/* Of a run what its point needs; its names only where they are not too long. */
static void trim_runs(json_t *runs, bool has_names)
{
    static const char *const unused[] = {"added_s",   "foi",     "ranks", "executions",
                                         "anomalies", "time_ns", "p99_ns"};
    json_t *run;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        for (size_t f = 0; f < sizeof unused / sizeof *unused; f++)
            json_object_del(run, unused[f]);
        if (!has_names) {
            json_object_set_new(run, "run", json_string(""));
            json_object_set_new(run, "tags", json_object());
        }
    }
}

uint32_t report_add_trend(struct answers *answers, const struct trend *t, const char *path,
                          uint32_t *series)
{
    struct trend_series chosen[REPORT_MAX_SERIES];
    struct trend some = *t;
    json_t *json;
    bool is_in;

    some.n_series = choose_series(t, path, series);
    some.series = chosen;
    for (uint32_t i = 0; i < some.n_series; i++)
        chosen[i] = t->series[series[i]];
    json = trend_to_json(&some, NULL, 0);
    trim_runs(json_object_get(json, "runs"), true);
    if (json_dumpb(json, NULL, 0, JSON_COMPACT) > TREND_BYTES)
        trim_runs(json_object_get(json, "runs"), false);
    answers_add(answers, REPORT_TREND_ADDRESS, json, &is_in);
    return is_in ? some.n_series : 0;
}
