/*
 * critical_time -- what the run was doing on its critical path: the own time of each function
 * while the path passed its location. All together it is as long as the run, but for what was
 * outside of calls; so where two runs differ in length, the functions that differ here say why.
 *
 * Source: Boehme, Wolf, de Supinski, Schulz, Geimer. Scalable Critical-Path Based Performance
 * Analysis. IPDPS 2012: the critical-path profile.
 */
#ifndef SNAG_REPLAY_CRITICAL_TIME_H
#define SNAG_REPLAY_CRITICAL_TIME_H

#include "replay/critical.h"

/*
 * critical_time -- add up.
 *   c  sound
 *   s  whose path it is
 *   region_ns  (regions of the view) out: ns on the path
 * Waiting is on the path nowhere but where nothing says for whom. Calls are looked at where the
 * path passes; O(syncs + these * log syncs).
 */
void critical_time(const struct critical *c, const struct syncs *s, double *region_ns);

#endif
