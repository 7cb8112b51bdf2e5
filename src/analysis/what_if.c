#include "analysis/what_if.h"

#include "analysis/run_view.h"

#include <math.h>

int what_if_init(struct what_if *w, const struct columns *columns,
                 const struct definitions *defs)
{
    int rc = 0;

    *w = (struct what_if){0};
    run_view_init(&w->view, columns, defs);
    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++)
        rc = columns_check(columns, l, defs);
    if (rc == 0)
        rc = syncs_init(&w->syncs, &w->view);
    if (rc == 0)
        replay_init(&w->replay, &w->syncs);
    return rc;
}

void what_if_release(struct what_if *w)
{
    replay_release(&w->replay);
    syncs_release(&w->syncs);
    trace_view_release(&w->view);
}

/* The gaps of the tracer's calls lie before some vertices: rows follow vertices but for these.
 */
int64_t what_if_cut(struct what_if *w, const struct forest *forest, uint32_t t,
                    const double *excess_ns)
{
    uint32_t first = forest->first[t], n = forest->first[t + 1] - first, n_gap_rows = 0;
    const struct forest_gap *gap;
    size_t n_gaps = forest_gaps(forest, t, &gap), next = 0;
    int64_t cut = 0;

    for (uint32_t i = 0; i < n; i++) {
        while (next < n_gaps && gap[next].vertex <= first + i)
            n_gap_rows += gap[next++].n_rows;
        if (fabs(excess_ns[i]) >= 1)
            cut += replay_cut(&w->replay, forest->location[t], forest->call[t] + i + n_gap_rows,
                              llrint(excess_ns[i]));
    }
    return cut;
}
