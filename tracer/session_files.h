/* session_files -- the directory of the archive, and the list of ranks for other programs. */
#ifndef SNAG_TRACER_SESSION_FILES_H
#define SNAG_TRACER_SESSION_FILES_H

/*
 * session_files_prepare -- make the directory for a recording; by rank 0.
 *   directory  where it was said to be; NULL or "": snag-trace
 * One that holds a trace already is renamed to "directory.1" or the next number that is free:
 * no trace is ever lost. A process that is alone, of which there may be several at once, leaves
 * alone what is there, and takes "directory/process-2" or the next number that is free; so do
 * ranks that others have started. Returns its path from the root, or NULL after a complaint.
 */
char *session_files_prepare(const char *directory);

/*
 * session_files_list_ranks -- write a line `rank pid core host` for each rank. The file appears
 * complete or not at all. By all of the team; nothing is written if rank 0 has no path.
 */
void session_files_list_ranks(const char *path);

#endif
