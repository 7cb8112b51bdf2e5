/*
 * peers -- which rank (or thread) is slow in every execution, and who only waits for it.
 *
 * Anomalies are rare; a rank that is always 8 % late is in no list of them. Here every place is
 * compared with the others in what it does the same: the times of its calls on a call path,
 * against what calls on this path with the same calls below typically take (residual.h), against
 * how far the other places are from that.
 *
 *     rank        0      1      2      3      4      median  width
 *     kernel   +0.1 %  -0.2 %  +5.1 %  +0.0 %  -0.1 %   0.0 %  0.15 %     rank 2 is slow there
 *
 * Waiting is nobody's own work. A place whose calls on a path, by what such calls typically take,
 * are more than those of its peers, or which moves more data, has more to do: that is an
 * imbalance, and it is not slow.
 */
#ifndef SNAG_RANKS_PEERS_H
#define SNAG_RANKS_PEERS_H

#include "explain/trace_view.h"
#include "run/columns.h"
#include "score/scoring.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define PEERS_MIN_PLACES 5u      /* places on a call path, to say anything of one of them */
#define PEERS_MATERIAL 0.002     /* of a place's time: less is not worth a verdict */
#define PEERS_WORTH_NAMING 0.001 /* ... and less than that of a path is not named */
#define PEERS_FALSE_ALARMS 0.005 /* places called slow in a trace in which none is */
#define PEERS_MAYBE 20.0         /* times as often may one be called inconclusive */
#define PEERS_MIN_FACTOR 1.015   /* by which calls take longer, or are more, to count */
#define PEERS_MIN_CALLS 8u       /* of a place on a path, for their middle to mean anything */
#define PEERS_MIN_WIDTH 1e-3     /* of ratios: clocks and caches are not better than that */
#define PEERS_TASK_WIDTHS 6.0    /* work per execution beyond that of the peers */
#define PEERS_WAIT_MATERIAL 0.02 /* of its time: a place waits that much more than others */
#define PEERS_LONG 1.1 /* times the middle: what is long, of a part of the executions */
#define PEERS_NONE UINT32_MAX

#define NO_STAGE UINT32_MAX

enum peer_by {
    PEERS_BY_RANK,
    PEERS_BY_THREAD,
    PEERS_BY_PROGRAM,
    PEERS_BY_NODE,
    PEERS_BY_STAGE,  /* of a pipeline */
    PEERS_BY_WORKER, /* one stage of one rank; the rank, where there are no stages */
};

struct peers_opts {
    enum peer_by by;
    const char *stage;  /* what the number of a stage stands behind in the names of threads;
                           NULL: one of the common texts */
    double least_apart; /* own work of an execution over that of the middle place: where none
                           has so much more, nobody is looked at; 0: all are */
};

/* The worse, the greater. */
enum peer_verdict {
    PEER_TYPICAL,
    PEER_WAITS,        /* it waits more than its peers, for others */
    PEER_INCONCLUSIVE, /* it may be slow; or too few places to tell */
    PEER_IMBALANCED,   /* it has more calls or more data */
    PEER_SLOW,         /* its own work takes longer */
    N_PEER_VERDICTS,
};

/* What one place does differently on one call path. */
struct peer_path {
    uint32_t path;      /* of the model */
    double factor;      /* by which its calls take longer; or are more, if is_more */
    double above;       /* by which its cell is above those of the peers, where not is_more */
    double excess_ns;   /* what that costs in all its executions, > 0 */
    double off, off_ns; /* by which above, and excess_ns, may be off, as times are estimates */
    double error;       /* standard error of above: how far calls, and places, are apart */
    double most_factor; /* where is_more: by which they are more, if what is too much of them
                           takes as long as the others, not what is typical; else 0 */
    uint32_t n_there;   /* places that have calls on the path */
    double share; /* of its calls there that are nearer to its own middle than to the peers', */
    bool of_executions; /* ... or of its executions */
    bool is_part;       /* it takes longer in that share of its executions, and not in others */
    uint32_t stage;     /* of the worker in the place that it is of, or NO_STAGE */
    uint64_t since_ns;  /* when it began; the first execution's begin if it always was so, */
    bool is_from_start; /* ... which this says */
    bool is_more, is_sure;
    uint32_t kernel; /* of calls that wait for a GPU, or for the thread of autograd: the region
                        for which that takes longer ... */
    double kernel_factor; /* ... so many times as long as the others'; 0: there is none */
    bool is_of_thread;    /* the kernel is a function on that thread */
    double
        others; /* what calls of the others take, all together, by what is typical of them, if
                     its calls take more by far more, or less, than one factor says; else 0 */
};

