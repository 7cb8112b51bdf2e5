/*
 * run_history -- what is kept of many runs, to compare with: a file of sums per call path, a
 * few kilobytes a run, and tags that say what each run was.
 *
 *     snag history add nightly.db run.snag --tag commit=1a2b3c
 *     snag compare --base nightly.db --last 10 new.snag
 *
 * A file of SQLite (history.sql), or the tables of a PostgreSQL database that URL or
 * URL#history names (postgres_history_1.sql). Several programs may add to it at once.
 */
#ifndef SNAG_COMPARE_RUN_HISTORY_H
#define SNAG_COMPARE_RUN_HISTORY_H

#include "base/database.h"
#include "compare/compare.h"
#include "compare/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_FORMAT 1
#define HISTORY_TAGS 64u       /* of a run, at most */
#define HISTORY_TAG_SIZE 1024u /* bytes of a key, or a value */

struct history {
    struct database
        database; /* to ask; an empty one in PostgreSQL, where it is to be changed */
    const struct history_kind *kind;
    struct pg_conn *writer; /* to change it in PostgreSQL, or NULL */
};

struct history_tag {
    char *key, *value;
};

struct history_tags {
    struct history_tag *tag; /* [n] by key */
    size_t n, cap;
};

/* history_tags_set -- what a key stands for now; an empty value takes it away. */
void history_tags_set(struct history_tags *tags, const char *key, const char *value);

/* history_tags_get -- NULL if there is none of that key. */
const char *history_tags_get(const struct history_tags *tags, const char *key);
void history_tags_release(struct history_tags *tags);

/* What a file holds of one function of interest of a run. */
struct history_run {
    int64_t id;
    int64_t added_s;
    const char *source, *foi;
    uint32_t n_ranks;
    uint64_t n_executions, n_anomalies, time_ns, median_ns, p99_ns;
};

/* Which of them; the newest first are counted. */
struct history_filter {
    const char *foi;                 /* as it was said, or shown in some run; NULL: any */
    const char *identity;            /* of the function that is meant, where it is known */
    const struct history_tags *tags; /* all of these, or NULL */
    uint64_t last;                   /* so many runs; 0: all */
    bool is_one;                     /* all have to be of one function */
};

/*
 * history_is -- whether something is a history, as far as its name and first bytes say: a file
 * that begins as SQLite's do, or the URL of a PostgreSQL database. That of a store looks alike;
 * where both are taken, URL#history is the history (prov_store_is).
 */
bool history_is(const char *path);

/*
 * history_open -- DATABASE_READ to ask, DATABASE_WRITE to change it only, DATABASE_MAKE
 * likewise, and it is made when it is not there. As database_open, or ERR_USAGE for an URL that
 * cannot be used.
 */
int history_open(struct history *history, const char *path, enum database_access access);
void history_close(struct history *history); /* twice is harmless, as is a zeroed one */

/* What is to be kept of a run. */
struct history_part {
    const char *foi;
    uint64_t n_anomalies;
    const struct summary *summary;
};

/*
 * history_add -- keep a run, all of it or nothing.
 *   part  (n) at least one
 *   id    out: its number
 * Returns 0, ERR_EXISTS if it is there already (with its number in the message), or as
 * database_error.
 */
int history_add(struct history *history, const char *source, const struct history_tags *tags,
                const struct history_part *part, size_t n, int64_t *id);

/*
 * history_each -- call fn for what passes the filter, oldest first. What it gets lasts until it
 * returns.
 *
 * A run keeps its functions by the names that they were shown as in it. One is meant by its
 * very name; else, in a run that has none of that name, by any of its names, whatever the line
 * (region_name_is). Two are one function where a filter means both, or they differ in the line
 * alone, and no run has both.
 *
 * Returns 0, what fn did if that is negative, ERR_USAGE where the filter says one function and
 * there are several, or ERR_DATABASE.
 */
int history_each(struct history *history, const struct history_filter *filter,
                 int (*fn)(void *ctx, const struct history_run *run), void *ctx);

/* What passed: its number, and what its function was shown as, by which it is loaded. */
struct history_list {
    struct listed_run {
        int64_t id;
        char *foi;
    } * run; /* [n] oldest first */
    size_t n, cap;
};

/* history_list_load -- as history_each. Release it in any case. */
int history_list_load(struct history *history, const struct history_filter *filter,
                      struct history_list *out);
void history_list_release(struct history_list *list);

/* history_tags -- those of a run. Release them in any case. */
int history_tags(struct history *history, int64_t run, struct history_tags *out);

/* history_load -- the summary of a function by its very name in a run (history_run); release it
 * in any case. ERR_NOT_FOUND, ERR_FORMAT. */
int history_load(struct history *history, int64_t run, const char *foi, struct summary *out);

/*
 * history_remove -- forget a run; ERR_NOT_FOUND if there is none of that number.
 * history_keep -- forget all but the last n; their number in *n_removed.
 */
int history_remove(struct history *history, int64_t run);
int history_keep(struct history *history, uint64_t n, uint64_t *n_removed);

#define LOOK_BACK_TYPICAL 10u /* runs */

/*
 * A run of a history against those that were added before it.
 *
 *     number  1  2  3  4  5  6  7
 *             .  b  b  b  b  b  n     the 7th against the last 5 before
 */
struct look_back {
    int64_t run;                     /* its number */
    const char *foi;                 /* as history_filter */
    uint32_t last;                   /* so many runs before it, at most COMPARE_MAX_RUNS - 1 */
    const struct history_tags *tags; /* those before have all of these; NULL: any */
};

/*
 * look_back_compare -- what changed with a run.
 * Returns 0, ERR_NOT_FOUND when the history does not have the run, or none before it, or as
 * history_load. Release out in any case. As compare_runs, and it reads what it compares.
 */
int look_back_compare(struct history *history, const struct look_back *of,
                      struct comparison *out);

#endif
