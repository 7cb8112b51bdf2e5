/*
 * ingest -- read a whole trace: all locations in parallel, into columns and a profile.
 *
 * Each worker thread has a reader, a call stack and the columns of one location. Locations are
 * taken in order, and a finished one gets its place in the files after those before it, so
 * that the result is the same, byte for byte, on any number of threads, and of processes.
 */
#ifndef SNAG_RUN_INGEST_H
#define SNAG_RUN_INGEST_H

#include "base/guard.h"
#include "base/pool.h"
#include "base/process_group.h"
#include "forest/clock.h"
#include "forest/loops.h"
#include "forest/profile.h"
#include "forest/traffic.h"
#include "trace/source.h"

#include <stdbool.h>
#include <stdint.h>

struct ingested_location {
    uint64_t n_records; /* read from the source */
    uint64_t n_calls, n_sends, n_recvs, n_collectives;
    uint64_t n_readings, n_arguments; /* of counters; of calls */
    uint64_t first_ns, last_ns;       /* of any event; first > last if there was none */
    uint64_t root_ns;                 /* inclusive time of the roots, summed */
    struct accesses accesses;
    struct error_bounds error_bounds;
    struct quality quality;
};

struct ingested {
    uint32_t n_locations;
    struct ingested_location *location; /* [n_locations] as in source->defs */
    struct profile profile; /* loops that were found have rows, though no calls are of them */
    struct loops loops;
    struct paged *paged;    /* in the directory of the columns, or NULL: of the traffic */
    struct traffic traffic; /* matched, with corrected times */
    struct clock_report clock;
    struct clock_fix *fix;  /* [defs->n_ranks] */
    struct quality quality; /* of everything, the definitions included */
    uint64_t n_calls, n_records, n_sends, n_recvs;
    uint64_t n_readings, n_arguments;
    struct accesses accesses;
    struct error_bounds error_bounds; /* that are estimates */
    uint64_t begin_ns, end_ns;        /* of the trace */
    int64_t shift_ns; /* all times were moved so, because the trace states its start wrongly */
};

struct ingest_opts {
    const char *dir;     /* write the columns to dir/calls; NULL: only count */
    struct pool *pool;   /* threads to read with */
    struct guard *guard; /* what is known to crash, or NULL */
    struct process_group
        *process_group; /* processes that read together, each with such options; or NULL */
};

/*
 * ingest -- read every location of an open source.
 *   out  released by ingested_release, also after an error
 * With a process group all processes call it, with the same source; number 0 has all in the
 * end, as if it had read alone, the others only what they have read, which is of no use.
 * Returns 0, or ERR_IO when the columns cannot be written; with a process group the same for
 * all, also ERR_FORMAT when they see different definitions. Damage to the trace is counted in
 * out->quality and is not an error.
 */
int ingest(struct source *source, const struct ingest_opts *opts, struct ingested *out);
void ingested_release(struct ingested *ingested);

/* ingested_time_ns -- of all locations that have calls, from the first event to the last. */
uint64_t ingested_time_ns(const struct ingested *ingested);

#endif
