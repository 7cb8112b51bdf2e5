/* One transaction for all of run.db. */
#include "analysis/run_maker.h"

#include "analysis/label_store.h"
#include "analysis/run_store.h"
#include "base/err.h"
#include "base/log.h"
#include "base/order.h"
#include "features/robust.h"
#include "run/levels.h"
#include "run/loop_columns.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SUGGESTED 8 /* functions, among which one that is called often is looked for */

/* A run in the making. */
struct run_in_making {
    const struct run_maker_opts *opts;
    struct rundir *dir;
    struct source *source;
    struct ingested *ingested;
    struct run_made *made;
};

/* -------------------------------------------------------------- functions of interest */

static void name_fois(struct run_in_making *m, const struct definitions *defs)
{
    for (uint32_t i = 0; i < m->made->n_foi; i++) {
        m->made->foi[i].id = i + 1;
        m->made->foi[i].name = defs->region[m->made->foi[i].region].short_name;
    }
}

static int add_foi(struct run_in_making *m, uint32_t region)
{
    for (uint32_t i = 0; i < m->made->n_foi; i++)
        if (m->made->foi[i].region == region)
            return 0;
    if (m->made->n_foi == MAX_FOIS)
        return err_set(ERR_USAGE, "more than %d functions of interest", MAX_FOIS);
    m->made->foi[m->made->n_foi++].region = region;
    return 0;
}

static bool is_called_often(const struct run_in_making *m, uint32_t region)
{
    return m->ingested->profile.row[region].n_outermost >= ROBUST_FEW;
}

static int suggest_foi(struct run_in_making *m)
{
    struct foi_suggestion best[MAX_SUGGESTED];
    uint64_t total = ingested_time_ns(m->ingested);
    size_t n = foi_suggest(&m->source->defs, &m->ingested->profile, total, best, MAX_SUGGESTED),
           often = 0; /* the first that is called so */

    if (n == 0)
        return err_set(ERR_FORMAT, "no calls in '%s'", m->source->path);
    m->made->is_suggested = true;
    snprintf(m->made->why, sizeof m->made->why, "%s", best[0].why);
    while (often < n && !is_called_often(m, best[often].region))
        often++;
    if (often > 0 && often < n) {
        m->made->often = best[often].region;
        snprintf(m->made->often_why, sizeof m->made->often_why, "%s", best[often].why);
    }
    return add_foi(m, best[0].region);
}

/* The function that the model is about. */
static int model_foi(struct run_in_making *m)
{
    uint32_t region = model_foi_among(m->opts->model, &m->source->defs);

    if (region == NAMES_NONE || m->ingested->profile.row[region].n_calls == 0)
        return err_set(ERR_NOT_FOUND, "the model is about '%s', which is never called in '%s'",
                       m->opts->model->foi, m->source->path);
    return add_foi(m, region);
}

static int choose_fois(struct run_in_making *m)
{
    int rc = m->opts->model ? model_foi(m) : 0;

    for (uint32_t i = 0; rc == 0 && i < m->opts->n_foi; i++) {
        uint32_t region[MAX_FOIS];
        size_t n;

        rc = foi_match(m->opts->foi[i], &m->source->defs, &m->ingested->profile, region, &n);
        for (size_t k = 0; rc == 0 && k < n; k++)
            rc = add_foi(m, region[k]);
    }
    if (rc == 0 && m->made->n_foi == 0)
        rc = suggest_foi(m);
    if (rc == 0)
        name_fois(m, &m->source->defs);
    return rc;
}

static double mean_ns(const struct profile_row *row)
{
    return (double)row->inclusive_ns / (double)(row->n_outermost ? row->n_outermost : 1);
}

static int by_length(const void *a, const void *b, void *ctx)
{
    const struct profile_row *row = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return ORDER(mean_ns(&row[q]), mean_ns(&row[p])) ?: ORDER(p, q);
}

/* Those of which nothing is left. */
static void drop_crossed(struct run_in_making *m)
{
    struct run_made *made = m->made;
    uint32_t n = 0;

    for (uint32_t i = 0; i < made->n_foi; i++)
        if (m->ingested->profile.row[made->foi[i].region].n_calls > 0)
            made->foi[n++] = made->foi[i];
        else
            log_warn("analyze",
                     "'%s' is left out: all its iterations cross those of another loop",
                     made->foi[i].name);
    made->n_foi = n;
    name_fois(m, &m->source->defs);
}

/* Iterations of the loops that were chosen become calls, as those of functions are. Loops may be
 * in each other: the outer one is there first. */
static int insert_loops(struct run_in_making *m)
{
    uint32_t region[MAX_FOIS], n = 0;
    int rc;

    for (uint32_t i = 0; i < m->made->n_foi; i++)
        if (loops_of_region(&m->ingested->loops, m->made->foi[i].region))
            region[n++] = m->made->foi[i].region;
    if (n > 1)
        qsort_r(region, n, sizeof *region, by_length, m->ingested->profile.row);
    rc = loop_columns_write(m->dir->part, &m->source->defs, m->opts->analysis.pool, region, n,
                            m->ingested);
    if (rc == 0)
        drop_crossed(m);
    return rc;
}

/* -------------------------------------------------------------------------- the run */

/* All calls, whatever their function. */
static int analyse_calls(struct run_in_making *m, sqlite3 *db, const struct columns *columns)
{
    struct per_call_result result;
    int rc;

    per_call_run(columns, &m->source->defs, m->opts->per_call, &result);
    m->made->n_strange = result.n_anomalies;
    m->made->n_judged = result.n_judged;
    m->made->n_slight = result.n_slight;
    m->made->least_lost_ns = result.least_lost_ns;
    rc = per_call_save(db, columns, &result);
    per_call_release(&result);
    return rc;
}

