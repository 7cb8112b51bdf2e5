/*
 * A store in files of SQLite, a shard for each writer. The final model's verdicts go into a shard
 * in one transaction; records are read by their id, some at a time, so that no row is changed
 * under a running query.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_kind.h"
#include "prov/prov_reader.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------- judged again */

/* A shard whose records get verdicts. */
struct verdicts {
    struct database database;
    const char *path;
    sqlite3_stmt *update;
};

static int not_kept(const struct verdicts *v)
{
    return database_error(v->database.sql, "cannot keep the final verdicts in", v->path);
}

static void bind_real(sqlite3_stmt *statement, int i, double x)
{
    if (isfinite(x))
        sqlite3_bind_double(statement, i, x);
    else
        sqlite3_bind_null(statement, i);
}

static int keep_verdicts(void *keeper, const struct prov_verdict *verdict, size_t n)
{
    const struct verdicts *v = keeper;

    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int(v->update, 1, verdict[i].is_pruned);
        bind_real(v->update, 2, verdict[i].score);
        bind_real(v->update, 3, verdict[i].p);
        sqlite3_bind_int64(v->update, 4, verdict[i].id);
        sqlite3_step(v->update);
        if (sqlite3_reset(v->update) != SQLITE_OK)
            return not_kept(v);
    }
    return 0;
}

/* In one transaction, on a connection of its own. */
static int rejudge_shard(const struct database_file *file, const struct prov_rejudge *records,
                         struct prov_rejudged *counts)
{
    static const char begin[] = "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE";
    static const char update[] =
        "UPDATE record SET is_pruned = ?, final_score = ?, final_p = ? WHERE id = ?";
    struct verdicts v = {.path = file->path};
    struct prov_rejudge r = *records;
    int rc = database_open(&v.database, file, DATABASE_WRITE);

    r.from = &v.database;
    r.path = file->path;
    r.keep = keep_verdicts;
    r.keeper = &v;
    if (rc == 0 && (sqlite3_exec(v.database.sql, begin, NULL, NULL, NULL) != SQLITE_OK ||
                    sqlite3_prepare_v2(v.database.sql, update, -1, &v.update, NULL)))
        rc = not_kept(&v);
    if (rc == 0)
        rc = prov_rejudge_records(&r, counts);
    if (rc == 0 && sqlite3_exec(v.database.sql, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rc = not_kept(&v);
    sqlite3_finalize(v.update);
    database_close(&v.database); /* undoes what is not committed */
    return rc;
}

/* --------------------------------------------------------------------------------- the kind */

#define FREE_SHARE 4u              /* of the disk: one part in so many */
#define MIN_SHARD_BYTES (1u << 20) /* some hundreds of records have room in it */

struct sqlite_sink {
    struct sqlite_store *store;
    struct prov_shard shard;
    struct prov_tally *tally;
    bool is_open;
};

struct sqlite_store {
    struct prov_dir place;
    struct prov_home home;
    int64_t run;
    uint64_t shard_bytes; /* that records of this run may take in a shard */
    uint64_t begin_bytes; /* of all files, when it was opened */
    uint32_t n;
    struct sqlite_sink *sink; /* [n] */
};

/* What is written ahead of a shard lies on the disk, too. */
static uint64_t bytes_of(const struct prov_dir *place, int dir, uint32_t n)
{
    static const char *const ends[] = {"", "-wal"};
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            struct prov_file file;
            struct stat info;
            char name[40];

            prov_dir_file(place, dir, i, &file);
            snprintf(name, sizeof name, "%s%s", file.name, ends[k]);
            if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
                sum += (uint64_t)info.st_size;
        }
    return sum;
}

static uint64_t grown(const void *state)
{
    const struct sqlite_store *store = state;
    uint64_t bytes =
        store->home.is_open ? bytes_of(&store->place, store->home.dir, store->n) : 0;

    return bytes > store->begin_bytes ? bytes - store->begin_bytes : 0;
}

static uint64_t size(const char *url)
{
    struct prov_dir place;
    uint64_t bytes = 0;
    int dir;

    if (prov_dir_parse(url, &place) < 0 || prov_dir_open(&place, &dir) < 0)
        return 0;
    bytes = bytes_of(&place, dir, prov_shard_count(&place, dir));
    close(dir);
    return bytes;
}

/* Any URL that is no other's: a path is one of ours. */
static bool is_mine(const char *url)
{
    (void)url;
    return true;
}

/* A part more than must be: or each transaction would remove some. */
static void keep_within(struct sqlite_sink *sink)
{
    uint64_t most = sink->store->shard_bytes, n = 1, n_removed = 0;

    if (prov_shard_added(&sink->shard) <= most)
        return;
    while (n > 0 && prov_shard_added(&sink->shard) > most - most / 8) {
        n = prov_shard_thin(&sink->shard, sink->store->run);
        n_removed += n;
    }
    prov_tally_removed(sink->tally, n_removed);
}

static int write_rows(void *ctx, struct prov_job *const *job, size_t n, size_t *n_written)
{
    struct sqlite_sink *sink = ctx;
    int failure = prov_shard_write(&sink->shard, job, n);

    *n_written = failure ? 0 : n;
    if (failure == 0)
        keep_within(sink);
    return failure;
}

static const char *why(void *ctx, int failure)
{
    (void)ctx;
    return prov_shard_why(failure);
}

static bool is_gone(void *ctx)
{
    struct sqlite_sink *sink = ctx;

    return prov_shard_is_gone(&sink->shard, sink->store->home.dir);
}

static const struct prov_sink_ops sink_ops = {write_rows, why, is_gone, false};

/* A shard, and with the first one a run. */
static int open_shard(struct sqlite_store *store, uint32_t i,
                      const struct prov_store_opts *opts)
{
    struct sqlite_sink *sink = &store->sink[i];
    struct prov_run run = {opts->program, opts->rank, text_now_ns(), opts->run_id};
    int rc = prov_shard_open(&store->place, store->home.dir, i, store->n, &sink->shard);

    sink->store = store;
    sink->is_open = rc == 0;
    return rc < 0 || i > 0 ? rc : prov_shard_run(&sink->shard, &run, &store->run);
}

/* Of shard 0 last: what it says of the run is of all of them. */
static void end(void *state)
{
    struct sqlite_store *store = state;

    for (uint32_t i = store->sink ? store->n : 0; i-- > 0;) {
        struct sqlite_sink *sink = &store->sink[i];

        if (!sink->is_open)
            continue;
        if (i == 0 && !is_gone(sink))
            prov_shard_end(&sink->shard, store->run, text_now_ns());
        prov_shard_close(&sink->shard);
        sink->is_open = false;
    }
}

static void close_store(void *state)
{
    struct sqlite_store *store = state;

    if (store == NULL)
        return;
    end(store);
    prov_home_close(&store->home);
    free(store->sink);
    free(store);
}

/* What may be stored is a share of what is free when it begins. */
static uint64_t limit_of(const struct sqlite_store *store, uint64_t said)
{
    struct statvfs disk;
    uint64_t bytes = said;

    if (bytes == 0 && fstatvfs(store->home.dir, &disk) == 0)
        bytes = (uint64_t)disk.f_bavail * disk.f_frsize / FREE_SHARE;
    bytes /= store->n;
    return bytes > MIN_SHARD_BYTES ? bytes : MIN_SHARD_BYTES;
}

static int open_store(const char *url, const struct prov_store_opts *opts,
                      struct prov_base *base)
{
    struct sqlite_store *store = mem_alloc(1, sizeof *store);
    int rc = prov_dir_parse(url, &store->place);

