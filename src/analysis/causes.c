#include "analysis/causes.h"

#include "base/mem.h"
#include "replay/run_view.h"

#include <stdlib.h>

void causes_init(struct causes *causes, const struct columns *columns,
                 const struct definitions *defs)
{
    *causes = (struct causes){0};
    run_view_init(&causes->view, columns, defs);
}

void causes_release(struct causes *causes)
{
    trace_view_release(&causes->view);
    stretch_release(&causes->stretch);
    free(causes->lost_ns);
    *causes = (struct causes){0};
}

bool causes_of(struct causes *causes, const struct residual_model *model,
               const struct residual_place *place, const struct forest *forest, uint32_t t)
{
    uint32_t first = forest->first[t], end = forest->first[t + 1], row;
    uint32_t n = causes->view.calls[forest->location[t]].subtree_len[forest->call[t]];

    mem_grow(&causes->lost_ns, &causes->lost_cap, n, sizeof *causes->lost_ns);
    for (uint32_t i = 0; i < n; i++)
        causes->lost_ns[i] = 0; /* the tracer's calls have lost nothing */
    for (uint32_t v = first; v < end; v++)
        causes->lost_ns[forest_row(forest, t, v) - forest->call[t]] =
            (double)forest->exclusive_ns[v] - residual_common(model, place, forest, t, v);
    row = cause_first(&causes->view, forest->location[t], forest->call[t], causes->lost_ns);
    if (row == NO_CALL)
        return false;
    cause_of(&causes->view, forest->location[t], row, &causes->stretch, &causes->cause);
    return true;
}
