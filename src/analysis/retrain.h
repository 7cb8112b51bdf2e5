/*
 * retrain -- make the scores of a run anew from its labels, and take that back.
 *
 * A retrain is a row of the database that says what was learnt from: learner, features, seed,
 * and the last label. So it can be made again, and the one before it too, exactly.
 */
#ifndef SNAG_ANALYSIS_RETRAIN_H
#define SNAG_ANALYSIS_RETRAIN_H

#include "analysis/run_scoring.h"
#include "base/pool.h"
#include "learn/learner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

struct ranking_opts {
    const char *learner;             /* a name, or NULL for the default */
    const char *features;            /* NULL: those of the analysis */
    struct stack2vec_opts embedding; /* what was said of it, see run_scoring_load */
    double gamma;                    /* of ocsvm's kernel; 0: the analysis's or the data's */
    double nu;                       /* 0: the analysis's */
    uint64_t seed;
    struct pool *pool;
};

/* A function of interest of a run with all that is needed to rank its executions anew when a
 * person says something about them. */
struct ranking {
    int64_t foi;
    uint32_t n;
    const char *learner_name, *features_name;
    char detector_name[32];
    struct learnt_settings learnt; /* what is used of it */
    double *detector;              /* [n] scores of the detector, in its own units */
    bool *is_anomaly;              /* [n] and its verdicts */
    struct learner learner;

    struct scoring work;
    struct reasons reasons;
    struct matrix x;
    double *prior; /* [n] the detector's scores in nats */
};

/*
 * ranking_open -- load a function of interest.
 *   r     zeroed; close it in any case
 *   defs  of the run (run_summary_definitions); must outlive r, as the pool must
 * Scores of a detector that is not calibrated are made tail probabilities first.
 * Returns 0, ERR_USAGE for an unknown learner, ERR_RANGE or as run_scoring_load. As long as the
 * analysis took without reading the trace.
 */
int ranking_open(struct ranking *r, sqlite3 *db, const struct columns *columns,
                 const struct definitions *defs, int64_t foi, const struct ranking_opts *opts);
void ranking_close(struct ranking *r);

/* ranking_nu -- the share that the one-class SVM expects outside. */
double ranking_nu(const struct ranking *r);

#define LABEL_EFFECTS_MAX_ACTS 8u /* steps of the undo log that are looked at: the newest */
#define LABEL_EFFECTS_TREES 5u    /* executions that are named of each */

/*
 * Which labels changed what, in a retrain. An execution's verdict changed by the labels of an
 * act if it would be another one without them. So all is learnt once more without each act
 * since the retrain before.
 */
struct label_effect {
    int64_t first_label, last_label; /* numbers of the act's labels */
    uint32_t n_labels;
    uint32_t tree;    /* the first of them */
    enum label label; /* what is said of that; LABEL_NONE: it was taken back */
    uint32_t n_moved; /* executions with another verdict by it, but those labelled so */
    uint32_t moved[LABEL_EFFECTS_TREES]; /* the first of them, by tree */
};

/* An execution whose verdict changed. */
struct retrain_change {
    uint32_t tree;
    double before, after; /* scores */
    bool is_anomaly;      /* now */
};

struct retrain_result {
    int64_t id; /* of the row; 0: the detector's own scores hold */
    uint32_t n_abnormal, n_normal, n_anomalies;
    double threshold;
    struct retrain_change *change; /* [n_changes] the highest score first; free() it */
    size_t n_changes;
    struct label_effect effect[LABEL_EFFECTS_MAX_ACTS]; /* of a new retrain: by which labels */
    uint32_t n_effects;
    uint64_t rank_ns; /* what the learner took, of that the last time */
};

/*
 * retrain_run -- learn from all labels there are, store scores and verdicts in one transaction.
 *   r       open for the function of interest
 *   author  who asked for it
 * Returns 0, ERR_RANGE when the learner cannot use the labels, or ERR_DATABASE.
 */
int retrain_run(sqlite3 *db, struct ranking *r, const char *author,
                struct retrain_result *result);

/*
 * retrain_undo -- what held before the newest retrain that is not undone: the one before it, or
 * the detector's scores.
 *   id  that retrain, as retrain_to_undo has said
 *   r   open with what that says; NULL will do where the detector's scores come back
 * Returns 0, ERR_NOT_FOUND when there is nothing to undo, ERR_EXISTS when the newest is another
 * one by now, or as retrain_run.
 */
int retrain_undo(sqlite3 *db, int64_t foi, int64_t id, struct ranking *r,
                 struct retrain_result *result);

/* What a retrain is made with, or was. */
struct retrain_settings {
    int64_t id;                     /* 0: none */
    char learner[32], features[32]; /* "": the defaults, or a learner that is no more */
    uint64_t seed;
    int64_t last_label;
    char at[32]; /* UTC, when it was made */
    struct learnt_settings learnt;
};

/*
 * retrain_next -- what goes on with a run is made with, unless told: as the newest retrain that
 * holds; without one, as the run was analysed: its features, and the learner that judges as its
 * detector does where nothing is labelled.
 *   as  learner and features: what was told; "" is filled in, and how they are learnt. A
 *       learner that was told gets the features of the analysis
 * Returns 0, or as foi_settings_load.
 */
int retrain_next(sqlite3 *db, int64_t foi, struct retrain_settings *as);

/* retrain_features -- the features that the scores of now are made of. Returns as retrain_next.
 */
int retrain_features(sqlite3 *db, int64_t foi, const struct feature_ops **features);

/* retrain_opts -- to rank as this retrain; its texts must stay. */
struct ranking_opts retrain_opts(const struct retrain_settings *as, struct pool *pool);

/*
 * retrain_newest -- the newest retrain that is not undone.
 * Returns 0, ERR_NOT_FOUND when there is none, or ERR_DATABASE.
 */
int retrain_newest(sqlite3 *db, int64_t foi, struct retrain_settings *newest);

/*
 * retrain_to_undo -- what to rank with to take the newest retrain back: what the one before it
 * was made with, if there is one.
 *   id  in: the retrain that is to be undone, or 0 for the newest; out: the newest
 * Returns as retrain_newest, or ERR_EXISTS when the newest is another one than was to be undone.
 */
int retrain_to_undo(sqlite3 *db, int64_t foi, int64_t *id, struct retrain_settings *as);

/* retrain_find -- what a retrain was made with. Returns as retrain_newest. */
int retrain_find(sqlite3 *db, int64_t foi, int64_t id, struct retrain_settings *as);

/*
 * retrain_redo -- make a retrain hold again that is to be redone next (undo_log_next).
 *   as  what retrain_find says of it
 *   r   open with that
 * Returns 0, ERR_EXISTS when it is no longer next, or as retrain_run.
 */
int retrain_redo(sqlite3 *db, const struct retrain_settings *as, struct ranking *r,
                 struct retrain_result *result);

#endif
