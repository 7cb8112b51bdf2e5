/*
 * run_scoring -- the executions of a function of interest from the columns of a run, and what a
 * finished run knows of them: with which settings they were analysed (foi_settings), and what
 * was learnt (model_store: in its database, packed and compressed).
 *
 * Whoever goes on with the run (retrain, project, show) works with the same settings, unless
 * told otherwise.
 */
#ifndef SNAG_ANALYSIS_RUN_SCORING_H
#define SNAG_ANALYSIS_RUN_SCORING_H

#include "explain/topsubtrees.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "run/columns.h"
#include "score/scoring.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define FOI_SETTINGS_SIZE 380u

/* What features are learnt with, and a one-class SVM. */
struct learnt_settings {
    double gamma;                    /* of the kernel that was used; 0: none was */
    double nu;                       /* the share that may be outside; 0: OCSVM_NU */
    struct stack2vec_opts embedding; /* its seed is that of the analysis */
};

struct foi_settings {
    char features[32], detector[32]; /* names */
    double threshold;                /* INFINITY: no score is an anomaly */
    double told_threshold;           /* the same if a person has set it; NAN: nobody has */
    uint32_t neighbours;             /* 0: the detector's own number */
    uint64_t seed;
    uint32_t
        model_executions; /* typical is what so many of another run were; 0: those of this */
    struct learnt_settings learnt;
};

/*
 * foi_settings_load -- of a function of interest.
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT for settings that make no sense, or ERR_DATABASE.
 */
int foi_settings_load(sqlite3 *db, int64_t foi, struct foi_settings *settings);

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

/* model_store_save -- keep the model of a function of interest. Returns 0 or ERR_DATABASE. */
int model_store_save(sqlite3 *db, int64_t foi, const struct residual_model *model);

/*
 * model_store_load -- the residual model of a function of interest.
 *   n_regions  the run's: numbers of regions must be below
 * Returns 0, ERR_NOT_FOUND or ERR_FORMAT. Release with residual_release in any case.
 */
int model_store_load(sqlite3 *db, int64_t foi, uint32_t n_regions,
                     struct residual_model *model);

/*
 * model_store_save_embedding -- keep a trained embedding beside those with other options, in
 * place of one with the same. Returns 0 or ERR_DATABASE.
 */
int model_store_save_embedding(sqlite3 *db, int64_t foi, const struct stack2vec *embedding);

/*
 * run_scoring_collect -- the executions of a function; nothing but the forest is set.
 *   s     zeroed, but for pool
 *   defs  regions as in the columns; must outlive s
 * Returns 0, ERR_NOT_FOUND when the function is never called, ERR_RANGE, or ERR_FORMAT as
 * columns_check. O(calls).
 */
int run_scoring_collect(struct scoring *s, const struct columns *columns,
                        const struct definitions *defs, uint32_t region);

/*
 * run_scoring_collect_part -- the same of some locations.
 *   location  (n) which, ascending
 * There may be no executions on them.
 */
int run_scoring_collect_part(struct scoring *s, const struct columns *columns,
                             const struct definitions *defs, uint32_t region,
                             const uint32_t *location, uint32_t n);

/*
 * run_scoring_region -- which region the FOI `foi` of a run is.
 * Returns 0, ERR_FORMAT when it is none of defs, or ERR_DATABASE.
 */
int run_scoring_region(sqlite3 *db, const struct definitions *defs, int64_t foi,
                       uint32_t *region);

/*
 * run_scoring_load -- what a finished run knows about one of its functions of interest.
 *   s          zeroed, but for what was said of embedding.opts (stack2vec_override); the
 *              analysis's hold for the rest. Release it in any case
 *   db         the run's; its columns and definitions (run_summary_definitions) go with it
 *   foi        id in table foi; tree t of the forest is its execution (foi, tree = t)
 *   with_bags  as scoring_learn
 * The measures are those of the analysis. Returns 0, ERR_NOT_FOUND, ERR_FORMAT when the columns
 * or the model do not fit the database, or ERR_DATABASE. As long as run_scoring_collect and
 * scoring_learn.
 */
int run_scoring_load(struct scoring *s, sqlite3 *db, const struct columns *columns,
                     const struct definitions *defs, int64_t foi, bool with_bags);

/* The top subtrees of one execution of a finished run, by the embedding that is kept in it or,
 * where there is none, by one trained for the occasion. */
struct subtrees {
    struct scoring work; /* work.is_embedding_new: trained, and not kept */
    struct matrix x;
    uint32_t tree; /* of work.forest */
    struct topsubtrees_input input;
    struct topsubtrees tops;
};

/*
 * subtrees_open -- all that is the same for all executions of a function of interest.
 *   s  zeroed; release it in any case
 * Returns 0 or as run_scoring_load and scoring_matrix. As long as the analysis took without
 * reading the trace. It holds as long as the run: training again gives the same.
 */
int subtrees_open(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, struct pool *pool);

/*
 * subtrees_choose -- those of one execution, instead of those of the one before.
 * Returns 0 or ERR_NOT_FOUND. See topsubtrees_init.
 */
int subtrees_choose(struct subtrees *s, uint32_t location, uint32_t index);

/*
 * subtrees_load -- open and choose. Returns what these do.
 *   s                zeroed; release it in any case
 *   location, index  of the execution
 */
int subtrees_load(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, uint32_t location,
                  uint32_t index, struct pool *pool);
void subtrees_release(struct subtrees *s);

#endif
