/*
 * joint_spread -- centre and width of values of which several processes have some each, without
 * bringing them together: where one group is most of all values, nobody need have all of them.
 *
 * Each process has its own values in ascending order. The k-th smallest of all is found four
 * bits at a time: for what is known of its bits each process says how many of its values have
 * each of the 16 continuations, the sums say which one has the k-th. After 16 rounds it is
 * known to the bit; so what is said is what robust_spread says of all values, to the bit.
 *
 *     6, 7, 9 | 6, 8      k = 3, bits 0110 0111 1001 | 0110 1000
 *     next two bits       01: 2 + 1    10: 1 + 1    so it begins with 10, and is number 0 there
 *     last two bits       00: 0 + 1    01: 1 + 0    8
 */
#ifndef SNAG_FEATURES_JOINT_SPREAD_H
#define SNAG_FEATURES_JOINT_SPREAD_H

#include "features/robust.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

/* The values of one group that this process has: x = ln(time + offset). */
struct joint_part {
    struct sorted_times times; /* n may be 0 here, but not everywhere */
    double offset_ns;
};

/*
 * joint_spreads -- of n groups, what robust_log_times would say of the times of all processes.
 *   share   all its processes call it, with the same groups
 *   least   the width is at least this, > 0
 *   spread  (n) out, the same everywhere
 * Sends 2 (processes - 1) messages in each of 33 rounds, 1 kB a group and process in all but
 * one. O(n log(times)).
 */
void joint_spreads(const struct tree_share *share, const struct joint_part *part, uint32_t n,
                   double least, struct spread *spread);

#endif
