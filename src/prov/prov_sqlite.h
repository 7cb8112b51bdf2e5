/* prov_sqlite -- the final verdict on records, and on those of a whole shard. See
 * prov_store_rejudge. */
#ifndef SNAG_PROV_PROV_SQLITE_H
#define SNAG_PROV_PROV_SQLITE_H

#include "prov/prov_dir.h"
#include "prov/prov_store.h"

struct prov_rejudge {
    const struct prov_dir *place; /* this and the two below: of a shard */
    int dir;
    uint32_t shard;
    int64_t run; /* of which the records are; those of other runs stay as they are */
    prov_judge_fn *judge;
    void *ctx;
};

struct prov_stored {
    bool is_normal;
    const void *data;
    size_t bytes;
};

/* prov_rejudge_record -- ask for the verdict on one record as it is stored, and count it.
 *   arena  scratch, restored on return */
void prov_rejudge_record(const struct prov_rejudge *opts, struct prov_rejudged *counts,
                         struct arena *arena, const struct prov_stored *stored,
                         struct prov_final *final);

#endif
