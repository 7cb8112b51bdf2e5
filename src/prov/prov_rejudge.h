/* prov_rejudge -- the final verdict on the records of one shard. See prov_store_rejudge. */
#ifndef SNAG_PROV_PROV_REJUDGE_H
#define SNAG_PROV_PROV_REJUDGE_H

#include "prov/prov_place.h"
#include "prov/prov_store.h"

struct prov_rejudge {
    const struct prov_place *place;
    int dir;
    uint32_t shard;
    int64_t run; /* of which the records are; those of other runs stay as they are */
    prov_judge_fn *judge;
    void *ctx;
};

/* prov_rejudge_shard -- in one transaction, on a connection of its own; adds to counts. */
int prov_rejudge_shard(const struct prov_rejudge *opts, struct prov_rejudged *counts);

#endif
