/*
 * run_parquet -- the tables of a run as Parquet files: executions, calls, messages. Columns and
 * units are in docs/formats.md, section Parquet.
 */
#ifndef SNAG_VIEW_RUN_PARQUET_H
#define SNAG_VIEW_RUN_PARQUET_H

#include "base/pool.h"
#include "run/rundir.h"
#include "view/executions.h"

#include <stdio.h>

/* Locations whose calls or messages are written. */
struct run_parquet_part {
    uint32_t begin, end; /* numbers of locations, the last is not in it */
    uint32_t rank;       /* only those of this rank; NO_RANK: all */
};

/*
 * run_parquet_executions -- those that pass the filter.
 * run_parquet_calls, run_parquet_messages -- of a part of the run, whose columns have been
 * checked there.
 * A million rows at a time. Return 0, ERR_IO, or as executions_each.
 */
int run_parquet_executions(const struct run *run, const struct execution_filter *filter,
                           FILE *file, struct pool *pool);
int run_parquet_calls(const struct run *run, const struct run_parquet_part *part, FILE *file,
                      struct pool *pool);
int run_parquet_messages(const struct run *run, const struct run_parquet_part *part, FILE *file,
                         struct pool *pool);

#endif
