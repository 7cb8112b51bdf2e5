#include "fuzz_analyse.h"
#include "fuzz_bytes.h"

#include "analysis/run_maker.h"

#include <math.h>

void fuzz_analyse(const char *trace, const char *foi, const char *run, struct pool *pool)
{
    struct per_call_opts per_call = per_call_default();
    struct run_maker_opts opts = {.foi = &foi,
                                  .n_foi = 1,
                                  .analysis = {.threshold = NAN, .pool = pool},
                                  .per_call = &per_call};
    struct ingest_opts reading = {.pool = pool};
    struct ingested ingested = {.n_locations = 0};
    struct source source = {.path = NULL};
    struct rundir run_to_be;
    struct run_made made;

    per_call.pool = pool;
    fuzz_must(rundir_begin(&run_to_be, run, false));
    reading.dir = run_to_be.part;
    fuzz_must(
        source_open_as(&source, trace,
                       &(struct source_opts){.wants_counters = true, .wants_arguments = true}));
    fuzz_must(ingest(&source, &reading, &ingested));
    fuzz_must(run_make(&run_to_be, &source, &ingested, &opts, &made));
    ingested_release(&ingested);
    source_close(&source);
}
