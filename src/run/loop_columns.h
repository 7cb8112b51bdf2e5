/*
 * loop_columns -- the iterations of loops become calls of a run that is being made.
 *
 * After this nothing knows of loops but by the kind of their region: the timeline, trees,
 * causes and models have them as they have functions.
 */
#ifndef SNAG_RUN_LOOP_COLUMNS_H
#define SNAG_RUN_LOOP_COLUMNS_H

#include "base/pool.h"
#include "run/ingest.h"

#include <stdint.h>

/*
 * loop_columns_write -- write the columns of a run anew, with loops in them.
 *   dir       the run, with the columns that `ingested` is about
 *   region    (n) of loops in ingested->loops; n may be 0: nothing is written
 *   ingested  its profile is then of what is in the columns (a loop that was not chosen is
 *             called nowhere), its messages and collectives refer to the new rows
 * Where two loops cross each other, the iterations of the second that do so are left out.
 * Needs the memory of one location's calls per thread, and reads and writes the columns once.
 * Returns 0 or ERR_IO.
 */
int loop_columns_write(const char *dir, const struct definitions *defs, struct pool *pool,
                       const uint32_t *region, uint32_t n, struct ingested *ingested);

#endif
