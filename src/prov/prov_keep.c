/*
 * Which runs are over is asked before anything is copied: what ends in between may have rows
 * in one shard that the copy of another does not have. A run that does not say its end was
 * killed, if nobody has claimed the store. Which runs may go, and a directory that is there as
 * a whole or not at all, are the same for all kinds of stores.
 */
#include "prov/prov_keep.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/lock_file.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_kind.h"
#include "prov/prov_dir.h"
#include "prov/prov_shard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_NS 86400e9

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run)
{
    mem_grow(&runs->at, &runs->room, runs->n + 1, sizeof *runs->at);
    runs->at[runs->n++] = run;
}

/* Add to the bytes of a run, if it is one of these. */
static void prov_kept_runs_weigh(struct prov_kept_runs *runs, int64_t id, double bytes)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].id == id)
            runs->at[i].bytes += bytes;
}

char *prov_kept_runs_list(const struct prov_kept_runs *runs, const bool *is_chosen)
{
    char *text = NULL;
    size_t size;
    const char *before = "(";
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < runs->n; i++)
        if (is_chosen[i]) {
            fprintf(out, "%s%lld", before, (long long)runs->at[i].id);
            before = ",";
        }
    fputs(*before == '(' ? "()" : ")", out);
    fclose(out);
    return text;
}

uint64_t prov_kept_runs_choose(const struct prov_kept_runs *runs,
                               const struct prov_prune_opts *opts, double used, bool *is_chosen,
                               uint64_t *n_kept)
{
    double all = 1, kept = used;
    uint64_t n = 0;

    for (size_t i = 0; i < runs->n; i++)
        all += runs->at[i].bytes;
    *n_kept = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct prov_kept_run *run = &runs->at[i];
        double age_ns = (double)opts->now_ns - (double)run->last_ns;
        bool is_due = (opts->most_days >= 0 && age_ns >= opts->most_days * DAY_NS) ||
                      kept > (double)opts->most_bytes;

        is_chosen[i] = is_due && run->is_safe;
        *n_kept += is_due && !run->is_safe;
        n += is_chosen[i];
        if (is_chosen[i])
            kept -= used * run->bytes / all;
    }
    return n;
}

/* -------------------------------------------------------------------------- a directory */

static int sync_directory(int dir, const char *path)
{
    return fsync(dir) == 0 ? 0 : err_set(ERR_IO, "cannot save '%s': %s", path, strerror(errno));
}

/* The name under which it is now, in the directory that it is in. */
static int sync_name(const char *path)
{
    const char *name;
    int dir, rc = fs_open_parent(path, &dir, &name);

    if (rc < 0)
        return rc;
    rc = sync_directory(dir, path);
    close(dir);
    return rc;
}

int prov_keep_directory(const char *to, int (*fill)(void *ctx, int dir), void *ctx)
{
    char part[FS_PATH_SIZE];
    int dir = -1, rc = 0;

    if (fs_exists(to))
        return err_set(ERR_EXISTS, "'%s' is there already: a backup needs a new directory", to);
    if (snprintf(part, sizeof part, "%s.part", to) >= (int)sizeof part)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", to);
    if (fs_exists(part)) /* of one that was killed */
        rc = fs_remove_tree(part);
    if (rc == 0 && mkdir(part, 0777) != 0)
        return err_set(ERR_IO, "cannot create '%s': %s", part, strerror(errno));
    if (rc == 0)
        rc = fs_open_dir(part, &dir);
    if (rc == 0)
        rc = fill(ctx, dir);
    if (rc == 0)
        rc = sync_directory(dir, part);
    if (rc == 0 && rename(part, to) != 0)
        rc = err_set(ERR_IO, "cannot create '%s': %s", to, strerror(errno));
    if (rc == 0)
        rc = sync_name(to);
    if (dir >= 0)
        close(dir);
    return rc;
}

#define NAP_MS 10

struct keep {
    struct prov_dir place;
    int dir;
    uint32_t n; /* shards */
};

/* ---------------------------------------------------------------------------- the store */

