/* sample_ranking -- a run of seven ranks with one slow step out of sixty on each, ranked; for
 * tests. */
#ifndef SNAG_TESTS_SAMPLE_RANKING_H
#define SNAG_TESTS_SAMPLE_RANKING_H

#include "analysis/retrain.h"

#include "sample_run.h"

struct sample_ranking {
    struct sample_run run;
    struct ranking ranking; /* not open yet */
};

/* sample_ranking_set_up, _tear_down -- *state is a struct sample_ranking. */
int sample_ranking_set_up(void **state);
int sample_ranking_tear_down(void **state);

/* sample_ranking_open -- of the run as it is now. */
void sample_ranking_open(struct sample_ranking *f);

#endif
