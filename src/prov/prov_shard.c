/*
 * In WAL mode a transaction is there for good once COMMIT returned and the process may be
 * killed: what it wrote is the kernel's. synchronous=NORMAL leaves out the fsync that would
 * save it from a power failure too; the file stays whole even then, but the last transactions
 * may be missing.
 */
#include "prov/prov_shard.h"

#include "base/err.h"
#include "base/mem.h"
#include "prov/prov_record.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_MS 10000 /* how long another process may hold the file */
#define NAP_MS 10

static const char schema[] =
#include "prov/prov_schema.inc"
    ;

static const char *const inserts[N_PROV_TABLES] = {
    [PROV_TABLE_RECORD] =
        "INSERT INTO record(function, is_normal, program, rank, thread, step, idx, fid, "
        "enter_ns, leave_ns, inclusive_ns, exclusive_ns, score, p, severity_ns, "
        "model_version, is_gpu, execution, calls, messages, data) VALUES ("
        "(SELECT id FROM function WHERE name = ?), "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PROV_TABLE_METADATA] = "INSERT INTO metadata_row VALUES (?, ?, ?, ?, ?)",
    [PROV_TABLE_FUNC_STATS] =
        "INSERT OR REPLACE INTO func_stats_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PROV_TABLE_COUNTER_STATS] = "INSERT OR REPLACE INTO counter_stats_row VALUES (?, ?, ?)",
    [PROV_TABLE_AD_MODEL] = "INSERT OR REPLACE INTO ad_model_row VALUES (?, ?, ?, ?, ?, ?, ?)",
};

/* ------------------------------------------------------------------------------------ jobs */

struct prov_job *prov_job_new(enum prov_table table)
{
    struct prov_job *job = mem_alloc(1, sizeof *job);

    job->table = table;
    return job;
}

void prov_job_free(struct prov_job *job)
{
    pack_release(&job->data);
    free(job);
}

static struct prov_value *add_value(struct prov_job *job, char type)
{
    assert(job->n < PROV_MOST_VALUES);
    job->value[job->n].type = type;
    return &job->value[job->n++];
}

void prov_job_whole(struct prov_job *job, uint64_t value)
{
    add_value(job, 'i')->whole = (int64_t)value;
}

void prov_job_real(struct prov_job *job, double value)
{
    add_value(job, 'r')->real = value;
}

void prov_job_text(struct prov_job *job, const char *text)
{
    struct prov_value *value = add_value(job, 't');

    text = text ? text : "";
    value->at = job->data.n;
    value->bytes = strlen(text);
    pack_bytes(&job->data, text, value->bytes + 1);
}

void prov_job_bytes(struct prov_job *job, size_t at)
{
    struct prov_value *value = add_value(job, 'z');

    value->at = at;
    value->bytes = job->data.n - at;
}

/* --------------------------------------------------------------------------------- opening */

static int database_error(sqlite3 *db, const char *path)
{
    int code = sqlite3_errcode(db) & 0xff;

    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return err_set(ERR_FORMAT, "not a provenance store, or damaged: '%s'", path);
    return err_set(code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN
                       ? ERR_IO
                       : ERR_DATABASE,
                   "cannot open '%s': %s", path, sqlite3_errmsg(db));
}

static int exec(sqlite3 *db, const char *sql, const char *path)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : database_error(db, path);
}

