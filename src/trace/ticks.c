/* The interval is searched from the last one used, in either direction. */
#include "trace/ticks.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S 1000000000u

void ticks_init(struct ticks *ticks, uint64_t ticks_per_s, uint64_t origin)
{
    uint64_t frequency = ticks_per_s ? ticks_per_s : NS_PER_S;
    uint64_t rest = NS_PER_S % frequency;

    *ticks = (struct ticks){
        .origin = origin,
        .whole = NS_PER_S / frequency,
        .fraction = (uint64_t)((((__uint128_t)rest << 64) + frequency - 1) / frequency),
    };
}

void ticks_release(struct ticks *ticks)
{
    free(ticks->offset);
    *ticks = (struct ticks){0};
}

void ticks_clear_offsets(struct ticks *ticks)
{
    ticks->n_offsets = 0;
    ticks->current = 0;
}

bool ticks_add_offset(struct ticks *ticks, uint64_t at, int64_t offset)
{
    if (ticks->n_offsets > 0 && at <= ticks->offset[ticks->n_offsets - 1].at)
        return false;
    mem_grow(&ticks->offset, &ticks->cap, ticks->n_offsets + 1, sizeof *ticks->offset);
    ticks->offset[ticks->n_offsets++] = (struct tick_offset){.at = at, .offset = offset};
    return true;
}

uint64_t ticks_corrected(struct ticks *ticks, uint64_t local)
{
    const struct tick_offset *from, *to;
    double slope, distance;

    if (ticks->n_offsets == 1)
        return local + (uint64_t)ticks->offset[0].offset;
    while (ticks->current + 2 < ticks->n_offsets &&
           local >= ticks->offset[ticks->current + 1].at)
        ticks->current++;
    while (ticks->current > 0 && local < ticks->offset[ticks->current].at)
        ticks->current--;
    from = &ticks->offset[ticks->current];
    to = from + 1;
    slope = (double)(to->offset - from->offset) / (double)(to->at - from->at);
    distance = (double)(int64_t)(local - from->at);
    return local + (uint64_t)(from->offset + (int64_t)rint(slope * distance));
}
