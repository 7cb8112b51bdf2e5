/*
 * prov_reader -- a whole store as one database, read-only: SQL over all its shards.
 *
 * The connection has these views, whose columns have Chimbuko's names, and its units where
 * they are Chimbuko's (microseconds):
 *
 *     anomalies, normalexecs   a row per record; its column `record` is all of it as JSON
 *     runs                     a row per opening for writing; all other rows say of which they
 *                              are
 *     metadata, ad_model, func_stats_of_runs, counter_stats_of_runs
 *     jobs                     a row per job and program: job (the first of its runs), run_id, pid,
 *                              runs, ranks (that were named), began, ended (NULL while one goes on),
 *                              anomalies (not pruned)
 *     func_stats, counter_stats   those of runs, added up over the runs of a job
 *
 * Each opening of a store is a run of its own; those with the same run id belong to one job: a
 * process for each rank, and one that was started again.
 *
 * Shards are attached as s0, s1, ...; beyond as many as SQLite attaches (ten) they are copied
 * to a temporary database, as they are then. Writing may go on meanwhile.
 *
 * One in PostgreSQL has the same views over tables of pg_tables.h. There `URL#RUN` is one run,
 * and `URL#FIRST-LAST` are several.
 *
 * A store may be anybody's: what is in it is compared with what we write, and its records are
 * damaged, or not, one by one.
 */
#ifndef SNAG_PROV_PROV_READER_H
#define SNAG_PROV_PROV_READER_H

#include "base/database.h"

/*
 * prov_reader_open -- open a store for questions: from then on, SELECT is all there is.
 *   reader  out: close with database_close
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT, ERR_IO, ERR_DATABASE, or what prov_dir_parse does.
 */
int prov_reader_open(const char *url, struct database *reader);

/*
 * prov_reader_open_run -- the same for who has a run of its own in it: of a store that
 * everybody writes to, in PostgreSQL, only what that run wrote; of a directory all of it. run:
 * 0: all.
 */
int prov_reader_open_run(const char *url, int64_t run, struct database *reader);

/* prov_shards_read -- the same of a directory, and prov_reader_add_function -- what makes
 * records JSON: for the kinds of stores (prov_kind.h). */
int prov_shards_read(const char *url, int64_t run, struct database *reader);
int prov_reader_add_function(struct database *reader, const char *url);

/* prov_reader_error -- a question has failed: as database_error. */
int prov_reader_error(struct database *reader, const char *url);

/* prov_jobs_add -- make them. Returns 0 or as prov_reader_error. */
int prov_jobs_add(struct database *reader, const char *url);

#endif
