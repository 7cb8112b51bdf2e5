/* own_library -- where the libraries are that were built with this program. */
#ifndef SNAG_CMD_OWN_LIBRARY_H
#define SNAG_CMD_OWN_LIBRARY_H

#include "base/fs.h"

/*
 * own_library_find -- a library, by where this program is.
 *   built  the directory beside the program where the build has it
 *   file   its name
 * Returns 0, or ERR_NOT_FOUND without a message.
 */
int own_library_find(const char *built, const char *file, char path[FS_PATH_SIZE]);

#endif
