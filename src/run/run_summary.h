/*
 * run_summary -- what ingesting found, as rows of run.db: locations, regions, trace quality;
 * and what a trace says of the run besides what was called: the command line, libraries,
 * compilers, the nodes. That is kept by text, not by process, as it is to tell runs apart.
 *
 *     run_metadata_of(&m, &source.defs);
 *     puts(run_metadata_get(&m, "Command Line"));
 */
#ifndef SNAG_RUN_RUN_SUMMARY_H
#define SNAG_RUN_RUN_SUMMARY_H

#include "base/arena.h"
#include "run/ingest.h"
#include "trace/definitions.h"

#include <sqlite3.h>

/* A key with more values is about processes, not about the run, and is left out; but nodes. */
#define METADATA_VALUES 16
#define METADATA_BYTES 1024      /* of a value; the rest is cut off */
#define RUN_MAX_METADATA 4096    /* of a run; the rest is left out */
#define METADATA_NODE "node"     /* the key of location.node */
#define METADATA_RUN_ID "run_id" /* what the run of the program was called */

struct run_metadatum {
    const char *key, *value;
};

struct run_metadata {
    struct run_metadatum *at; /* [n] by key, then value; none twice */
    size_t n, cap;
    struct arena arena;
};

/* run_metadata_of -- of a trace. O(n log n) of its definitions. Release it. */
void run_metadata_of(struct run_metadata *metadata, const struct definitions *defs);
void run_metadata_release(struct run_metadata *metadata);

/* run_metadata_get -- the value of a key that has one; NULL if it has none, or several. */
const char *run_metadata_get(const struct run_metadata *metadata, const char *key);

/*
 * run_metadata_join -- all values of a key, with commas between them; "" if it has none.
 *   out  (size) out: what fits, and its end
 */
void run_metadata_join(const struct run_metadata *metadata, const char *key, char *out,
                       size_t size);

/* run_metadata_save -- into run.db. Returns 0, or as rundb_error. */
int run_metadata_save(sqlite3 *db, const struct run_metadata *metadata);

/* run_metadata_load -- of a finished run. Returns 0, or as rundb_error. Release in any case. */
int run_metadata_load(struct run_metadata *metadata, sqlite3 *db);

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
