/*
 * known -- times that are known to within so much: begins and ends of calls that were found on
 * stacks are estimates, each with what it may be off by at most (struct border_estimate), and
 * so is what is computed from them.
 *
 * Nothing says that one is off the other way than the next: offs of a sum add up. They are
 * bounds, not deviations; where all is known they are 0, and change nothing.
 */
#ifndef SNAG_BASE_KNOWN_H
#define SNAG_BASE_KNOWN_H

#include <math.h>

/* known_part -- what of x is surely there, if it may be off by `off` either way: nearer to 0 by
 * that, and not beyond. */
static inline double known_part(double x, double off)
{
    return copysign(fmax(fabs(x) - off, 0), x);
}

#endif
