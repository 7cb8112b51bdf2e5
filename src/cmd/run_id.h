/*
 * run_id -- what a run of a job is called in all that is written of it: stores and their
 * records, metrics, logs, what /api says. Of the servers and detectors of a job it is the same.
 */
#ifndef SNAG_CMD_RUN_ID_H
#define SNAG_CMD_RUN_ID_H

#define RUN_ID_SIZE 65

/*
 * run_id_choose -- what was said, or the job of a batch system, or one made of the time and the
 * process: "20261123T150405-4711".
 *   said  in: --run-id, or NULL; out: what it is, perhaps in `text`
 * Returns 0, or ERR_USAGE for what is longer than 64 characters or has others than letters,
 * digits and "._:-+@[]".
 */
int run_id_choose(const char **said, char text[RUN_ID_SIZE]);

#endif
