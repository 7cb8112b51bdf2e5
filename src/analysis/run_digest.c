#include "analysis/run_digest.h"

#include "analysis/run_scoring.h"

int run_digest_load(struct digest *digest, const struct run *run, int64_t foi)
{
    struct scoring s = {0};
    uint32_t region = 0;
    int rc = run_scoring_region(run->db, &run->defs, foi, &region);

    *digest = (struct digest){0};
    if (rc == 0)
        rc = run_scoring_collect(&s, &run->columns, &run->defs, region);
    if (rc == 0)
        digest_make(digest, &s.forest, &run->defs);
    scoring_release(&s);
    return rc;
}
