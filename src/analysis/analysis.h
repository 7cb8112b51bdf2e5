/*
 * analysis -- from the columns of a run to scored and explained executions.
 *
 * One function of interest at a time: forest, subtree labels, residual model, scores, reasons.
 * What was found is handed to a sink; run_store.h is the one that makes a run of it.
 */
#ifndef SNAG_ANALYSIS_ANALYSIS_H
#define SNAG_ANALYSIS_ANALYSIS_H

#include "analysis/run_scoring.h"
#include "base/pool.h"
#include "base/process_group.h"
#include "features/residual.h"
#include "forest/forest.h"
#include "forest/tree_share.h"
#include "learn/model_file.h"
#include "run/columns.h"
#include "score/scoring.h"
#include "trace/definitions.h"

#include <stdint.h>

struct analysis_opts {
    const char *features, *detector; /* names, or NULL for the default */
    uint32_t k;                      /* neighbours; 0: the detector's own number */
    double threshold;                /* NAN: the detector's own */
    double false_alarms;             /* expected in a run; 0: see scoring_opts */
    double gamma;                    /* of ocsvm's kernel; 0: taken from the data */
    double nu;                       /* of ocsvm: the share that may be outside; 0: OCSVM_NU */
    struct stack2vec_opts embedding; /* what was said of it: stack2vec_override */
    uint64_t seed;
    struct pool *pool;
    struct paged *paged;       /* as of struct scoring */
    const struct model *model; /* score by this model, numbered as defs; NULL: learn */
    const struct analysis_process_group
        *process_group; /* processes that share the work; NULL: this one alone */
};

/* What is said of a function of interest as a whole. */
struct analysis_result {
    uint32_t n_trees, n_vertices, max_depth, n_subtrees, n_anomalies;
    uint64_t n_messages;
    double gamma;                 /* of the kernel of ocsvm; 0 with another detector */
    struct scoring_unseen unseen; /* by the model, if there is one */
    uint64_t forest_ns, features_ns, detect_ns, store_ns; /* how long the stages took */
};

/* A function of interest to be analysed. */
struct analysis_foi {
    int64_t id;
    uint32_t region;
    const char *name; /* what is printed in front of '#' when there are several */
};

/* All that was found, until the sink returns. */
struct analysed {
    const struct analysis_foi *foi;
    const struct columns *columns;
    const struct scoring *scoring;
    const struct scoring_opts *opts;
    const struct analysis_result *result; /* but for how long the stages took */
    const struct sentences *sentences;    /* that are made already; NULL: none is */
};

struct analysis_sink {
    int (*take)(void *ctx, const struct analysed *analysed); /* 0 or an ERR_* */
    void *ctx;
};

/*
 * analysis_run -- analyse all executions of a function and hand them to a sink.
 *   defs  regions as in the columns, and locations
 * With a model the executions are compared with those of the run it was made from, and with
 * what a person said of them, not with each other. The processes of a process group make scores
 * and sentences together where the detector needs no matrix of all executions; else this one
 * does it alone. A process group has the same model.
 * Returns 0, ERR_NOT_FOUND when the function is never called, another ERR_*, or what the sink
 * returns.
 */
int analysis_run(const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 const struct analysis_sink *sink, struct analysis_result *result);

/*
 * Several processes analyse one run (base/process_group.h): each the executions of its own
 * locations, from columns that all can read.
 *
 *     process 0   analysis_run for each function of interest,
 *                 then analysis_process_group_dismiss
 *     the others  analysis_process_group_assist, until then
 *
 * Forests, labels, measures and sentences are made by whoever has the location, and the model
 * by all together (residual_fit): the time of a call goes to the process that sorts those of
 * its path. By the model of another run each judges its own. What there is one of for each
 * execution, its measures and its sentence, goes to process 0, which says what is an anomaly.
 * It goes on alone then, with all executions.
 *
 * Which process has a location is dealt anew, by calls and not by what the trace announces.
 */

/* One of the processes. */
struct analysis_process_group {
    struct process_group *process_group;
    struct pool *pool;   /* threads of this process while the others are there, too */
    struct model *model; /* of another run, by which all judge; NULL: they learn. As it was
                            read, but on process 0, where it is numbered as the trace */
};

/* What is said of all executions, made before they are stored. */
struct sentences {
    const char **text; /* [executions] in blob */
    char **blob;       /* [n_blobs] */
    unsigned n_blobs;
};

/* analysis_process_group_dismiss -- on process 0: nothing more is to be done. NULL is harmless.
 * */
void analysis_process_group_dismiss(const struct analysis_process_group *process_group);

/*
 * analysis_process_group_assist -- on the others: do what process 0 leads, until it dismisses
 * them.
 *   defs  as they were read; process 0 may have added functions since, which are added here
 *   dir   of the run
 * What goes wrong is process 0's to tell.
 */
void analysis_process_group_assist(const struct analysis_process_group *process_group,
                                   struct definitions *defs, const char *dir);

/* analysis_process_group_deal -- whose the locations of a run are, by their calls;
 * tree_share_release. The same on all processes. */
void analysis_process_group_deal(struct tree_share *share, struct process_group *process_group,
                                 const struct columns *columns, const struct definitions *defs);

/*
 * analysis_process_group_report -- process 0 says (-v) what each process has made, sent and
 * needed. All must call it.
 *   n_sorted  times of calls that this process has sorted
 */
void analysis_process_group_report(struct process_group *process_group, const char *command,
                                   const struct forest *own, uint64_t n_sorted);

#endif
