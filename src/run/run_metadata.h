/*
 * run_metadata -- what a trace says of the run besides what was called: the command line,
 * libraries, compilers, the nodes. It is kept by text, not by process, as it is to tell runs
 * apart.
 *
 *     run_metadata_of(&m, &source.defs);
 *     puts(run_metadata_get(&m, "Command Line"));
 */
#ifndef SNAG_RUN_RUN_METADATA_H
#define SNAG_RUN_RUN_METADATA_H

#include "base/arena.h"
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

#endif
