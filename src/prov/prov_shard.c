/*
 * In WAL mode a transaction is there for good once COMMIT returned and the process may be
 * killed: what it wrote is the kernel's. synchronous=NORMAL leaves out the fsync that would
 * save it from a power failure too; the file stays whole even then, but the last transactions
 * may be missing.
 */
#include "prov/prov_shard.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "prov/prov_record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAP_MS 10

static const char schema[] =
#include "prov/prov_schema.inc"
    ;

const struct prov_table_rows prov_tables[N_PROV_TABLES] = {
    [PROV_TABLE_RECORD] = {"record",
                           "function, is_normal, program, rank, thread, step, idx, fid, "
                           "enter_ns, leave_ns, inclusive_ns, exclusive_ns, score, p, "
                           "severity_ns, model_version, is_gpu, execution, calls, messages, "
                           "data, stored_ns, run",
                           NULL},
    [PROV_TABLE_COST] = {"cost_row",
                         "program, rank, step, idx, is_execution, cost_ns, is_bound, run",
                         "run, program, rank, step, idx, is_execution"},
    [PROV_TABLE_METADATA] = {"metadata_row",
                             "program, rank, thread, descr, value, stored_ns, run", NULL},
    [PROV_TABLE_FUNC_STATS] = {"func_stats_row",
                               "program, fid, name, calls, anomalies, exclusive, inclusive, "
                               "severity, score, run",
                               "run, program, fid"},
    [PROV_TABLE_COUNTER_STATS] = {"counter_stats_row", "program, counter, stats, run",
                                  "run, program, md5(counter)"},
    [PROV_TABLE_AD_MODEL] = {"ad_model_row",
                             "version, program, fid, name, algorithm, stats, data, run",
                             "run, version, program, fid"},
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

static struct prov_value *add_value(struct prov_job *job, const char *column, char type)
{
    assert(job->n < PROV_MAX_VALUES);
    job->value[job->n].column = column;
    job->value[job->n].type = type;
    return &job->value[job->n++];
}

void prov_job_whole(struct prov_job *job, const char *column, uint64_t value)
{
    add_value(job, column, 'i')->whole = (int64_t)value;
}

void prov_job_real(struct prov_job *job, const char *column, double value)
{
    add_value(job, column, 'r')->real = value;
}

void prov_job_text(struct prov_job *job, const char *column, const char *text)
{
    struct prov_value *value = add_value(job, column, 't');

    text = text ? text : "";
    value->at = job->data.n;
    value->bytes = strlen(text);
    pack_bytes(&job->data, text, value->bytes + 1);
}

void prov_job_bytes(struct prov_job *job, const char *column, size_t at)
{
    struct prov_value *value = add_value(job, column, 'z');

    value->at = at;
    value->bytes = job->data.n - at;
}

/* --------------------------------------------------------------------------------- opening */

static int exec(struct database *d, const char *sql, const char *path)
{
    return sqlite3_exec(d->sql, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : database_error(d->sql, "cannot open", path);
}

static long long meta(struct database *d, const char *as, const char *key)
{
    return database_number(d, -1, "SELECT value FROM %w.meta WHERE key = %Q", as, key);
}

/*
 * The mode is kept in the file, so it is set by whoever comes first. SQLite does not wait for a
 * file that another process is just making, so we do.
 */
static int set_mode(struct database *d, const char *path)
{
    static const char sql[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
    int status = sqlite3_exec(d->sql, sql, NULL, NULL, NULL);

    for (int waited_ms = 0; status == SQLITE_BUSY && waited_ms < DATABASE_BUSY_MS;
         waited_ms += NAP_MS) {
        sqlite3_sleep(NAP_MS);
        status = sqlite3_exec(d->sql, sql, NULL, NULL, NULL);
    }
    return status == SQLITE_OK ? 0 : database_error(d->sql, "cannot open", path);
}

/* The tables, and what the shard is, unless there is something already. */
static int make_tables(struct database *d, uint32_t shard, uint32_t n_shards, const char *path)
{
    int rc = set_mode(d, path);
    char sql[256];

    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO meta VALUES ('format', %d), ('shard', %u), ('shards', %u)",
             PROV_FORMAT, shard, n_shards);
    if (rc == 0)
        rc = exec(d, "BEGIN IMMEDIATE", path);
    if (rc == 0 &&
        database_number(d, -1, "SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)") ==
            0) {
        rc = exec(d, schema, path);
        if (rc == 0)
            rc = exec(d, sql, path);
    }
    return rc == 0 ? exec(d, "COMMIT", path) : rc;
}

int prov_shard_check(struct database *d, const char *as, uint32_t shard, uint32_t *n_shards,
                     const char *path)
{
    long long format = meta(d, as, "format"), n, number;
    int rc;

    if (format > 0 && format != PROV_FORMAT)
        return err_set(ERR_FORMAT,
                       "'%s' is a provenance store of format %lld, and this is of %d: read it "
                       "with the version that wrote it",
                       path, format, PROV_FORMAT);
    rc = database_check(d, as, schema, path);
    if (rc < 0)
        return rc;
    n = meta(d, as, "shards");
    number = meta(d, as, "shard");
    if (format != PROV_FORMAT || n < 1 || n > PROV_MAX_SHARDS)
        return err_set(ERR_FORMAT, "not a provenance store, or damaged: '%s'", path);
    if (number != shard || (*n_shards > 0 && n != *n_shards))
        return err_set(ERR_FORMAT, "'%s' is shard %lld of %lld, not %u of %lld", path, number,
                       n, shard, *n_shards > 0 ? (long long)*n_shards : n);
    *n_shards = (uint32_t)n;
    return 0;
}

static int prepare(struct prov_shard *s, const char *path)
{
    sqlite3 *db = s->database.sql;

    return sqlite3_prepare_v3(db, "INSERT OR IGNORE INTO function(name) VALUES (:function)", -1,
                              SQLITE_PREPARE_PERSISTENT, &s->add_function, NULL) == SQLITE_OK
               ? 0
               : database_error(db, "cannot open", path);
}

/* Which file it is, for prov_shard_is_gone. */
static int note_file(struct prov_shard *s, const struct database_file *file)
{
    if (fstatat(file->dir, file->name, &s->file, AT_SYMLINK_NOFOLLOW) != 0)
        return err_set(ERR_IO, "cannot open '%s': %s", file->path, strerror(errno));
    snprintf(s->name, sizeof s->name, "%s", file->name);
    return 0;
}

int prov_shard_open(const struct prov_dir *place, int dir, uint32_t shard, uint32_t n_shards,
                    struct prov_shard *out)
{
    struct prov_file at;
    const struct database_file *file = prov_dir_file(place, dir, shard, &at);
    int rc;

    *out = (struct prov_shard){0};
    rc = database_open(&out->database, file, DATABASE_MAKE);
    if (rc == 0)
        rc = make_tables(&out->database, shard, n_shards, file->path);
    if (rc == 0)
        rc = prov_shard_check(&out->database, "main", shard, &n_shards, file->path);
    if (rc == 0)
        rc = prepare(out, file->path);
    if (rc == 0)
        rc = note_file(out, file);
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
    database_close(&shard->database);
    ZSTD_freeCCtx(shard->compressor);
    pack_release(&shard->compressed);
    *shard = (struct prov_shard){0};
}

int prov_shard_run(struct prov_shard *s, const struct prov_run *run, int64_t *id)
{
    sqlite3 *db = s->database.sql;
    sqlite3_stmt *insert = NULL;
    int status = sqlite3_prepare_v2(db,
                                    "INSERT INTO run (program, rank, began_ns, run_id) "
                                    "VALUES (:program, :rank, :began_ns, :run_id)",
                                    -1, &insert, NULL);

    if (status == SQLITE_OK) {
        sqlite3_bind_int64(insert, sqlite3_bind_parameter_index(insert, ":program"),
                           run->program);
        if (run->rank)
            sqlite3_bind_int64(insert, sqlite3_bind_parameter_index(insert, ":rank"),
                               *run->rank);
        sqlite3_bind_int64(insert, sqlite3_bind_parameter_index(insert, ":began_ns"),
                           (int64_t)run->began_ns);
        sqlite3_bind_text(insert, sqlite3_bind_parameter_index(insert, ":run_id"),
                          run->run_id ? run->run_id : "", -1, SQLITE_STATIC);
        status = sqlite3_step(insert);
        *id = sqlite3_last_insert_rowid(db);
    }
    sqlite3_finalize(insert);
    return status == SQLITE_DONE ? 0 : database_error(db, "cannot write to", s->name);
}

void prov_shard_end(struct prov_shard *s, int64_t run, uint64_t ended_ns)
{
    char sql[128];

    snprintf(sql, sizeof sql, "UPDATE run SET ended_ns = %llu WHERE id = %lld",
             (unsigned long long)ended_ns, (long long)run);
    sqlite3_exec(s->database.sql, sql, NULL, NULL, NULL);
}

bool prov_shard_is_gone(const struct prov_shard *s, int dir)
{
    struct stat now;

    return fstatat(dir, s->name, &now, AT_SYMLINK_NOFOLLOW) != 0 || !fs_is_same(&now, &s->file);
}

bool prov_shard_is_empty(struct database *d)
{
    bool is_empty = true;

    for (int t = 0; t < N_PROV_TABLES; t++)
        is_empty &= database_number(d, -1, "SELECT EXISTS (SELECT 1 FROM %s)",
                                    prov_tables[t].name) == 0;
    return is_empty;
}

uint32_t prov_shard_count(const struct prov_dir *place, int dir)
{
    struct database d = {0};
    struct prov_file file;
    long long n = 0;

    if (database_open(&d, prov_dir_file(place, dir, 0, &file), DATABASE_READ) == 0)
        n = meta(&d, "main", "shards");
    database_close(&d);
    return n >= 1 && n <= PROV_MAX_SHARDS ? (uint32_t)n : 0;
}

/* --------------------------------------------------------------------------------- writing */

/* INSERT INTO table (a, b) VALUES (:a, :b). A function is known by its name. */
static int prepare_insert(struct prov_shard *s, enum prov_table t)
{
    const struct prov_table_rows *to = &prov_tables[t];
    char sql[1024], columns[512], *word, *rest;
    const char *before = "";
    int n = snprintf(sql, sizeof sql, "INSERT %sINTO %s (%s) VALUES (",
                     to->key ? "OR REPLACE " : "", to->name, to->columns);

    snprintf(columns, sizeof columns, "%s", to->columns);
    for (word = strtok_r(columns, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        bool is_function = strcmp(word, "function") == 0;

        n += snprintf(sql + n, sizeof sql - (size_t)n,
                      is_function ? "%s(SELECT id FROM function WHERE name = :%s)" : "%s:%s",
                      before, word);
        before = ", ";
    }
    snprintf(sql + n, sizeof sql - (size_t)n, ")");
    return sqlite3_prepare_v3(s->database.sql, sql, -1, SQLITE_PREPARE_PERSISTENT,
                              &s->insert[t], NULL);
}

static int bind(struct prov_shard *s, sqlite3_stmt *insert, const struct prov_job *job,
                unsigned i)
{
    const struct prov_value *v = &job->value[i];
    const char *at = v->bytes || v->type == 't' ? (const char *)job->data.data + v->at : "";
    int c = (int)i + 1;

    assert(strcmp(sqlite3_bind_parameter_name(insert, c) + 1, v->column) == 0);
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

/* Ids grow, unless the last ones were removed. */
static void note_record(struct prov_shard *s, int64_t id)
{
    if (s->first_record == 0 || id < s->first_record)
        s->first_record = id;
}

static int write_row(struct prov_shard *s, const struct prov_job *job)
{
    sqlite3_stmt *insert;
    int status = s->insert[job->table] ? SQLITE_OK : prepare_insert(s, job->table);

    insert = s->insert[job->table];
    assert(status != SQLITE_OK || sqlite3_bind_parameter_count(insert) == (int)job->n);
    for (unsigned i = 0; i < job->n && status == SQLITE_OK; i++)
        status = bind(s, insert, job, i);
    if (status == SQLITE_OK)
        status = step(insert);
    if (status == SQLITE_OK && job->table == PROV_TABLE_RECORD)
        note_record(s, sqlite3_last_insert_rowid(s->database.sql));
    return status;
}

static int add_function(struct prov_shard *s, const struct prov_job *job)
{
    int status = bind(s, s->add_function, job, 0);

    return status == SQLITE_OK ? step(s->add_function) : status;
}

/* Rows that prov_shard_thin removes. */
static bool is_thinned(const struct prov_job *job)
{
    return job->table == PROV_TABLE_RECORD || job->table == PROV_TABLE_COST;
}

/* What stays when records are removed: names of their functions, and all other rows. */
static int write_lasting(struct prov_shard *s, const struct prov_job *job)
{
    if (job->table == PROV_TABLE_RECORD)
        return add_function(s, job);
    return is_thinned(job) ? SQLITE_OK : write_row(s, job);
}

static int write_thinned(struct prov_shard *s, const struct prov_job *job)
{
    return is_thinned(job) ? write_row(s, job) : SQLITE_OK;
}

/* A row that will never go in, whatever becomes of the disk. */
static bool is_bad_row(int status)
{
    status &= 0xff;
    return status == SQLITE_TOOBIG || status == SQLITE_CONSTRAINT || status == SQLITE_MISMATCH;
}

static int write_each(struct prov_shard *s, struct prov_job *const *job, size_t n,
                      int (*write)(struct prov_shard *, const struct prov_job *))
{
    int status = SQLITE_OK;

    for (size_t i = 0; i < n && status == SQLITE_OK; i++) {
        if (job[i]->is_lost)
            continue;
        status = write(s, job[i]);
        job[i]->is_lost = is_bad_row(status);
        if (job[i]->is_lost)
            status = SQLITE_OK;
    }
    return status;
}

static int64_t used_bytes(struct prov_shard *s)
{
    return (int64_t)database_used_bytes(&s->database);
}

int prov_shard_write(struct prov_shard *s, struct prov_job *const *job, size_t n)
{
    sqlite3 *db = s->database.sql;
    int64_t added = 0;
    int status;

    errno = 0; /* sqlite3_system_errno does not have it after a commit */
    status = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        job[i]->is_lost = false;
    if (status == SQLITE_OK)
        status = write_each(s, job, n, write_lasting);
    if (status == SQLITE_OK) {
        added = -used_bytes(s);
        status = write_each(s, job, n, write_thinned);
    }
    if (status == SQLITE_OK) {
        added += used_bytes(s);
        status = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    if (status == SQLITE_OK) {
        s->added_bytes += added;
        return 0;
    }
    status = (status & 0xff) | errno << 8;
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

uint64_t prov_shard_added(const struct prov_shard *s)
{
    return s->added_bytes > 0 ? (uint64_t)s->added_bytes : 0;
}

uint64_t prov_shard_thin(struct prov_shard *s, int64_t run)
{
    sqlite3 *db = s->database.sql;
    long long first = s->first_record;
    char *sql = sqlite3_mprintf(
        "CREATE TEMP TABLE gone AS SELECT id, program, rank, step, idx, execution IS NOT NULL "
        "AS x FROM main.record WHERE id >= %lld AND run = %lld "
        "ORDER BY is_normal DESC, severity_ns, id LIMIT (SELECT (count(*) + 7) / 8 "
        "FROM main.record WHERE id >= %lld AND run = %lld); "
        "DELETE FROM cost_row WHERE run = %lld AND (program, rank, step, idx, is_execution) IN "
        "(SELECT program, rank, step, idx, x FROM gone); "
        "DELETE FROM record WHERE id IN (SELECT id FROM gone)",
        first, (long long)run, first, (long long)run, (long long)run);
    int status = sql ? sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) : SQLITE_NOMEM;
    int64_t added = 0;
    uint64_t n = 0;

    if (status == SQLITE_OK) {
        added = -used_bytes(s);
        status = sqlite3_exec(db, sql, NULL, NULL, NULL);
        n = status == SQLITE_OK ? (uint64_t)sqlite3_changes64(db) : 0;
    }
    sqlite3_free(sql);
    if (status == SQLITE_OK) {
        added += used_bytes(s);
        status = sqlite3_exec(db, "DROP TABLE temp.gone; COMMIT", NULL, NULL, NULL);
    }
    if (status == SQLITE_OK)
        s->added_bytes += added;
    else if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return status == SQLITE_OK ? n : 0;
}

const char *prov_shard_why(int failure)
{
    int code = failure & 0xff, system = failure >> 8;

    if (code == SQLITE_OK)
        return NULL;
    if (code == SQLITE_FULL)
        return "no space left";
    if (code == SQLITE_READONLY)
        return "it is read-only";
    return (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system ? strerror(system)
                                                                       : sqlite3_errstr(code);
}
