/*
 * error_bound -- times that are known to within so much: begins and ends of calls that were found on
 * stacks are estimates, each with what it may be off by at most (struct time_estimate), and
 * so is what is computed from them.
 *
 * Nothing says that one is off the other way than the next: offs of a sum add up. They are
 * bounds, not deviations; where all is known they are 0, and change nothing.
 */
#ifndef SNAG_BASE_ERROR_BOUND_H
#define SNAG_BASE_ERROR_BOUND_H

#include <math.h>

/* error_bound_beyond -- what of x is certain, if it may be off by `off` either way: nearer to 0 by
 * that, and not beyond. */
static inline double error_bound_beyond(double x, double off)
{
    return copysign(fmax(fabs(x) - off, 0), x);
}

#endif
