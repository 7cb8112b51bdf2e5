/* session_files -- the directory of the archive, and the list of ranks for other programs. */
#ifndef SNAG_TRACER_SESSION_FILES_H
#define SNAG_TRACER_SESSION_FILES_H

#include <stdbool.h>

/*
 * session_files_prepare -- make the directory for an archive. One that holds an archive
 * already is renamed to "directory.1" or the next number that is free: no trace is ever lost.
 * Returns false after a complaint.
 */
bool session_files_prepare(const char *directory);

/*
 * session_files_claim -- the same for a process that is alone, of which there may be several at
 * once: where another one's archive is, or is begun, it is "directory/process-2" or the next
 * number that is free.
 *   directory  from malloc; is replaced
 */
bool session_files_claim(char **directory);

/* session_files_claim_spawned -- the same for ranks that others have started, whose archive is
 * in the directory itself. */
bool session_files_claim_spawned(char **directory);

/*
 * session_files_list_ranks -- write a line `rank pid core host` for each rank. The file appears
 * complete or not at all. By all of the team; nothing is written if rank 0 has no path.
 */
void session_files_list_ranks(const char *path);

#endif
