/*
 * alignment -- runs laid side by side: which call path of one is which of another, and how long
 * an execution was on each, run by run.
 *
 * A path is another's when the functions from the root down have the same names. One that only
 * the runs before have, and one that only those after have, are the same that moved when their
 * functions have one name and they have about as many calls for about as long. So are kinds of
 * execution (kinds_find).
 */
#ifndef SNAG_COMPARE_ALIGNMENT_H
#define SNAG_COMPARE_ALIGNMENT_H

#include "compare/compare.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The samples are the runs, those before first; or, of one run on each side, their batches.
 */
struct alignment {
    const struct summary *run[COMPARE_MAX_RUNS]; /* [n_runs[0] + n_runs[1]] */
    uint32_t n_runs[2];
    struct names *names; /* of a comparison */
    struct context *paths;
    uint32_t **name_of;                  /* [runs] in names of each name of a summary */
    uint32_t **path_of;                  /* [runs] path of each path of a summary */
    uint32_t *from;                      /* [paths] where it was before, or COMPARE_NONE */
    bool has_more_moves;                 /* not all paths were looked at, there are too many */
    bool *is_waiting;                    /* [paths] */
    double *ns[2], *calls[2], *share[2]; /* [paths] per execution: means over the runs */
    double *off_ns[2];                   /* [paths] by which ns may be off */
    bool is_by_batch;
    uint32_t n_samples[2];
    double *whole_ns;  /* [samples] time of an execution */
    double *sample_ns; /* [paths x samples] of that, on the path */
    /* variances of these, as far as the batches of a run tell them; 0 of batches */
    double *whole_var, *sample_var;
};

/*
 * alignment_make -- lay summaries side by side.
 *   names, paths  empty; filled in, and to outlive it
 * Release in any case; not the summaries.
 */
void alignment_make(struct alignment *a, const struct summary *before, uint32_t n_before,
                    const struct summary *after, uint32_t n_after,
                    const struct compare_opts *opts, struct names *names,
                    struct context *paths);
void alignment_release(struct alignment *a);

static inline uint32_t alignment_runs(const struct alignment *a)
{
    return a->n_runs[COMPARE_BEFORE] + a->n_runs[COMPARE_AFTER];
}

static inline uint32_t alignment_samples(const struct alignment *a)
{
    return a->n_samples[COMPARE_BEFORE] + a->n_samples[COMPARE_AFTER];
}

static inline enum compare_side alignment_side(const struct alignment *a, uint32_t run)
{
    return run < a->n_runs[COMPARE_BEFORE] ? COMPARE_BEFORE : COMPARE_AFTER;
}

/*
 * Kinds of execution, and how each changed.
 *
 * Kinds are told apart by whether they have this or that call path, those paths by which the
 * durations of executions differ most. So a change that makes one kind slower and another
 * faster is seen where the mean stays what it was.
 */

#define KINDS_BY 2u                        /* paths at most that tell them apart */
#define COMPARE_MAX_KINDS (1u << KINDS_BY) /* kinds */

struct kinds {
    uint32_t n, n_paths, n_samples;
    double *sample_ns;                     /* [n x samples] duration of an execution of it */
    uint32_t in_sample[COMPARE_MAX_KINDS]; /* fewest executions in any sample */
    double *path_ns[2];                    /* [n x paths] on a path, of all executions */
    double share[2][COMPARE_MAX_KINDS];    /* of all executions */
    double off_ns[2][COMPARE_MAX_KINDS];   /* by which their time may be off */
};

/* kinds_find -- fills the kinds of a comparison in, but for what is measured of them. */
void kinds_find(struct kinds *kinds, const struct alignment *a, struct comparison *out);
void kinds_release(struct kinds *kinds);

/* kinds_are_sampled -- every sample has executions of the kind. */
bool kinds_are_sampled(const struct kinds *kinds, uint32_t kind);
const double *kinds_samples(const struct kinds *kinds, uint32_t kind);

/* kinds_explain -- which path changed most in each kind, in which kind each path did, and the
 * times behind that. */
void kinds_explain(const struct kinds *kinds, struct comparison *out);

#endif