static int keep_open(struct keep *k, const char *url)
{
    int rc = prov_dir_parse(url, &k->place);

    k->dir = -1;
    if (rc == 0 && !prov_dir_is_store(url))
        rc = err_set(ERR_NOT_FOUND, "no provenance store: '%s'", k->place.dir);
    if (rc == 0)
        rc = prov_dir_open(&k->place, &k->dir);
    if (rc == 0 && (k->n = prov_shard_count(&k->place, k->dir)) == 0)
        rc = err_set(ERR_FORMAT, "not a provenance store, or damaged: '%s'", k->place.dir);
    return rc;
}

static void keep_close(struct keep *k)
{
    if (k->dir >= 0)
        close(k->dir);
}

static int open_shard(const struct keep *k, uint32_t shard, enum database_access access,
                      struct database *d)
{
    struct prov_file file;
    uint32_t n = k->n;
    int rc = database_open(d, prov_dir_file(&k->place, k->dir, shard, &file), access);

    if (rc == 0)
        database_unbound(d);
    return rc == 0 ? prov_shard_check(d, "main", shard, &n, file.path) : rc;
}

/* Nobody writes the store now: what has no end was killed. */
static bool is_at_rest(const struct keep *k)
{
    struct lock_file lock_file = {0};
    bool is_ours = prov_home_lock(&lock_file, k->dir, &k->place) == 0;

    lock_file_release(&lock_file);
    return is_ours;
}

