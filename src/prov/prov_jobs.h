/*
 * prov_jobs -- what several processes wrote of one job, as one.
 *
 * Each opening of a store is a run of its own; those with the same run id belong to one job: a
 * process for each rank, and one that was started again. Over the views of a reader
 * (prov_reader.h) these are made:
 *
 *     jobs            a row per job and program: job (the first of its runs), run_id, pid,
 *                     runs, ranks (that were named), began, ended (NULL while one goes on),
 *                     anomalies (not pruned)
 *     func_stats      func_stats_of_runs, added up over the runs of a job
 *     counter_stats   counter_stats_of_runs likewise
 */
#ifndef SNAG_PROV_PROV_JOBS_H
#define SNAG_PROV_PROV_JOBS_H

#include "base/database.h"

/* prov_jobs_add -- make them. Returns 0 or as prov_reader_error. */
int prov_jobs_add(struct database *reader, const char *url);

#endif
