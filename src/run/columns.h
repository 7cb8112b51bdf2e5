/*
 * columns -- the directory calls/ of a run: every call, message and collective of a trace,
 * and what its threads do in teams.
 *
 * One file per column, little-endian, without a header, so that a file can be mapped as an
 * array by anything:
 *
 *     calls/enter_ns.u64       [n_calls]  never decreasing within a location
 *     calls/inclusive_ns.u64   [n_calls]
 *     calls/region.u32         [n_calls]  index into the regions of the run
 *     calls/subtree_len.u32    [n_calls]  calls inside it, itself included
 *     calls/depth.u16          [n_calls]
 *     calls/by_depth.u32       [n_calls]  rows of a location by depth, each in time order
 *     calls/depth_start.u64    [n_depths + 1 per location]  where in by_depth each depth begins
 *     calls/messages.rec       struct message each
 *     calls/collectives.rec    struct collective each
 *     calls/teams.rec          struct team_span each
 *     calls/barriers.u32       [n_barriers] rows of calls of barriers, by member of a team
 *     calls/dependencies.rec   struct dependency each, of all locations
 *     calls/estimates.rec      struct call_estimate each: begins and ends not known exactly
 *     calls/readings.rec ...   what counters read, and arguments of calls (detail_files.h)
 *     calls/index              who has which rows, and a checksum of everything
 *
 * Location l owns a contiguous range of rows in every file, in preorder (see stack/calls.h).
 * Opening maps the files and reads the index: it does not depend on the length of the trace.
 */
#ifndef SNAG_RUN_COLUMNS_H
#define SNAG_RUN_COLUMNS_H

#include "base/fs.h"
#include "base/pack.h"
#include "base/paged.h"
#include "base/pool.h"
#include "forest/traffic.h"
#include "run/detail_files.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_column {
    COLUMN_ENTER,
    COLUMN_INCLUSIVE,
    COLUMN_REGION,
    COLUMN_SUBTREE,
    COLUMN_DEPTH,
    COLUMN_BY_DEPTH,
    N_COLUMNS
};

/* What the index says about a location; as it is in the file. */
struct column_range {
    uint64_t first_call, n_calls;
    uint64_t first_depth, n_depths; /* entries in depth_start, one more than n_depths */
    uint64_t first_message, n_messages;
    uint64_t first_collective, n_collectives;
    uint64_t first_span, n_spans;
    uint64_t first_barrier, n_barriers;
    uint64_t first_estimate, n_estimates;
    uint64_t estimate_sum;        /* XXH3-64 of these */
    uint64_t first_ns, last_ns;   /* of any event; first > last if there was none */
    uint64_t n_open;              /* calls that had not ended then */
    uint64_t checksum[N_COLUMNS]; /* XXH3-64 of the location's part of each column */
};

/* ---------------------------------------------------------------------------- writing */

struct columns_writer;

/*
 * columns_create -- make dir/calls with empty columns.
 * Returns NULL with err_set when that fails.
 */
struct columns_writer *columns_create(const char *dir, uint32_t n_locations);

/*
 * columns_join -- write locations into columns that another process has created. Nothing is
 * finished by who has joined: it hands on what the index says of its locations.
 * Returns NULL with err_set when that fails.
 */
struct columns_writer *columns_join(const char *dir, uint32_t n_locations);

/* columns_free -- closes the files; what was not finished is not usable. NULL is harmless. */
void columns_free(struct columns_writer *writer);

/* Where the rows of the next location begin, in all files. All 0 for the first. */
struct column_offsets {
    uint64_t call, message, collective, span, barrier, estimate;
    uint64_t detail[N_DETAIL_FILES];
};

/*
 * columns_place -- give location `location` its rows, at *next, which is then that of the
 * location after it. Must be called for all locations in order, by whoever writes them, and
 * before columns_write of the same location.
 */
void columns_place(struct columns_writer *writer, uint32_t location, const struct calls *calls,
                   struct column_offsets *next);

/*
 * columns_write -- write the calls of a location where they were placed.
 *   by_depth  room for calls->n numbers
 *   look      called with rows that are about to be written, one block after the other: for
 *             what has to see all calls once and does well to do it while they are in the cache
 * Several threads may write different locations at once. Returns 0 or ERR_IO.
 */
int columns_write(struct columns_writer *writer, uint32_t location, const struct calls *calls,
                  uint32_t *by_depth, void (*look)(void *ctx, uint32_t begin, uint32_t end),
                  void *ctx);

/*
 * columns_shift -- move all times of a location that is written: t + offset + drift * t.
 * Keeps their order. Returns 0 or ERR_IO.
 */
