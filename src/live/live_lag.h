/* live_lag -- how far behind a program is who reads its steps. */
#ifndef SNAG_LIVE_LIVE_LAG_H
#define SNAG_LIVE_LIVE_LAG_H

#include "base/progress.h"

#include <stdint.h>

/*
 * live_lag -- by how many ns a step that has just come is later than the one that came soonest,
 * by the trace's clock: the two clocks have no beginning in common, so that is all one knows.
 *   least_delay_ns  in and out: of all steps so far; INFINITY at first
 *   end_ns          of the step
 *   speed           of trace time, above 0
 */
static inline double live_lag(double *least_delay_ns, uint64_t end_ns, double speed)
{
    double delay_ns = (double)clock_ns() - (double)end_ns / speed;

    if (delay_ns < *least_delay_ns)
        *least_delay_ns = delay_ns;
    return delay_ns - *least_delay_ns;
}

#endif
