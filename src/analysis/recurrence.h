/*
 * recurrence -- what comes back in every so many executions of a location.
 *
 *     index   199   399   583   599   799   999  1199 ...     cost about the same
 *              x     x     .     x     x     x     x          period 200
 *
 * A program that writes a checkpoint every 200 steps delays whoever waits for it every 200
 * steps. These are not so many incidents but one.
 */
#ifndef SNAG_ANALYSIS_RECURRENCE_H
#define SNAG_ANALYSIS_RECURRENCE_H

#include <stddef.h>
#include <stdint.h>

struct occurrence {
    uint32_t location, index; /* of the execution; no two are equal in both */
    uint32_t n_here;          /* executions of the location; > index */
    double cost;              /* >= 0, of any unit */
    size_t turn_of;           /* out: the one of its recurrence that cost most, or itself */
    uint32_t period;          /* out: executions; 0: it does not come back */
};

/*
 * recurrence_find -- which of n belong together: RECURRENCE_TURNS at least, the same number of
 * executions apart, in three of four of the turns that the location's executions have room for,
 * none costing more than twice or less than half of what the middle one costs. The most
 * frequent recurrences are taken first, and each occurrence is of one at most.
 *
 * By chance: were one in 50 executions of a location in the list at random, six turns in eight
 * would be hit once in a million tries. O(n log n) with a factor of the periods that are tried.
 */
#define RECURRENCE_TURNS 6u
#define RECURRENCE_MIN_PERIOD 20u /* executions; what comes more often is typical */
void recurrence_find(struct occurrence *x, size_t n);

#endif
