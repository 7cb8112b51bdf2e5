/* A line, or an object, for each function. */
#include "cmd/tree_totals.h"
#include "cmd/print.h"

#include "base/text.h"
#include "base/json.h"

#include <stdio.h>

static const char *judge_of(const struct live_foi *foi)
{
    return foi->has_model ? TREE_BY_MODEL : TREE_BY_ROLLING;
}

static void print_foi(const struct live_foi *foi, const struct definitions *defs)
{
    const struct live_tree_totals *n = &foi->totals;
    char executions[TEXT_SIZE], calls[TEXT_SIZE], strange[TEXT_SIZE], other[TEXT_SIZE];

    print("%s: %s execution%s with %s call%s, %s strange by %s",
          defs->region[foi->region].short_name, text_count(n->n_executions, executions),
          text_plural(n->n_executions), text_count(n->n_calls, calls), text_plural(n->n_calls),
          text_count(n->n_anomalies, strange), foi->has_model ? "the model" : "the deviations");
    if (n->n_unjudged > 0)
        print("; %s not judged, as there were too few before",
              text_count(n->n_unjudged, other));
    if (n->n_cut > 0)
        print("; of %s only the first calls were kept", text_count(n->n_cut, other));
    print("%s\n", foi->is_given_up ? "; given up for a function that matches better" : "");
}

void tree_totals_print(const struct live_trees *trees, const struct definitions *defs)
{
    const struct live_foi *foi;
    uint32_t n = 0;

    if (trees == NULL)
        return;
    foi = live_trees_foi(trees, &n);
    for (uint32_t i = 0; i < n; i++)
        print_foi(&foi[i], defs);
}

json_t *tree_totals_json(const struct live_trees *trees, const struct definitions *defs)
{
    json_t *all = json_array();
    uint32_t n;
    const struct live_foi *foi = live_trees_foi(trees, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct live_tree_totals *totals = &foi[i].totals;
        json_t *one = json_object();

        json_object_set_new(one, "foi", json_text(defs->region[foi[i].region].short_name));
        json_object_set_new(one, "judged_by", json_text(judge_of(&foi[i])));
        json_object_set_new(one, "executions", json_count(totals->n_executions));
        json_object_set_new(one, "calls", json_count(totals->n_calls));
        json_object_set_new(one, "anomalies", json_count(totals->n_anomalies));
        json_object_set_new(one, "unjudged", json_count(totals->n_unjudged));
        json_object_set_new(one, "cut", json_count(totals->n_cut));
        json_object_set_new(one, "is_given_up", json_boolean(foi[i].is_given_up));
        json_array_append_new(all, one);
    }
    return all;
}
