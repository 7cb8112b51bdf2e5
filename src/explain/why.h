/*
 * why -- what makes a tree strange, in words and in numbers that can be checked.
 *
 * Time: the call paths that lost it, and what calls of that context typically take. Structure:
 * the call whose children are the rarest combination, or in the rarest order, and how they
 * differ from the typical one.
 * Size: how many calls, and how many there typically are. Then what the tracer took, and how many
 * executions would look so strange by chance.
 *
 * "Usually" has one meaning for calls: those of the same path and subtree, on this rank where
 * it differs from the others (residual.h); and one for executions: those with the same calls on
 * the same rank (residual_loss). What is listed adds up to what an execution took more than
 * those: sums of medians are no medians of sums, so what is left over is "elsewhere".
 */
#ifndef SNAG_EXPLAIN_WHY_H
#define SNAG_EXPLAIN_WHY_H

#include "features/residual.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_SIZE 1536
#define WHY_NAME_SIZE 256
#define WHY_CAUSE_SIZE 61
#define WHY_MAX_CHILDREN 64

/* A forest in its model: what explanations are made from. */
struct why {
    const struct residual_model *model;
    const struct residual_place *place;
    const struct forest *forest;
    const struct definitions *defs;
    struct residual_pairs pairs; /* of the tree looked at last */
    struct residual_loss loss;   /* of that tree */
    size_t n_strange;            /* of its pairs took more than is noise */
};

/* What is known of a tree beside itself. */
struct why_verdict {
    const double
        *value; /* (5) what each part says, nats: time, gross, structure, size, short */
    bool is_anomaly;
    bool is_of_anomaly; /* what is said is said of an incident that is one */
    bool
        is_open; /* it did not end before the events of its location did, long before the run */
    bool is_slight;    /* it would be one, had it lost more */
    bool is_unknown;   /* ... or were it known better when it began and ended */
    bool is_recording; /* ... or had it not waited for who was held up by the tracer */
    bool is_by_labels; /* ... or had the model learnt nothing from labels */
    bool is_by_model;  /* what is typical was learnt from another run */
    double min_lost;   /* of a typical duration: what it would have to lose for that */
    double expected;   /* executions as strange in a run like this, by chance; NAN: not known */
};

void why_init(struct why *why, const struct residual_model *model,
              const struct residual_place *place, const struct forest *forest,
              const struct definitions *defs);
void why_release(struct why *why);

/* why_path_name -- "caller > function", or just the function for a root. Returns out. */
char *why_path_name(const struct why *why, uint32_t path, char out[WHY_NAME_SIZE]);

/*
 * why_sort_pairs -- load the pairs of tree t, and what it took more: why->loss, of which
 * lost_ns is known to be lost. Those that stand out come first (residual_stands_out; of a tree
 * that was shorter than typical, those that took less), then the others, by what they took more.
 * Returns how many stand out.
 */
size_t why_sort_pairs(struct why *why, uint32_t t, int64_t lost_ns);

/* How the children of a call differ from those that calls of its path typically have. */
struct why_child {
    uint32_t region;
    uint32_t observed;    /* calls of it */
    uint32_t least, most; /* typical number */
};

/*
 * why_children -- differences at vertex v, the largest factor first.
 *   child  (WHY_MAX_CHILDREN) out
 * Returns how many.
 */
size_t why_children(const struct why *why, uint32_t v, struct why_child *child);

/* How the order of the calls of a call differs from that of others with the same calls. */
struct why_order {
    uint32_t early, late; /* regions: the first is called before the second, here */
    uint32_t calls, of;   /* of so many calls with the same calls, so many are in another order
                             than typical; of a model of another run, maybe none */
};

/* why_order -- whether that, and not what is called, makes the shape of vertex v rare. */
bool why_order(const struct why *why, uint32_t v, struct why_order *out);

/*
 * why_sentence -- one sentence on tree t.
 *   measure  of the tree
 * "nothing stands out" only for what is no anomaly and where nothing stands out.
 */
void why_sentence(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict, char out[WHY_SIZE]);

/* why_shorten -- cuts the middle out of what is longer than size - 1 bytes. */
void why_shorten(const char *text, char *out, size_t size);

/*
 * why_cause -- what the sentence says first, in 60 characters at most: "step > solve +5.04 ms",
 * "2 calls of sort (usually 1)", "does not end".
 */
void why_cause(struct why *why, uint32_t t, const struct residual_measure *measure,
               const struct why_verdict *verdict, char out[WHY_CAUSE_SIZE]);

/*
 * way -- in which way an execution is strange: what its sentence says first, without how much.
 *
 * Executions that are strange in the same way are one thing to people, whenever and on whatever
 * rank they are: "more calls of ev_tally", "solve > kernel takes longer". A wait has no path of
 * its own, as it shows in whatever call of MPI comes next; so that is one way, too.
 */

enum way_kind {
    WAY_NONE, /* nothing is strange, or too few executions to say */
    WAY_LONGER,
    WAY_WAIT,    /* longer in calls of MPI */
    WAY_BARRIER, /* or for threads */
    WAY_SHORTER,
    WAY_LONGER_IN_ALL, /* but not on any path in particular */
    WAY_SHORTER_IN_ALL,
    WAY_MORE_CALLS,
    WAY_FEWER_CALLS,
    WAY_COMBINATION, /* of calls, in a call of this path */
    WAY_ORDER,
    WAY_OPEN,
    N_WAY_KINDS
};

struct way {
    enum way_kind kind;
    uint32_t number; /* path, or region of WAY_*_CALLS; 0 where there is none */
};

#define WAY_SIZE (WHY_NAME_SIZE + 64)

/* way_of -- that of tree t. O(its vertices, and paths). */
struct way way_of(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict);

/* way_say -- in words; "" for WAY_NONE. Returns out. */
char *way_say(const struct why *why, struct way way, char out[WAY_SIZE]);

/* way_read -- of what way_say wrote, the kind; WAY_NONE for any other text. */
enum way_kind way_read(const char *what);

/* way_function -- the function that a way is of; NULL where it is of none in particular. */
const struct region *way_function(const struct why *why, struct way way);

#endif
