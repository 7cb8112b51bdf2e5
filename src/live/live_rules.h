/*
 * live_rules -- what a person says of single regions: do not judge this one, judge that one
 * more strictly.
 *
 * Two files, a rule a line; empty lines and those that begin with # are none. A name is the one
 * that snag info prints, short or whole.
 *
 *     ignore: NAME, or /REGEX/        thresholds: NAME THRESHOLD
 *     MPI_Init                        PairEAM::compute 1e-8
 *     /^MPI_(Test|Iprobe)/            MPI_Wait 1e-3
 *
 * A threshold means what it means for the detector: probability, or sigmas.
 */
#ifndef SNAG_LIVE_LIVE_RULES_H
#define SNAG_LIVE_LIVE_RULES_H

#include "trace/definitions.h"

#include <regex.h>

struct live_rule {
    char *name; /* as it stands in the file */
    bool is_regex;
    regex_t regex;
    double threshold;
    bool is_used; /* there was such a region */
};

struct live_rule_list {
    struct live_rule *rule; /* [n] */
    size_t n, cap;
};

/* Zeroed, there are none. */
struct live_rules {
    struct live_rule_list ignore, threshold;
};

/*
 * live_rules_ignore, live_rules_thresholds -- read a file, add its rules.
 *   most  of a threshold; it must be above 0 and below that
 * Returns 0, ERR_IO, or ERR_FORMAT that names the line.
 */
int live_rules_ignore(struct live_rules *rules, const char *path);
int live_rules_thresholds(struct live_rules *rules, const char *path, double most);

void live_rules_release(struct live_rules *rules);

/* live_rules_is_ignored -- O(rules). */
bool live_rules_is_ignored(struct live_rules *rules, const struct region *region);

/* live_rules_threshold -- of a region, 0 if nothing is said of it; the last line goes. */
double live_rules_threshold(struct live_rules *rules, const struct region *region);

#endif
