/*
 * profile -- per region: how often it is called, for how long, how regularly.
 *
 * A region that calls itself, directly or not, counts its time once: inclusive times and their
 * spread are of its *outermost* calls, those that are not inside another call of it.
 */
#ifndef SNAG_FOREST_PROFILE_H
#define SNAG_FOREST_PROFILE_H

#include "stack/calls.h"
#include "trace/definitions.h"

#include <stddef.h>
#include <stdint.h>

struct profile_row {
    uint64_t n_calls;
    uint64_t exclusive_ns; /* summed over all calls */

    /* of the outermost calls: */
    uint64_t n_outermost;
    uint64_t inclusive_ns; /* summed */
    uint64_t min_ns, max_ns;
    unsigned __int128 sum_squares; /* of their times: exact, whatever the order of merging */
    uint64_t n_vertices;           /* calls inside, themselves included, summed */

    uint32_t n_locations; /* on which it is called */
    uint32_t n_streams;   /* of these, streams of a GPU */
    uint64_t on_ns;       /* from the first event to the last of these; 0: not known */
    uint64_t forked_ns;   /* in which it had a team of threads */
    uint32_t n_with_mpi;  /* of these, on which an MPI call was seen inside it */

    /* of those among the first calls of each location (MPI_CALLS_LOOKED_AT of MPI): */
    uint64_t looked_ns; /* outermost calls */
    uint64_t mpi_ns;    /* of that, in MPI */
};

struct profile {
    struct profile_row *row; /* [n_regions] */
    uint32_t n_regions;
    double
        team_ratio; /* what other threads did in teams, to the time these took: teams_ratio */
};

/* What going through the calls of a location needs to know of the rows before. */
struct profile_walk {
    uint32_t *open_until; /* [n_regions] the row after the last outermost call */
    uint32_t *region_at;  /* [DEEPEST_CALL + 1] of the last row of that depth */
};

void profile_init(struct profile *profile, uint32_t n_regions);
void profile_release(struct profile *profile);

/* profile_extend -- there are more regions now; nothing is known of the new ones. */
void profile_extend(struct profile *profile, uint32_t n_regions);

void profile_walk_init(struct profile_walk *walk, uint32_t n_regions);
void profile_walk_release(struct profile_walk *walk);

/*
 * profile_begin, profile_rows, profile_end -- the profile of the calls of one location, some
 * rows at a time, so that others can look at them while they are in the cache.
 *   begin, end  the rows after those of the last time
 * The profile is cleared first. O(regions + calls).
 */
void profile_begin(struct profile *profile, struct profile_walk *walk);
void profile_rows(struct profile *profile, struct profile_walk *walk, const struct calls *calls,
                  uint32_t begin, uint32_t end);
void profile_end(struct profile *profile, struct profile_walk *walk, const struct calls *calls,
                 const struct definitions *defs);

/* profile_is_stream -- the location that the profile is of is a stream of a GPU. */
void profile_is_stream(struct profile *profile);

/* profile_merge -- into += from. */
void profile_merge(struct profile *into, const struct profile *from);

/* profile_variation -- standard deviation over mean of a row's outermost calls; 0 for one. */
double profile_variation(const struct profile_row *row);

#endif
