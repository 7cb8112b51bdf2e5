#include "cmd/subtree_print.h"

#include "base/text.h"
#include "cmd/print.h"
#include "view/subtree_json.h"

#include <stdio.h>

#define MOST_PRINTED 10u

void subtree_print(const struct subtrees *s, double threshold, bool is_all)
{
    size_t n = subtree_count(s, threshold);
    char text[TEXT_SIZE], name[TOPSUBTREES_NAME_SIZE];
    struct table *t;

    print("\nsubtrees it has more or less of than the %u execution%s most like it%s\n",
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
        table_cell(t, "%s", subtree_name(s, top, name));
    }
    table_print(t, stdout);
    if (!is_all && n > MOST_PRINTED)
        print("and %zu more (--all)\n", n - MOST_PRINTED);
}
