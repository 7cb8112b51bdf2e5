/*
 * critical -- one path through the run that is as long as it: from the end back, at every sync
 * to whatever it was that could not have been earlier.
 *
 * Whatever is taken out elsewhere, this path stays as long as it is, and so does the run: that
 * cost nothing. What is taken out of it shortens the run by no more than that. Both are known
 * without a replay.
 *
 * Source: Boehme, Wolf, de Supinski, Schulz, Geimer. Scalable Critical-Path Based Performance
 * Analysis. IPDPS 2012; critical_time is its critical-path profile.
 */
#ifndef SNAG_REPLAY_CRITICAL_H
#define SNAG_REPLAY_CRITICAL_H

#include "replay/replay.h"

struct critical {
    unsigned char *on; /* [n] of CRITICAL_BEFORE, CRITICAL_IN */
    uint32_t *n_until; /* [n + 1] syncs before one that it passes in any way */
    bool is_sound;     /* false: clocks disagree on it, nothing follows from it */
};

#define CRITICAL_BEFORE 1u /* it passes between the sync before and this one */
#define CRITICAL_IN 2u     /* it passes this one's own time */

/* critical_init -- find it. O(syncs + members of collectives on it). */
void critical_init(struct critical *c, const struct syncs *s);
void critical_release(struct critical *c);

/* critical_passes -- whether it passes any of the syncs of a track from first to last. */
static inline bool critical_passes(const struct critical *c, uint32_t first, uint32_t last)
{
    return c->n_until[last + 1] > c->n_until[first];
}

/* critical_cut_ns -- how much of what is cut in a replay is on it. O(what is cut). */
int64_t critical_cut_ns(const struct critical *c, struct replay *r);

/*
 * critical_time -- what the run was doing on its critical path: the own time of each function
 * while the path passed its location. All together it is as long as the run, but for what was
 * outside of calls; so where two runs differ in length, the functions that differ here say why.
 *   c  sound
 *   s  whose path it is
 *   region_ns  (regions of the view) out: ns on the path
 * Waiting is on the path nowhere but where nothing says for whom. Calls are looked at where the
 * path passes; O(syncs + these * log syncs).
 */
void critical_time(const struct critical *c, const struct syncs *s, double *region_ns);

#endif
