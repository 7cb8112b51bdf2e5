/* The list is sorted: what is below the threshold is its end. */
#include "cmd/subtree_print.h"

#include "base/mem.h"
#include "base/text.h"
#include "cmd/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define USUAL_THRESHOLD log(2.0)
#define MOST_PRINTED 10u

static size_t count_above(const struct subtrees *s, double threshold)
{
    size_t n = 0;

    if (isnan(threshold))
        threshold = USUAL_THRESHOLD;
    while (n < s->tops.n && fabs(s->tops.top[n].importance) >= threshold)
        n++;
    return n;
}

static char *name_of(const struct subtrees *s, const struct topsubtree *top,
                     char out[TOPSUBTREES_NAME_SIZE])
{
    return topsubtrees_name(&s->work.forest, s->work.defs, top->vertex,
                            s->work.wl.vocab.degree[top->word], out);
}

void subtree_print(const struct subtrees *s, double threshold, bool is_all)
{
    size_t n = count_above(s, threshold);
    char text[TEXT_SIZE], name[TOPSUBTREES_NAME_SIZE];
    struct table *t;

    printf("\nsubtrees it has more or less of than the %u execution%s most like it%s\n",
           s->tops.n_neighbours, text_plural(s->tops.n_neighbours), n == 0 ? ": none" : ":");
    if (n == 0)
        return;
    t = table_new("rrrrrl", "importance", "calls", "usually", "took", "usually", "subtree");
    for (size_t i = 0; i < n && (is_all || i < MOST_PRINTED); i++) {
        const struct topsubtree *top = &s->tops.top[i];

        table_cell(t, "%+.2f", top->importance);
        table_cell(t, "%u", top->count);
        table_cell(t, "%.4g", top->usual_count);
        table_cell(t, "%s", text_duration((double)top->weight_ns, text));
        table_cell(t, "%s", text_duration(top->usual_ns, text));
        table_cell(t, "%s", name_of(s, top, name));
    }
    table_print(t, stdout);
    if (!is_all && n > MOST_PRINTED)
        printf("and %zu more (--all)\n", n - MOST_PRINTED);
}

/* Counted from the root: with the row of the root added they are rows of calls/. */
static json_t *vertices(const struct subtrees *s, uint32_t word)
{
    const struct forest *f = &s->work.forest;
    uint32_t n = f->first[s->tree + 1] - f->first[s->tree];
    bool *is_part = mem_alloc(n, sizeof *is_part);
    json_t *list = json_array();

    topsubtrees_mark(&s->tops, &s->input, word, s->tree, is_part);
    for (uint32_t i = 0; i < n; i++)
        if (is_part[i])
            json_array_append_new(list, json_count(i));
    free(is_part);
    return list;
}

json_t *subtree_to_json(const struct subtrees *s, double threshold)
{
    size_t n = count_above(s, threshold);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct topsubtree *top = &s->tops.top[i];
        char name[TOPSUBTREES_NAME_SIZE];
        json_t *item = json_object();
        uint32_t region = s->work.wl.vocab.region[top->word];

        json_object_set_new(item, "importance", json_real(top->importance));
        json_object_set_new(item, "subtree", json_text(name_of(s, top, name)));
        json_object_set_new(item, "function", json_text(s->work.defs->region[region].name));
        json_object_set_new(item, "degree", json_count(s->work.wl.vocab.degree[top->word]));
        json_object_set_new(item, "calls", json_count(top->count));
        json_object_set_new(item, "usual_calls", json_real(top->usual_count));
        json_object_set_new(item, "inclusive_ns", json_count(top->weight_ns));
        json_object_set_new(item, "usual_ns", json_real(top->usual_ns));
        json_object_set_new(item, "vertices_here", vertices(s, top->word));
        json_array_append_new(list, item);
    }
    return list;
}
