/*
 * analysis_crew -- several processes analyse one run (base/crew.h): each the executions of its
 * own locations, from columns that all can read.
 *
 *     process 0   analysis_crew_lead for a function of interest, ... , analysis_crew_dismiss
 *     the others  analysis_crew_assist, until then
 *
 * Forests, labels, measures and sentences are made by whoever has the location, and the model
 * by all together (residual_fit): the time of a call goes to the process that sorts those of
 * its path. By the model of another run each judges its own. What there is one of for each
 * execution, its measures and its sentence, goes to process 0, which says what is an anomaly.
 * It goes on alone then, with all executions.
 *
 * Which process has a location is dealt anew, by calls and not by what the trace announces.
 */
#ifndef SNAG_ANALYSIS_ANALYSIS_CREW_H
#define SNAG_ANALYSIS_ANALYSIS_CREW_H

#include "base/crew.h"
#include "base/pool.h"
#include "forest/tree_share.h"
#include "run/columns.h"
#include "score/scoring.h"
#include "trace/definitions.h"

#include <stdint.h>

/* One of the processes. */
struct analysis_crew {
    struct crew *crew;
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

void sentences_release(struct sentences *sentences);

/*
 * analysis_crew_lead -- on process 0: the executions of a function, with the others.
 *   region     the function
 *   opts       with a detector that needs no matrix
 *   scoring    zeroed, but for pool and paged; out: model, measures, scores and verdicts of
 *              all, but no forest yet: see scoring_complete
 *   sentences  out
 * Returns 0, ERR_NOT_FOUND when the function is never called, or what went wrong with any of
 * them.
 */
int analysis_crew_lead(const struct analysis_crew *crew, const struct columns *columns,
                       const struct definitions *defs, uint32_t region,
                       const struct scoring_opts *opts, struct scoring *scoring,
                       struct sentences *sentences);

/* analysis_crew_dismiss -- on process 0: nothing more is to be done. NULL is harmless. */
void analysis_crew_dismiss(const struct analysis_crew *crew);

/*
 * analysis_crew_assist -- on the others: do what process 0 leads, until it dismisses them.
 *   defs  as they were read; process 0 may have added functions since, which are added here
 *   dir   of the run
 * What goes wrong is process 0's to tell.
 */
void analysis_crew_assist(const struct analysis_crew *crew, struct definitions *defs,
                          const char *dir);

/* analysis_crew_deal -- whose the locations of a run are, by their calls; tree_share_release.
 * The same on all processes. */
void analysis_crew_deal(struct tree_share *share, struct crew *crew,
                        const struct columns *columns, const struct definitions *defs);

/*
 * analysis_crew_report -- process 0 says (-v) what each process has made, sent and needed. All
 * must call it.
 *   n_sorted  times of calls that this process has sorted
 */
void analysis_crew_report(struct crew *crew, const char *command, const struct forest *own,
                          uint64_t n_sorted);

#endif
