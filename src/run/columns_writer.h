/*
 * columns_writer -- writes the calls of locations and adds up their profiles on the way,
 * while they are in the cache. One per thread.
 */
#ifndef SNAG_RUN_COLUMNS_WRITER_H
#define SNAG_RUN_COLUMNS_WRITER_H

#include "forest/profile.h"
#include "run/columns.h"
#include "stack/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profiled_columns {
    const struct calls *calls;     /* in hand */
    struct profile profile, total; /* of the location in hand, of all so far */
    struct profile_walk walk;
    uint32_t *by_depth;
    size_t by_depth_cap;
    struct paged *paged; /* not its own; may be NULL: where by_depth is */
};

void profiled_columns_init(struct profiled_columns *p, uint32_t n_regions, struct paged *paged);
void profiled_columns_release(struct profiled_columns *p);

/*
 * profiled_columns_take -- look at all calls of a location once more.
 *   writer  where it was placed; NULL: only the profile
 * Returns 0 or ERR_IO.
 */
int profiled_columns_take(struct profiled_columns *p, struct columns_writer *writer,
                          uint32_t location, const struct calls *calls,
                          const struct definitions *defs);

/* columns_open_file -- a file beside the columns, to be written. Returns its descriptor, ERR_IO
 * or ERR_RANGE. */
int columns_open_file(const char *dir, const char *name, bool is_new);

#endif
