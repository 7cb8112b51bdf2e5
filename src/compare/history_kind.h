/*
 * history_kind -- what a kind of history does that the others do otherwise: one row per kind,
 * chosen by the path. All of them are read as the tables of history.sql.
 */
#ifndef SNAG_COMPARE_HISTORY_KIND_H
#define SNAG_COMPARE_HISTORY_KIND_H

#include "compare/run_history.h"

/* A function of interest of a run, as it is kept. */
struct history_row {
    struct history_part part;
    int64_t hash;   /* of the summary's bytes, to tell one that is there already */
    size_t n_plain; /* bytes, before compression */
    void *data;     /* [n_data] zstd */
    size_t n_data;
};

struct history_new {
    const char *source;
    int64_t added_s; /* since 1970 */
    const struct history_tags *tags;
    const struct history_row *row; /* [n_rows] */
    size_t n_rows;
};

/* The functions of run_history.h of the same names; each change is there as a whole, or not. */
struct history_kind {
    int (*open)(struct history *history, const char *path, enum database_access access);
    int (*add)(struct history *history, const struct history_new *run, int64_t *id);
    int (*remove)(struct history *history, int64_t run);
    int (*keep)(struct history *history, int64_t n, uint64_t *n_removed);
    void (*close)(struct history *history); /* or NULL; after its database, twice is harmless */
};

extern const struct history_kind history_sqlite, history_postgres;

/* history_has, history_lacks -- the errors for a run that is there already, or is not. */
int history_has(int64_t run);
int history_lacks(int64_t run);

#endif
