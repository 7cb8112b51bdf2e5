/*
 * Which runs are over is asked before anything is copied: what ends in between may have rows
 * in one shard that the copy of another does not have. A run that does not say its end was
 * killed, if nobody has locked the store. Which runs may go, and a directory that is there as
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

/* ------------------------------------------------------------------------------------- runs */

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run)
{
    *mem_push(&runs->at, &runs->n, &runs->room) = run;
}

/* "(3,7,8)" of those that are chosen; to be freed. */
static char *list_of(const struct prov_kept_runs *runs)
{
    char *text = NULL;
    size_t size;
    const char *before = "(";
    FILE *out = text_open(&text, &size);

    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].is_chosen) {
            fprintf(out, "%s%lld", before, (long long)runs->at[i].id);
            before = ",";
        }
    fputs(*before == '(' ? "()" : ")", out);
    fclose(out);
    return text;
}

/*
 * Those that are too old and, of the rest, the oldest until the others fit; none that is not
 * safe, which are counted. Returns how many.
 */
static uint64_t choose(struct prov_kept_runs *runs, const struct prov_prune_opts *opts,
                       double used, uint64_t *n_kept)
{
    double all = 1, kept = used;
    uint64_t n = 0;

    for (size_t i = 0; i < runs->n; i++)
        all += runs->at[i].bytes;
    *n_kept = 0;
    for (size_t i = 0; i < runs->n; i++) {
        struct prov_kept_run *run = &runs->at[i];
        double age_ns = (double)opts->now_ns - (double)run->last_ns;
        bool is_due = (opts->most_days >= 0 && age_ns >= opts->most_days * DAY_NS) ||
                      kept > (double)opts->most_bytes;

        run->is_chosen = is_due && run->is_safe;
        *n_kept += is_due && !run->is_safe;
        n += run->is_chosen;
        if (run->is_chosen)
            kept -= used * run->bytes / all;
    }
    return n;
}

/* ----------------------------------------------------------------------------------- backup */

/* A backup on its way. */
struct copying {
    const struct prov_keep_ops *ops;
    void *keep;
    const char *to;
    uint64_t bytes;
};

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

/* A new directory, filled under another name: when this returns 0 it is on disk and has its
 * own. */
static int make_copy(struct copying *c)
{
    char part[FS_PATH_SIZE];
    int dir = -1, rc = 0;

    if (fs_exists(c->to))
        return err_set(ERR_EXISTS, "'%s' is there already: a backup needs a new directory",
                       c->to);
    if (snprintf(part, sizeof part, "%s.part", c->to) >= (int)sizeof part)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", c->to);
    if (fs_exists(part)) /* of one that was killed */
        rc = fs_remove_tree(part);
    if (rc == 0 && mkdir(part, 0777) != 0)
        return err_set(ERR_IO, "cannot create '%s': %s", part, strerror(errno));
    if (rc == 0)
        rc = fs_open_dir(part, &dir);
    if (rc == 0)
        rc = c->ops->copy(c->keep, dir, c->to, &c->bytes);
    if (rc == 0)
        rc = sync_directory(dir, part);
    if (rc == 0 && rename(part, c->to) != 0)
        rc = err_set(ERR_IO, "cannot create '%s': %s", c->to, strerror(errno));
    if (rc == 0)
        rc = sync_name(c->to);
    if (dir >= 0)
        close(dir);
    return rc;
}

int prov_backup(const char *url, const char *dir, struct prov_backed_up *out)
{
    struct copying c = {.ops = prov_kind_of(url)->keep, .to = dir};
    struct prov_kept_runs runs = {0};
    int rc = c.ops->open(url, &c.keep);
    char *list;

    *out = (struct prov_backed_up){0};
    if (rc == 0)
        rc = c.ops->runs_to_copy(c.keep, &runs);
    for (size_t i = 0; i < runs.n; i++) {
        struct prov_kept_run *run = &runs.at[i];

        run->is_chosen = run->is_over && !run->is_safe;
        out->n_runs += run->is_chosen;
        out->n_open += !run->is_over;
    }
    if (rc == 0)
        rc = make_copy(&c);
    list = list_of(&runs);
    if (rc == 0 && out->n_runs > 0)
        rc = c.ops->mark(c.keep, &runs, list, &out->n_runs);
    out->bytes = c.bytes;
    c.ops->close(c.keep);
    free(list);
    free(runs.at);
    return rc;
}

