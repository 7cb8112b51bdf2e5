/*
 * replicates -- two small samples of what was repeated, and how sure their difference is.
 *
 * Welch's test where both sides were repeated. Where one side is a single value, the other side
 * says how far a value is from their mean: the prediction interval for one new observation.
 */
#ifndef SNAG_COMPARE_REPLICATES_H
#define SNAG_COMPARE_REPLICATES_H

#include <stdint.h>

/* Both sides, one after the other. */
struct repeated {
    const double *value; /* [n[0] + n[1]] */
    const double *own;   /* [n[0] + n[1]] variance of each, as far as it is known; or NULL */
    uint32_t n[2];       /* >= 1; 3 together for anything to be known of the error */
    double least;        /* no standard deviation is less, > 0 */
};

/* How far the means of two sides are apart. */
struct replicates {
    double difference; /* after - before */
    double error;      /* its standard error, > 0 */
    double freedom;    /* degrees of freedom of that; 0: nothing is known of the error */
    double width;      /* standard deviation of a single value */
};

/*
 * replicates_of -- compare two sides.
 * Values are no closer together than each of them is known: by chance a few are, and a single
 * one that is known badly must not pass for one of the others' kind.
 * Source: Welch 1947, Biometrika 34; with one value, Student's prediction interval (Hahn 1969,
 * JASA 64).
 */
void replicates_of(const struct repeated *x, struct replicates *out);

/* replicates_chance -- of a difference so large, either way, if there is none; 1 if unknown. */
double replicates_chance(const struct replicates *r);

/* replicates_margin -- half the width of the interval of this confidence; INFINITY: unknown. */
double replicates_margin(const struct replicates *r, double confidence);

#define MAX_REPLICATES 1000u

/*
 * replicates_needed -- values on each side until the interval is no wider than +-margin.
 * Returns MAX_REPLICATES where so many would not do.
 */
uint32_t replicates_needed(const struct replicates *r, double confidence, double margin);

/*
 * replicates_limit -- what is at most so probable is a discovery, and of all discoveries at
 * most the share `rate` is false, on average.
 *   chance  (n); its order is changed
 * Returns -1 when nothing is. Source: Benjamini and Hochberg 1995, JRSS B 57.
 */
double replicates_limit(double *chance, uint32_t n, double rate);

#endif
