/*
 * trace_place -- the directory that a program is recorded into: made before the program runs,
 * and held open meanwhile, so that what became of it can be told. Somebody may remove it, or
 * move it, while the program runs; the tracer, which may be on another machine, learns of that
 * late or never.
 */
#ifndef SNAG_CMD_TRACE_PLACE_H
#define SNAG_CMD_TRACE_PLACE_H

#include "base/fs.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct trace_place {
    char path[FS_PATH_SIZE]; /* from the root */
    size_t n_there;          /* of it, what was there before: bytes */
    int fd;                  /* -1: it could not be made, */
    int error;               /* which is why */
    struct timespec made;    /* when it was, empty */
};

/* trace_place_is_taken -- whether there is anything of that name but an empty directory. */
bool trace_place_is_taken(const char *path);

/* trace_place_make -- path: from the root. If it cannot be made, the tracer may still do it. */
void trace_place_make(struct trace_place *place, const char *path);

/*
 * trace_place_find -- where it is when the program has ended.
 *   path  in: as it is called; out: where it is now, if it was moved
 *   why   out: a clause that says why there cannot be a trace; "" if there can be one
 * Returns whether it was moved, and can be read there.
 */
bool trace_place_find(const struct trace_place *place, char path[FS_PATH_SIZE],
                      char why[2 * FS_PATH_SIZE]);

/* trace_place_close -- what was made for it goes if nothing is in it. */
void trace_place_close(struct trace_place *place);

#endif