/* ------------------------------------------------------------------------------------ prune */

#define TRIES 10 /* when runs change under our hands */

/* Returns 1 when some were to be dropped, 0 when none is left, or an error. */
static int prune_some(const struct prov_keep_ops *ops, void *keep,
                      const struct prov_prune_opts *opts, struct prov_pruned *out)
{
    struct prov_kept_runs runs = {0};
    uint64_t n = 0;
    char *list;
    int rc = ops->runs_to_drop(keep, opts->most_bytes < UINT64_MAX, &runs, &out->bytes);

    if (out->bytes_before == 0)
        out->bytes_before = out->bytes;
    if (rc == 0)
        n = choose(&runs, opts, (double)out->bytes, &out->n_kept);
    list = list_of(&runs);
    if (n > 0) {
        rc = ops->drop(keep, &runs, list, opts->now_ns, &n);
        out->n_dropped += rc == 0 ? n : 0;
        rc = rc < 0 ? rc : 1;
    }
    free(list);
    free(runs.at);
    return rc;
}

int prov_prune(const char *url, const struct prov_prune_opts *opts, struct prov_pruned *out)
{
    const struct prov_keep_ops *ops = prov_kind_of(url)->keep;
    void *keep;
    int n_vain = 0, rc = ops->open(url, &keep);

    *out = (struct prov_pruned){0};
    for (rc = rc < 0 ? rc : 1; rc > 0 && n_vain < TRIES;) {
        uint64_t before = out->n_dropped;

        rc = prune_some(ops, keep, opts, out);
        n_vain += out->n_dropped == before;
    }
    if (rc >= 0 && out->n_dropped > 0)
        rc = ops->give_back(keep, &out->is_given_back);
    ops->close(keep);
    return rc < 0 ? rc : 0;
}

/* ------------------------------------------------------------------------- a directory: open */

#define NAP_MS 10

struct shard_keep {
    struct prov_dir place;
    int dir;
    uint32_t n; /* shards */
};

static int open_keep(const char *url, void **out)
{
    struct shard_keep *k = mem_alloc(1, sizeof *k);
    int rc = prov_dir_parse(url, &k->place);

    *out = k;
    k->dir = -1;
    if (rc == 0 && !prov_dir_is_store(url))
        rc = prov_dir_missing(k->place.dir);
    if (rc == 0)
        rc = prov_dir_open(&k->place, &k->dir);
    if (rc == 0 && (k->n = prov_shard_count(&k->place, k->dir)) == 0)
        rc = err_set(ERR_FORMAT, "not a provenance store, or damaged: '%s'", k->place.dir);
    return rc;
}

static void close_keep(void *keep)
{
    struct shard_keep *k = keep;

    if (k && k->dir >= 0)
        close(k->dir);
    free(k);
}

static int open_shard(const struct shard_keep *k, uint32_t shard, enum database_access access,
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
static bool is_at_rest(const struct shard_keep *k)
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

/* ----------------------------------------------------------------------------- its runs */

/* Those that have rows, the oldest first. */
static int read_runs(const struct shard_keep *k, struct prov_kept_runs *runs)
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
                                         .is_over = sqlite3_column_int(query, 2),
                                         .is_safe = sqlite3_column_int(query, 3)});
    sqlite3_finalize(query);
    if (rc == 0 && status != SQLITE_DONE)
        rc = database_error(d.sql, "cannot read", k->place.dir);
    database_close(&d);
    return rc;
}

/* ------------------------------------------------------------------------------- backup */

