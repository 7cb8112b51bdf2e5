/*
 * label_store -- the labels of a run: a log of who said what when.
 *
 * Nothing is overwritten. The last word on an execution holds, and a label is taken back by a
 * word that says nothing, so the state at any earlier time can be had again.
 */
#ifndef SNAG_ANALYSIS_LABEL_STORE_H
#define SNAG_ANALYSIS_LABEL_STORE_H

#include "learn/learner.h"

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#define LABEL_LAST INT64_MAX /* all labels up to now */

/* An execution and what is said of it. */
struct label_entry {
    int64_t foi;
    uint32_t rank, thread, index;
    enum label label; /* LABEL_NONE clears */
};

/* label_name -- "abnormal", "normal"; "none". */
const char *label_name(enum label label);

/* label_parse -- what a person writes: abnormal, normal, clear. Returns 0 or ERR_USAGE. */
int label_parse(const char *text, enum label *label);

/*
 * label_store_add -- append labels, all or none, in one transaction, as an act (acts.h).
 *   author  who says so
 * Returns 0, ERR_NOT_FOUND when an execution is not in the run, ERR_USAGE when the entries
 * contradict each other, or ERR_DATABASE.
 */
int label_store_add(sqlite3 *db, const struct label_entry *entry, size_t n, const char *author);

/*
 * label_store_load -- the labels that held after the one with number `last`, by tree.
 *   label   (n_trees) out
 *   newest  out: number of the newest label of the function that was taken; 0 if none
 * Returns 0 or ERR_DATABASE.
 */
int label_store_load(sqlite3 *db, int64_t foi, int64_t last, size_t n_trees, signed char *label,
                     int64_t *newest);

/* label_store_load_without -- all labels but those with numbers from first to last. */
int label_store_load_without(sqlite3 *db, int64_t foi, int64_t first, int64_t last,
                             size_t n_trees, signed char *label);

/*
 * label_store_inherit -- take over the labels of another run, by the names of the functions and
 * the numbers of the executions; those that this run does not have are left behind.
 *   from    run.db of the other one
 *   n_kept  out: executions that have a label now
 *   n_lost  out: executions that had one and are not here
 * To be called inside a transaction. Returns 0 or ERR_DATABASE.
 */
int label_store_inherit(sqlite3 *db, sqlite3 *from, size_t *n_kept, size_t *n_lost);

/* label_now -- the time as it is written down: UTC, ISO 8601. */
void label_now(char out[32]);

#endif
