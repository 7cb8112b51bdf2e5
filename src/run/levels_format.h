/* levels_format -- what the writer and the reader of calls/levels.index agree on. */
#ifndef SNAG_RUN_LEVELS_FORMAT_H
#define SNAG_RUN_LEVELS_FORMAT_H

#include "run/levels.h"

#define LEVELS_INDEX "levels.index"
#define LEVELS_RECTS "levels.rec"
#define LEVELS_MAGIC 0x4c564c4347414e53u /* "SNAGCLVL" */
#define LEVELS_VERSION 1u
#define LEVELS_FENCE 32u         /* rectangles from one fence to the next */
#define LEVELS_MESSAGE_FENCE 64u /* messages */
#define LEVELS_SPENT 512u        /* calls of a line that are added up */
#define LEVELS_FORMAT_MAX 64u    /* of a line: there are no intervals above 2^63 ns */

/* The file: this, then lines, levels, fences, times spent, fences of messages. */
struct levels_header {
    uint64_t magic;
    uint32_t version;
    uint32_t n_locations;
    uint64_t columns_sum; /* checksum in calls/index: of which columns these are */
    uint64_t n_lines, n_levels, n_fences, n_spent, n_message_fences;
    uint64_t n_rects;  /* in levels.rec */
    uint64_t checksum; /* XXH3-64 of the rest, seeded with that of this with checksum 0 */
};

/* The levels of one depth of one location, the finest first. */
struct level_line {
    uint64_t first_level;
    uint64_t first_spent; /* [calls / 512] inclusive time of all calls before each 512th */
    uint32_t n_levels, finest;
};

/* Neighbours with as many rectangles have the same ones. */
struct level_rects {
    uint64_t first_rect, first_fence;
    uint64_t n;
};

/* levels_checksum -- of an index in memory whose header may say anything as checksum. */
uint64_t levels_checksum(const void *index, size_t bytes);

/* levels_fences -- how many fences n things have. */
static inline uint64_t levels_fences(uint64_t n, uint32_t every)
{
    return (n + every - 1) / every;
}

#endif
