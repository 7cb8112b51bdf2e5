/*
 * replay -- what a run would have taken if some of its calls had been shorter.
 *
 *     syncs_init(&syncs, &view);
 *     replay_init(&replay, &syncs);
 *     replay_cut(&replay, location, row, excess_ns);    any number of calls
 *     replay_run(&replay, &result);                     and again, after replay_clear
 *
 * What a location does between two syncs takes as long as it took, less what is cut out of it.
 * What it waits for is found anew: with a, when a sync is entered, and w, when the last of what
 * it needs is entered, it is left at
 *
 *     max(a + d, w + d')        d' = left - w, as it was, where w came after a;
 *                               d = d', or what the call took where nothing came late
 *
 * So with nothing cut, every sync is left when it was: the replay is exact, whatever the clocks
 * say. Only syncs are gone through, from the first that a cut is before to where all locations
 * are ahead by the same time and nothing from before is still needed. Everything is a sum of
 * whole nanoseconds.
 *
 * Source: Hermanns, Geimer, Mohr, Wolf. Verifying Causality Between Distant Performance
 * Phenomena in Large-Scale MPI Applications (delay analysis by replay). PDP 2009. Boehme,
 * Geimer, Wolf, Arnold. Identifying the Root Causes of Wait States in Large-Scale Parallel
 * Applications. ICPP 2010. Lin and others. Understanding Stragglers in Large Model Training
 * Using What-if Analysis. OSDI 2025. Departs from the last: waiting is found from messages and
 * collectives, not from a schedule that is known.
 */
#ifndef SNAG_REPLAY_REPLAY_H
#define SNAG_REPLAY_REPLAY_H

#include "replay/syncs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay {
    const struct syncs *syncs;
    int64_t *cut;        /* [n] of the time between the sync before and this one */
    int64_t *own_cut;    /* [n] of the time in it, what it waited aside */
    int64_t *ahead;      /* [n] by how much earlier it is entered; 0 where nothing is cut */
    int64_t *now;        /* [n_locations] the same, of the next sync to be left */
    int64_t *waits_less; /* [n_locations] waited less than it did */
    uint64_t *all_ns;    /* [n_collectives] when the last was in, of this replay */
    uint32_t *all_run;   /* [n_collectives] ... which is this one */
    uint32_t run;
    int64_t unknown_ns; /* excess of calls that wait for what is not in the trace: not cut */
    uint32_t *touched;  /* [n_touched] syncs with cuts */
    size_t n_touched, touched_cap;
};

struct replay_result {
    int64_t saved_ns; /* by how much the run is shorter; below 0: longer */
    uint32_t n_syncs; /* gone through */
};

void replay_init(struct replay *r, const struct syncs *syncs);
void replay_release(struct replay *r);

/*
 * replay_cut -- take time out of a call, or with a negative time put it in; what its own calls
 * take stays.
 *   row        a call of the location
 *   excess_ns  what its exclusive time is over what is usual
 * Of a call of MPI only what it took beside waiting counts: nothing where it waited for longer
 * than the excess, and nothing where it waited for what is not in the trace. Of one with calls
 * inside, the excess is where the time between these is longest. Returns what is cut.
 * O(log syncs + its children).
 */
int64_t replay_cut(struct replay *r, uint32_t location, uint32_t row, int64_t excess_ns);

/* replay_clear -- nothing is cut. O(what was cut). */
void replay_clear(struct replay *r);

/*
 * replay_run -- play the run without what is cut, from the first cut to where nothing changes
 * any more.
 * r->waits_less is what each location waited less than it did. O(syncs gone through).
 */
void replay_run(struct replay *r, struct replay_result *out);

/* replay_whole -- the same, from the first sync to the last. O(syncs). */
void replay_whole(struct replay *r, struct replay_result *out);

#endif
