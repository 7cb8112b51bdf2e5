/* cmd_ranks -- places against their peers as a headline and a table, for ranks and reports. */
#ifndef SNAG_CMD_CMD_RANKS_H
#define SNAG_CMD_CMD_RANKS_H

#include "analysis/run_scoring.h"
#include "cmd/print.h"
#include "explain/why.h"
#include "ranks/peers.h"
#include "run/rundir.h"

#include <stdint.h>

struct rank_table {
    struct scoring scoring;
    struct why why;
    struct peers peers;
};

/*
 * rank_table_load -- compare the places of a run.
 *   by  what a place is (peers_by), or NULL
 * Returns 0 or what run_scoring_load, peers_by and peers_of_run do. Release it in any case.
 */
int rank_table_load(struct rank_table *ranks, const struct run *run, int64_t foi,
                    const char *by);
void rank_table_release(struct rank_table *ranks);

/* rank_table_headline -- "step: 200 executions on 4 ranks: none of them is slow"; free it. */
char *rank_table_headline(const struct rank_table *ranks);

/*
 * rank_table_places -- a row for each place, those to blame first, then those that wait.
 *   most    rows
 *   n_more  out: places that have none
 */
struct table *rank_table_places(const struct rank_table *ranks, uint32_t most,
                                uint32_t *n_more);

#endif
