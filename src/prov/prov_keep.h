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

/* ---------------------------------------------------------------- of a kind of store */

/* A run that has rows. */
struct prov_kept_run {
    int64_t id;
    uint64_t last_ns; /* of its end, or begin */
    bool is_over, is_safe;
    bool is_chosen; /* to be marked, or dropped */
    int64_t stored; /* PostgreSQL: up to which row */
    double bytes;   /* of its records: only to compare runs */
};

struct prov_kept_runs {
    struct prov_kept_run *at; /* [n] the oldest first */
    size_t n, room;
};

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run);

/* All return 0 or an error. */
struct prov_keep_ops {
    int (*open)(const char *url, void **keep); /* *keep: to be closed, also on errors */
    void (*close)(void *keep);                 /* NULL is harmless */

    /* Those that copy will have; what is over and safe is it as of then. */
    int (*runs_to_copy)(void *keep, struct prov_kept_runs *runs);

    /* Shards, whole and on disk, into a directory `dir` that messages call `to`. */
    int (*copy)(void *keep, int dir, const char *to, uint64_t *bytes);

    /* list: "(3,7,8)", those that are chosen. *n: in and out, how many. */
    int (*mark)(void *keep, const struct prov_kept_runs *runs, const char *list, uint64_t *n);

    /* What they take is needed only where is_weighed. used: all that there is, in bytes. */
    int (*runs_to_drop)(void *keep, bool is_weighed, struct prov_kept_runs *runs,
                        uint64_t *used);

    /* As mark; *n: 0 when they are no longer as they were. */
    int (*drop)(void *keep, const struct prov_kept_runs *runs, const char *list,
                uint64_t now_ns, uint64_t *n);

    /* After the last drop: see struct prov_pruned. */
    int (*give_back)(void *keep, bool *is_given_back);
};

extern const struct prov_keep_ops prov_shards_keep; /* of a directory */

#endif
