/*
 * incidents -- one disturbance is one entry, however many executions it disturbed.
 *
 *     rank 0   [step ........ compute ........ ]               was slow: the head
 *     rank 1      [step ..... MPI_Recv ........ ]              waited for rank 0
 *     rank 2         [step ..... MPI_Recv ......... ]          waited for rank 1
 *
 * Suspects are all anomalies and the highest scores of the others. Two of them belong together
 * when the cause chain (cause.h) of one leads through the other, when both lead to the same
 * call of the same location, or when they are among anomalies of the same iteration that
 * overlap in time on many locations. The head is the execution that most of the lost time goes
 * back to.
 *
 * What comes back in every 200th execution of a location, with something that the program does
 * by plan (features/schedule.h), and costs about the same each time, is one incident with many
 * turns: a checkpoint that others wait for. It stands where one of its turns would.
 *
 * The order is that of what they lost in time: first anomalies, and whatever lost several times
 * what a typical execution takes, although that is usual in this run; then what is left.
 */
#ifndef SNAG_ANALYSIS_INCIDENTS_H
#define SNAG_ANALYSIS_INCIDENTS_H

#include "analysis/causes.h"
#include "score/scoring.h"

#include <stdbool.h>
#include <stdint.h>

#define INCIDENT_NONE UINT32_MAX

struct incident {
    uint32_t head;             /* tree that it goes back to, and whose sentence says why */
    uint32_t location;         /* where the cause is, which may be outside of all executions */
    uint32_t n_members;        /* executions, the head among them */
    uint32_t n_locations;      /* on which they are */
    uint64_t begin_ns, end_ns; /* of the first to the last of them */
    double lost_ns;            /* over what is usual, summed over the members; >= 0 */
    double score;              /* nats: what the members' locations say together */
    bool is_costly;            /* it matters even if it is no anomaly */
    bool is_anomaly;           /* one of the members is */
    uint32_t n_turns; /* how often it came; the times are those of the turn that lost most */
    uint32_t period; /* in every so manieth execution of the head's location; 0: it came once */
};

struct incidents {
    uint32_t n;
    struct incident *incident; /* [n] in order */
    uint32_t *of;              /* [n_trees] which one a tree belongs to, or INCIDENT_NONE */
    char **chain;              /* [n_trees] the sentence of its cause chain, or NULL: none, or
                                  nothing new */
};

/*
 * incidents_find -- of all trees, once they are judged. Release in any case.
 * Chains are followed of the MAX_CAUSES highest scores among the suspects.
 * O(n_trees log n_trees + chains).
 */
void incidents_find(const struct scoring *scoring, struct causes *causes,
                    struct incidents *out);
void incidents_release(struct incidents *incidents, uint32_t n_trees);

#endif
