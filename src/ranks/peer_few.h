/*
 * peer_few -- which of two to four places is slow: there are too few of them to know how far
 * apart such places are, but they have executed the same, again and again.
 *
 *     execution    0     1     2     3   ...  599
 *     rank 0      1.00  1.02  0.98  1.01      0.99  own work, ms
 *     rank 1      2.01  1.97  2.03  2.00      2.02  longer in 600 of 600: not by chance
 *
 * A place's own work of the i-th execution is compared with the middle of the others' of
 * theirs: a sign test over executions, those that resemble the one before counting for less.
 * What it is slow by are the paths on which it spends more than the others do. Threads of one
 * process are compared the same way in the teams that they make (peer_teams).
 */
#ifndef SNAG_RANKS_PEER_FEW_H
#define SNAG_RANKS_PEER_FEW_H

#include "ranks/peer_cells.h"
#include "ranks/peers.h"
#include "replay/what_if.h"

#define PEER_FEW_MIN_PLACES 2u /* places that can be compared so */

/*
 * peer_few_judge -- verdicts of all places but who waits, and the paths on which they are
 * slow; where that is time on a path that no other has, it is more to do.
 *   chance  that a place is called slow though none is, e.g. 0.005
 * Places of which one has a tenth more executions than another are not compared: all are
 * PEER_INCONCLUSIVE. O(vertices + places x paths).
 */
void peer_few_judge(const struct scoring *scoring, const struct peer_cells *cells,
                    double chance, struct peers *peers);

/*
 * peer_teams -- which thread of a team always comes last, as it has more work in each of them.
 *
 *     thread 0   [fork] sweep 3.0 ms ......  barrier 1.2 ms  [join]
 *     thread 1          sweep 4.2 ms .......................         1.4 times the others'
 *
 * Threads of one process are compared as places are, but execution by execution of the teams
 * that are made by one parallel region: what a member did itself in the i-th of them, without
 * what it waited in barriers and in MPI, against the middle of the others. That the work is
 * dealt out anew each time, so that now this one and now that has more, is not slowness of any.
 */

/*
 * peer_teams_find -- in the teams that executions of a scored forest make.
 * Release in any case. O(spans + calls in them), 8 bytes a member of a team.
 */
void peer_teams_find(const struct scoring *scoring, const struct trace_view *view,
                     struct peer_teams *out);
void peer_teams_release(struct peer_teams *teams);

/* peer_teams_costs -- sets what each costs the run. O(calls in teams + a replay each). */
void peer_teams_costs(struct what_if *w, struct peer_teams *teams);

/* peer_teams_cut -- take what the slow threads of a rank take longer out of a run, see
 * replay_cut. Returns what is cut, in ns. */
int64_t peer_teams_cut(struct what_if *w, const struct peer_teams *teams, uint32_t rank);

/* peer_teams_place -- "rank 3 thread 1". */
char *peer_teams_place(const struct definitions *defs, const struct peer_thread *thread,
                       char out[PEER_NAME_SIZE]);

/* peer_teams_verdict -- as of places: slow, or imbalanced, as it has more calls to make. */
static inline enum peer_verdict peer_teams_verdict(const struct peer_thread *thread)
{
    return thread->is_more ? PEER_IMBALANCED : PEER_SLOW;
}

/* peer_teams_text -- "!$omp parallel @a.c:22 > sweep +39 % over the median of the other 3
 * threads of its teams (297 ms, in 98 % of 240)", to be freed. */
char *peer_teams_text(const struct definitions *defs, const struct peer_thread *thread);

#endif
