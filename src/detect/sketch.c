/* The bins that are kept grow at both ends, by an octave or more. */
#include "detect/sketch.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sketch_init(struct sketch *s)
{
    *s = (struct sketch){.min = UINT64_MAX};
}

void sketch_release(struct sketch *s)
{
    free(s->count);
    sketch_init(s);
}

void sketch_clear(struct sketch *s)
{
    struct sketch kept = *s;

    sketch_init(s);
    s->first_bin = kept.first_bin;
    s->n_bins = kept.n_bins;
    s->count = kept.count;
    if (s->n_bins > 0)
        memset(s->count, 0, s->n_bins * sizeof *s->count);
}

uint64_t sketch_bin_start(uint32_t bin)
{
    uint32_t shift;

    if (bin < 2 * SKETCH_OCTAVE)
        return bin;
    shift = bin / SKETCH_OCTAVE - 1;
    return (uint64_t)(bin - shift * SKETCH_OCTAVE) << shift;
}

/* Makes room for the bins first .. last. */
static void cover(struct sketch *s, uint32_t first, uint32_t last)
{
    uint32_t begin = first / SKETCH_OCTAVE * SKETCH_OCTAVE;
    uint32_t end = (last / SKETCH_OCTAVE + 1) * SKETCH_OCTAVE;
    uint64_t *count;

    if (s->n_bins > 0) {
        begin = s->first_bin < begin ? s->first_bin : begin;
        end = s->first_bin + s->n_bins > end ? s->first_bin + s->n_bins : end;
    }
    count = mem_alloc(end - begin, sizeof *count);
    if (s->n_bins > 0)
        memcpy(count + (s->first_bin - begin), s->count, s->n_bins * sizeof *count);
    free(s->count);
    s->count = count;
    s->first_bin = begin;
    s->n_bins = end - begin;
}

void sketch_add(struct sketch *s, uint64_t value)
{
    uint32_t bin = sketch_bin(value);

    if (bin - s->first_bin >= s->n_bins)
        cover(s, bin, bin);
    s->count[bin - s->first_bin]++;
    s->n++;
    exact_sums_add(&s->sums, value);
    s->min = value < s->min ? value : s->min;
    s->max = value > s->max ? value : s->max;
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
    uint32_t begin = from->first_bin, end = begin + from->n_bins;

    if (from->n == 0)
        return;
    if (begin < into->first_bin || end > into->first_bin + into->n_bins)
        cover(into, begin, end - 1);
    for (uint32_t b = begin; b < end; b++)
        into->count[b - into->first_bin] += from->count[b - begin];
    into->n += from->n;
    exact_sums_merge(&into->sums, &from->sums);
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

double sketch_mean(const struct sketch *s)
{
    return exact_sums_mean(&s->sums, s->n);
}

double sketch_deviation(const struct sketch *s)
{
    double mean = sketch_mean(s), variance;

    if (s->n == 0)
        return 0;
    variance = (double)s->sums.square_sum / (double)s->n - mean * mean;
    return variance > 0 && s->min < s->max ? sqrt(variance) : 0;
}

double sketch_quantile(const struct sketch *s, double q)
{
    double rank = q * (double)s->n, below = 0;

    for (uint32_t b = 0; b < s->n_bins; b++) {
        double here = (double)s->count[b];

        if (here > 0 && below + here >= rank) {
            double begin = (double)sketch_bin_start(s->first_bin + b);
            double end = (double)sketch_bin_start(s->first_bin + b + 1);
            double value = begin + (end - begin) * (rank - below) / here;

            return fmin(fmax(value, (double)s->min), (double)s->max);
        }
        below += here;
    }
    return s->n ? (double)s->max : 0;
}

/* ---------------------------------------------------------------------------------- bytes */

static void pack_u128(struct pack *p, unsigned __int128 value)
{
    pack_u64(p, (uint64_t)value);
    pack_u64(p, (uint64_t)(value >> 64));
}

static unsigned __int128 unpack_u128(struct pack *p)
{
    uint64_t low = unpack_u64(p), high = unpack_u64(p);

    return (unsigned __int128)high << 64 | low;
}

void sketch_pack(const struct sketch *s, struct pack *p)
{
    pack_u64(p, s->min);
    pack_u64(p, s->max);
    pack_u128(p, s->sums.sum);
    pack_u128(p, s->sums.square_sum);
    pack_u32(p, s->first_bin);
    pack_array(p, s->count, s->n_bins, sizeof *s->count);
}

void sketch_unpack(struct sketch *s, struct pack *p)
{
    size_t n_bins;

    sketch_init(s);
    s->min = unpack_u64(p);
    s->max = unpack_u64(p);
    s->sums.sum = unpack_u128(p);
    s->sums.square_sum = unpack_u128(p);
    s->first_bin = unpack_u32(p);
    n_bins = unpack_count(p, sizeof *s->count);
    s->count = unpack_array(p, n_bins, sizeof *s->count);
    if (n_bins > SKETCH_MAX_BINS || s->first_bin > SKETCH_MAX_BINS - n_bins)
        p->is_bad = true;
    s->n_bins = p->is_bad ? 0 : (uint32_t)n_bins;
    for (uint32_t b = 0; b < s->n_bins; b++)
        p->is_bad |= __builtin_add_overflow(s->n, s->count[b], &s->n);
    if (!p->is_bad && s->n > 0)
        p->is_bad = s->min > s->max || sketch_bin(s->min) < s->first_bin ||
                    sketch_bin(s->max) >= s->first_bin + s->n_bins;
}
