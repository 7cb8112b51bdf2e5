/*
 * source_synth -- a trace said in one line, for tests and demonstrations:
 *
 *     synth:20*step(compute@1ms >1 <1 |);ranks=4;jitter=0.1;slow=compute/15/10/2
 *
 * Items run one after another on every rank:
 *
 *     name            a call, 1 us of its own time, spent before the calls inside it
 *     name@2.5ms      a call with so much time of its own (ns, us, ms, s)
 *     name(a b c)     a call with calls inside
 *     name[a b c]     a call that forks a team of threads, which all do a b c (calls only) and
 *                     wait for each other in a barrier at the end
 *     20*name(...)    that, 20 times
 *     3:name(...)     that, on rank 3 only
 *     >2  <2          MPI_Send to, MPI_Recv from, the rank 2 further up, or down, cyclically
 *     |               MPI_Barrier
 *
 * A receive ends when its message has arrived, 1 us after it was sent; a barrier when all ranks
 * are there. So delays travel from rank to rank as they do in a real program. After the items:
 *
 *     ranks=4         how many (1)
 *     threads=4       of a team (4)
 *     jitter=0.1      sigma of the log of every call's own time (0)
 *     shape=mixed     of that: normal, exponential (no shorter than a bound, a heavy tail),
 *                     mixed (one call in twenty varies three times as much)
 *     seed=7          for the jitter (1)
 *     slow=name/15/10 every 15th call of name on a rank takes 10 times as long; name/15/10/2
 *                     on rank 2 only, name/15/10/2.1 on its thread 1; may be said several times
 *     off=name/50us   begins and ends of calls of name are estimates, which may be off by so
 *                     much; may be said several times
 *     skew=5ms        the clock of rank r is ahead by r times as much (0)
 *     drift=10        ... and gains r times as many microseconds per second (0)
 */
#ifndef SNAG_TRACE_SOURCE_SYNTH_H
#define SNAG_TRACE_SOURCE_SYNTH_H

#include "trace/source.h"

extern const struct source_ops source_synth_ops;

#endif
