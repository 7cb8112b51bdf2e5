/*
 * levels -- the calls of a run as a timeline shows them from afar: for every depth of every
 * location a few lists of rectangles, each about half as long as the one before.
 *
 * Time is cut into intervals of 2^k ns that begin at multiples of 2^k. On level k a call that
 * takes an interval or more is a rectangle of its own; shorter ones that are entered in the
 * same interval are one, which says how many they are and which is the longest:
 *
 *     intervals     |       |       |       |
 *     calls         [a][b][c] [d     ........]   [e]
 *     level k       [a+b+c  ] [d             ]   [e]
 *     level k + 1   [a+b+c  ] [d             ]   [e]       d is one still
 *
 * So a window of any length is a stretch of a list, found by a look at every 32nd of its times
 * and read from one place, however many calls are in it. The finest levels of a location have
 * together a sixteenth as many rectangles as it has calls: those of depths with few calls have
 * all of them, the others have equal parts.
 *
 *     calls/levels.rec    struct level_rect each
 *     calls/levels.index  which are where, the times of every 32nd rectangle and every 64th
 *                         message, the time spent in each 512 calls of a depth, a checksum
 *
 * A run without these files, or with damaged ones, is as good as one with them: levels_make
 * makes the same in memory.
 */
#ifndef SNAG_RUN_LEVELS_H
#define SNAG_RUN_LEVELS_H

#include "base/pool.h"
#include "run/columns.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As it is in the file. */
struct level_rect {
    uint64_t begin_ns, end_ns;
    uint32_t first;   /* in by_depth, counted from the beginning of the depth */
    uint32_t n_calls; /* 1: a call; more: each shorter than the interval */
    uint32_t call;    /* row; the longest of them, the first of equals */
    uint32_t region;  /* of that call */
};

/* A list of rectangles in time order, and the beginning of every 32nd of them. */
struct level {
    const struct level_rect *rect; /* [n] */
    const uint64_t *fence;
    uint32_t n;
};

struct levels {
    const struct columns *columns; /* of which these are */
    const struct levels_header *header;
    const struct level_line *line;   /* one per number in depth_start */
    const struct level_rects *level; /* of all lines */
    const uint64_t *fence;           /* of all levels */
    const uint64_t *spent;           /* of all lines */
    const uint64_t *message_fence;   /* of all locations */
    const struct level_rect *rect;   /* of all levels */
    uint64_t *first_message_fence;   /* [n_locations] own memory */
    struct {
        const void *data;
        size_t bytes;
    } index, rects;
};

/*
 * levels_write -- make calls/levels.* beside the columns, which are finished.
 *   is_cancelled  looked at now and then, may be NULL; then nothing is written
 * The files appear whole or not at all. The bytes do not depend on the threads. Returns 0 or
 * ERR_IO. O(calls), reads enter, inclusive, depth and region once.
 */
int levels_write(const struct columns *columns, struct pool *pool,
                 const atomic_bool *is_cancelled);

/*
 * levels_open -- map the files of these columns, which must stay open as long.
 * Returns 0, ERR_IO when there are none, or ERR_FORMAT when they are damaged or of other
 * columns. Reads the index, not the rectangles. Close in any case.
 */
int levels_open(struct levels *levels, const struct columns *columns);

/* levels_make -- the same without a directory: in memory. Returns 0 or ERR_IO. */
int levels_make(struct levels *levels, const struct columns *columns, struct pool *pool,
                const atomic_bool *is_cancelled);
void levels_close(struct levels *levels);

/*
 * levels_of -- which levels a depth of a location has.
 *   finest  out: k of the finest
 * Returns how many; 0 when there are no calls. O(1).
 */
unsigned levels_of(const struct levels *levels, uint32_t location, uint32_t depth,
                   unsigned *finest);

/* levels_at -- level k, or the one that has the same rectangles. levels_of is not 0. O(1). */
struct level levels_at(const struct levels *levels, uint32_t location, uint32_t depth,
                       unsigned k);

/*
 * levels_message_from -- as calls_message_from, but hardly reads the messages. O(log n).
 */
size_t levels_message_from(const struct levels *levels, uint32_t location, uint64_t time_ns);

/*
 * levels_spent -- inclusive time of calls begin .. end - 1 of a depth, counted from its
 * beginning. Looks at a thousand of them at most.
 */
uint64_t levels_spent(const struct levels *levels, uint32_t location, uint32_t depth,
                      uint64_t begin, uint64_t end);

/* level_most -- no fewer than level_range will find, about 64 more at most. */
uint32_t level_most(const struct level *level, uint64_t begin_ns, uint64_t end_ns);

/* level_range -- the rectangles that reach into a stretch of time: *begin .. *end - 1. */
void level_range(const struct level *level, uint64_t begin_ns, uint64_t end_ns, uint32_t *begin,
                 uint32_t *end);

/*
 * level_share -- divide something up: who wants less than an equal part has what it wants,
 * the others equal parts of the rest.
 *   wanted  (n) sorted on return
 * Returns the equal part, at least 1; UINT32_MAX when there is enough for all.
 */
uint32_t level_share(uint32_t *wanted, size_t n, uint64_t most);

/* level_rect_of -- a call as a rectangle. `first`: which of its depth it is. */
struct level_rect level_rect_of(const struct call_view *calls, uint32_t row, uint32_t first);

/*
 * level_join -- make rectangle b part of a, which comes right before it, if on level k they
 * are one.
 *   a_ns, b_ns  how long the call takes that stands for each
 * Returns true if so; then *a_ns is that of both.
 */
bool level_join(struct level_rect *a, uint64_t *a_ns, const struct level_rect *b, uint64_t b_ns,
                unsigned k);

/*
 * level_coarsen -- what level k makes of the n rectangles of a finer one.
 *   longest_ns  (n) how long the call takes that stands for each
 * Returns how many. O(n).
 */
uint32_t level_coarsen(struct level_rect *rect, uint64_t *longest_ns, uint32_t n, unsigned k);

#endif
