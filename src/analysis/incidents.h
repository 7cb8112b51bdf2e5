/*
 * incidents -- executions that were strange together are one entry, however many they are.
 *
 *     rank 0   [step ........ compute ........ ]               was slow: the head
 *     rank 1      [step ..... MPI_Recv ........ ]              waited for rank 0
 *     rank 2         [step ..... MPI_Recv ......... ]          waited for rank 1
 *
 * Suspects are all anomalies and the highest scores of the others. Two of them belong together
 * when the cause chain (cause.h) of one leads through the other, when both lead to the same
 * call of the same location, when one waited for nobody knows whom while the other worked and
 * until that ended, or when they are among anomalies of the same iteration that overlap in time
 * on many locations. The head is the execution that most of the lost time goes
 * back to.
 *
 * What comes back in every 200th execution of a location, with something that the program does
 * by plan (features/periodic.h), and costs about the same each time, is one incident with many
 * turns: a checkpoint that others wait for. It stands where one of its turns would.
 *
 * The order is that of what they lost in time: first anomalies, and whatever lost several times
 * what a typical execution takes, although that is typical in this run; then what is left.
 */
#ifndef SNAG_ANALYSIS_INCIDENTS_H
#define SNAG_ANALYSIS_INCIDENTS_H

#include "explain/cause.h"
#include "analysis/recurrence.h"
#include "features/residual.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "score/scoring.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CAUSES 4096 /* executions of a function whose chain is followed unasked */

/* The cause chains of executions: where one lost its time, by the model of its forest, and what
 * that goes back to on other ranks. */
struct causes {
    struct trace_view view;
    struct stretch stretch;
    struct cause cause; /* of the execution looked at last */
    double *lost_ns;
    size_t lost_cap;
};

/*
 * causes_init -- look at a run.
 *   defs  regions and locations as in the columns; both must stay. O(locations)
 */
void causes_init(struct causes *causes, const struct columns *columns,
                 const struct definitions *defs);
void causes_release(struct causes *causes);

/*
 * causes_of -- find the chain of tree t.
 * Returns false when no call of it lost any time; else causes->cause is set. O(vertices of the
 * tree + the chain).
 */
bool causes_of(struct causes *causes, const struct residual_model *model,
               const struct residual_place *place, const struct forest *forest, uint32_t t);

#define INCIDENT_NONE UINT32_MAX

/* The call that a chain of causes ends in, where that is in no execution. */
struct outside_cause {
    uint32_t location, call; /* row; NO_CALL: it is in one, or not known */
    uint32_t region;
    uint64_t late_ns; /* by how much others waited longer for it, as far as they lost that */
    bool is_longer;   /* it is operations of a GPU that took so much longer than typical */
    bool
        is_beyond; /* on another rank; or on a device that another device waited for; false where it is in one */
};

struct incident {
    uint32_t head;     /* tree that it goes back to, and whose sentence says why */
    uint32_t location; /* where the cause is, which may be outside of all executions */
    struct outside_cause outside; /* ... then for which call the head waited */
    uint32_t n_members;           /* executions, the head among them */
    uint32_t n_locations;         /* on which they are */
    uint64_t begin_ns, end_ns;    /* of the first to the last of them */
    double lost_ns;               /* over what is typical, summed over the members; >= 0 */
    double score;                 /* nats: what the members' locations say together */
    bool is_costly;               /* it matters even if it is no anomaly */
    bool is_anomaly;              /* one of the members is */
    uint32_t n_causes; /* ranks to which about as much goes back as to that of the cause */
    uint32_t n_turns;  /* how often it came; times and outside are of the turn that lost most */
    uint32_t period; /* in every so manieth execution of the head's location; 0: it came once */
};

/* What the head of an incident, or of a turn of one, waited for, where nothing that is taken
 * out of the head reaches that: on another rank, or on a device that another one waited for. */
struct outside_wait {
    uint32_t head;
    struct outside_cause cause; /* is_beyond */
};

struct incidents {
    uint32_t n;
    struct incident *incident; /* [n] in order */
    uint32_t n_outside;
    struct outside_wait *outside; /* [n_outside] in the order of heads */
    uint32_t *of;                 /* [n_trees] which one a tree belongs to, or INCIDENT_NONE */
    char **chain; /* [n_trees] the sentence of its cause chain, or NULL: none, or
                                  nothing new */
};

/*
 * incidents_find -- of all trees, once they are judged. Release in any case.
 * Chains are followed of the MAX_CAUSES highest scores among the suspects.
 * O(n_trees log n_trees + chains).
 */
void incidents_find(const struct scoring *scoring, struct causes *causes,
                    struct incidents *out);
/* incidents_outside -- what tree t waited for outside, or NULL. O(log n_outside). */
const struct outside_cause *incidents_outside(const struct incidents *incidents, uint32_t t);
void incidents_release(struct incidents *incidents, uint32_t n_trees);

#endif
