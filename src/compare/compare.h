/*
 * compare -- what changed between runs, by call path, and whether that is more than runs differ
 * anyway.
 *
 * The unit of replication is the run: with several on a side their spread decides. With one on
 * each side there is no such spread, and the batches of the two stand in for it: that says how
 * sure the difference of these two runs is, not how sure that of the two programs.
 *
 *     whole      +12.4 %   slower            time of an execution
 *     a > b       +9.1 %   slower            what the calls on this path add to it
 *     a > c       +3.3 %   new               all paths together: +12.4 %
 *
 * docs/algorithms.md, section Runs, says which tests, and why.
 */
#ifndef SNAG_COMPARE_COMPARE_H
#define SNAG_COMPARE_COMPARE_H

#include "compare/summary.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define COMPARE_MIN_RATIO 0.01        /* of a time: what is less is no change */
#define COMPARE_MIN_SINGLE_RATIO 0.05 /* the same where no side has two runs */
#define COMPARE_MIN_FUNCTION                                                                   \
    1e-4 /* of the own time of all functions, or of the critical path */
#define COMPARE_MAX_RUNS 1000u
#define COMPARE_NAME_SIZE 1024
#define COMPARE_NONE UINT32_MAX

enum compare_verdict {
    COMPARE_SAME,   /* significantly within the least change */
    COMPARE_SLOWER, /* significantly, and by more than that */
    COMPARE_FASTER,
    COMPARE_INCONCLUSIVE,
    COMPARE_NEW,
    COMPARE_GONE,
    COMPARE_MOVED, /* the same calls from elsewhere */
};

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER };

/* A time per execution, on both sides: means over the runs. */
struct compare_change {
    double ns[2];
    double off_ns;          /* by which the change may be off, as times are estimates */
    double low_ns, high_ns; /* 95 % interval of the change, that included; NAN: not known */
    double chance; /* of what of it is significant, where there is none; 1: not known */
    enum compare_verdict verdict;
};

struct compare_path {
    uint32_t path;             /* of comparison.paths */
    uint32_t from;             /* of what moved: where it was; else COMPARE_NONE */
    struct compare_change own; /* exclusive time on the path */
    double calls[2];           /* per execution */
    double share[2];           /* of the executions, that have it */
    uint32_t kind;  /* in which most of the change is; COMPARE_NONE: in no one of them */
    double kind_ns; /* of the change, in executions of that kind */
    bool is_waiting;
};

struct compare_kind {
    uint32_t has;    /* bit i: they have kind_path[i] */
    double share[2]; /* of the executions; 0: a side has none of it, and no time of it */
    struct compare_change duration;
    uint32_t path;  /* which changed most, the way they did; of comparison.paths */
    double path_ns; /* by how much, in an execution of this kind */
};

struct compare_rank {
    uint32_t program, rank;
    double own_ns[2], wait_ns[2]; /* per execution of the rank */
    double off_ns;                /* by which the change of own work may be off */
    bool stands_out;              /* its own work changed, and not as that of the others */
};

/* A function in the whole run: means over the runs of a side. All of a side is NAN where that is
 * not known: what is kept of one of its runs does not have all functions, and not this one. */
struct compare_function {
    uint32_t name; /* of comparison.names */
    double own_ns[2], calls[2], locations[2];
    double critical_ns[2]; /* of own_ns, on the critical path; 0 everywhere where it is not
                              known */
};

/* Of the runs of a side. */
struct compare_range {
    uint32_t least, most;
};

struct comparison {
    uint32_t n_runs[2];
    double n_executions[2], time_ns[2]; /* of a run: means */
    double duration_ns[2][SUMMARY_QUANTILES];
    double least; /* what counts as a change */
    struct compare_change whole;
    uint32_t runs_needed; /* on each side, where the whole is inconclusive, to know that it is a
                             change (compare_is_large), or that it is none; 0: not known */

