/*
 * acts -- what a person did to a run, in order: labels that were given at once, and retrains.
 * So that it can be undone and redone whoever asks, from any page and on any day.
 *
 * The log of labels is only added to. Undoing labels appends what held before them, redoing
 * appends them again; an act knows its labels by their numbers. The last act that is not undone
 * is undone next, and of the undone ones behind it the first is redone next. A new act forgets
 * those: what they would be redone upon is no more.
 */
#ifndef SNAG_ANALYSIS_ACTS_H
#define SNAG_ANALYSIS_ACTS_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

enum act_way { ACT_UNDO, ACT_REDO };

struct act {
    int64_t id, foi;
    int64_t first_label, last_label; /* 0, both: it is a retrain */
    int64_t retrain;                 /* 0: it is labels */
};

/*
 * acts_add_labels -- the labels with numbers above `after` were given at once: an act for each
 * function among them. Inside the transaction that added them. Returns 0 or ERR_DATABASE.
 */
int acts_add_labels(sqlite3 *db, int64_t after);

/* acts_add_retrain -- the same of a retrain. */
int acts_add_retrain(sqlite3 *db, int64_t foi, int64_t retrain);

/*
 * acts_next -- what is undone, or redone, next.
 * Returns 0, ERR_NOT_FOUND when there is nothing, or ERR_DATABASE.
 */
int acts_next(sqlite3 *db, int64_t foi, enum act_way way, struct act *act);

/*
 * acts_turn_labels -- undo or redo an act of labels, in one transaction.
 *   author  who says so, of labels that are cleared; others keep whose they were
 *   n       out: executions whose label was written
 * Returns 0, ERR_EXISTS when somebody did something meanwhile, or ERR_DATABASE.
 */
int acts_turn_labels(sqlite3 *db, const struct act *act, enum act_way way, const char *author,
                     size_t *n);

/*
 * acts_turned_retrain -- a retrain was undone, or redone. Inside the transaction that did so.
 * Returns 0 or ERR_DATABASE.
 */
int acts_turned_retrain(sqlite3 *db, int64_t retrain, enum act_way way);

#endif
