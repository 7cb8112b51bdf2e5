/*
 * repeats -- anomalies that are alike: what comes again and again is one thing to people.
 *
 * Incidents that are anomalies, whose heads are on one thread and go back to one call path,
 * whatever lies between them. Those that come at equal distances with something that the
 * program does are one incident already, with turns (analysis/recurrence.h).
 */
#ifndef SNAG_VIEW_REPEATS_H
#define SNAG_VIEW_REPEATS_H

#include "explain/why.h"
#include "view/executions.h"

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define REPEATS_FEWEST 4 /* incidents that are alike: fewer are each by themselves */

struct repeat {
    char cause[WHY_CAUSE_SIZE], foi[EXECUTION_ID_SIZE]; /* cause: without what it lost */
    uint32_t rank, thread, first, last;                 /* indexes of heads */
    uint32_t n, n_with_cost;
    uint64_t period; /* all of them are a multiple of that apart; 0: of one */
    uint64_t lost_ns, cost_ns;
    int64_t *incident; /* [n] numbers */
    size_t incident_cap;
};

struct repeats {
    struct repeat *kind; /* [n] REPEATS_FEWEST incidents or more each, what lost most first */
    size_t n, cap;
};

/*
 * repeats_find -- those among the incidents of a filter, whatever its verdict and limits say.
 * Returns 0, ERR_NOT_FOUND for an unknown FOI, or ERR_DATABASE. Release in any case.
 * O(incidents x kinds).
 */
int repeats_find(sqlite3 *db, const struct execution_filter *filter, struct repeats *all);
void repeats_release(struct repeats *all);

#endif
