/*
 * adios2_reader -- what TAU wrote through ADIOS2, read step by step: BP3, BP4 and BP5 files and
 * SST streams. Runs in a process of its own (base/worker_process.h) and brings the blocks of
 * tau_step.h.
 */
#ifndef SNAG_TRACE_ADIOS2_READER_H
#define SNAG_TRACE_ADIOS2_READER_H

#include "base/worker_process.h"

#include <stdbool.h>
#include <stdint.h>

struct adios2_reader {
    const char *path;    /* a file, a directory of BP4 or BP5, or what PATH.sst belongs to */
    bool is_live;        /* wait for steps, and for the file or stream to be there */
    unsigned connect_ms; /* how long for the latter */
};

/*
 * adios2_reader_check -- loads ADIOS2; 0 when it is there, or ERR_UNSUPPORTED, which says what to
 * install. To be called before adios2_reader_run.
 */
int adios2_reader_check(const char *path);

/*
 * adios2_reader_run -- for worker_process_open: brings all steps.
 *   ctx  struct adios2_reader
 * Returns 0 at the end, ERR_NOT_FOUND or ERR_FORMAT when it cannot be opened.
 */
int adios2_reader_run(void *ctx, struct worker_process_end *end);

#endif