static int exec(struct database *d, const char *sql, const char *what, const char *path)
{
    return sqlite3_exec(d->sql, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : database_error(d->sql, what, path);
}

static int64_t ask(struct database *d, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int64_t value = 0;

    if (sqlite3_prepare_v2(d->sql, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

/* ----------------------------------------------------------------------------- its runs */

/* Those that have rows, the oldest first. */
static int read_runs(const struct keep *k, bool is_rest, struct prov_kept_runs *runs)
{
    static const char sql[] = "SELECT id, coalesce(ended_ns, began_ns), ended_ns IS NOT NULL, "
                              "backed_up_ns IS NOT NULL FROM run WHERE dropped_ns IS NULL "
                              "ORDER BY 2, 1";
    struct database d = {0};
    sqlite3_stmt *query = NULL;
    int status = SQLITE_DONE, rc = open_shard(k, 0, DATABASE_READ, &d);

    if (rc == 0 && (status = sqlite3_prepare_v2(d.sql, sql, -1, &query, NULL)) == SQLITE_OK)
        while ((status = sqlite3_step(query)) == SQLITE_ROW)
            prov_kept_runs_add(runs, (struct prov_kept_run){
                                         .id = sqlite3_column_int64(query, 0),
                                         .last_ns = (uint64_t)sqlite3_column_int64(query, 1),
                                         .is_over = is_rest || sqlite3_column_int(query, 2),
                                         .is_safe = sqlite3_column_int(query, 3)});
    sqlite3_finalize(query);
    if (rc == 0 && status != SQLITE_DONE)
        rc = database_error(d.sql, "cannot read", k->place.dir);
    database_close(&d);
    return rc;
}

/* ------------------------------------------------------------------------------- backup */

/* A whole shard as it is at one moment, into a directory of ours. */
static int copy_shard(const struct keep *k, uint32_t shard, int to_dir, const char *to,
                      uint64_t *bytes)
{
    struct database from = {0}, copy = {0};
    struct prov_file file;
    sqlite3_backup *backup;
    struct stat info;
    int status = SQLITE_OK, rc = open_shard(k, shard, DATABASE_READ, &from);

    prov_dir_file(&k->place, to_dir, shard, &file);
    file.file.path = to;
    if (rc == 0)
        rc = database_open(&copy, &file.file, DATABASE_MAKE);
    if (rc == 0 && (backup = sqlite3_backup_init(copy.sql, "main", from.sql, "main")) != NULL) {
        while ((status = sqlite3_backup_step(backup, -1)) == SQLITE_BUSY ||
               status == SQLITE_LOCKED)
            sqlite3_sleep(NAP_MS);
        sqlite3_backup_finish(backup);
    }
    if (rc == 0 && status != SQLITE_DONE)
        rc = database_error(copy.sql, "cannot write", to);
    if (rc == 0) /* one file: nothing beside it has to be copied with it */
        rc = exec(&copy, "PRAGMA journal_mode = DELETE", "cannot write", to);
    database_close(&from);
    database_close(&copy);
    if (rc == 0 && fstatat(to_dir, file.name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        *bytes += (uint64_t)info.st_size;
    return rc;
}

/* A backup on its way. */
struct copying {
    const struct keep *keep;
    const char *to;
    uint64_t *bytes;
};

static int copy_shards(void *ctx, int to_dir)
{
    const struct copying *c = ctx;
    int rc = 0;

    for (uint32_t i = 0; i < c->keep->n && rc == 0; i++)
        rc = copy_shard(c->keep, i, to_dir, c->to, c->bytes);
    return rc;
}

static int mark(const struct keep *k, const struct prov_kept_runs *runs, const bool *is_chosen)
{
    struct database d = {0};
    char *list = prov_kept_runs_list(runs, is_chosen);
    char *sql = sqlite3_mprintf("UPDATE run SET backed_up_ns = %llu WHERE id IN %s",
                                (unsigned long long)text_now_ns(), list);
    int rc = open_shard(k, 0, DATABASE_WRITE, &d);

    if (rc == 0)
        rc = exec(&d, sql, "cannot mark what is backed up in", k->place.dir);
    database_close(&d);
    sqlite3_free(sql);
    free(list);
    return rc;
}

int prov_shards_backup(const char *url, const char *dir, struct prov_backed_up *out)
{
    struct keep k;
    struct prov_kept_runs runs = {0};
    bool *is_new = NULL;
    int rc = keep_open(&k, url);

    if (rc == 0)
        rc = read_runs(&k, is_at_rest(&k), &runs);
    is_new = mem_alloc(runs.n + 1, sizeof *is_new);
    for (size_t i = 0; i < runs.n; i++) {
        is_new[i] = runs.at[i].is_over && !runs.at[i].is_safe;
        out->n_runs += is_new[i];
        out->n_open += !runs.at[i].is_over;
    }
    if (rc == 0)
        rc = prov_keep_directory(dir, copy_shards, &(struct copying){&k, dir, &out->bytes});
    if (rc == 0 && out->n_runs > 0)
        rc = mark(&k, &runs, is_new);
    free(is_new);
    free(runs.at);
    keep_close(&k);
    return rc;
}

/* -------------------------------------------------------------------------------- prune */

static int used_bytes(const struct keep *k, uint64_t *bytes)
{
    int rc = 0;

    *bytes = 0;
    for (uint32_t i = 0; i < k->n && rc == 0; i++) {
        struct database d = {0};

        rc = open_shard(k, i, DATABASE_READ, &d);
        if (rc == 0)
            *bytes +=
                (uint64_t)((ask(&d, "PRAGMA page_count") - ask(&d, "PRAGMA freelist_count")) *
                           ask(&d, "PRAGMA page_size"));
        database_close(&d);
    }
    return rc;
}

/* How large the records of each run are. */
static int weigh_runs(const struct keep *k, struct prov_kept_runs *runs)
{
    int rc = 0;

    for (uint32_t i = 0; i < k->n && rc == 0; i++) {
        struct database d = {0};
        sqlite3_stmt *query = NULL;

        rc = open_shard(k, i, DATABASE_READ, &d);
        if (rc == 0 && sqlite3_prepare_v2(d.sql,
                                          "SELECT run, total(length(data) + 256) FROM record "
                                          "GROUP BY run",
                                          -1, &query, NULL) == SQLITE_OK)
            while (sqlite3_step(query) == SQLITE_ROW)
                prov_kept_runs_weigh(runs, sqlite3_column_int64(query, 0),
                                     sqlite3_column_double(query, 1));
        sqlite3_finalize(query);
        database_close(&d);
    }
    return rc;
}

/* Shard 0 last, with its mark: who was killed begins again. */
static int drop_runs(const struct keep *k, const char *list, uint64_t now_ns)
{
    static const char *const tables[] = {"record",         "cost_row",          "metadata_row",
                                         "func_stats_row", "counter_stats_row", "ad_model_row"};
    int rc = 0;

    for (uint32_t i = k->n; i-- > 0 && rc == 0;) {
        struct database d = {0};
        char *sql = sqlite3_mprintf("BEGIN IMMEDIATE");

        rc = open_shard(k, i, DATABASE_WRITE, &d);
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
            sql = sqlite3_mprintf("%z; DELETE FROM %s WHERE run IN %s", sql, tables[t], list);
        if (i == 0)
            sql = sqlite3_mprintf("%z; UPDATE run SET dropped_ns = %llu WHERE id IN %s", sql,
                                  (unsigned long long)now_ns, list);
        sql = sqlite3_mprintf("%z; COMMIT", sql);
        if (rc == 0)
            rc = exec(&d, sql, "cannot drop runs of", k->place.dir);
        database_close(&d); /* and what was not committed is as before */
        sqlite3_free(sql);
    }
    return rc;
}

/* Once. *is_done: nothing is left to be dropped. */
static int prune_some(const struct keep *k, const struct prov_prune_opts *opts,
                      struct prov_pruned *out, bool *is_done)
{
    struct prov_kept_runs runs = {0};
    bool *is_chosen;
    uint64_t n = 0;
    int rc = read_runs(k, false, &runs);

    if (rc == 0 && opts->most_bytes < UINT64_MAX)
        rc = weigh_runs(k, &runs);
    is_chosen = mem_alloc(runs.n + 1, sizeof *is_chosen);
    n = prov_kept_runs_choose(&runs, opts, (double)out->bytes, is_chosen, &out->n_kept);
    *is_done = n == 0;
    if (rc == 0 && n > 0) {
        char *list = prov_kept_runs_list(&runs, is_chosen);

        rc = drop_runs(k, list, opts->now_ns);
        free(list);
    }
    if (rc == 0)
        rc = used_bytes(k, &out->bytes);
    out->n_dropped += rc == 0 ? n : 0;
    free(is_chosen);
    free(runs.at);
    return rc;
}

/* Files without the room that is free in them. Whoever writes would have to wait for it. */
static int give_back(const struct keep *k, bool *is_given_back)
{
    struct lock_file lock_file = {0};
    int rc = prov_home_lock(&lock_file, k->dir, &k->place) == 0 ? 0 : ERR_EXISTS;

    *is_given_back = rc == 0;
    for (uint32_t i = 0; i < k->n && rc == 0; i++) {
        struct database d = {0};

        rc = open_shard(k, i, DATABASE_WRITE, &d);
        if (rc == 0) /* the copy that it makes is one, a file without a name */
            sqlite3_limit(d.sql, SQLITE_LIMIT_ATTACHED, 1);
        if (rc == 0)
            rc = exec(&d, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", "cannot shorten",
                      k->place.dir);
        database_close(&d);
    }
    lock_file_release(&lock_file);
    return rc == ERR_EXISTS && !*is_given_back ? 0 : rc;
}

int prov_shards_prune(const char *url, const struct prov_prune_opts *opts,
                      struct prov_pruned *out)
{
    struct keep k;
    bool is_done = false;
    int rc = keep_open(&k, url);

    if (rc == 0)
        rc = used_bytes(&k, &out->bytes_before);
    out->bytes = out->bytes_before;
    while (rc == 0 && !is_done)
        rc = prune_some(&k, opts, out, &is_done);
    if (rc == 0 && out->n_dropped > 0)
        rc = give_back(&k, &out->is_given_back);
    keep_close(&k);
    return rc;
}

/* -------------------------------------------------------------------------- by its kind */

int prov_backup(const char *url, const char *dir, struct prov_backed_up *out)
{
    *out = (struct prov_backed_up){0};
    return prov_kind_of(url)->backup(url, dir, out);
}

int prov_prune(const char *url, const struct prov_prune_opts *opts, struct prov_pruned *out)
{
    *out = (struct prov_pruned){0};
    return prov_kind_of(url)->prune(url, opts, out);
}
