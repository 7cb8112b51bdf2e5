/*
 * foi_guess -- the function of interest of a program that runs, where nobody named one.
 *
 * What is called is added up, as snag info does it after the run (foi_suggest), until one and
 * the same function of the program has come out best in two steps, and has been executed often
 * enough. What it did before is not looked at, but its executions are counted, so that they
 * have the numbers that they have after the run.
 */
#ifndef SNAG_LIVE_FOI_GUESS_H
#define SNAG_LIVE_FOI_GUESS_H

#include "forest/foi.h"
#include "live/ad.h"

#include <stdbool.h>
#include <stdint.h>

#define FOI_GUESS_MIN_EXECUTIONS 30u /* executions on each location that has any */
#define FOI_GUESS_MIN_NS 1000000000u /* of the run */

struct foi_guess {
    struct profile profile; /* of calls that are over, by region */
    uint32_t **begun;       /* [n_locations][n_begun[l]] outermost calls, by region */
    uint32_t *n_begun, n_locations;
    size_t location_cap, count_cap, row_cap;
    uint64_t begin_ns;
    uint32_t last; /* that came out best in the step before */
    bool has_begun;
};

/* foi_guess_release -- and zeroed, it can be used again. */
void foi_guess_release(struct foi_guess *guess);

/*
 * foi_guess_add -- one more step.
 *   why  (FOI_WHY_SIZE) out: what there is to say of it
 * Returns the region to look at, or NAMES_NONE as long as there is none. O(rows of the step
 * times how deep they are).
 */
uint32_t foi_guess_add(struct foi_guess *guess, const struct ad_step *step,
                       char why[FOI_WHY_SIZE]);

/* foi_guess_begun -- how many executions of a region a location has begun so far. */
uint32_t foi_guess_begun(const struct foi_guess *guess, uint32_t location, uint32_t region);

#endif
