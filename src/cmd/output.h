/* output -- where a command writes what -o asks for: a file that is there whole or not at all,
 * or standard output. */
#ifndef SNAG_CMD_OUTPUT_H
#define SNAG_CMD_OUTPUT_H

#include "base/fs.h"

#include <stdio.h>

struct output {
    FILE *file; /* to write to */
    const char *name;
    struct fs_new made; /* for a file; not for a pipe, a device or standard output */
};

/* output_open -- path  NULL or "-": standard output. Returns 0 or ERR_IO. */
int output_open(struct output *output, const char *path);

/*
 * output_close -- all is written, or went wrong.
 *   rc  what went wrong, or 0: then there is nothing under the name that was not there before
 * Returns rc, or ERR_IO when what was written did not arrive.
 */
int output_close(struct output *output, int rc);

#endif
