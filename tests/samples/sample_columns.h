/*
 * sample_columns -- the columns of a small random run, in memory that tests may damage.
 *
 * Roots one after another, most short, some long, with pauses and bursts; calls inside the
 * longer ones, up to three deep; messages now and then.
 */
#ifndef SNAG_TESTS_SAMPLE_COLUMNS_H
#define SNAG_TESTS_SAMPLE_COLUMNS_H

#include "run/columns.h"
#include "run/columns_format.h"

#define SAMPLE_LOCATIONS 2u
#define SAMPLE_DEPTHS 3u

struct sample_columns {
    struct {
        struct index_header header;
        struct column_range range[SAMPLE_LOCATIONS];
    } index;
    struct columns columns; /* of all below */
    uint64_t *enter_ns, *inclusive_ns;
    uint32_t *region, *subtree_len, *by_depth;
    uint16_t *depth;
    uint64_t depth_start[SAMPLE_LOCATIONS * (SAMPLE_DEPTHS + 1)];
    struct message *message;
    uint64_t end_ns;
};

/* sample_columns_init -- with n_roots calls of depth 0 on each location. */
void sample_columns_init(struct sample_columns *sample, uint32_t n_roots, uint64_t seed);
void sample_columns_release(struct sample_columns *sample);

#endif
