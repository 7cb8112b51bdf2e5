/*
 * prov_keep -- how long a store keeps what is in it: backups, and dropping what is in one.
 *
 * Both go by runs. A run that is over is backed up as a whole, and marked when its copy is
 * safe; only what is marked is ever dropped. So whatever is killed, and when, what was stored
 * is in the store or in a backup:
 *
 *     copy all shards to DIR.part -> on disk -> rename to DIR -> mark the runs
 *     drop rows shard by shard, those of shard 0 together with the mark that they are dropped
 *
 * Both may be done while the store is written. A backup of what is in PostgreSQL is a
 * directory, too (prov_pg_keep.h).
 */
#ifndef SNAG_PROV_PROV_KEEP_H
#define SNAG_PROV_PROV_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prov_backed_up {
    uint64_t n_runs; /* that are marked now and were not before */
    uint64_t
        n_open; /* that go on: what they have stored is in the copy, but they are not marked */
    uint64_t bytes; /* of the copy */
};

/*
 * prov_backup -- a copy of a store, which is a store, and marks of what is in it.
 *   url  of the store
 *   dir  a directory to be, that is not there
 * Shards are copied one after the other: of a run that goes on, later ones have a little more.
 * Runs of processes that were killed are marked as soon as nobody writes the store. Returns 0,
 * ERR_EXISTS, ERR_NOT_FOUND, ERR_IO, ERR_FORMAT, ERR_DATABASE or ERR_UNSUPPORTED; then nothing
 * is marked.
 */
int prov_backup(const char *url, const char *dir, struct prov_backed_up *out);

struct prov_prune_opts {
    double most_days;    /* drop runs that ended, or began if they were killed, longer ago;
                            negative: any age */
    uint64_t most_bytes; /* drop runs, the oldest first, until what is there is less;
                            UINT64_MAX: any size */
    uint64_t now_ns;     /* since 1970 */
};

struct prov_pruned {
    uint64_t n_dropped;           /* runs */
    uint64_t n_kept;              /* that would have gone, but are not backed up */
    uint64_t bytes_before, bytes; /* in use, of all shards */
    bool is_given_back;           /* files are smaller, too: nobody wrote the store */
};

/*
 * prov_prune -- drop the rows of runs that are backed up and too old or too many. Rows of the
 * table run stay. Files become smaller when nobody writes the store; else the space is used
 * anew. Returns 0, ERR_NOT_FOUND, ERR_IO, ERR_FORMAT, ERR_DATABASE or ERR_UNSUPPORTED; may be
 * done again then. O(records).
 */
int prov_prune(const char *url, const struct prov_prune_opts *opts, struct prov_pruned *out);

/* prov_shards_backup, prov_shards_prune -- the same of a directory: for the kinds of stores
 * (prov_kind.h). */
int prov_shards_backup(const char *url, const char *dir, struct prov_backed_up *out);
int prov_shards_prune(const char *url, const struct prov_prune_opts *opts,
                      struct prov_pruned *out);

/* -------------------------------------------------------- for all kinds of stores */

/* A run that has rows. */
struct prov_kept_run {
    int64_t id;
    uint64_t last_ns; /* of its end, or begin */
    bool is_over, is_safe;
    int64_t stored; /* PostgreSQL: up to which row */
    double bytes;   /* of its records: only to compare runs */
};

struct prov_kept_runs {
    struct prov_kept_run *at; /* free it */
    size_t n, room;
};

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run);

/* prov_kept_runs_list -- "(3,7,8)" of those that are chosen; to be freed. */
char *prov_kept_runs_list(const struct prov_kept_runs *runs, const bool *is_chosen);

/*
 * prov_kept_runs_choose -- those that are too old and, of the rest, the oldest until the others
 * fit; none that is not safe, which are counted.
 *   runs       the oldest first
 *   used       bytes of all of them together
 *   is_chosen  (runs->n) out
 * Returns how many.
 */
uint64_t prov_kept_runs_choose(const struct prov_kept_runs *runs,
                               const struct prov_prune_opts *opts, double used, bool *is_chosen,
                               uint64_t *n_kept);

/*
 * prov_keep_directory -- a new directory, filled under another name; when this returns 0, it is
 * on disk and has its own.
 *   fill  of the directory `dir`; syncs its files. Returns 0 or an error
 * Returns 0, ERR_EXISTS, ERR_RANGE, ERR_IO, or what fill returned.
 */
int prov_keep_directory(const char *to, int (*fill)(void *ctx, int dir), void *ctx);

#endif
