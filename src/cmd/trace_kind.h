/* trace_kind -- what a trace has calls of, and how well their times are known. */
#ifndef SNAG_CMD_TRACE_KIND_H
#define SNAG_CMD_TRACE_KIND_H

#include "trace/definitions.h"

#define TRACE_KIND_SIZE 128

struct trace_kind {
    uint32_t n_functions, n_mpi, n_openmp;
    uint32_t n_sampled; /* functions that were found on stacks */
};

/* trace_kind_of -- how many functions of each kind are defined. */
struct trace_kind trace_kind_of(const struct definitions *defs);

/* trace_kind_text -- "functions from stacks (some of their times are estimates) and MPI".
 * Returns out.
 */
char *trace_kind_text(const struct trace_kind *kind, char out[TRACE_KIND_SIZE]);

#endif
