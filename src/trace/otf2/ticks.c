/* The interval is searched from the last one used, in either direction. */
#include "trace/otf2/ticks.h"

#include "base/mem.h"
#include "trace/monotone.h"

#include <stdlib.h>

#define NS_PER_S 1000000000u

/* Of so many it is still known that they are too many. */
static uint64_t most_ticks(uint64_t frequency)
{
    __uint128_t most = (__uint128_t)(TIME_LATEST_NS + 2u * NS_PER_S) * frequency / NS_PER_S;

    return most < INT64_MAX ? (uint64_t)most : INT64_MAX;
}

void ticks_init(struct ticks *ticks, uint64_t ticks_per_s, uint64_t origin)
{
    uint64_t frequency = ticks_per_s ? ticks_per_s : NS_PER_S;
    uint64_t rest = NS_PER_S % frequency;

    *ticks = (struct ticks){
        .origin = origin,
        .whole = NS_PER_S / frequency,
        .most = most_ticks(frequency),
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
    ticks->length = 0;
}

bool ticks_add_offset(struct ticks *ticks, uint64_t at, int64_t offset)
{
    if (ticks->n_offsets > 0 && at <= ticks->offset[ticks->n_offsets - 1].at)
        return false;
    mem_grow(&ticks->offset, &ticks->cap, ticks->n_offsets + 1, sizeof *ticks->offset);
    ticks->offset[ticks->n_offsets++] = (struct tick_offset){.at = at, .offset = offset};
    ticks->length = 0;
    return true;
}

void ticks_seek(struct ticks *ticks, uint64_t local)
{
    const struct tick_offset *offset = ticks->offset;
    size_t n = ticks->n_offsets, at = ticks->current;

    while (at + 2 < n && local >= offset[at + 1].at)
        at++;
    while (at > 0 && local < offset[at].at)
        at--;
    ticks->current = at;
    ticks->begin = at > 0 ? offset[at].at : 0;
    ticks->length = (at + 2 < n ? offset[at + 1].at : UINT64_MAX) - ticks->begin;
    ticks->slope = n > 1 ? (double)((__int128_t)offset[at + 1].offset - offset[at].offset) /
                               (double)(offset[at + 1].at - offset[at].at)
                         : 0;
}

/*
 * Converts for as long as times are on the line in hand and not before the origin; returns how
 * many. Everything is in local variables, which no store can change.
 */
static size_t follow_line(const struct ticks *ticks, struct event *event, size_t n)
{
    const struct tick_offset *from = &ticks->offset[ticks->current];
    const uint64_t most = ticks->most, origin = ticks->origin, whole = ticks->whole,
                   fraction = ticks->fraction;
    const uint64_t begin = ticks->begin, length = ticks->length, at = from->at;
    const uint64_t offset = (uint64_t)from->offset;
    const double slope = ticks->slope;
    size_t i;

    for (i = 0; i < n; i++) {
        uint64_t local = event[i].time_ns;
        int64_t further = llrint(slope * (double)(int64_t)(local - at));
        uint64_t since = local + offset + (uint64_t)further - origin;

        if (local - begin >= length || since >= most)
            break;
        event[i].time_ns = since * whole + (uint64_t)(((__uint128_t)since * fraction) >> 64);
    }
    return i;
}

void ticks_convert(struct ticks *ticks, struct event *event, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ticks->n_offsets > 0)
            i += follow_line(ticks, event + i, n - i);
        if (i < n)
            event[i].time_ns = ticks_to_ns(ticks, event[i].time_ns);
    }
}
