/*
 * A view is one SELECT per shard, joined by UNION ALL; SQLite pushes conditions into each, so
 * their indexes are used. `record` is made by a function, only for rows whose column is asked.
 */
#include "prov/prov_reader.h"

#include "base/err.h"
#include "prov/prov_json.h"
#include "prov/prov_shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 10000

/* What stands behind a view in one shard. %s: its schema with a dot; %u: its number. */
struct view {
    const char *name;
    const char *select;
};

#define RECORD_COLUMNS                                                                         \
    "r.program AS pid, r.rank AS rid, r.thread AS tid, "                                       \
    "r.rank || ':' || r.step || ':' || r.idx AS event_id, r.fid AS fid, f.name AS func, "      \
    "r.enter_ns / 1000.0 AS entry, r.leave_ns / 1000.0 AS exit, "                              \
    "r.inclusive_ns / 1000.0 AS runtime_total, "                                               \
    "r.exclusive_ns / 1000.0 AS runtime_exclusive, r.step AS io_step, "                        \
    "r.score AS outlier_score, r.severity_ns / 1000.0 AS outlier_severity, r.p AS p, "         \
    "r.model_version AS model_version, r.is_gpu AS is_gpu_event, "                             \
    "coalesce(r.is_pruned, 0) AS is_pruned, r.final_score AS final_score, "                    \
    "r.final_p AS final_p, "                                                                   \
    "r.execution AS execution, r.calls AS calls, r.messages AS messages, "                     \
    "prov_record(r.data, r.is_pruned, r.final_score, r.final_p) AS record, "                   \
    "r.id AS __id, %u AS shard FROM %srecord r JOIN %sfunction f ON f.id = r.function "

static const struct view views[] = {
    {"anomalies", "SELECT " RECORD_COLUMNS "WHERE NOT r.is_normal"},
    {"normalexecs", "SELECT " RECORD_COLUMNS "WHERE r.is_normal"},
    {"metadata", "SELECT program AS pid, rank AS rid, thread AS tid, descr, value, "
                 "%u AS shard FROM %smetadata_row"},
    {"func_stats", "SELECT program AS pid, fid, name AS func, calls, anomalies, exclusive, "
                   "inclusive, severity, score, %u AS shard FROM %sfunc_stats_row"},
    {"counter_stats",
     "SELECT program AS pid, counter, stats, %u AS shard FROM %scounter_stats_row"},
    {"ad_model", "SELECT version, program AS pid, fid, name AS func, algorithm, stats, data, "
                 "%u AS shard FROM %sad_model_row"},
};

#define N_VIEWS (sizeof views / sizeof *views)

/* Tables that are copied from shards which cannot stay attached; ids get room for all shards.
 */
static const char *const copied[] = {"function",          "record",
                                     "metadata_row",      "func_stats_row",
                                     "counter_stats_row", "ad_model_row"};

static int reader_error(sqlite3 *db, const char *what)
{
    int code = sqlite3_errcode(db) & 0xff;

    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return err_set(ERR_FORMAT, "damaged store: '%s': %s", what, sqlite3_errmsg(db));
    return err_set(code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN
                       ? ERR_IO
                       : ERR_DATABASE,
                   "cannot read '%s': %s", what, sqlite3_errmsg(db));
}

/* prov_record(data, is_pruned, final_score, final_p): JSON, or NULL for a damaged record. */
static void record_function(sqlite3_context *context, int n, sqlite3_value **value)
{
    struct prov_final final = {.is_judged = sqlite3_value_type(value[1]) != SQLITE_NULL,
                               .is_pruned = sqlite3_value_int(value[1]) != 0,
                               .score = sqlite3_value_double(value[2]),
                               .p = sqlite3_value_double(value[3])};
    const void *data = sqlite3_value_blob(value[0]);
    struct arena arena = {0};
    struct prov_record record;
    json_t *json;

    (void)n;
    if (data &&
        prov_record_read(data, (size_t)sqlite3_value_bytes(value[0]), &arena, &record) == 0) {
        json = prov_record_to_json(&record, &final);
        sqlite3_result_text(context, json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)),
                            -1, free);
        json_decref(json);
    }
    arena_release(&arena);
}

static int run_sql(sqlite3 *db, char *sql, const char *what)
{
    int status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return status == SQLITE_OK ? 0 : reader_error(db, what);
}

