/*
 * per_call -- the strange calls of a run, whatever their function: each call's time against
 * those of the other calls of its region.
 *
 * Two passes over the columns: sketches, then judgements. Sketches of the locations are merged
 * in any order, so the result does not depend on the number of threads.
 */
#ifndef SNAG_ANALYSIS_PER_CALL_H
#define SNAG_ANALYSIS_PER_CALL_H

#include "base/pool.h"
#include "detect/call_detector.h"
#include "run/columns.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

struct per_call_opts {
    const struct call_detector_ops *detector;
    struct call_detector_opts detector_opts;
    bool is_inclusive;    /* judge inclusive time, not exclusive */
    double least_lost_ns; /* that an anomaly lost; NAN: by call_least_effect */
    uint32_t least_calls; /* of a region, before any of them is judged */
    size_t most;          /* calls kept: those that lost most */
    struct pool *pool;
};

/* per_call_default -- tails on exclusive time, 100 calls, 100,000 rows; no pool. */
struct per_call_opts per_call_default(void);

/* A strange call. */
struct strange_call {
    uint32_t location, row, region;
    uint64_t time_ns; /* what was judged */
    double score, p;
    double typical_ns;  /* median of its region */
    double severity_ns; /* time above the median of its region, above 0 */
};

struct per_call_result {
    struct strange_call *call; /* [n] most severe first */
    size_t n;
    uint64_t n_anomalies, n_judged; /* also those that were not kept */
    uint64_t n_slight;              /* strange calls that lost too little to be anomalies */
    double least_lost_ns;
    struct sketch *sketch; /* [n_regions] of all calls */
    uint32_t n_regions;
};

/* per_call_run -- O(calls). Release in any case. */
void per_call_run(const struct columns *columns, const struct definitions *defs,
                  const struct per_call_opts *opts, struct per_call_result *result);

/* per_call_save -- the strange calls as rows of run.db. Returns 0 or ERR_DATABASE. */
int per_call_save(sqlite3 *db, const struct columns *columns,
                  const struct per_call_result *result);
void per_call_release(struct per_call_result *result);

#endif
