#include "cmd/selection.h"

int selection_open(struct run *run, const struct settings *settings)
{
    int rc = run_open(run, settings->args[0], false);

    return rc == 0 && settings->is_verified ? columns_verify(&run->columns) : rc;
}

struct execution_filter selection_filter(const struct settings *s)
{
    return (struct execution_filter){
        .foi = s->n_foi > 0 ? s->foi[0] : NULL,
        .verdict = s->verdict,
        .rank = s->rank,
        .most = s->is_all ? 0 : s->top,
    };
}
