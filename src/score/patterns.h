/*
 * patterns -- executions that are not long enough to be strange one by one, but are so
 * together.
 *
 *     index    3    20    37    54    71 ...     every 17th execution takes 6 ms more
 *     index   81 .. 130                          fifty that follow each other do
 *
 * In a run with much noise neither is among the longest; but which executions are among the
 * longer ones is then no matter of chance. By ranks of what each execution of a location lost
 * by itself: those of a class, every p-th one or so many one after another, against the others,
 * as Mann and Whitney do (1947), for all classes; a class is a pattern if among so many none
 * would be so far apart in one run of a thousand.
 */
#ifndef SNAG_SCORE_PATTERNS_H
#define SNAG_SCORE_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#define PATTERN_MIN_PERIOD 5u     /* executions; what comes more often is typical */
#define PATTERN_MIN_EXECUTIONS 6u /* executions in a pattern */
#define PATTERN_FALSE_ALARMS 1e-3 /* runs without any in which one is found */

/*
 * patterns_find -- which executions of a location are in one.
 *   lost      (n) what each lost by itself, in typical durations, in order
 *   least     what counts as lost; the class must lose so much more than the others on average
 *   n_places  locations that are looked at in all
 *   is_in     (n) out: it is in a pattern, and lost at least so much
 * O(n x periods), with at most 5 million steps; nothing where little was lost.
 */
void patterns_find(const double *lost, uint32_t n, double least, uint32_t n_places,
                   bool *is_in);

#endif
