/*
 * run_maker -- a run from a trace that was read: which functions are looked at, their analyses,
 * and everything that run.db says. The directory appears under its name when all is in it.
 */
#ifndef SNAG_ANALYSIS_RUN_MAKER_H
#define SNAG_ANALYSIS_RUN_MAKER_H

#include "analysis/analysis.h"
#include "analysis/per_call.h"
#include "forest/foi.h"
#include "run/ingest.h"
#include "run/rundir.h"

#include <stdbool.h>
#include <stdint.h>

/* Where making them would keep who looks first waiting: some 30 ns a call, when those are in
 * memory. */
#define RUN_MAKER_LEVELS (UINT64_C(1) << 25)

struct run_maker_opts {
    const char *const *foi; /* [n_foi] patterns, see foi_match; none: what is suggested */
    uint32_t n_foi;
    struct analysis_opts analysis; /* but for its model */
    struct model *model;           /* judge by it; NULL: learn. Renumbered as the trace */
    const struct per_call_opts *per_call; /* the strange calls, too; NULL: not */
    bool keeps_labels;                    /* of the run that is replaced */
    const char *command;                  /* that makes the run, as it was typed; or NULL */
    uint64_t levels_from; /* with so many calls the levels are made, too; 0: RUN_MAKER_LEVELS */
    const char *run_id;   /* of the program's run, in place of what the trace says; or NULL */
};

struct run_made {
    struct analysis_foi foi[MAX_FOIS]; /* names are the definitions' */
    struct analysis_result result[MAX_FOIS];
    uint32_t n_foi;
    bool is_suggested;
    char why[FOI_WHY_SIZE]; /* of the suggestion */
    uint32_t
        often; /* region that is called often enough to say what is typical, where that is not; or NAMES_NONE */
    char often_why[FOI_WHY_SIZE];
    uint64_t n_strange, n_judged; /* calls */
    uint64_t n_slight;            /* calls that were strange, but lost less than: */
    double least_lost_ns;
    size_t n_labels, n_lost; /* taken over; could not be */
};

/*
 * run_make -- analyse, write and commit.
 *   dir       begun, with the columns in it; abandon it in any case
 *   ingested  its traffic is released, as it is on disk
 * Returns 0, ERR_NOT_FOUND for a function that there is not or that is never called, ERR_FORMAT
 * when nothing was called, or another ERR_*.
 */
int run_make(struct rundir *dir, struct source *source, struct ingested *ingested,
             const struct run_maker_opts *opts, struct run_made *made);

#endif
