#include "analysis/run_digest.h"

#include "analysis/analysis_crew.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <stdio.h>
#include <string.h>

#define MIN_SHARE 1e-4 /* of the time of all functions: what has less is not kept */

/* What each function did in the whole run. */
static int load_functions(struct digest *digest, const struct run *run)
{
    sqlite3_stmt *row;
    int rc = rundb_prepare(
        run->db,
        "SELECT name, calls, exclusive_ns, locations, critical_ns FROM region WHERE "
        "kind NOT IN ('tracer', 'loop') AND (exclusive_ns >= ?1 * (SELECT "
        "sum(exclusive_ns) FROM region WHERE kind NOT IN ('tracer', 'loop')) OR "
        "critical_ns > ?1 * (SELECT sum(critical_ns) FROM region)) "
        "ORDER BY id",
        &row);

    if (rc < 0)
        return rc;
    sqlite3_bind_double(row, 1, MIN_SHARE);
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        struct digest_function function = {.n_calls = (uint64_t)sqlite3_column_int64(row, 1),
                                           .own_ns = (double)sqlite3_column_int64(row, 2),
                                           .n_locations =
                                               (uint32_t)sqlite3_column_int64(row, 3),
                                           .critical_ns = (double)sqlite3_column_int64(row, 4)};

        if (name && *name && function.own_ns >= 0 && function.critical_ns >= 0)
            digest_add_function(digest, name, &function);
    }
    sqlite3_finalize(row);
    digest->run_ns =
        (double)rundb_get(run->db, "end_ns", 0) - (double)rundb_get(run->db, "begin_ns", 0);
    return 0;
}

static int load_facts(struct digest *digest, const struct run *run)
{
    struct run_metadata metadata;
    char nodes[DIGEST_FACT_BYTES];
    int rc = run_metadata_load(&metadata, run->db);

    run_metadata_join(&metadata, METADATA_NODE, nodes, sizeof nodes);
    for (int f = 0; rc == 0 && f < N_DIGEST_FACTS; f++) {
        const char *value =
            f == FACT_NODES ? nodes : run_metadata_get(&metadata, digest_fact_key[f]);

        digest->fact[f] = value && *value ? mem_copy_string(value) : NULL;
    }
    run_metadata_release(&metadata);
    return rc;
}

/* Each process the executions of its own locations. */
static int collect_part(struct scoring *s, const struct run *run, uint32_t region,
                        struct tree_share *share)
{
    int rc = run_scoring_collect_part(s, &run->columns, &run->defs, region, share->mine,
                                      share->n_mine);

    rc = crew_agree(share->crew, rc);
    if (rc < 0)
        return rc;
    tree_share_count(share, &s->forest);
    return share->n_all > 0
               ? 0
               : err_set(ERR_NOT_FOUND, "'%s' is never called", run->defs.region[region].name);
}

static int digest_part(struct digest *digest, const struct run *run, uint32_t region,
                       struct crew *crew)
{
    struct tree_share share;
    struct scoring s = {0};
    int rc;

    analysis_crew_deal(&share, crew, &run->columns, &run->defs);
    rc = collect_part(&s, run, region, &share);
    if (rc == 0) {
        digest_make(digest, &s.forest, &run->defs, &share);
        analysis_crew_report(crew, "compare", &s.forest, 0);
    }
    scoring_release(&s);
    tree_share_release(&share);
    return rc;
}

static int digest_all(struct digest *digest, const struct run *run, uint32_t region)
{
    struct scoring s = {0};
    int rc = run_scoring_collect(&s, &run->columns, &run->defs, region);

    if (rc == 0)
        digest_make(digest, &s.forest, &run->defs, NULL);
    scoring_release(&s);
    return rc;
}

int run_digest_load(struct digest *digest, const struct run *run, int64_t foi,
                    struct crew *crew, int rc)
{
    uint32_t region = 0;

    *digest = (struct digest){0};
    if (rc == 0)
        rc = run_scoring_region(run->db, &run->defs, foi, &region);
    rc = crew_agree(crew, rc);
    if (rc == 0)
        rc = crew ? digest_part(digest, run, region, crew) : digest_all(digest, run, region);
    if (rc < 0)
        return rc;
    rc = load_functions(digest, run);
    if (rc == 0)
        rc = load_facts(digest, run);
    return crew_agree(crew, rc);
}
