/*
 * live_costs -- what strange calls and executions cost the program while it runs: by how much
 * it would be ahead now without what they lost.
 *
 *     live_costs_take(costs, step);                           in every step
 *     live_costs_call(costs, step, &verdict, event);          what is strange in it
 *     if (live_costs_excess(costs, step, trees, foi, t))
 *         live_costs_execution(costs, step, foi, t, event);
 *     live_costs_settle(costs, step, keep, ctx);              what is known by now
 *
 * The ranks' synchronisations of the last steps are kept (sync_window.h). When a step is over,
 * what each was in excess is taken out and the rest is replayed, up to the end of the step.
 * If all ranks are ahead by the same time then, and nothing is under way that left before, the
 * program is ahead by that, and will be: that is the cost. Else it is asked again in the next
 * steps:
 *
 *     step k     rank 0  ==stop==-----|   ahead by what it lost     0 .. all that it lost
 *                rank 1  ---[Barrier..|   not ahead
 *     step k+1   all     ]------------|   ahead by the same         the cost
 *
 * After LIVE_COSTS_STEPS steps, and so many times as long as it took, it is said to have cost
 * what the rank that is most ahead is ahead by, at most. What cannot be known is not said:
 * nothing is where other ranks are not read, or excess may be waiting for what is not seen.
 */
#ifndef SNAG_LIVE_LIVE_COSTS_H
#define SNAG_LIVE_LIVE_COSTS_H

#include "live/live_trees.h"
#include "prov/prov_record.h"

#define LIVE_COSTS_STEPS 4u        /* after its own, in which it is asked again */
#define LIVE_COSTS_MAX_STEPS 64u   /* in any case */
#define LIVE_COSTS_MAX_ASKED 1024u /* that may wait for an answer */
#define LIVE_COSTS_MIN_KEPT 20000u /* of executions that take many steps */
#define LIVE_COSTS_MAX_KEPT                                                                    \
    1000000u                        /* calls, messages and collectives; then all is settled   \
                                      */
#define LIVE_COSTS_MAX_CUTS 100000u /* pieces of excess, of all that wait */

struct live_costs;
struct sync_window;

struct live_costs_opts {
    bool is_alone;     /* other ranks are read by others: nothing is known */
    bool is_inclusive; /* as in struct ad_opts */
    bool is_by_path;   /* likewise */
    struct sync_window
        *window; /* that somebody else takes the steps into; NULL: there is none */
};

/* What one cost. */
struct live_cost {
    struct prov_event event; /* as given */
    uint32_t program;
    bool is_execution;
    uint64_t cost_ns;
    bool is_bound; /* at most that */
};

typedef void live_cost_fn(void *ctx, const struct live_cost *cost);

struct live_costs *live_costs_new(const struct live_costs_opts *opts);

/* live_costs_free -- NULL is harmless. */
void live_costs_free(struct live_costs *costs);

/* live_costs_take -- a step is there. O(calls of the step). */
void live_costs_take(struct live_costs *costs, const struct ad_step *step);

/*
 * live_costs_call -- a strange call of this step; one that had to wait for a model is not asked
 * about.
 *   event  by which the answer is told
 * O(calls in it that are of this step).
 */
void live_costs_call(struct live_costs *costs, const struct ad_step *step,
                     const struct verdict *call, struct prov_event event);

/*
 * live_costs_excess -- what each call of tree t lost by the model, or over what calls of their
 * functions typically take: (vertices of t) ns, until the next call; NULL where that is not known
 * (calls are judged by path or by inclusive times, or t was cut). O(vertices).
 */
const double *live_costs_excess(struct live_costs *costs, const struct ad_step *step,
                                const struct live_trees *trees, const struct live_foi *foi,
                                uint32_t t);

/*
 * live_costs_execution -- tree t of a function of interest, of which live_costs_excess was asked
 * just before, and knew it. O(vertices).
 */
void live_costs_execution(struct live_costs *costs, const struct ad_step *step,
                          const struct live_foi *foi, uint32_t t, struct prov_event event);

/*
 * live_costs_settle -- after all that is strange in the step: tells of those that are known.
 * Those that will not be are forgotten. A bounded number of syncs is gone through, the largest
 * losses first. O(what is kept), if anything waits.
 */
void live_costs_settle(struct live_costs *costs, const struct ad_step *step, live_cost_fn *tell,
                       void *ctx);

#endif
