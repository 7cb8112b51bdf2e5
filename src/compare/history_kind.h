/*
 * history_kind -- what a kind of history does that the others do otherwise: one row per kind,
 * chosen by the path. All of them have the tables of history.sql, are read as SQLite's, and are
 * changed by the same statements, in transactions: who is killed in one has changed nothing.
 */
#ifndef SNAG_COMPARE_HISTORY_KIND_H
#define SNAG_COMPARE_HISTORY_KIND_H

#include "compare/run_history.h"

/* What $1, $2, ... of a statement stand for: text, or bytes, or else a number. */
struct history_value {
    int64_t number;
    const char *text;  /* or NULL */
    const void *bytes; /* [n_bytes], or NULL */
    size_t n_bytes;
};

/* A statement: its $ are numbered in the order in which they first come. */
struct history_change {
    const char *sql;
    const struct history_value *value; /* [n] */
    int n;                             /* at most HISTORY_VALUES */
};
#define HISTORY_VALUES 11

struct history_kind {
    int (*open)(struct history *history, const char *path, enum database_access access);
    int (*begin)(struct history *history); /* a transaction, in which nobody else writes */
    /*
     *   number  out: the first one that it answers, or how many rows it changed; or NULL
     * Returns 0, ERR_NOT_FOUND when it answers nothing, or ERR_DATABASE.
     */
    int (*change)(struct history *history, const struct history_change *change,
                  int64_t *number);
    int (*end)(struct history *history, int rc); /* all since begin, or where rc < 0 nothing */
    void (*close)(struct history *history); /* or NULL; after its database, twice is harmless */
};

extern const struct history_kind history_sqlite, history_postgres;

#endif
