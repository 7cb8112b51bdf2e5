/* The list is sorted: what is below the threshold is its end. */
#include "view/subtree_json.h"

#include "base/mem.h"
#include "base/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define USUAL_THRESHOLD log(2.0)

size_t subtree_count(const struct subtrees *s, double threshold)
{
    size_t n = 0;

    if (isnan(threshold))
        threshold = USUAL_THRESHOLD;
    while (n < s->tops.n && fabs(s->tops.top[n].importance) >= threshold)
        n++;
    return n;
}

char *subtree_name(const struct subtrees *s, const struct topsubtree *top,
                   char out[TOPSUBTREES_NAME_SIZE])
{
    return topsubtrees_name(&s->work.forest, s->work.defs, top->vertex,
                            s->work.wl.vocab.degree[top->word], out);
}

/* Counted from the root: with the row of the root added they are rows of calls/. */
static json_t *vertices(const struct subtrees *s, uint32_t word)
{
    const struct forest *f = &s->work.forest;
    uint32_t first = f->first[s->tree], n = f->first[s->tree + 1] - first;
    bool *is_part = mem_alloc(n, sizeof *is_part);
    json_t *list = json_array();

    topsubtrees_mark(&s->tops, &s->input, word, s->tree, is_part);
    for (uint32_t i = 0; i < n; i++)
        if (is_part[i])
            json_array_append_new(
                list, json_count(forest_row(f, s->tree, first + i) - f->call[s->tree]));
    free(is_part);
    return list;
}

json_t *subtree_to_json(const struct subtrees *s, double threshold)
{
    size_t n = subtree_count(s, threshold);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct topsubtree *top = &s->tops.top[i];
        char name[TOPSUBTREES_NAME_SIZE];
        json_t *item = json_object();
        uint32_t region = s->work.wl.vocab.region[top->word];

        json_object_set_new(item, "importance", json_number(top->importance));
        json_object_set_new(item, "subtree", json_text(subtree_name(s, top, name)));
        json_object_set_new(item, "function", json_text(s->work.defs->region[region].name));
        json_object_set_new(item, "degree", json_count(s->work.wl.vocab.degree[top->word]));
        json_object_set_new(item, "calls", json_count(top->count));
        json_object_set_new(item, "usual_calls", json_number(top->usual_count));
        json_object_set_new(item, "inclusive_ns", json_count(top->weight_ns));
        json_object_set_new(item, "usual_ns", json_number(top->usual_ns));
        json_object_set_new(item, "vertices_here", vertices(s, top->word));
        json_array_append_new(list, item);
    }
    return list;
}
