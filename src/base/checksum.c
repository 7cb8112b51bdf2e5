/* XXH3 as it comes; what is here says its seed and its state. */
#include "base/checksum.h"

uint64_t checksum_of(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

uint64_t checksum_seeded(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

void checksum_begin(struct checksum *sum)
{
    XXH3_64bits_reset(&sum->state);
}

void checksum_add(struct checksum *sum, const void *data, size_t bytes)
{
    XXH3_64bits_update(&sum->state, data, bytes);
}

uint64_t checksum_end(const struct checksum *sum)
{
    return XXH3_64bits_digest(&sum->state);
}
