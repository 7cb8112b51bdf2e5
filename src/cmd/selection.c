#include "cmd/selection.h"

#include "base/err.h"

/* A rank that the trace does not have is a mistake, not one without executions. */
static int check_rank(const struct run *run, uint32_t rank)
{
    const struct definitions *defs = &run->defs;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (defs->location[l].rank == rank)
            return 0;
    return err_set(ERR_NOT_FOUND, "no rank %u: the run has the ranks 0 to %u", rank,
                   defs->n_ranks - 1);
}

int selection_open(struct run *run, const struct settings *settings)
{
    int rc = run_open(run, settings->args[0], false);

    if (rc == 0 && settings->rank != NO_RANK)
        rc = check_rank(run, settings->rank);
    return rc == 0 && settings->is_verified ? columns_verify(&run->columns) : rc;
}

struct execution_filter selection_filter(const struct settings *s)
{
    return (struct execution_filter){
        .foi = s->foi.n > 0 ? s->foi.text[0] : NULL,
        .verdict = s->verdict,
        .rank = s->rank,
        .label = s->label,
        .most = s->is_all ? 0 : s->top,
    };
}