/* A whole shard as it is at one moment, into a directory of ours. */
static int copy_shard(const struct shard_keep *k, uint32_t shard, int to_dir, const char *to,
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

static int copy_shards(void *keep, int to_dir, const char *to, uint64_t *bytes)
{
    const struct shard_keep *k = keep;
    int rc = 0;

    for (uint32_t i = 0; i < k->n && rc == 0; i++)
        rc = copy_shard(k, i, to_dir, to, bytes);
    return rc;
}

/* Runs first: one that begins before the store is seen at rest is none of these. */
static int runs_to_copy(void *keep, struct prov_kept_runs *runs)
{
    int rc = read_runs(keep, runs);
    bool is_rest = rc == 0 && is_at_rest(keep);

    for (size_t i = 0; i < runs->n; i++)
        runs->at[i].is_over |= is_rest;
    return rc;
}

static int mark(void *keep, const struct prov_kept_runs *runs, const char *list, uint64_t *n)
{
    const struct shard_keep *k = keep;
    struct database d = {0};
    char *sql = sqlite3_mprintf("UPDATE run SET backed_up_ns = %llu WHERE id IN %s",
                                (unsigned long long)text_now_ns(), list);
    int rc = open_shard(k, 0, DATABASE_WRITE, &d);

    (void)runs, (void)n;
    if (rc == 0)
        rc = exec(&d, sql, "cannot mark what is backed up in", k->place.dir);
    database_close(&d);
    sqlite3_free(sql);
    return rc;
}

/* -------------------------------------------------------------------------------- prune */

static int used_bytes(const struct shard_keep *k, uint64_t *bytes)
{
    int rc = 0;

    *bytes = 0;
    for (uint32_t i = 0; i < k->n && rc == 0; i++) {
        struct database d = {0};

        rc = open_shard(k, i, DATABASE_READ, &d);
        if (rc == 0)
            *bytes += database_used_bytes(&d);
        database_close(&d);
    }
    return rc;
}

/* Add to the bytes of a run, if it is one of these. */
static void weigh(struct prov_kept_runs *runs, int64_t id, double bytes)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->at[i].id == id)
            runs->at[i].bytes += bytes;
}

/* How large the records of each run are. */
static int weigh_runs(const struct shard_keep *k, struct prov_kept_runs *runs)
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
                weigh(runs, sqlite3_column_int64(query, 0), sqlite3_column_double(query, 1));
        sqlite3_finalize(query);
        database_close(&d);
    }
    return rc;
}

static int runs_to_drop(void *keep, bool is_weighed, struct prov_kept_runs *runs,
                        uint64_t *used)
{
    int rc = read_runs(keep, runs);

    if (rc == 0 && is_weighed)
        rc = weigh_runs(keep, runs);
    return rc == 0 ? used_bytes(keep, used) : rc;
}

/* Shard 0 last, with its mark: who was killed begins again. */
static int drop_runs(void *keep, const struct prov_kept_runs *runs, const char *list,
                     uint64_t now_ns, uint64_t *n)
{
    const struct shard_keep *k = keep;
    int rc = 0;

    (void)runs, (void)n;
    for (uint32_t i = k->n; i-- > 0 && rc == 0;) {
        struct database d = {0};
        char *sql = sqlite3_mprintf("BEGIN IMMEDIATE");

        rc = open_shard(k, i, DATABASE_WRITE, &d);
        for (int t = 0; t < N_PROV_TABLES; t++)
            sql = sqlite3_mprintf("%z; DELETE FROM %s WHERE run IN %s", sql,
                                  prov_tables[t].name, list);
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

/* Files without the room that is free in them. Whoever writes would have to wait for it. */
static int give_back(void *keep, bool *is_given_back)
{
    const struct shard_keep *k = keep;
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

const struct prov_keep_ops prov_shards_keep = {.open = open_keep,
                                               .close = close_keep,
                                               .runs_to_copy = runs_to_copy,
                                               .copy = copy_shards,
                                               .mark = mark,
                                               .runs_to_drop = runs_to_drop,
                                               .drop = drop_runs,
                                               .give_back = give_back};
