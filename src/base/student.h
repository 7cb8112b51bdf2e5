/* student -- the tails of Student's distribution. */
#ifndef SNAG_BASE_STUDENT_H
#define SNAG_BASE_STUDENT_H

/* student_tail -- the probability to be above x >= 0, with freedom > 0 degrees of it. O(1). */
double student_tail(double x, double freedom);

/* student_quantile -- the x >= 0 that is exceeded with this probability, 0 < tail <= 0.5. */
double student_quantile(double tail, double freedom);

#endif
