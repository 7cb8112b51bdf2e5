/*
 * label_effects -- which labels changed what, in a retrain.
 *
 * An execution's verdict changed by the labels of an act (acts.h) if it would be another one
 * without them. So all is learnt once more without each act since the retrain before.
 */
#ifndef SNAG_ANALYSIS_LABEL_EFFECTS_H
#define SNAG_ANALYSIS_LABEL_EFFECTS_H

#include "analysis/ranking.h"

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define LABEL_EFFECTS_MAX_ACTS 8u /* acts that are looked at: the newest */
#define LABEL_EFFECTS_TREES 5u    /* executions that are named of each */

struct label_effect {
    int64_t first_label, last_label; /* numbers of the act's labels */
    uint32_t n_labels;
    uint32_t tree;    /* the first of them */
    enum label label; /* what is said of that; LABEL_NONE: it was taken back */
    uint32_t n_moved; /* executions with another verdict by it, but those labelled so */
    uint32_t moved[LABEL_EFFECTS_TREES]; /* the first of them, by tree */
};

struct label_effects {
    struct label_effect of[LABEL_EFFECTS_MAX_ACTS]; /* the oldest first */
    uint32_t n;
    bool *without[LABEL_EFFECTS_MAX_ACTS]; /* [trees] is an anomaly without it; or NULL */
    signed char *label;                    /* [trees] scratch */
};

/*
 * label_effects_find -- learn without each act. Of acts that the learner could not do without
 * nothing is known.
 *   e  zeroed; release in any case
 * Returns 0 or ERR_DATABASE. As long as a retrain for each act.
 */
int label_effects_find(struct label_effects *e, sqlite3 *db, const struct ranking *r);

/*
 * label_effects_count -- what each moved.
 *   label        [trees] that were learnt from
 *   is_anomaly   [trees] by all labels
 *   was_anomaly  [trees] before
 */
void label_effects_count(struct label_effects *e, const struct ranking *r,
                         const signed char *label, const bool *is_anomaly,
                         const bool *was_anomaly);

void label_effects_release(struct label_effects *e);

#endif
