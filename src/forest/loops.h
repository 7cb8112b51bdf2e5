/*
 * loops -- the loops of a program, found in the order of its calls.
 *
 * A trace without functions, or with everything in one, says nothing of the steps of the
 * program; but what it calls repeats. Locations are looked at one by one (loops_find), each for
 * itself; then they agree on what is the same loop (loops_agree), so that an iteration has the
 * same number on all of them. A loop is called loop@FUNCTION: who runs it, or, where nothing is
 * known of that, what its iterations begin with.
 *
 * After Xu and Subhlok, Efficient Discovery of Loop Nests in Execution Traces (MASCOTS
 * 2010), and Aguilar, Fuerlinger and Laure, Automatic On-Line Detection of
 * MPI Application Structure with Event Flow Graphs (Euro-Par 2015). Departs from both: no
 * grammar and no graph is made, as an iteration that differs breaks these; see
 * docs/algorithms.md.
 */
#ifndef SNAG_FOREST_LOOPS_H
#define SNAG_FOREST_LOOPS_H

#include "base/pack.h"
#include "forest/clock.h"
#include "forest/profile.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_LOOPS 4 /* offered */

/* A loop on one location. */
struct loop_part {
    struct insertion calls;  /* its iterations, as calls of no region yet; owned */
    uint64_t *begin_ns, *ns; /* [calls.n] */
    uint32_t caller;         /* region, or NO_CALL */
    uint32_t first;          /* region of the first call of an iteration */
    uint32_t n_odd;          /* of them do more than nearly all do: maybe what is around them */
    bool is_step;            /* this is it; false: loops around it, or inside */
};

struct loops_found {
    struct loop_part part[MAX_LOOPS * 2];
    uint32_t n;
};

/*
 * loops_find -- the loops on one location.
 *   where    the location: what a GPU, or a thread of a team, does between its outermost calls
 *            is nothing, so that these are no iterations
 *   goes_on  these are not all of its calls: it still runs, or is not read any further. Then
 *            the last iterations are left out, as they may not be whole
 *   out      released by loops_found_release
 *
 * Only what lasts long can hold a loop worth offering: the calls inside short ones are not
 * looked at. O(n log n) in the number of those that are; 8 bytes each. Thread-safe.
 */
void loops_find(const struct call_view *calls, const struct location *where,
                const struct definitions *defs, bool goes_on, struct loops_found *out);
void loops_found_release(struct loops_found *found);
/*
 * loops_found_pack, loops_found_unpack -- to bytes and back, for another process.
 * Unpacking returns 0, or ERR_FORMAT when these are no such bytes; release it in any case.
 */
void loops_found_pack(const struct loops_found *found, struct pack *pack);
int loops_found_unpack(struct loops_found *found, struct pack *pack);

/* A loop on all locations. */
struct loop {
    uint32_t region;        /* loop@FUNCTION, of kind REGION_LOOP */
    struct loop_part *part; /* [n_locations] calls.n is 0 where it is not run, else the same */
};

struct loops {
    struct loop loop[MAX_LOOPS]; /* best first */
    uint32_t n;
    uint32_t n_locations;
};

/*
 * loops_elect -- which of the loops of locations are the same.
 *   found  (defs->n_locations) what loops_find found; what becomes part of a loop is moved
 *   fix    (defs->n_ranks) what makes the times of ranks comparable
 *   out    their regions are not set; released by loops_release
 */
void loops_elect(struct loops_found *found, const struct clock_fix *fix,
                 const struct definitions *defs, struct loops *out);

/*
 * loop_name -- loop@FUNCTION.
 * Returns out.
 */
#define LOOP_NAME_SIZE 512
const char *loop_name(const struct loop *loop, const struct definitions *defs,
                      char out[LOOP_NAME_SIZE]);

/* loop_define -- add its region: the second of the same name is loop@FUNCTION#2. */
void loop_define(struct loop *loop, struct definitions *defs);

/*
 * loops_agree -- elect loops, and add them to what is known.
 *   found, fix, out  as for loops_elect
 *   defs             get a region for each loop
 *   profile          gets a row for each, as if its iterations were calls
 */
void loops_agree(struct loops_found *found, const struct clock_fix *fix,
                 struct definitions *defs, struct profile *profile, struct loops *out);
void loops_release(struct loops *loops);

/* loops_of_region -- the loop that a region stands for, or NULL. */
const struct loop *loops_of_region(const struct loops *loops, uint32_t region);

#endif
