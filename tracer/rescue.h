/*
 * rescue -- the archive of a program that ends without MPI_Finalize.
 *
 * There are no collectives any more, so the ranks that get here meet in a file, one after the
 * other: each appends what it knows and writes the definitions anew, for itself and all who
 * came before. Numbers given out stay what they were (unify.h), so what the others wrote stays
 * right. A rank that was killed is missing; what it had written stays unused.
 */
#ifndef SNAG_TRACER_RESCUE_H
#define SNAG_TRACER_RESCUE_H

#include "archive.h"
#include "blob.h"
#include "offsets.h"
#include "recorder.h"

#include <stdint.h>

/* What a rank has to save. */
struct rescued {
    const struct blob *knowledge; /* as unify_pack makes it */
    struct recorder *newest;
    const struct clock_offset *offset;
    unsigned n_offsets;
};

/* rescue -- complete the open archive in this directory. Complains if that fails. */
void rescue(const char *directory, uint32_t n_ranks, const struct rescued *own);

#endif
