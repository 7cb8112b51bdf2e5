/* Ranks against their peers, for their view. */
#include "ranks/peers.h"
#include "serve/api.h"
#include "view/ranks_json.h"

#define WIDTH 128u      /* stretches of time */
#define MAX_CELLS 65536 /* places by stretches; more places get fewer */

int api_ranks(struct worker *worker, const struct request *request, struct response *response)
{
    const struct run *run = &worker->served->run;
    struct subtrees *subtrees;
    struct peers peers;
    struct why why;
    struct peers_opts opts;
    int rc = peers_by(request_text(request, "by", NULL), &run->defs, &opts);

    if (rc == 0)
        rc = worker_subtrees(worker, request->id[0], &subtrees);
    if (rc < 0)
        return rc;
    scoring_why_init(&subtrees->work, &why);
    rc = peers_of_run(&subtrees->work, &run->columns, &opts, &peers);
    if (rc == 0)
        response_json(
            response,
            ranks_to_json(&subtrees->work, &why, &peers,
                          peers.n <= MAX_CELLS / WIDTH ? WIDTH : MAX_CELLS / peers.n + 1));
    peers_release(&peers);
    why_release(&why);
    return rc;
}
