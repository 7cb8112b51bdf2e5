/* peer_costs -- what slow places cost (peers_costs), and what their GPUs, and the threads that
 * work for them, have to do with it. */
#ifndef SNAG_RANKS_PEER_COSTS_H
#define SNAG_RANKS_PEER_COSTS_H

#include "ranks/peers.h"
#include "replay/what_if.h"

/* peer_is_other_thread -- whether a location is another thread of the same rank, and no GPU. */
bool peer_is_other_thread(const struct trace_view *view, uint32_t location, uint32_t other);

/*
 * peer_helpers_split -- of calls that wait for a GPU, what they did not wait for other ranks is
 * own work, as is what the thread of autograd was at work for of a call that waits for it: sets
 * waited_ns and is_helper, and their paths are none that wait. Nothing where there are no such
 * calls. O(vertices + what waiting_others_ns costs for each + calls of these threads).
 */
void peer_helpers_split(struct peers *peers, const struct scoring *scoring,
                        const struct trace_view *view);

/*
 * peer_helpers_name -- for what operations the GPU, or for what functions the thread of autograd,
 * of each place that is slow in waiting for it takes longer than those of the others
 * (peer_path.kernel), if that explains half of it; then what they take longer is the excess,
 * where it is more. Where places are ranks. O(calls of GPUs and of these threads).
 */
void peer_helpers_name(struct peers *peers, const struct scoring *scoring,
                       const struct trace_view *view);

/*
 * peer_helpers_cut -- take what these take longer out of the run, see replay_cut: of waits with
 * such a kernel nothing else is taken out.
 *   is_perhaps  also of what is not significant
 * Returns what is cut, in ns. O(calls of the place's GPUs, or of these threads).
 */
int64_t peer_helpers_cut(const struct peers *peers, uint32_t place, bool is_perhaps,
                         struct what_if *w);

#endif
