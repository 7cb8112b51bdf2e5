/* label_file -- CSV with columns id and label, as a person or another tool writes it. */
#ifndef SNAG_CMD_LABEL_FILE_H
#define SNAG_CMD_LABEL_FILE_H

#include "learn/learner.h"

#include <stdint.h>

struct label_line {
    const char *id;  /* as it is written */
    const char *foi; /* what stands before '#', "" if nothing */
    uint32_t rank, thread, index;
    enum label label; /* LABEL_NONE: clear */
};

/* Takes one line. Returns 0 or a negative ERR_*, which ends the reading. */
typedef int label_line_fn(void *ctx, const struct label_line *line);

/*
 * label_file_read -- all lines of a file, "-" for stdin. Other columns are ignored.
 * Returns 0, ERR_IO, ERR_FORMAT, or what fn said; the message names file and record.
 */
int label_file_read(const char *path, label_line_fn *fn, void *ctx);

#endif
