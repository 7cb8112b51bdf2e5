/* The table, and what all methods have to check. */
#include "project/project.h"

#include "base/err.h"
#include "project/mds.h"
#include "project/pca.h"
#include "project/tsne.h"

#include <math.h>
#include <string.h>

#define MAX_ROWS 10000000

static const struct project_method methods[] = {
    {"tsne", "t-SNE: who is near to whom", "KL divergence", tsne_run},
    {"pca", "the two directions in which they differ most", "variance not shown", pca_run},
    {"mds", "distances as true as can be on a plane", "stress", mds_run},
};

const struct project_method *project_find(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

const char *project_name(size_t i)
{
    return i < sizeof methods / sizeof *methods ? methods[i].name : NULL;
}

static int check(struct matrix x)
{
    if (x.rows == 0 || x.rows > MAX_ROWS)
        return err_set(ERR_RANGE, "cannot project %zu executions", x.rows);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            if (!isfinite(matrix_row(x, i)[c]))
                return err_set(ERR_RANGE,
                               "cannot project: feature %zu of execution %zu is not a number",
                               c, i);
    return 0;
}

int project_run(const struct project_method *method, struct matrix x,
                const struct project_opts *opts, double *points, struct project_result *result)
{
    int rc = check(x);

    *result = (struct project_result){0};
    return rc < 0 ? rc : method->run(x, opts, points, result);
}

bool project_due(const struct project_opts *opts, uint32_t iteration)
{
    return opts->on_step && iteration % (opts->every ? opts->every : PROJECT_EVERY) == 0;
}

bool project_tell(const struct project_opts *opts, const struct project_step *step)
{
    return opts->on_step == NULL || opts->on_step(step, opts->ctx);
}
