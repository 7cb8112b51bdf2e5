/* columns_format -- what the writer and the reader of the index agree on. */
#ifndef SNAG_RUN_COLUMNS_FORMAT_H
#define SNAG_RUN_COLUMNS_FORMAT_H

#include "run/columns.h"

#define INDEX_MAGIC 0x314c4f4347414e53u /* "SNAGCOL1" */
#define INDEX_VERSION 5u

/* The index file: this, then n_locations struct column_range. */
struct index_header {
    uint64_t magic;
    uint32_t version;
    uint32_t n_locations;
    uint64_t n_calls, n_messages, n_collectives, n_spans, n_barriers, n_dependencies;
    uint64_t n_depth_starts, n_estimates;
    uint64_t depth_start_sum, message_sum, collective_sum; /* XXH3-64 of those files */
    uint64_t span_sum, barrier_sum, dependency_sum;
    uint64_t checksum; /* XXH3-64 of the ranges and, before them, of this with checksum 0 */
};

uint64_t index_checksum(const struct index_header *header, const struct column_range *range);

#endif
