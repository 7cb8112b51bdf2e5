/*
 * summary -- what comparison needs of the executions of one run: sums per call path, not the
 * calls.
 *
 * Paths are told by the names of their functions, so that two runs can be laid side by side
 * whatever the numbers of their regions; without the lines of the source that some tracers add,
 * as these move with every change of it. Exclusive times are summed: those of all paths
 * together are the time of all executions, so what each path contributes adds up to the whole.
 *
 *     batch   a twentieth of the executions of every location, in order: how much a run varies
 *             in itself
 *     set     executions that have the same of the optional paths, those that some have and
 *             some do not: what kinds of execution there are
 */
#ifndef SNAG_COMPARE_SUMMARY_H
#define SNAG_COMPARE_SUMMARY_H

#include "base/names.h"
#include "base/process_group.h"
#include "features/context.h"
#include "forest/forest.h"
#include "forest/tree_share.h"
#include "run/rundir.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define SUMMARY_BATCHES 20u  /* at most; as many as executions on the location with most */
#define SUMMARY_OPTIONAL 8u  /* paths at most that sets are told apart by */
#define SUMMARY_RARE 0.01    /* a path that fewer executions have is none they differ by */
#define SUMMARY_QUANTILES 3u /* of durations: the median, 95 % and 99 % */

/* What a trace says of its run that should be the same of runs that are compared. */
enum summary_fact {
    FACT_COMMAND,
    FACT_NODES, /* all, with commas */
    FACT_PLATFORM,
    FACT_COMPILER,
    FACT_MPI,
    FACT_OPENMP_THREADS,
    FACT_TRACER,
    N_DIGEST_FACTS
};
#define SUMMARY_FACT_BYTES 1024 /* of one, with its end */

/* The key of a fact in run_summary.h. */
extern const char *const summary_fact_key[N_DIGEST_FACTS];

struct summary_path {
    uint32_t parent;       /* < own number, or PATH_NONE */
    uint32_t name;         /* of the function, in names */
    bool is_waiting;       /* its calls may wait: their time is nobody's own work */
    uint32_t n_executions; /* that have it */
    uint64_t n_calls;
    double time_ns; /* exclusive, of all calls */
    double off_ns;  /* by which that may be off, as begins and ends are estimates */
};

/* A function that was called in the whole run, on all threads, in executions or not. */
struct summary_function {
    uint32_t name; /* in names */
    uint32_t n_locations;
    uint64_t n_calls;
    double own_ns;      /* exclusive, of all calls */
    double critical_ns; /* of that, while the critical path of the run was there */
};

/* Some of the executions. */
struct summary_part {
    uint32_t n_executions;
    uint32_t has;    /* of a set: bit i, they have path optional[i] */
    double time_ns;  /* of the executions */
    double *path_ns; /* [n_paths] */
    double off_ns;   /* of a set: by which time_ns may be off */
    /* of a set: how many of it are in each batch, and their time, [n_batches] */
    uint32_t *in_batch;
    double *batch_ns;
};

struct summary_rank {
    uint32_t program, rank, n_executions;
    double own_ns, wait_ns;
    double off_ns; /* by which own_ns may be off */
};

struct summary {
    struct names names;
    uint32_t foi;                  /* in names */
    uint32_t n_ranks, n_locations; /* that have executions */
    uint32_t n_executions;
    double time_ns;                        /* of all executions, without the tracer's */
    double off_ns;                         /* by which that may be off */
    double duration_ns[SUMMARY_QUANTILES]; /* of their durations */
    struct summary_path *path;             /* [n_paths] */
    uint32_t n_paths;
    struct summary_part *batch; /* [n_batches] */
    uint32_t n_batches;
    struct summary_part *set; /* [n_sets] */
    uint32_t n_sets;
    uint32_t optional[SUMMARY_OPTIONAL]; /* paths */
    uint32_t n_optional;
    struct summary_rank *rank; /* [n_ranks] by program and rank */

    double run_ns; /* from the first event of the run to the last; 0: not known */
    struct summary_function *function; /* [n_functions] */
    uint32_t n_functions;
    bool has_all_functions; /* what is not among them was not called; else that is not known */
    size_t function_cap;
    char *fact[N_DIGEST_FACTS]; /* NULL: not known, or not one for all processes */
};

/*
 * summary_make -- of a forest with at least one tree.
 *   defs   of its regions and locations; not needed afterwards
 *   share  NULL, or: the forest is the part of this process, which may be empty. All must call
 *          it, and all get the summary of all trees, in every bit that of one process
 * Release in any case. O(vertices), 4 bytes per vertex at the peak; of several processes each
 * sends 8 bytes per tree, and sums and names of paths.
 */
void summary_make(struct summary *summary, const struct forest *forest,
                  const struct definitions *defs, const struct tree_share *share);
void summary_release(struct summary *summary);

/* summary_add_function -- what a function did in the whole run. O(functions) when others were
 * added under that name; O(length) else. */
void summary_add_function(struct summary *summary, const char *name,
                          const struct summary_function *function);

/*
 * summary_name -- the name in it that somebody means: the name itself, or its short form.
 * Returns NULL when no function of it has that name. O(names).
 */
const char *summary_name(const struct summary *summary, const char *said);

/*
 * summary_of_run_load -- read the executions of FOI `foi` of a run, and summary them.
 *   process_group  NULL, or: all processes call it, each reads those of its own locations, and
 *                  all get
 *         the summary of all
 *   rc    0, or what went wrong before on this process: with a process group all learn of it
 * Returns 0, rc, an error as run_scoring_collect, or one of another process. Release it in any
 * case. O(calls).
 */
int summary_of_run_load(struct summary *summary, const struct run *run, int64_t foi,
                        struct process_group *process_group, int rc);

#endif
