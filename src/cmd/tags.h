/* tags -- what is known of a run: by --tag, and by what CI and batch systems say in the
 * environment. */
#ifndef SNAG_CMD_TAGS_H
#define SNAG_CMD_TAGS_H

#include "cmd/settings.h"
#include "compare/run_history.h"

#include <sqlite3.h>

/* tags_read -- add those of --tag; KEY= takes one away. Returns 0 or ERR_USAGE. */
int tags_read(const struct word_list *said, struct history_tags *tags);

/*
 * tags_of_environment -- add commit, branch and build of CI (GitHub, GitLab, Jenkins, and those
 * that set the same variables), job, partition, cluster and nodes of Slurm, PBS and LSF.
 */
void tags_of_environment(struct history_tags *tags);

/* tags_job -- the job that this process runs in, by Slurm, PBS or LSF; NULL: in none. */
const char *tags_job(void);

/*
 * tags_of_run -- add what the run's trace says of all its processes alike, run_metadata.h, and
 * "nodes", where there are no such tags yet. Returns 0, or as rundb_error.
 */
int tags_of_run(sqlite3 *db, struct history_tags *tags);

#endif
