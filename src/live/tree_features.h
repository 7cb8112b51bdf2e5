/*
 * tree_features -- numbers that say what an execution was like, to compare it with others.
 *
 * Whole numbers, so that sums over a window can be exact however many come and go. To add one:
 * a function and a row in tree_features.c.
 *
 * Source: Xie, Jeong, Matyasfalvi, Van Dam, Mueller, Yoo, Xu: Exploratory Visual Analysis of
 * Anomalous Runtime Behavior in Streaming High Performance Computing Applications, ICCS 2019,
 * section 4.1, which names duration, message frequency and exit time.
 */
#ifndef SNAG_LIVE_TREE_FEATURES_H
#define SNAG_LIVE_TREE_FEATURES_H

#include "base/text.h"
#include "live/live_forest.h"

#include <stddef.h>
#include <stdint.h>

#define MAX_TREE_FEATURES 8
#define TREE_FEATURE_MAX ((uint64_t)1 << 52) /* values beyond, 52 days, count as this */

struct tree_feature {
    const char *name;   /* as typed */
    const char *what;   /* in a sentence: "took 5.1 ms", "had 12 calls" */
    const char *unit;   /* after the number, if text does not say it */
    double least_ratio; /* deviations are at least this share of the mean, */
    double least;       /* and this much: clocks tick, and one call more says little */
    uint64_t (*value)(const struct live_forest *lf, uint32_t t);
    char *(*text)(double value, char out[TEXT_SIZE]);
};

/*
 * tree_features_parse -- from names separated by commas.
 *   feature  (MAX_TREE_FEATURES) out
 * Returns how many, or ERR_USAGE for a name that is not known, twice there, or too many.
 */
int tree_features_parse(const char *names, const struct tree_feature **feature);

/* tree_feature_value -- of tree t, at most TREE_FEATURE_MAX. */
uint64_t tree_feature_value(const struct tree_feature *feature, const struct live_forest *lf,
                            uint32_t t);

#endif