    struct names names;
    struct short_names shown; /* what they are shown as */
    struct context paths;     /* their functions are of names; 0 is the root */
    struct compare_path
        *path; /* [n_paths] what changed significantly first, then by how much */
    uint32_t n_paths;
    uint32_t kind_path[SUMMARY_OPTIONAL]; /* of paths: what kinds are told apart by */
    uint32_t n_kind_paths;
    struct compare_kind *kind; /* [n_kinds] most executions first */
    uint32_t n_kinds;
    /* [n_kinds x paths.n] time on the path in an execution of the kind; 0 where that
     * side has none */
    double *kind_ns[2];
    struct compare_rank *rank; /* [n_ranks] largest change of own work first; none where not
                                  all runs have executions on the same ranks */
    uint32_t n_ranks;

    double run_ns[2]; /* how long the whole run took; 0 where it is not known */
    struct compare_function *function; /* [n_functions] largest change of own time first; those
                                          with COMPARE_MIN_FUNCTION of it in any run */
    uint32_t n_functions;

    struct compare_range ranks_of[2], locations_of[2]; /* how many have executions */
    /* Not comparable, perhaps: not all runs have executions on the same ranks, on as many
     * locations, and about as many of them. */
    bool has_other_ranks, has_other_locations, has_other_counts;
    /* What was one thing in all runs before, and is another in those after; NULL: it is not. */
    char *fact[2][N_DIGEST_FACTS];
    double unmatched;    /* share of the time on paths that only one side has */
    bool has_more_moves; /* some of these may have moved: they are too many to look at all */
};

struct compare_rename {
    const char *from, *to; /* `from` in the runs before is `to` in those after */
};

struct compare_opts {
    double least; /* NAN: COMPARE_MIN_RATIO, or COMPARE_MIN_SINGLE_RATIO */
    const struct compare_rename *rename;
    uint32_t n_renames;
};

/*
 * compare_runs -- compare runs of one function of interest.
 *   before, after  (n_before), (n_after) at least one each, COMPARE_MAX_RUNS together at most
 *   out            release it in any case; does not refer to the summaries
 * O(paths^2 * runs), paths with a share of the time that matters.
 */
void compare_runs(const struct summary *before, uint32_t n_before, const struct summary *after,
                  uint32_t n_after, const struct compare_opts *opts, struct comparison *out);
void compare_release(struct comparison *comparison);

/* compare_is_sure -- the verdict is that there is a change. */
static inline bool compare_is_sure(enum compare_verdict verdict)
{
    return verdict != COMPARE_SAME && verdict != COMPARE_INCONCLUSIVE;
}

/* compare_is_large -- the whole changed by more than the least change, as far as its times are
 * known, be it by chance. */
bool compare_is_large(const struct comparison *comparison);

/* compare_is_one_run -- on each side: how much runs differ anyway is not known. */
static inline bool compare_is_one_run(const struct comparison *c)
{
    return c->n_runs[0] == 1 && c->n_runs[1] == 1;
}

/* compare_function_is_known -- what it did in all runs of this side. */
static inline bool compare_function_is_known(const struct compare_function *x, int side)
{
    return !isnan(x->calls[side]);
}

/* compare_verdict_name -- "same", "slower", "faster", "unsure", "new", "gone", "moved": in JSON, which programs read. */
const char *compare_verdict_name(enum compare_verdict verdict);
/* compare_verdict_word -- the same to people, but "inconclusive" for "unsure". */
const char *compare_verdict_word(enum compare_verdict verdict);

/* compare_path_name -- "step > solve > kernel", by short names. Returns out. */
char *compare_path_name(const struct comparison *comparison, uint32_t path,
                        char out[COMPARE_NAME_SIZE]);

/* compare_kind_name -- "with step > io, without step > sort"; "" of the only one. */
char *compare_kind_name(const struct comparison *comparison, uint32_t kind,
                        char out[COMPARE_NAME_SIZE]);

/* compare_kind_is_on_both -- else nothing of it changed: it is new, or gone. */
static inline bool compare_kind_is_on_both(const struct compare_kind *kind)
{
    return kind->share[COMPARE_BEFORE] > 0 && kind->share[COMPARE_AFTER] > 0;
}

/* compare_fraction -- the change, of what was before; INFINITY where there was nothing. */
double compare_fraction(const struct compare_change *change);

#endif
