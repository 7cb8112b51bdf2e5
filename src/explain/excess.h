/*
 * excess -- what the calls of an execution took over what is typical there, call by call.
 *
 * Two questions, two answers. Which calls lost what an execution lost? Those that were late,
 * and where that is not all, those that took more than typical. What if all calls had been as
 * typical? Then each takes what is typical of its context, those that were shorter too: with many
 * calls the noise of either sign evens out.
 */
#ifndef SNAG_EXPLAIN_EXCESS_H
#define SNAG_EXPLAIN_EXCESS_H

#include "explain/why.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * excess_lost -- what each call of tree t lost; together what it lost, or what they can have
 * lost of it. O(vertices of t).
 *   lost_ns  by residual_loss
 *   out      (vertices of t) ns, at least 0
 */
void excess_lost(const struct why *why, uint32_t t, int64_t lost_ns, double *out);

/*
 * excess_typical -- exclusive time of each call of tree t less what is typical there.
 *   is_everywhere  typical on all locations, not on its own
 *   out            (vertices of t) ns of either sign; 0 where nothing is known to be typical
 */
void excess_typical(const struct why *why, uint32_t t, bool is_everywhere, double *out);

#endif