/* Percent-encodes what has a meaning in a URI. */
static void encode_path(const char *path, char out[3 * FS_PATH_SIZE])
{
    size_t n = 0;

    for (; *path; path++) {
        if (strchr("?#%", *path))
            n += (size_t)sprintf(out + n, "%%%02X", (unsigned char)*path);
        else
            out[n++] = *path;
    }
    out[n] = '\0';
}

/* Where nothing can be written, SQLite cannot make the files by which it talks to writers. */
static int attach(sqlite3 *db, const struct prov_place *place, uint32_t shard, const char *as)
{
    char path[FS_PATH_SIZE], encoded[3 * FS_PATH_SIZE];
    bool is_fixed = access(place->dir, W_OK) != 0;
    int rc = prov_place_shard(place, shard, path);

    if (rc < 0)
        return rc;
    if (!fs_exists(path))
        return err_set(ERR_FORMAT, "damaged store: '%s' is missing", path);
    encode_path(path, encoded);
    rc = run_sql(db,
                 sqlite3_mprintf("ATTACH 'file:%q?mode=ro%s' AS %s", encoded,
                                 is_fixed ? "&immutable=1" : "", as),
                 path);
    return rc == 0 ? run_sql(db, sqlite3_mprintf("SELECT 1 FROM %s.record", as), path) : rc;
}

/* Copies what a shard has to tables of the temporary database: record of shard 12 to record_12.
 */
static int copy_shard(sqlite3 *db, const struct prov_place *place, uint32_t shard)
{
    int rc = attach(db, place, shard, "extra");

    for (size_t i = 0; i < sizeof copied / sizeof *copied && rc == 0; i++)
        rc = run_sql(db,
                     sqlite3_mprintf("CREATE TEMP TABLE s%u_%s AS SELECT * FROM extra.%s",
                                     shard, copied[i], copied[i]),
                     place->dir);
    if (rc == 0)
        rc = run_sql(db,
                     sqlite3_mprintf("CREATE INDEX temp.s%u_function_id ON s%u_function (id); "
                                     "DETACH extra",
                                     shard, shard),
                     place->dir);
    return rc;
}

/* "s3." for what is attached, "s12_" for what was copied. */
static void prefix_of(uint32_t shard, uint32_t n_attached, char out[16])
{
    snprintf(out, 16, "s%u%c", shard, shard < n_attached ? '.' : '_');
}

static int make_view(sqlite3 *db, const struct view *view, uint32_t n, uint32_t n_attached)
{
    char *sql = NULL, prefix[16];
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    int rc;

    fprintf(out, "CREATE TEMP VIEW %s AS ", view->name);
    for (uint32_t i = 0; i < n; i++) {
        char *arm;

        prefix_of(i, n_attached, prefix);
        arm = sqlite3_mprintf(view->select, i, prefix, prefix);
        fprintf(out, "%s%s", i ? " UNION ALL " : "", arm ? arm : "");
        sqlite3_free(arm);
    }
    fclose(out);
    rc = run_sql(db, sqlite3_mprintf("%s", sql), view->name);
    free(sql);
    return rc;
}

static int open_shards(sqlite3 *db, const struct prov_place *place, uint32_t n)
{
    uint32_t most = (uint32_t)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, -1);
    uint32_t n_attached = n <= most ? n : most - 1;
    int rc = 0;

    for (uint32_t i = 0; i < n && rc == 0; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%u", i);
        rc = i < n_attached ? attach(db, place, i, name) : copy_shard(db, place, i);
    }
    for (size_t v = 0; v < N_VIEWS && rc == 0; v++)
        rc = make_view(db, &views[v], n, n_attached);
    return rc;
}

int prov_reader_open(const char *url, sqlite3 **db)
{
    struct prov_place place;
    uint32_t n = 0;
    int rc = prov_place_parse(url, &place);

    *db = NULL;
    if (rc == 0 && !prov_place_is_store(url))
        rc = err_set(ERR_NOT_FOUND, "no provenance store: '%s'", place.dir);
    if (rc == 0 && (n = prov_shard_count(&place)) == 0)
        rc = err_set(ERR_FORMAT, "not a provenance store, or damaged: '%s'", place.dir);
    if (rc < 0)
        return rc;
    if (sqlite3_open_v2(":memory:", db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_URI,
                        NULL) != SQLITE_OK ||
        sqlite3_create_function(*db, "prov_record", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                record_function, NULL, NULL) != SQLITE_OK)
        rc = reader_error(*db, place.dir);
    sqlite3_busy_timeout(*db, BUSY_MS);
    if (rc == 0)
        rc = open_shards(*db, &place, n);
    if (rc < 0) {
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}