/* One function of interest after another, and all calls. */
static int analyse_columns(struct run_in_making *m, sqlite3 *db, const struct columns *columns,
                           const struct analysis_opts *opts)
{
    const struct analysis_sink sink = run_store_sink(db);
    char *indexes = NULL;
    int rc = rundb_drop_indexes(db, "execution", &indexes);

    for (uint32_t i = 0; rc == 0 && i < m->made->n_foi; i++) {
        struct analysis_result *result = &m->made->result[i];

        rc = analysis_run(columns, &m->source->defs, &m->made->foi[i], opts, &sink, result);
        if (rc == 0)
            log_info("analyze",
                     "%s: forest %.1f ms, features %.1f ms, detector %.1f ms, storing %.1f ms",
                     m->made->foi[i].name, (double)result->forest_ns * 1e-6,
                     (double)result->features_ns * 1e-6, (double)result->detect_ns * 1e-6,
                     (double)result->store_ns * 1e-6);
    }
    if (rc == 0)
        rc = rundb_exec(db, indexes);
    if (rc == 0 && m->opts->per_call)
        rc = analyse_calls(m, db, columns);
    free(indexes);
    return rc;
}

/* What does not stay in memory goes to the directory of the run, which has room for as much. */
static int analyse_all(struct run_in_making *m, sqlite3 *db)
{
    struct analysis_opts opts = m->opts->analysis;
    struct paged *paged = paged_new(m->dir->part, PAGED_MIN_BYTES);
    struct columns columns;
    int rc = columns_open(&columns, m->dir->part);

    opts.model = m->opts->model;
    opts.paged = paged;
    columns_share(&columns, paged);
    if (rc == 0)
        rc = columns_check_all(&columns, &m->source->defs, opts.pool);
    if (rc == 0)
        rc = analyse_columns(m, db, &columns, &opts);
    columns_unshare(&columns, paged);
    columns_close(&columns);
    paged_free(paged);
    return rc;
}

/* Numbers the functions of the model as in the trace; the database gets those it has not. */
static int adopt_model(struct run_in_making *m, sqlite3 *db)
{
    uint32_t n_before = m->source->defs.names.n, region;

    if (m->opts->model == NULL)
        return 0;
    model_adopt(m->opts->model, &m->source->defs, &region);
    return run_summary_uncalled(db, &m->source->defs, n_before);
}

/* A run that is replaced hands its labels on. */
static int inherit_labels(struct run_in_making *m, sqlite3 *db)
{
    struct database old = {.dir = -1};
    int dir, rc;

    if (!m->opts->keeps_labels || !rundir_is_run(m->dir->path))
        return 0;
    rc = fs_open_dir(m->dir->path, &dir);
    if (rc < 0)
        return rc;
    rc = rundb_open_labels(dir, m->dir->path, &old);
    if (rc == 0)
        rc = label_store_inherit(db, old.sql, &m->made->n_labels, &m->made->n_lost);
    database_close(&old);
    close(dir);
    return rc;
}

/* What somebody says of the run holds, whatever its trace says. */
static void call_run(struct definitions *defs, const char *run_id)
{
    size_t n = 0;

    for (size_t i = 0; i < defs->n_metadata; i++)
        if (strcmp(defs->metadata[i].key, METADATA_RUN_ID) != 0)
            defs->metadata[n++] = defs->metadata[i];
    defs->n_metadata = n;
    definitions_metadata(defs, &(struct metadata){.key = METADATA_RUN_ID, .value = run_id});
}

static int write_database(struct run_in_making *m)
{
    struct database db;
    int rc = rundb_create(m->dir->part, &db);

    if (rc == 0)
        rc = rundb_set_text(db.sql, "snag", SNAG_VERSION);
    if (rc == 0 && m->opts->command)
        rc = rundb_set_text(db.sql, "command", m->opts->command);
    if (rc == 0 && m->opts->run_id)
        call_run(&m->source->defs, m->opts->run_id);
    if (rc == 0)
        rc = run_summary_save(db.sql, m->source, m->ingested);
    if (rc == 0)
        rc = adopt_model(m, db.sql);
    if (rc == 0)
        rc = analyse_all(m, db.sql);
    if (rc == 0)
        rc = inherit_labels(m, db.sql);
    if (rc == 0)
        rc = rundb_finish(db.sql);
    database_close(&db);
    return rc;
}

/* While the columns are likely to be in memory. A run is as good without them. */
static void make_levels(const struct run_in_making *m)
{
    uint64_t from = m->opts->levels_from ? m->opts->levels_from : RUN_MAKER_LEVELS;
    struct columns columns;
    int rc;

    if (m->ingested->n_calls < from)
        return;
    rc = columns_open(&columns, m->dir->part);
    if (rc == 0)
        rc = levels_write(&columns, m->opts->analysis.pool, NULL);
    if (rc < 0)
        log_warn("analyze", "the run is without levels: %s", err_message());
    columns_close(&columns);
}

/* --------------------------------------------------------------------------------- public */

int run_make(struct rundir *dir, struct source *source, struct ingested *ingested,
             const struct run_maker_opts *opts, struct run_made *made)
{
    struct run_in_making m = {opts, dir, source, ingested, made};
    int rc;

    *made = (struct run_made){.n_foi = 0, .often = NAMES_NONE};
    rc = choose_fois(&m);
    if (rc == 0)
        rc = insert_loops(&m);
    traffic_release(&ingested->traffic);
    if (rc == 0)
        rc = write_database(&m);
    if (rc == 0)
        make_levels(&m);
    return rc < 0 ? rc : rundir_commit(dir);
}
