/*
 * peer_devices -- what the GPUs of places do: own work of those that wait for it.
 */
#ifndef SNAG_ANALYSIS_PEER_DEVICES_H
#define SNAG_ANALYSIS_PEER_DEVICES_H

#include "analysis/peers.h"

/*
 * peer_devices_split -- of calls that wait for a GPU, what they did not wait for other ranks is
 * own work: sets waited_ns, and their paths are none that wait. Nothing where there are no such
 * calls. O(vertices + what waiting_others_ns costs for each).
 */
void peer_devices_split(struct peers *peers, const struct scoring *scoring,
                        const struct trace_view *view);

/*
 * peer_devices_name -- for what operations the GPU of each place that is slow in waiting for it
 * takes longer than those of the others (peer_path.kernel). Where places are ranks. O(calls of
 * GPUs).
 */
void peer_devices_name(struct peers *peers, const struct scoring *scoring,
                       const struct trace_view *view);

#endif