    base->state = store;
    if (rc == 0)
        rc = prov_home_open(&store->home, &store->place, opts->program, opts->rank);
    store->n = store->place.n_shards;
    if (rc == 0 && store->n == 0)
        store->n = prov_shard_count(&store->place, store->home.dir);
    base->n_sinks = store->n = store->n ? store->n : 1;
    if (rc == 0)
        store->begin_bytes = bytes_of(&store->place, store->home.dir, store->n);
    if (rc == 0)
        store->shard_bytes = limit_of(store, opts->limit_bytes);
    store->sink = mem_alloc(store->n, sizeof *store->sink);
    for (uint32_t i = 0; i < store->n && rc == 0; i++)
        rc = open_shard(store, i, opts);
    base->run = store->run;
    return rc;
}

static void *sink_of(void *state, uint32_t i, struct prov_tally *tally)
{
    struct sqlite_store *store = state;

    store->sink[i].tally = tally;
    return &store->sink[i];
}

static int rejudge(const struct prov_base *base, const struct prov_rejudge *records,
                   struct prov_rejudged *counts)
{
    const struct sqlite_store *store = base->state;
    int rc = 0;

    for (uint32_t i = 0; i < store->n && rc == 0; i++) {
        struct prov_file file;

        rc = rejudge_shard(prov_dir_file(&store->place, store->home.dir, i, &file), records,
                           counts);
    }
    return rc;
}

static int look(const char *url)
{
    return prov_dir_is_store(url) ? 0 : err_set(ERR_NOT_FOUND, "the store is no longer there");
}

const struct prov_kind_ops prov_sqlite = {.name = "sqlite",
                                          .is_mine = is_mine,
                                          .sink_ops = &sink_ops,
                                          .open = open_store,
                                          .sink = sink_of,
                                          .end = end,
                                          .close = close_store,
                                          .grown = grown,
                                          .size = size,
                                          .rejudge = rejudge,
                                          .read = prov_shards_read,
                                          .keep = &prov_shards_keep,
                                          .is_there = prov_dir_is_store,
                                          .look = look,
                                          .is_written = prov_home_is_written,
                                          .discard = prov_home_discard};
