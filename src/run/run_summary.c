/*
 * One function per table. What a trace says of the run besides what was called is kept by
 * text, not by process, as it is to tell runs apart.
 */
#include "run/run_summary.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/rundb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- what a trace says of the run */

static void add(struct run_metadata *m, const char *key, const char *value)
{
    char cut[METADATA_BYTES];

    if (*key == '\0' || *value == '\0')
        return;
    mem_grow(&m->at, &m->cap, m->n + 1);
    snprintf(cut, sizeof cut, "%s", value);
    m->at[m->n].value = arena_string(&m->arena, cut);
    snprintf(cut, sizeof cut, "%s", key);
    m->at[m->n++].key = arena_string(&m->arena, cut);
}

static int by_text(const void *a, const void *b)
{
    const struct run_metadatum *p = a, *q = b;
    int by_key = strcmp(p->key, q->key);

    return by_key ? by_key : strcmp(p->value, q->value);
}

/* Of equal ones all but one go, and keys with too many values. */
static void tidy(struct run_metadata *m)
{
    size_t n = 0;

    if (m->n > 1)
        qsort(m->at, m->n, sizeof *m->at, by_text);
    for (size_t i = 0, next; i < m->n; i = next) {
        size_t first = n;
        bool is_node = strcmp(m->at[i].key, METADATA_NODE) == 0;

        for (next = i; next < m->n && strcmp(m->at[next].key, m->at[i].key) == 0; next++)
            if (next == i || strcmp(m->at[next].value, m->at[next - 1].value) != 0)
                m->at[n++] = m->at[next];
        if (n - first > METADATA_VALUES && !is_node)
            n = first;
    }
    m->n = n < RUN_MAX_METADATA ? n : RUN_MAX_METADATA;
}

void run_metadata_of(struct run_metadata *metadata, const struct definitions *defs)
{
    *metadata = (struct run_metadata){0};
    for (size_t i = 0; i < defs->n_metadata; i++)
        add(metadata, defs->metadata[i].key, defs->metadata[i].value);
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (l == 0 || strcmp(defs->location[l].node, defs->location[l - 1].node) != 0)
            add(metadata, METADATA_NODE, defs->location[l].node);
    tidy(metadata);
}

void run_metadata_release(struct run_metadata *metadata)
{
    free(metadata->at);
    arena_release(&metadata->arena);
    *metadata = (struct run_metadata){0};
}

const char *run_metadata_get(const struct run_metadata *metadata, const char *key)
{
    const struct run_metadatum *found = NULL;

    for (size_t i = 0; i < metadata->n; i++) {
        if (strcmp(metadata->at[i].key, key) != 0)
            continue;
        if (found)
            return NULL;
        found = &metadata->at[i];
    }
    return found ? found->value : NULL;
}

void run_metadata_join(const struct run_metadata *metadata, const char *key, char *out,
                       size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < metadata->n && n < size; i++)
        if (strcmp(metadata->at[i].key, key) == 0)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "," : "",
                                  metadata->at[i].value);
}

int run_metadata_save(sqlite3 *db, const struct run_metadata *metadata)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "metadata", "key, value", &insert);

    for (size_t i = 0; rc == 0 && i < metadata->n; i++)
        rc = rundb_insert(db, insert, "tt", metadata->at[i].key, metadata->at[i].value);
    sqlite3_finalize(insert);
    return rc;
}

int run_metadata_load(struct run_metadata *metadata, sqlite3 *db)
{
    sqlite3_stmt *query;
    int rc;

    *metadata = (struct run_metadata){0};
    rc = rundb_prepare(db, "SELECT key, value FROM metadata ORDER BY key, value", &query);
    while (rc == 0 && metadata->n < RUN_MAX_METADATA && sqlite3_step(query) == SQLITE_ROW)
        add(metadata, rundb_text(query, 0), rundb_text(query, 1));
    tidy(metadata);
    return rundb_close_query(db, query, rc, "cannot read the metadata");
}

/* ------------------------------------------------------------------------------------- rows */

#define MAX_RANKS (1u << 24) /* of a run */

const char *region_kind_name(enum region_kind kind)
{
    static const char *const names[N_REGION_KINDS] = {"user",   "mpi",    "openmp", "runtime",
                                                      "tracer", "device", "loop"};

    return names[kind];
}

const char *region_kind_said(const struct region *region, const struct profile_row *row)
{
    bool is_of_gpu = row->n_locations > 0 && row->n_streams == row->n_locations;

    return region->kind == REGION_USER && is_of_gpu ? "gpu" : region_kind_name(region->kind);
}

/* Functions that were found on stacks. */
static uint64_t count_sampled(const struct definitions *defs)
{
    uint64_t n = 0;

    for (uint32_t r = 0; r < defs->names.n; r++)
        n += defs->region[r].is_sampled;
    return n;
}