int columns_shift(struct columns_writer *writer, uint32_t location, int64_t offset_ns,
                  double drift);

/*
 * columns_pack_location -- what the index is to say of a location that was written.
 * columns_adopt -- take that over from the process that has written it. Returns 0 or
 * ERR_FORMAT.
 */
void columns_pack_location(const struct columns_writer *writer, uint32_t location,
                           struct pack *pack);
int columns_adopt(struct columns_writer *writer, uint32_t location, struct pack *pack);

/* columns_finish -- write the traffic and the index; and what counters and arguments are
 * called, of which the definitions know the names. Returns 0 or ERR_IO. */
int columns_finish(struct columns_writer *writer, const struct traffic *traffic,
                   const struct definitions *defs);

/* ---------------------------------------------------------------------------- reading */

struct columns {
    int dir; /* handle of calls/ */
    char path[FS_PATH_SIZE];
    uint32_t n_locations;
    uint64_t n_calls, n_messages, n_collectives, n_spans, n_barriers, n_dependencies;
    uint64_t n_estimates;
    uint64_t end_ns;                  /* of the last event of all */
    const struct column_range *range; /* [n_locations] */
    const void *column[N_COLUMNS];
    const uint64_t *depth_start;
    const struct message *message;
    const struct collective *collective;
    const struct team_span *span;
    const uint32_t *barrier;
    const struct dependency *dependency;
    const struct call_estimate *estimate;
    struct {
        const void *data;
        size_t bytes;
    } map[N_COLUMNS + 8];
    struct detail_files details;
    atomic_uchar *is_checked; /* [n_locations] by columns_check */
};

/*
 * columns_open, columns_open_at -- map dir/calls; the latter by a handle of dir.
 * Returns 0, ERR_IO, or ERR_FORMAT when the index is damaged, of another version, or does not
 * fit the files. Does not read the columns. Close in any case.
 */
int columns_open(struct columns *columns, const char *dir);
int columns_open_at(struct columns *columns, int run, const char *dir);
void columns_close(struct columns *columns);

/*
 * columns_view -- the calls of a location: pointers into the mapped files. O(1).
 *
 * The numbers in there may be anything: they are as they are in the files, which somebody else
 * may have written. Who goes through all calls of a location asks columns_check before; who
 * looks at some of a billion (a timeline) looks at each number before it uses it.
 */
struct call_view columns_view(const struct columns *columns, uint32_t location);

/*
 * columns_check -- see that the calls of a location are what the format says: regions that
 * there are, subtrees within each other, depths, times in order that can be added up, no call
 * shorter than what it called, the order by depth; and what its messages and collectives refer
 * to.
 *   defs  of the run: regions, ranks, communicators
 * Done once for a location, later calls return at once. Thread-safe. Returns 0, or ERR_FORMAT.
 * O(calls and messages of the location), 3 ns a call.
 */
int columns_check(const struct columns *columns, uint32_t location,
                  const struct definitions *defs);

/*
 * columns_check_all -- columns_check of all locations: what was made of a trace just now is
 * what every other command takes, or it is not a run.
 */
int columns_check_all(struct columns *columns, const struct definitions *defs,
                      struct pool *pool);

/* columns_check_tree -- the same for a call and all below it. `row` may be anything. O(calls
 * below). */
int columns_check_tree(const struct columns *columns, uint32_t location, uint32_t row,
                       const struct definitions *defs);

/*
 * columns_drop -- the pages that were read so far may leave memory. Coming back they cost more
 * than they are worth where all files together have no more than COLUMNS_KEPT_BYTES: these
 * stay.
 */
#define COLUMNS_KEPT_BYTES ((size_t)256 << 20)
void columns_drop(const struct columns *columns);

/* columns_share, columns_unshare -- their pages leave memory with those of other arrays. */
void columns_share(const struct columns *columns, struct paged *paged);
void columns_unshare(const struct columns *columns, struct paged *paged);

/*
 * columns_scatter -- a place here, a place there will be read: nothing is to be read ahead. For
 * columns that were opened to be looked at like this only.
 */
void columns_scatter(const struct columns *columns);

/* columns_verify -- read everything and compare the checksums. Returns 0 or ERR_FORMAT. */
int columns_verify(const struct columns *columns);

/* columns_verify_location -- the same for the calls of one location; columns_verify_others --
 * for what is not told apart by location. */
int columns_verify_location(const struct columns *columns, uint32_t location);
int columns_verify_others(const struct columns *columns);

/* columns_name, columns_width -- "enter_ns.u64", 8. */
const char *columns_name(enum call_column column);
size_t columns_width(enum call_column column);

#endif
