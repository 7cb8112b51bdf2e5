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

/*
 * horizon -- until when it matters that something was entered earlier or later than it was.
 *
 * A replay that began in the middle of a run may stop when all locations are ahead by the same
 * time, unless something is still needed that was entered before that, ahead by another time,
 * and that is waited for.
 */
struct horizon {
    uint32_t *last_use; /* [n] the last place at which a sync is needed; 0: it is not */
    uint64_t *slack_ns; /* [n] so much later it can be entered before anybody waits for it */
    uint32_t *reach; /* [n] the last place at which one is needed that is entered up to a place
                        and has less slack than long_ns */
    uint64_t long_ns;
};

/* What is cut at a sync. Blocks of syncs have memory for it where there ever was any. */
struct sync_cut {
    int64_t before_ns; /* of the time between the sync before and this one */
    int64_t own_ns;    /* of the time in it, what it waited aside */
};

#define CUT_BLOCK 512u

/* A model may say of calls that they typically take centuries; sums of times stay below 2^63. */
#define MAX_ADDED_NS ((int64_t)1 << 61)

struct replay {
    const struct syncs *syncs;
    struct sync_cut **cut; /* [n / CUT_BLOCK + 1] of a block of syncs, or NULL */
    bool *is_cut;          /* [n / CUT_BLOCK + 1] there is any in it now */
    int64_t *ahead;        /* [n] by how much earlier it is entered; 0 where nothing is cut */
    bool is_moved;         /* some are: else that is not looked at, and needs no memory */
    int64_t *now;          /* [n_tracks] the same, of the next sync to be left */
    int64_t *waits_less;   /* [n_locations] waited less than it did, in all */
    int64_t *waited_ns;    /* [n_locations] the same of waits that became shorter alone */
    uint64_t *all_ns;      /* [n_collectives] when the last was in, of this replay */
    uint32_t *all_run;     /* [n_collectives] ... which is this one */
    uint32_t run;
    int64_t added_ns;   /* put in by cuts of less than nothing, at most MAX_ADDED_NS */
    int64_t unknown_ns; /* excess of calls that wait for what is not in the trace: not cut */
    uint32_t *touched;  /* [n_touched] syncs with cuts */
    size_t n_touched, touched_cap;
    struct horizon horizon;   /* once it is asked for a part of the run */
    struct late_member *late; /* [n_late] not yet cut */
    size_t n_late, late_cap;
};

struct replay_result {
    int64_t saved_ns; /* by how much the run is shorter; below 0: longer */
    uint32_t n_syncs; /* gone through */
    uint32_t end;     /* place after the last of them, in the order they were left */
};

/* replay_cut_of -- what is cut at a sync. */
static inline struct sync_cut replay_cut_of(const struct replay *r, uint32_t sync)
{
    return r->is_cut[sync / CUT_BLOCK] ? r->cut[sync / CUT_BLOCK][sync % CUT_BLOCK]
                                       : (struct sync_cut){0, 0};
}

void replay_init(struct replay *r, const struct syncs *syncs);
void replay_release(struct replay *r);

/*
 * replay_cut -- take time out of a call, or with a negative time put it in; what its own calls
 * take stays.
 *   row        a call of the location
 *   excess_ns  what its exclusive time is over what is typical
 * Of a call of MPI only what it took beside waiting counts: nothing where it waited for longer
 * than the excess, and nothing where it waited for what is not in the trace. Of one with calls
 * inside, the excess is where the time between these is longest. Returns what is cut.
 * O(log syncs + its children).
 */
int64_t replay_cut(struct replay *r, uint32_t location, uint32_t row, int64_t excess_ns);

/*
 * replay_cut_after -- take time out of what a location did of its own between two syncs.
 *   time_ns  when: until the first sync that is entered after it
 * Returns what is cut. O(log syncs).
 */
int64_t replay_cut_after(struct replay *r, uint32_t location, uint64_t time_ns,
                         int64_t excess_ns);

/*
 * replay_spread -- where in a call its excess is: where the time between its calls is longest,
 * as replay_cut has it, for whoever keeps no calls.
 *   calls  enter_ns, inclusive_ns, subtree_len are looked at
 *   fn     told when it was, and how much of it; in order of time
 * O(children).
 */
typedef void replay_spread_fn(void *ctx, uint64_t begin_ns, int64_t ns);
void replay_spread(const struct call_view *calls, uint32_t row, int64_t excess_ns,
                   replay_spread_fn *fn, void *ctx);

/*
 * replay_cut_late -- threads come to a barrier of their team by when they typically do: whatever
 * kept those who came later is taken out of what they did since they last waited, in the team;
 * where all came earlier, whoever came last comes so much later.
 *   row      a call of the barrier, of whoever forked
 *   from_ns  when that was
 *   late_ns  so much longer than typical it waited there, or shorter, if negative
 *   held_ns  so much later than typical it came itself, or earlier: what held it up may have held
 *            up others
 * What is taken out of them otherwise counts. Of several times between which they only told others
 * something the longest are shortened most. Returns for how much of it that can be done.
 * O(log syncs + threads of the team + what they told).
 */
int64_t replay_cut_late(struct replay *r, uint32_t location, uint32_t row, uint64_t from_ns,
                        int64_t late_ns, int64_t held_ns);

/* replay_settle -- once all is cut: what replay_cut_late was told. Playing does it, too. */
void replay_settle(struct replay *r);

/*
 * replay_begin_after -- an operation of a stream begins so long after all that it waits for
 * has ended.
 * replay_set -- it takes so long, or so much longer or shorter, as it took took_ns.
 *   ready  syncs_is_ready
 * For what-if's of all operations: these are not limited to what there is to cut.
 */
void replay_begin_after(struct replay *r, uint32_t ready, uint64_t ns);
void replay_set(struct replay *r, uint32_t ready, int64_t ns, int64_t took_ns);

/* replay_clear -- nothing is cut. O(what was cut). */
void replay_clear(struct replay *r);

/*
 * replay_run -- play the run without what is cut, from the first cut to where nothing changes
 * any more.
 * r->waits_less and waited_ns are what each location waited less than it did. O(syncs gone
 * through).
 */
void replay_run(struct replay *r, struct replay_result *out);

/*
 * replay_ahead -- after replay_run: by how much locations were ahead in the end. Where the last
 * that is known of a run is not its end, that is what is saved at least and at most.
 */
void replay_ahead(const struct replay *r, int64_t *least_ns, int64_t *most_ns);

/* replay_whole -- the same, from the first sync to the last. O(syncs). */
void replay_whole(struct replay *r, struct replay_result *out);

/*
 * gaps -- what keeps operations of streams from beginning although all that they are known to
 * wait for is there.
 *
 * Where a schedule is known from rules, not all of it is recorded: operations are sent in
 * batches, or begin when their partner does, which may be much later than they could. Would
 * that be kept as it was, hardly anything would be saved by anything. So such operations are
 * held to begin as soon as they can, but for the times at which nothing at all was going on,
 * between steps: those are the run's own.
 */

/*
 * gaps_close -- where all that takes part are streams whose order rules know, move the run to
 * how it would have been without gaps. Nothing may be cut. O(syncs x log syncs).
 */
void gaps_close(struct replay *r, struct syncs *s);

#endif