static long long meta(sqlite3 *db, const char *key)
{
    sqlite3_stmt *query = NULL;
    long long value = -1;

    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = ?", -1, &query, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(query, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

/*
 * The mode is kept in the file, so it is set by whoever comes first. SQLite does not wait for a
 * file that another process is just making, so we do.
 */
static int set_mode(sqlite3 *db, const char *path)
{
    static const char sql[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
    int status = sqlite3_exec(db, sql, NULL, NULL, NULL);

    for (int waited_ms = 0; status == SQLITE_BUSY && waited_ms < BUSY_MS; waited_ms += NAP_MS) {
        sqlite3_sleep(NAP_MS);
        status = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    return status == SQLITE_OK ? 0 : database_error(db, path);
}

/* The tables, and what the shard is, unless it is something already. */
static int make_tables(sqlite3 *db, uint32_t shard, uint32_t n_shards, const char *path)
{
    char sql[256];
    int rc = set_mode(db, path);

    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO meta VALUES ('format', %d), ('shard', %u), ('shards', %u); "
             "COMMIT",
             PROV_FORMAT, shard, n_shards);
    if (rc == 0)
        rc = exec(db, "BEGIN IMMEDIATE", path);
    if (rc == 0)
        rc = exec(db, schema, path);
    return rc == 0 ? exec(db, sql, path) : rc;
}

static int check_meta(sqlite3 *db, uint32_t shard, uint32_t n_shards, const char *path)
{
    if (meta(db, "format") != PROV_FORMAT)
        return err_set(ERR_FORMAT, "another format of a provenance store: '%s'", path);
    if (meta(db, "shards") != n_shards || meta(db, "shard") != shard)
        return err_set(ERR_FORMAT, "'%s' is shard %lld of %lld, not %u of %u", path,
                       meta(db, "shard"), meta(db, "shards"), shard, n_shards);
    return 0;
}

static int prepare(struct prov_shard *s, const char *path)
{
    for (int t = 0; t < N_PROV_TABLES; t++)
        if (sqlite3_prepare_v3(s->db, inserts[t], -1, SQLITE_PREPARE_PERSISTENT, &s->insert[t],
                               NULL) != SQLITE_OK)
            return database_error(s->db, path);
    if (sqlite3_prepare_v3(s->db, "INSERT OR IGNORE INTO function(name) VALUES (?)", -1,
                           SQLITE_PREPARE_PERSISTENT, &s->add_function, NULL) != SQLITE_OK)
        return database_error(s->db, path);
    return 0;
}

int prov_shard_open(const struct prov_place *place, uint32_t shard, uint32_t n_shards,
                    struct prov_shard *out)
{
    char path[FS_PATH_SIZE];
    int rc = prov_place_shard(place, shard, path);

    *out = (struct prov_shard){.db = NULL};
    if (rc < 0)
        return rc;
    if (mkdir(place->dir, 0777) != 0 && errno != EEXIST)
        return err_set(ERR_IO, "cannot create '%s': %s", place->dir, strerror(errno));
    if (sqlite3_open_v2(path, &out->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        rc = database_error(out->db, path);
    if (rc == 0) {
        sqlite3_busy_timeout(out->db, BUSY_MS);
        rc = make_tables(out->db, shard, n_shards, path);
    }
    if (rc == 0)
        rc = check_meta(out->db, shard, n_shards, path);
    if (rc == 0)
        rc = prepare(out, path);
    out->compressor = prov_compressor();
    if (rc < 0)
        prov_shard_close(out);
    return rc;
}

void prov_shard_close(struct prov_shard *shard)
{
    for (int t = 0; t < N_PROV_TABLES; t++)
        sqlite3_finalize(shard->insert[t]);
    sqlite3_finalize(shard->add_function);
    sqlite3_close(shard->db);
    ZSTD_freeCCtx(shard->compressor);
    pack_release(&shard->compressed);
    *shard = (struct prov_shard){.db = NULL};
}

uint32_t prov_shard_count(const struct prov_place *place)
{
    char path[FS_PATH_SIZE];
    sqlite3 *db = NULL;
    long long n = 0;

    if (prov_place_shard(place, 0, path) == 0 && fs_exists(path) &&
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(db, BUSY_MS);
        n = meta(db, "shards");
    }
    sqlite3_close(db);
    return n >= 1 && n <= PROV_MOST_SHARDS ? (uint32_t)n : 0;
}

/* --------------------------------------------------------------------------------- writing */

static int bind(struct prov_shard *s, sqlite3_stmt *insert, const struct prov_job *job,
                unsigned i)
{
    const struct prov_value *v = &job->value[i];
    const char *at = v->bytes || v->type == 't' ? (const char *)job->data.data + v->at : "";
    int c = (int)i + 1;

    switch (v->type) {
    case 'i':
        return sqlite3_bind_int64(insert, c, v->whole);
    case 'r':
        return isfinite(v->real) ? sqlite3_bind_double(insert, c, v->real)
                                 : sqlite3_bind_null(insert, c);
    case 't':
        return sqlite3_bind_text(insert, c, at, (int)v->bytes, SQLITE_STATIC);
    default:
        s->compressed.n = 0;
        prov_compress(s->compressor, at, v->bytes, &s->compressed);
        return sqlite3_bind_blob(insert, c, s->compressed.data, (int)s->compressed.n,
                                 SQLITE_STATIC);
    }
}

static int step(sqlite3_stmt *insert)
{
    int status = sqlite3_step(insert);

    sqlite3_reset(insert);
    return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int write_row(struct prov_shard *s, const struct prov_job *job)
{
    sqlite3_stmt *insert = s->insert[job->table];
    int status = SQLITE_OK;

    if (job->table == PROV_TABLE_RECORD) {
        status = bind(s, s->add_function, job, 0);
        if (status == SQLITE_OK)
            status = step(s->add_function);
    }
    for (unsigned i = 0; i < job->n && status == SQLITE_OK; i++)
        status = bind(s, insert, job, i);
    return status == SQLITE_OK ? step(insert) : status;
}

/* A row that will never go in, whatever becomes of the disk. */
static bool is_bad_row(int status)
{
    status &= 0xff;
    return status == SQLITE_TOOBIG || status == SQLITE_CONSTRAINT || status == SQLITE_MISMATCH;
}

int prov_shard_write(struct prov_shard *s, struct prov_job *const *job, size_t n, size_t *n_bad)
{
    int status = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

    *n_bad = 0;
    for (size_t i = 0; i < n && status == SQLITE_OK; i++) {
        status = write_row(s, job[i]);
        if (is_bad_row(status)) {
            ++*n_bad;
            status = SQLITE_OK;
        }
    }
    if (status == SQLITE_OK)
        status = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (status != SQLITE_OK && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
