/* detail_format -- the index of counters and arguments, as it is in its file. */
#ifndef SNAG_RUN_DETAIL_FORMAT_H
#define SNAG_RUN_DETAIL_FORMAT_H

#include "run/detail_files.h"

#define DETAIL_MAGIC 0x4c54444347414e53u /* "SNAGCDTL" */
#define DETAIL_VERSION 1u

/* Behind it n_locations struct detail_range, then name_bytes bytes. */
struct detail_header {
    uint64_t magic;
    uint32_t version;
    uint32_t n_locations;
    uint64_t columns_sum; /* the checksum of calls/index */
    uint64_t n[N_DETAIL_FILES];
    uint32_t n_counters, n_arguments;
    uint64_t name_bytes; /* behind the ranges */
    uint64_t checksum;   /* XXH3-64 of the rest, and before it of this with checksum 0 */
};

/* detail_index_checksum -- that of an index of so many bytes, which begins with its header. */
uint64_t detail_index_checksum(const struct detail_header *header, size_t bytes);

#endif
