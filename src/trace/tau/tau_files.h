/*
 * tau_files -- what TAU's ADIOS2 plugin leaves in a directory: a file or stream per program and
 * rank, tau-metrics-PROGRAM-RANK.bp, and for a stream its contact file, ....bp.sst.
 */
#ifndef SNAG_TRACE_TAU_FILES_H
#define SNAG_TRACE_TAU_FILES_H

#include "base/names.h"

#include <stdbool.h>
#include <stddef.h>

#define TAU_PREFIX "tau:" /* in front of a path: as in tau:DIR */

/* tau_files_path -- url without the prefix. */
const char *tau_files_path(const char *url);

/*
 * tau_files_is_one -- true when path is, by its name or what is in it, a file of ADIOS2, or the
 * name of a stream whose contact file is there.
 */
bool tau_files_is_one(const char *path);

/* tau_files_is_named_so -- true when the name says that it is one: *.bp, *.bp4 and so on. */
bool tau_files_is_named_so(const char *path);

/*
 * tau_files_find -- what there is at path: itself, or all that lie in that directory.
 *   found   names that were not there yet are added, in the order of the alphabet
 * Returns how many were added. A directory that does not exist has none.
 */
size_t tau_files_find(const char *path, struct names *found);

/*
 * tau_files_program -- PROGRAM in the name of a file; "" when the name is not made so.
 *   out  [n]
 */
void tau_files_program(const char *path, char *out, size_t n);

/* tau_files_patience -- seconds a reading process may say nothing: SNAG_PATIENCE, or 60. */
unsigned tau_files_patience(void);

#endif
