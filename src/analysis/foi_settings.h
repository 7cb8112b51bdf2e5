/*
 * foi_settings -- how a function of interest of a run was analysed, as it is kept in run.db.
 *
 * Whoever goes on with the run (retrain, project, show) works with the same settings, unless
 * told otherwise.
 */
#ifndef SNAG_ANALYSIS_FOI_SETTINGS_H
#define SNAG_ANALYSIS_FOI_SETTINGS_H

#include "features/stack2vec.h"

#include <stdint.h>

#include <sqlite3.h>

#define FOI_SETTINGS_SIZE 320u

/* What features are learnt with, and a one-class SVM. */
struct learnt_settings {
    double gamma;                    /* of the kernel that was used; 0: none was */
    double nu;                       /* the share that may be outside; 0: OCSVM_NU */
    struct stack2vec_opts embedding; /* its seed is that of the analysis */
};

struct foi_settings {
    char features[32], detector[32]; /* names */
    double threshold;                /* INFINITY: no score is an anomaly */
    uint32_t neighbours;             /* 0: the detector's own number */
    uint64_t seed;
    struct learnt_settings learnt;
};

/*
 * foi_settings_load -- of a function of interest.
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT for settings that make no sense, or ERR_DATABASE.
 */
int foi_settings_load(sqlite3 *db, int64_t foi, struct foi_settings *settings);

/* embedding_settings_text -- column settings of table embedding: JSON. */
void embedding_settings_text(const struct stack2vec_opts *opts, char out[FOI_SETTINGS_SIZE]);

/* foi_settings_text -- column settings of table foi: JSON. */
void foi_settings_text(const struct foi_settings *settings, char out[FOI_SETTINGS_SIZE]);

/* learnt_settings_text -- column settings of table retrain: JSON. */
void learnt_settings_text(const struct learnt_settings *learnt, char out[FOI_SETTINGS_SIZE]);

/* LEARNT_COLUMNS -- what to select for learnt_settings_of. */
#define LEARNT_COLUMNS                                                                         \
    "settings ->> '$.gamma', settings ->> '$.dimensions', settings ->> '$.epochs', "           \
    "settings ->> '$.learning_rate', settings ->> '$.negatives', settings ->> '$.nu'"

/*
 * learnt_settings_of -- from the LEARNT_COLUMNS of the current row; defaults for what is not
 * there.
 *   column  the first of them
 * Returns 0, or ERR_FORMAT when they make no sense.
 */
int learnt_settings_of(sqlite3_stmt *query, int column, struct learnt_settings *learnt);

#endif
