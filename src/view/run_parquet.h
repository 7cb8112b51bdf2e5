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

/*
 * run_parquet_executions -- those that pass the filter.
 * run_parquet_calls, run_parquet_messages -- of a rank; NO_RANK: of all.
 *   run  whose columns have been checked, for calls and messages
 * A million rows at a time. Return 0, ERR_IO, or as executions_each.
 */
int run_parquet_executions(const struct run *run, const struct execution_filter *filter,
                           FILE *file, struct pool *pool);
int run_parquet_calls(const struct run *run, uint32_t rank, FILE *file, struct pool *pool);
int run_parquet_messages(const struct run *run, uint32_t rank, FILE *file, struct pool *pool);

#endif