struct peer_place {
    uint32_t program, rank, thread; /* 0 where places are not told apart by it */
    uint32_t stage;                 /* ... or NO_STAGE */
    const char *node;               /* ... or "" */
    uint32_t n_executions;
    double own_ns, wait_ns; /* exclusive time in its executions: working, and waiting */
    double
        peers_ns; /* what one with so many executions works of those with the least own work */
    double slow_ns, more_ns,
        maybe_ns;    /* excess: significantly slow, more to do, not significantly slow */
    double off_ns;   /* by which slow_ns may be off */
    double bytes;    /* sent in an execution, on average, if the messages are known */
    double slowdown; /* S_w: the ideal run, but with this place as it was, against the ideal;
                        NAN: not known */
    int64_t cost_ns; /* by how much the run would be shorter were it not slow, if has_cost; */
    int64_t cost_least_ns, cost_most_ns; /* for what it is slow by at least, and may be */
    bool has_cost;
    enum peer_verdict verdict;
    uint32_t waits_for;     /* place; itself: its own threads; or PEERS_NONE */
    struct peer_path *path; /* [n_paths] the largest excess first */
    uint32_t n_paths;
};

/* What the calls of a function, on all places, cost the run. */
struct peer_operation {
    uint32_t region;
    double slowdown; /* S_t: the ideal run, but with these as they were, against the ideal */
    double sum_ns;
};

/* A thread that takes longer than the others in the teams of a parallel region. */
struct peer_thread {
    uint32_t location;
    uint32_t region;  /* what its members call first: the parallel region */
    uint32_t inside;  /* of the functions in there, that which takes longer most; or region */
    uint32_t n_teams; /* in which it was a member */
    double factor;    /* by which its own time is longer than the middle of the others' */
    double share;     /* of these teams in which it is longer */
    double excess_ns; /* in all of them */
    bool is_more;     /* it calls that function so much more often */
    bool has_cost;    /* else it is not known */
    int64_t cost_ns;  /* by how much the run would be shorter were it like the others, */
    int64_t cost_least_ns; /* and at least, where members of collectives are not in the trace */
    uint32_t n_threads;    /* that were compared */
    uint32_t *span;        /* [n_spans] of its location: what it did as a member */
    size_t n_spans, span_cap;
};

struct peer_teams {
    struct peer_thread *thread; /* [n] the largest excess first */
    uint32_t n;
    uint32_t n_teams,
        n_threads; /* teams that were looked at; threads in them, of one process */
};

struct peers {
    struct peer_place *place; /* [n] by program, node, rank, stage and thread */
    uint32_t n;
    uint32_t n_compared; /* places that were: these, or the workers in them */
    struct peers_opts opts;
    bool is_of_streams; /* messages without MPI */
    double slowdown;    /* S: the run against what it would take were nobody slow; for streams,
                           against the ideal; NAN: not known */
    bool is_bound;      /* slowdowns are at most that: not all of the waiting is in the trace */
    struct peer_operation *operation; /* [n_operations] the largest slowdown first */
    uint32_t n_operations;
    uint32_t *of;                /* [trees] place of each */
    uint32_t *at;                /* [locations] place of each, or PEERS_NONE */
    uint32_t *tree, *first_tree; /* [trees], [n + 1] those of a place one after another */
    bool *is_waiting;            /* [paths of the model] its calls may wait */
    struct peer_teams teams;     /* threads against each other in the teams of one process */
    double *waited_ns; /* [vertices] what is no own work of a call that waits for a GPU, or for
                          the thread of autograd; 0 of others. NULL: there are no such calls */
    bool *is_helper;   /* [locations] such threads of autograd; NULL as that is */
};

/*
 * peers_find -- compare the places of a scored forest.
 *   view   of the same run, for messages; NULL: nothing is known of data, or who waits for whom
 * A place is called slow though none is in one trace of two hundred, if calls on a path differ
 * between places as the normal distribution, or less. Release in any case. O(vertices +
 * messages).
 */
void peers_find(const struct scoring *scoring, const struct trace_view *view,
                const struct peers_opts *opts, struct peers *out);
void peers_release(struct peers *peers);

/*
 * peers_width -- standard deviation of n values, by their median distance from the middle.
 *   x  (n) becomes scratch
 */
double peers_width(double *x, uint32_t n, double middle);

/*
 * peers_chance -- that a place like the others is so far above them.
 *   above  > 0, by which its value is above their middle
 *   width  peers_width of n values, > 0
 *   error  standard deviation of its own value
 */
double peers_chance(double above, double width, uint32_t n, double error);

/* peer_place_add -- one more path on which it does something differently. */
void peer_place_add(struct peer_place *place, const struct peer_path *found);

/* peers_is_to_blame -- it is slow or imbalanced. */
bool peers_is_to_blame(const struct peer_place *place);

/* An execution of a forest, and where it is in the model that the places were compared by. */
struct peer_execution {
    const struct definitions *defs;
    const struct residual_model *model;
    const struct forest *forest;
    const struct residual_place *place;
    uint32_t tree;
};

