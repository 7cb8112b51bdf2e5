/* Ranks against their peers, for their view. */
#include "analysis/causes.h"
#include "analysis/peers.h"
#include "base/err.h"
#include "serve/api.h"
#include "view/ranks_json.h"

#include <string.h>

#define WIDTH 128u       /* stretches of time */
#define MOST_CELLS 65536 /* places by stretches; more places get fewer */

static int by_of(const struct request *request, const struct definitions *defs,
                 enum peer_by *by)
{
    static const char *const names[] = {"rank", "thread", "program"};
    bool has_few = defs->n_ranks < PEERS_FEWEST && defs->n_locations >= PEERS_FEWEST;
    const char *said = request_text(request, "by", has_few ? "thread" : "rank");

    for (*by = PEERS_BY_RANK; *by <= PEERS_BY_PROGRAM && strcmp(said, names[*by]) != 0;)
        ++*by;
    return *by <= PEERS_BY_PROGRAM
               ? 0
               : err_set(ERR_USAGE, "by is rank, thread or program, not '%s'", said);
}

int api_ranks(struct worker *worker, const struct request *request, struct response *response)
{
    const struct run *run = &worker->served->run;
    struct subtrees *subtrees;
    struct causes causes;
    struct peers peers;
    struct why why;
    enum peer_by by;
    int rc = by_of(request, &run->defs, &by);

    if (rc == 0)
        rc = worker_subtrees(worker, request->id[0], &subtrees);
    if (rc < 0)
        return rc;
    causes_init(&causes, &run->columns, &run->defs);
    scoring_why_init(&subtrees->work, &why);
    peers_find(&subtrees->work, &causes.view, by, &peers);
    rc = peers_costs(&subtrees->work, &run->columns, &peers);
    if (rc == 0)
        response_json(
            response,
            ranks_to_json(&subtrees->work, &why, &peers,
                          peers.n <= MOST_CELLS / WIDTH ? WIDTH : MOST_CELLS / peers.n + 1));
    peers_release(&peers);
    why_release(&why);
    causes_release(&causes);
    return rc;
}
