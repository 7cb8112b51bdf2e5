#include "cmd/trace_kind.h"

#include <stdio.h>

struct trace_kind trace_kind_of(const struct definitions *defs)
{
    struct trace_kind kind = {0};

    for (uint32_t i = 0; i < defs->names.n; i++) {
        const struct region *region = &defs->region[i];

        kind.n_mpi += region->kind == REGION_MPI;
        kind.n_openmp += region->kind == REGION_OPENMP;
        kind.n_sampled += region->is_sampled;
        kind.n_functions +=
            region->kind == REGION_USER && *region->name != '('; /* "(undefined region)" */
    }
    return kind;
}

char *trace_kind_text(const struct trace_kind *kind, char out[TRACE_KIND_SIZE])
{
    const char *functions = kind->n_functions == 0 ? ""
                            : kind->n_sampled > 0
                                ? "functions from stacks (some of their times are estimates)"
                                : "functions";
    const char *part[] = {functions, kind->n_mpi ? "MPI" : "", kind->n_openmp ? "OpenMP" : ""};
    uint32_t n = 0, n_all = (*part[0] != 0) + (*part[1] != 0) + (*part[2] != 0);
    size_t at = 0;

    *out = '\0';
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (*part[i]) {
            const char *between = n == 0 ? "" : n + 1 < n_all ? ", " : " and ";

            at += (size_t)snprintf(out + at, TRACE_KIND_SIZE - at, "%s%s", between, part[i]);
            n++;
        }
    if (n == 1)
        snprintf(out + at, TRACE_KIND_SIZE - at, "%s", kind->n_functions ? "" : " alone");
    return out;
}
