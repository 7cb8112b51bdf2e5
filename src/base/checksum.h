/* checksum -- XXH3-64 of data that lies on disk, at once or piece by piece. */
#ifndef SNAG_BASE_CHECKSUM_H
#define SNAG_BASE_CHECKSUM_H

#include "base/xxh.h"

#include <stddef.h>
#include <stdint.h>

struct checksum {
    XXH3_state_t state;
};

uint64_t checksum_of(const void *data, size_t bytes);
uint64_t checksum_seeded(const void *data, size_t bytes, uint64_t seed);

/* checksum_begin, checksum_add, checksum_end -- the same as of all pieces after each other. */
void checksum_begin(struct checksum *sum);
void checksum_add(struct checksum *sum, const void *data, size_t bytes);
uint64_t checksum_end(const struct checksum *sum);

#endif