static int save_meta(sqlite3 *db, const struct source *source, const struct ingested *in)
{
    char *path = realpath(source->path, NULL), created[TEXT_UTC_SIZE];
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"begin_ns", in->begin_ns},
        {"end_ns", in->end_ns},
        {"ticks_per_s", source->defs.ticks_per_s ? source->defs.ticks_per_s : 1000000000u},
        {"origin_ticks", source->defs.origin_ticks},
        {"shift_ns", (uint64_t)in->shift_ns},
        {"n_calls", in->n_calls},
        {"n_records", in->n_records},
        {"n_sends", in->n_sends},
        {"n_recvs", in->n_recvs},
        {"n_ranks", source->defs.n_ranks},
        {"order_checked", in->clock.n_checked},
        {"order_wrong_before", in->clock.n_wrong_before},
        {"order_wrong", in->clock.n_wrong_messages + in->clock.n_wrong_collectives},
        {"worst_before_ns", (uint64_t)in->clock.worst_before_ns},
        {"worst_ns", (uint64_t)in->clock.worst_ns},
        {"n_sampled", count_sampled(&source->defs)},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof numbers / sizeof *numbers; i++)
        rc = rundb_set(db, numbers[i].key, (long long)numbers[i].value);
    if (rc == 0 && source->defs.has_wall_time)
        rc = rundb_set(db, "wall_time_ns", (long long)source->defs.wall_time_ns);
    if (rc == 0)
        rc = rundb_set_text(db, "created", text_utc_now(created));
    if (rc == 0)
        rc = rundb_set_text(db, "trace", path ? path : source->path);
    if (rc == 0)
        rc = rundb_set_text(db, "source", source->ops->name);
    free(path);
    return rc;
}

static int save_locations(sqlite3 *db, const struct definitions *defs,
                          const struct ingested *in)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(
        db, "location",
        "id, rank, thread, name, source_id, node, is_gpu, records, calls, sends, "
        "recvs, collectives, first_ns, last_ns, clock_offset_ns, "
        "clock_drift",
        &insert);

    for (uint32_t l = 0; rc == 0 && l < defs->n_locations; l++) {
        const struct location *def = &defs->location[l];
        const struct ingested_location *at = &in->location[l];
        const struct clock_fix *fix = &in->fix[def->rank];
        bool has_events = at->first_ns <= at->last_ns;
        char id[24];

        snprintf(id, sizeof id, "%" PRIu64, def->id);
        rc = rundb_insert(db, insert, "iiitttiiiiiiooir", (int64_t)l, (int64_t)def->rank,
                          (int64_t)def->thread, def->name, id, def->node, (int64_t)def->is_gpu,
                          (int64_t)at->n_records, (int64_t)at->n_calls, (int64_t)at->n_sends,
                          (int64_t)at->n_recvs, (int64_t)at->n_collectives, has_events,
                          (int64_t)at->first_ns, has_events, (int64_t)at->last_ns,
                          fix->offset_ns, fix->drift);
    }
    sqlite3_finalize(insert);
    return rc;
}

static int save_regions(sqlite3 *db, const struct definitions *defs,
                        const struct profile *profile)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "region",
                                  "id, name, short_name, kind, calls, outermost, inclusive_ns, "
                                  "exclusive_ns, min_ns, max_ns, variation, locations, "
                                  "file, line",
                                  &insert);

    for (uint32_t r = 0; rc == 0 && r < profile->n_regions; r++) {
        const struct region *region = &defs->region[r];
        const struct profile_row *row = &profile->row[r];
        bool is_called = row->n_calls > 0;

        rc = rundb_insert(
            db, insert, "itttiiiioorito", (int64_t)r, region->name, region->short_name,
            region_kind_said(region, row), (int64_t)row->n_calls, (int64_t)row->n_outermost,
            (int64_t)row->inclusive_ns, (int64_t)row->exclusive_ns, is_called,
            (int64_t)row->min_ns, is_called, (int64_t)row->max_ns, profile_variation(row),
            (int64_t)row->n_locations, region->line > 0 ? region->file : NULL, region->line > 0,
            (int64_t)region->line);
    }
    sqlite3_finalize(insert);
    return rc;
}

static int save_comms(sqlite3 *db, const struct definitions *defs)
{
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "comm", "id, name, members", &insert);

    for (uint32_t c = 0; rc == 0 && c < defs->n_comms; c++)
        rc = rundb_insert(db, insert, "iti", (int64_t)c, defs->comm[c].name,
                          (int64_t)defs->comm[c].n_members);
    sqlite3_finalize(insert);
    return rc;
}

/* Locations' counters, then what is left of the whole: that is the definitions' and the run's.
 */
static int save_quality(sqlite3 *db, const struct ingested *in)
{
    struct quality rest = in->quality;
    sqlite3_stmt *insert;
    int rc =
        rundb_prepare_insert(db, "quality", "kind, location, count, is_damage, text", &insert);

    for (uint32_t l = 0; l <= in->n_locations; l++) {
        bool is_location = l < in->n_locations;
        const struct quality *quality = is_location ? &in->location[l].quality : &rest;

        for (int k = 0; rc == 0 && k < QUALITY_N; k++) {
            if (quality->n[k] == 0)
                continue;
            rc = rundb_insert(db, insert, "toiit", quality_name(k), is_location, (int64_t)l,
                              (int64_t)quality->n[k], (int64_t)quality_kind_is_damage(k),
                              quality_text(k));
            if (is_location)
                rest.n[k] -= quality->n[k];
        }
    }
    sqlite3_finalize(insert);
    return rc;
}

