/*
 * live_models -- what is known of the durations of calls: a model per region, or per call
 * path; and what a person says of single regions: do not judge this one, judge that one more
 * strictly.
 *
 *     key = live_models_key(&models, l, calls, defs);     the model of each row
 *     live_models_learn(&models, key, calls);             rows that are finished
 *     live_models_fit(&models);
 *     models.model[key[row]].judge                        if .n_fitted > 0
 *
 * A model is made anew when its calls have grown by a twentieth. What a server adds to them is
 * the business of live_exchange: then learning goes to a sketch of the step, and `known` is
 * not ours alone.
 *
 * Rules are two files, a rule a line; empty lines and those that begin with # are none. A name
 * is the one that snag info prints, short or whole. A threshold means what it means for the
 * detector: probability, or sigmas.
 *
 *     ignore: NAME, or /REGEX/        thresholds: NAME THRESHOLD
 *     MPI_Init                        PairEAM::compute 1e-8
 *     /^MPI_(Test|Iprobe)/            MPI_Wait 1e-3
 */
#ifndef SNAG_LIVE_LIVE_MODELS_H
#define SNAG_LIVE_LIVE_MODELS_H

#include "base/idmap.h"
#include "detect/call_detector.h"
#include "stack/callstack.h"
#include "trace/definitions.h"

#include <regex.h>

#define LIVE_MAX_PATHS                                                                         \
    200000u                /* then, calls on a new path are as if nobody had called them       \
                            */
#define NO_PATH UINT32_MAX /* the caller of what nobody calls */

struct live_path {
    uint32_t region, caller;
    uint32_t last_region, last_callee;
};

/* Zeroed, there are none. */
struct live_paths {
    struct live_path *path; /* [n] */
    uint32_t n;
    size_t cap;
    struct idmap id; /* of (caller, region) */
};

void live_paths_release(struct live_paths *paths);

/* live_paths_add -- the path of a call of region from caller. O(1). */
uint32_t live_paths_add(struct live_paths *paths, uint32_t caller, uint32_t region);

/* live_paths_name -- "main/solve/wait", for the caller to free. O(length). */
char *live_paths_name(const struct live_paths *paths, uint32_t path,
                      const struct definitions *defs);

/* live_paths_callee -- live_paths_add, quickly where it is the same callee as last time. */
static inline uint32_t live_paths_callee(struct live_paths *paths, uint32_t caller,
                                         uint32_t region)
{
    if (caller != NO_PATH && paths->path[caller].last_region == region)
        return paths->path[caller].last_callee;
    return live_paths_add(paths, caller, region);
}

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

struct live_model {
    struct sketch sketch;    /* of all calls that were read here */
    struct sketch step;      /* with a server: of this step, not yet in sketch */
    struct sketch shared;    /* with a server: what judges, where that is not sketch */
    bool is_shared;          /* shared judges */
    bool is_touched;         /* with a server: learnt from in this step */
    struct call_judge judge; /* when n_fitted > 0: */
    uint64_t n_fitted;       /* calls it knows */
    double threshold;        /* 0: as for all */
    uint32_t region;
    uint32_t function; /* of live_exchange */
    bool may_wait;     /* as in call_detector_opts */
    bool is_ignored;   /* neither learnt nor judged */
};

struct live_models_opts {
    const struct call_detector_ops *detector;
    struct call_detector_opts detector_opts;
    bool is_inclusive;        /* judge inclusive times */
    bool is_by_path;          /* a model per call path */
    bool has_server;          /* learn into the sketches of the step */
    uint32_t least_calls;     /* of a model before it judges */
    struct live_rules *rules; /* or NULL */
};

/* The models of the rows of one location, where they are not their regions. */
struct live_keys {
    uint32_t *key; /* [n rows] */
    size_t cap;
};

struct live_models {
    struct live_models_opts opts;
    struct live_model *model; /* [n] */
    uint32_t n;
    size_t cap;
    double noise_ns; /* of all models, see call_noise */
    double *noise;   /* scratch */
    size_t noise_cap;
    struct live_paths paths; /* by path: model i is path i */
    struct live_keys *keys;  /* [n_locations] */
    uint32_t n_locations;
    size_t keys_cap;
};

void live_models_init(struct live_models *models, const struct live_models_opts *opts);
void live_models_release(struct live_models *models);

/* live_models_follow -- room for what is new in the definitions. */
void live_models_follow(struct live_models *models, const struct definitions *defs);

/*
 * live_models_key -- the model of each row of a location, [calls->n]; until it is asked for the
 * location again. O(1), by path O(rows).
 */
const uint32_t *live_models_key(struct live_models *models, uint32_t location,
                                const struct calls *calls, const struct definitions *defs);

/* live_models_time -- what of a call is judged. */
static inline uint64_t live_models_time(const struct live_models *models,
                                        const struct calls *calls, uint32_t row)
{
    return models->opts.is_inclusive ? calls->inclusive_ns[row] : calls->exclusive_ns[row];
}

/* live_models_learn -- from all rows that are finished. Returns how many these are. */
uint64_t live_models_learn(struct live_models *models, const uint32_t *key,
                           const struct calls *calls);

/* live_models_fit -- make judges of what has grown. */
void live_models_fit(struct live_models *models);

/* live_models_known -- the durations that a model judges by. */
static inline const struct sketch *live_models_known(const struct live_model *model)
{
    return model->is_shared ? &model->shared : &model->sketch;
}

/* live_models_name -- the region, or "main/solve/wait"; for the caller to free. */
char *live_models_name(const struct live_models *models, uint32_t model,
                       const struct definitions *defs);

#endif