/*
 * peers_excess -- what the calls of an execution take more than those of the peers of its
 * place, or are more: 0 but on the paths on which that is significantly slow, or has more to do.
 * Where no one factor says by how much (peer_path.others), each call is to take what such calls of the others do: what
 * is in excess is of either sign.
 *   factor  (paths of the model) all 1; scratch that is so again
 *   excess  (vertices of the tree) out
 */
void peers_excess(const struct peers *peers, uint32_t place, const struct peer_execution *x,
                  double *factor, double *excess);

#define PEERS_ROLE_FACTOR                                                                      \
    5.0                     /* a place whose calls take so many times as long does something  \
                                else in them: it is not slower, it has more to do */
#define PEERS_ERRORS 2.0    /* standard errors by which a factor may be off: 19 times in 20 */
#define PEERS_MAX_COSTS 64u /* places to blame of which each is replayed: the largest excess */
#define PEERS_MAX_PLAYED 4096u    /* places whose slowdown is */
#define PEERS_MAX_OPERATIONS 256u /* functions, those that take longest */

/*
 * peers_of_run -- peers_find and peers_costs of a scored run.
 *   columns  of the same run
 * Returns 0 or what peers_costs does. Release in any case.
 */
int peers_of_run(const struct scoring *scoring, const struct columns *columns,
                 const struct peers_opts *opts, struct peers *out);

/*
 * peers_by -- "rank", "thread", "program", "node", "worker", "stage" or "stage=TEXT"; NULL:
 * ranks, or threads where there is one rank without stages.
 * Returns 0, or ERR_USAGE for anything else, and for nodes or stages that the trace does not
 * tell.
 */
int peers_by(const char *name, const struct definitions *defs, struct peers_opts *opts);

/* peer_by_name -- "rank", ... */
const char *peer_by_name(enum peer_by by);

/* peer_stage -- the number behind a text in the name of a location, or NO_STAGE. */
uint32_t peer_stage(const struct location *location, const char *text);

/*
 * peers_costs -- what the slow places cost the run: it is replayed (replay/what_if.h)
 * with their calls on the paths where they are significantly slow as fast as those of their peers.
 * Sets slowdown, and cost_ns of slow places, with the least and the most that it may be: their
 * factors off by PEERS_ERRORS, and by begins and ends that are estimates; the most also without
 * what is not significantly slow there. Not known where a place takes no part in the
 * replay. Where operations on streams are known to depend on each other, slowdown is against
 * the ideal (struct ideal), and that of each place and operation is set too. Returns 0 or
 * what what_if_init does. O(calls + slow places x their vertices).
 */
int peers_costs(const struct scoring *scoring, const struct columns *columns,
                struct peers *peers);

/* peers_costs_in -- the same by a run that is played already, in which nothing is cut. */
struct what_if;
void peers_costs_in(struct what_if *w, const struct scoring *scoring, struct peers *peers);

/* How long own work took, against what it takes there when it is not slow, place by time. */
struct peer_history {
    uint32_t width;
    uint64_t begin_ns, bin_ns;
    double *factor; /* [places x width]; 0: no execution began there then */
};

/* peers_history -- in about so many stretches of time. Free the factors. O(vertices). */
void peers_history(const struct scoring *scoring, const struct peers *peers, uint32_t width,
                   struct peer_history *out);

#define PEER_NAME_SIZE 64

/* peer_place_name -- "rank 3", "program 1 rank 3 thread 0", "rank 0 stage 2". Returns out. */
char *peer_place_name(const struct peers *peers, uint32_t place, char out[PEER_NAME_SIZE]);

/* peer_verdict_name -- "slow", "waits", "imbalanced", "usual", "unsure": in JSON and run.db, which programs read. */
const char *peer_verdict_name(enum peer_verdict verdict);
/* peer_verdict_word -- "slow", "waits", "imbalanced", "typical", "inconclusive": to people. */
const char *peer_verdict_word(enum peer_verdict verdict);

/*
 * peers_factor -- own work against what peers need for the same.
 *   slow_ns   what of it takes longer
 *   role_ns   what else of it peers do not have: without it they have work of their own, peers_ns at least
 */
static inline double peers_factor(double own_ns, double slow_ns, double role_ns,
                                  double peers_ns)
{
    double needed_ns = own_ns - slow_ns;

    needed_ns = fmax(needed_ns - role_ns, fmin(needed_ns, peers_ns));
    return needed_ns > 0 ? own_ns / needed_ns : 1;
}

/* peer_slowdown -- S_w; where it is not known own work against what peers need for the same; of
 * one that is imbalanced or not significantly slow, with what it has more to do, and may lose. */
double peer_slowdown(const struct peer_place *place);

#endif