int run_summary_save(sqlite3 *db, const struct source *source, const struct ingested *ingested)
{
    struct run_metadata metadata;
    int rc = save_meta(db, source, ingested);

    if (rc == 0)
        rc = save_locations(db, &source->defs, ingested);
    if (rc == 0)
        rc = save_regions(db, &source->defs, &ingested->profile);
    if (rc == 0)
        rc = save_comms(db, &source->defs);
    if (rc == 0) {
        run_metadata_of(&metadata, &source->defs);
        rc = run_metadata_save(db, &metadata);
        run_metadata_release(&metadata);
    }
    if (rc == 0)
        rc = save_quality(db, ingested);
    return rc;
}

int run_summary_uncalled(sqlite3 *db, const struct definitions *defs, uint32_t first)
{
    sqlite3_stmt *insert = NULL;
    int rc = rundb_prepare(db,
                           "INSERT INTO region (id, name, short_name, kind, calls, outermost, "
                           "inclusive_ns, exclusive_ns, variation, locations) "
                           "VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0)",
                           &insert);

    for (uint32_t r = first; rc == 0 && r < defs->names.n; r++)
        rc = rundb_insert(db, insert, "ittt", (int64_t)r, defs->region[r].name,
                          defs->region[r].short_name, region_kind_name(defs->region[r].kind));
    sqlite3_finalize(insert);
    return rc;
}

/* A number of a column that is to be below a limit; UINT32_MAX when it is not. */
static uint32_t number_below(sqlite3_stmt *query, int column, uint32_t limit)
{
    int64_t value = sqlite3_column_int64(query, column);

    return value >= 0 && value < limit ? (uint32_t)value : UINT32_MAX;
}

int run_summary_regions(sqlite3 *db, struct definitions *defs)
{
    sqlite3_stmt *query;
    int rc =
        rundb_prepare(db, "SELECT id, name, kind, file, line FROM region ORDER BY id", &query);

    *defs = (struct definitions){0};
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        uint32_t n_before = defs->names.n;
        uint32_t r = definitions_region(defs, rundb_text(query, 1));
        const char *kind = rundb_text(query, 2);

        if (r != n_before || sqlite3_column_int64(query, 0) != r)
            rc = err_set(ERR_FORMAT, "damaged run: regions are missing or listed twice");
        for (enum region_kind k = REGION_USER; k < N_REGION_KINDS; k++)
            if (strcmp(kind, region_kind_name(k)) == 0)
                defs->region[r].kind = k;
        if (number_below(query, 4, UINT32_MAX) != UINT32_MAX)
            definitions_source(defs, r, rundb_text(query, 3),
                               number_below(query, 4, UINT32_MAX));
    }
    return rundb_close_query(db, query, rc, "cannot read the regions");
}

static int read_locations(sqlite3 *db, struct definitions *defs)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(
        db, "SELECT source_id, name, rank, thread, id, node, is_gpu FROM location ORDER BY id",
        &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        uint64_t id = strtoull(rundb_text(query, 0), NULL, 10);
        uint32_t n_before = defs->n_locations;
        struct location *location = definitions_location(defs, id, rundb_text(query, 1), 0);

        location->node = arena_string(&defs->arena, rundb_text(query, 5));
        location->rank = number_below(query, 2, MAX_RANKS);
        location->thread = number_below(query, 3, UINT32_MAX);
        location->is_gpu = sqlite3_column_int64(query, 6) != 0;
        if (sqlite3_column_int64(query, 4) != n_before || location->rank == UINT32_MAX ||
            location->thread == UINT32_MAX)
            rc = err_set(ERR_FORMAT, "damaged run: a location is no thread of a rank");
        if (rc == 0 && location->rank >= defs->n_ranks)
            defs->n_ranks = location->rank + 1;
    }
    return rundb_close_query(db, query, rc, "cannot read the locations");
}

/* Who the members are is not kept, only how many. */
static int read_comms(sqlite3 *db, struct definitions *defs)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(db, "SELECT name, members, id FROM comm ORDER BY id", &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        uint32_t n = number_below(query, 1, MAX_RANKS), comm;

        if (n == UINT32_MAX || sqlite3_column_int64(query, 2) != defs->n_comms) {
            rc = err_set(ERR_FORMAT, "damaged run: impossible communicators");
            break;
        }
        comm = definitions_comm(defs, rundb_text(query, 0), 0);
        defs->comm[comm].n_members = n;
    }
    return rundb_close_query(db, query, rc, "cannot read the communicators");
}

int run_summary_definitions(sqlite3 *db, struct definitions *defs)
{
    int rc = run_summary_regions(db, defs);

    if (rc == 0)
        rc = read_locations(db, defs);
    return rc < 0 ? rc : read_comms(db, defs);
}
