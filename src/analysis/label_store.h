/*
 * label_store -- the labels of a run: a log of who said what when, and of what was done that can be
 * undone.
 *
 * Nothing is overwritten. The last word on an execution holds, and a label is taken back by a
 * word that says nothing, so the state at any earlier time can be had again.
 *
 * The undo log has what a person did to a run, in order: labels that were given at once, and retrains.
 * So that it can be undone and redone whoever asks, from any page and on any day. Undoing
 * labels appends what held before them, redoing appends them again; an act knows its labels by
 * their numbers. The last act that is not undone is undone next, and of the undone ones behind
 * it the first is redone next. A new act forgets those: what they would be redone upon is no
 * more.
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
 * label_store_add -- append labels, all or none, in one transaction, as an act.
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

/*
 * label_store_load_without -- the labels that would hold now without an act that holds.
 *   first  number of its first label
 */
int label_store_load_without(sqlite3 *db, int64_t foi, int64_t first, size_t n_trees,
                             signed char *label);

/*
 * label_store_inherit -- take over the labels of another run, by the names of the functions and
 * the numbers of the executions; those that this run does not have are left behind.
 *   from    run.db of the other one
 *   n_kept  out: executions that have a label now
 *   n_lost  out: executions that had one and are not here
 * To be called inside a transaction. Returns 0 or ERR_DATABASE.
 */
int label_store_inherit(sqlite3 *db, sqlite3 *from, size_t *n_kept, size_t *n_lost);

enum act_way { ACT_UNDO, ACT_REDO };

struct act {
    int64_t id, foi;
    int64_t first_label, last_label; /* 0, both: it is a retrain */
    int64_t retrain;                 /* 0: it is labels */
};

/* undo_log_add_retrain -- a retrain was made. Inside the transaction that did so. */
int undo_log_add_retrain(sqlite3 *db, int64_t foi, int64_t retrain);

/*
 * undo_log_next -- what is undone, or redone, next.
 * Returns 0, ERR_NOT_FOUND when there is nothing, or ERR_DATABASE.
 */
int undo_log_next(sqlite3 *db, int64_t foi, enum act_way way, struct act *act);

/*
 * undo_log_turn_labels -- undo or redo an act of labels, in one transaction.
 *   author  who says so, of labels that are cleared; others keep whose they were
 *   n       out: executions whose label was written
 * Returns 0, ERR_EXISTS when somebody did something meanwhile, or ERR_DATABASE.
 */
int undo_log_turn_labels(sqlite3 *db, const struct act *act, enum act_way way,
                         const char *author, size_t *n);

/*
 * undo_log_turned_retrain -- a retrain was undone, or redone. Inside the transaction that did
 * so.
 * Returns 0 or ERR_DATABASE.
 */
int undo_log_turned_retrain(sqlite3 *db, int64_t retrain, enum act_way way);

#endif
