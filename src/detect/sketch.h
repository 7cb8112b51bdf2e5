/*
 * sketch -- what is kept of the durations of the calls of one region: moments and a histogram.
 *
 * Durations below 128 have a bin each; above, an octave has 64 bins, so that a bin is at most
 * 1/64 (1.6 %) wide, whatever the range. All that is kept are integers, so sketches of parts
 * merge to the sketch of the whole, bit for bit, in any order.
 *
 *     value   0 1 2 .. 127 | 128 130 132 .. 254 | 256 260 .. 508 | 512 ..
 *     bin     0 1 2 .. 127 | 128 129 130 .. 191 | 192 193 .. 255 | 256 ..
 *
 * The layout is that of HdrHistogram (Tene): a shift by the highest bit finds the bin.
 */
#ifndef SNAG_DETECT_SKETCH_H
#define SNAG_DETECT_SKETCH_H

#include "base/moments.h"
#include "base/pack.h"

#include <stdint.h>

#define SKETCH_OCTAVE 64u /* bins per octave */
#define SKETCH_MAX_BINS 3776u

struct sketch {
    uint64_t n, min, max; /* min is UINT64_MAX and max 0 while there is none */
    struct exact_sums sums;
    uint32_t first_bin, n_bins; /* bins that are kept: first_bin .. first_bin + n_bins - 1 */
    uint64_t *count;            /* [n_bins] */
};

/* sketch_init -- empty. A zeroed sketch is not: min must be set. */
void sketch_init(struct sketch *sketch);
void sketch_release(struct sketch *sketch);
void sketch_clear(struct sketch *sketch);

/* sketch_bin -- the bin of a value, below SKETCH_MAX_BINS. */
static inline uint32_t sketch_bin(uint64_t value)
{
    uint32_t shift;

    if (value < 2 * SKETCH_OCTAVE)
        return (uint32_t)value;
    shift = 57 - (uint32_t)__builtin_clzll(value);
    return shift * SKETCH_OCTAVE + (uint32_t)(value >> shift);
}

/* sketch_bin_start -- the smallest value of a bin. */
uint64_t sketch_bin_start(uint32_t bin);

/* sketch_add -- one more value. O(1), but for bins outside those kept so far. */
void sketch_add(struct sketch *sketch, uint64_t value);

/* sketch_merge -- as if all values of from had been added to into. O(bins). */
void sketch_merge(struct sketch *into, const struct sketch *from);

/* sketch_mean, sketch_deviation -- 0 while empty; the deviation is that of the population. */
double sketch_mean(const struct sketch *sketch);
double sketch_deviation(const struct sketch *sketch);

/*
 * sketch_quantile -- value that a share q (0..1) of the values is below, linear within its bin.
 * Off by at most 1.6 %. 0 while empty. O(bins).
 */
double sketch_quantile(const struct sketch *sketch, double q);

/* sketch_pack, sketch_unpack -- to bytes and back; the pack is bad when it makes no sense. */
void sketch_pack(const struct sketch *sketch, struct pack *pack);
void sketch_unpack(struct sketch *sketch, struct pack *pack);

#endif
