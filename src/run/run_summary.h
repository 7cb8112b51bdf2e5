/* run_summary -- what ingesting found, as rows of run.db: locations, regions, trace quality. */
#ifndef SNAG_RUN_RUN_SUMMARY_H
#define SNAG_RUN_RUN_SUMMARY_H

#include "run/ingest.h"

#include <sqlite3.h>

/* region_kind_name -- "user", "mpi", "openmp", "runtime", "tracer", "device", "loop". */
const char *region_kind_name(enum region_kind kind);

/* region_kind_said -- the same of what was called; "gpu" of own code that nothing but streams
 * of a GPU runs: a kernel. It is own code again when the run is read. */
const char *region_kind_said(const struct region *region, const struct profile_row *row);

/*
 * run_summary_save -- fill meta, location, region, comm and quality of a new database.
 * Returns 0 or ERR_DATABASE.
 */
int run_summary_save(sqlite3 *db, const struct source *source, const struct ingested *ingested);

/*
 * run_summary_uncalled -- add regions that no call of the run is of, but a model knows.
 *   first  regions first.. of defs
 */
int run_summary_uncalled(sqlite3 *db, const struct definitions *defs, uint32_t first);

/*
 * run_summary_regions -- the regions of a run, with ids as they are in its columns.
 *   defs  empty; gets regions only. Release with definitions_release
 */
int run_summary_regions(sqlite3 *db, struct definitions *defs);

/*
 * run_summary_definitions -- the regions and the locations of a run, numbered as in its
 * columns.
 *   defs  empty; release with definitions_release
 */
int run_summary_definitions(sqlite3 *db, struct definitions *defs);

#endif
