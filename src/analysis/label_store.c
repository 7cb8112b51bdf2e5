/*
 * The view `labelled` of schema.sql is the state; here are the words. What is undone or redone
 * next is asked of the undo log each time: others write to it, too.
 */
#include "analysis/label_store.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <strings.h>

const char *label_name(enum label label)
{
    return label == LABEL_ABNORMAL ? "abnormal" : label == LABEL_NORMAL ? "normal" : "none";
}

int label_parse(const char *text, enum label *label)
{
    static const struct {
        const char *word;
        enum label label;
    } words[] = {{"abnormal", LABEL_ABNORMAL}, {"normal", LABEL_NORMAL}, {"clear", LABEL_NONE}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i].word) == 0) {
            *label = words[i].label;
            return 0;
        }
    return err_set(ERR_USAGE, "'%s' is not a label: abnormal, normal or clear", text);
}

/* --------------------------------------------------------------------------------- undo log */

/* The labels with numbers above `after` were given at once: an act for each function among
 * them. Inside the transaction that added them. */
static int add_act(sqlite3 *db, int64_t after)
{
    int rc = rundb_run(db,
                       "DELETE FROM act WHERE is_undone AND foi IN "
                       "(SELECT foi FROM label WHERE id > ?)",
                       "i", after);

    if (rc == 0)
        rc = rundb_run(db,
                       "INSERT INTO act (foi, first_label, last_label) "
                       "SELECT foi, min(id), max(id) FROM label WHERE id > ? GROUP BY foi",
                       "i", after);
    return rc;
}

int undo_log_add_retrain(sqlite3 *db, int64_t foi, int64_t retrain)
{
    int rc = rundb_run(db, "DELETE FROM act WHERE is_undone AND foi = ?", "i", foi);

    if (rc == 0)
        rc = rundb_run(db, "INSERT INTO act (foi, retrain) VALUES (?, ?)", "ii", foi, retrain);
    return rc;
}

int undo_log_next(sqlite3 *db, int64_t foi, enum act_way way, struct act *act)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, way == ACT_UNDO ? run_sql_next_undo : run_sql_next_redo,
                         "i", foi);

    *act = (struct act){.foi = foi};
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        act->id = sqlite3_column_int64(query, 0);
        act->first_label = sqlite3_column_int64(query, 1);
        act->last_label = sqlite3_column_int64(query, 2);
        act->retrain = sqlite3_column_int64(query, 3);
    } else if (rc == 0) {
        rc =
            err_set(ERR_NOT_FOUND, "there is nothing to %s", way == ACT_UNDO ? "undo" : "redo");
    }
    sqlite3_finalize(query);
    return rc;
}

/* Somebody else may have undone it since it was looked up, or done something new. */
static int check_next(sqlite3 *db, const struct act *act, enum act_way way)
{
    struct act now;
    int rc = undo_log_next(db, act->foi, way, &now);

    if (rc == ERR_NOT_FOUND || (rc == 0 && now.id != act->id))
        rc = err_set(ERR_EXISTS, "the labels were changed meanwhile; nothing is %s",
                     way == ACT_UNDO ? "undone" : "redone");
    return rc;
}

static int write_labels(sqlite3 *db, const struct act *act, enum act_way way,
                        const char *author, size_t *n)
{
    /* What held before the act, or what the act said. */
    static const char *const sql[] = {
        [ACT_UNDO] =
            "INSERT INTO label (foi, rank, thread, idx, label, author, at) "
            "SELECT a.foi, a.rank, a.thread, a.idx, b.label, "
            "CASE WHEN b.label IS NULL THEN ?4 ELSE b.author END, ?5 "
            "FROM label AS a LEFT JOIN label AS b ON b.id = (SELECT max(id) FROM label AS c "
            "WHERE c.foi = a.foi AND c.rank = a.rank AND c.thread = a.thread AND c.idx = a.idx "
            "AND c.id < ?2) WHERE a.foi = ?1 AND a.id BETWEEN ?2 AND ?3 ORDER BY a.id",
        [ACT_REDO] = "INSERT INTO label (foi, rank, thread, idx, label, author, at) "
                     "SELECT foi, rank, thread, idx, label, "
                     "CASE WHEN label IS NULL THEN ?4 ELSE author END, ?5 "
                     "FROM label WHERE foi = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id",
    };
    char at[32];
    int rc;

    text_utc_now(at);
    rc = rundb_run(db, sql[way], "iiitt", act->foi, act->first_label, act->last_label, author,
                   at);
    *n = (size_t)sqlite3_changes(db);
    return rc;
}

int undo_log_turn_labels(sqlite3 *db, const struct act *act, enum act_way way,
                         const char *author, size_t *n)
{
    int rc = rundb_exec(db, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = check_next(db, act, way);
    if (rc == 0)
        rc = write_labels(db, act, way, author, n);
    if (rc == 0)
        rc = rundb_run(db, "UPDATE act SET is_undone = ?2 WHERE id = ?1", "ii", act->id,
                       (int64_t)(way == ACT_UNDO));
    if (rc == 0)
        return rundb_exec(db, "COMMIT");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int undo_log_turned_retrain(sqlite3 *db, int64_t retrain, enum act_way way)
{
    return rundb_run(db, "UPDATE act SET is_undone = ?2 WHERE retrain = ?1", "ii", retrain,
                     (int64_t)(way == ACT_UNDO));
}

/* ----------------------------------------------------------------------------- writing */

static int check_contradictions(const struct label_entry *entry, size_t n)
{
    struct idmap seen = {0};
    enum label *first = mem_alloc(n, sizeof *first); /* what was said of each that was seen */
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct label_entry *e = &entry[i];
        uint32_t n_before = seen.n;
        uint32_t at =
            idmap_add(&seen, key_quad((uint32_t)e->foi, e->rank, e->thread, e->index));

        if (at == n_before)
            first[at] = e->label;
        else if (first[at] != e->label)
            rc = err_set(ERR_USAGE, "#%u-%u is labelled both %s and %s", e->rank, e->index,
                         label_name(first[at]), label_name(e->label));
    }
    free(first);
    idmap_release(&seen);
    return rc;
}

/* Inserts one label, if its execution is there. */
static int add_one(sqlite3 *db, sqlite3_stmt *insert, const struct label_entry *e,
                   const char *author, const char *at)
{
    int rc = rundb_insert(db, insert, "iiiittt", e->foi, (int64_t)e->rank, (int64_t)e->thread,
                          (int64_t)e->index,
                          e->label == LABEL_NONE ? NULL : label_name(e->label), author, at);

    if (rc == 0 && sqlite3_changes(db) == 0)
        rc = e->thread ? err_set(ERR_NOT_FOUND, "the run has no execution '#%u.%u-%u'", e->rank,
                                 e->thread, e->index)
                       : err_set(ERR_NOT_FOUND, "the run has no execution '#%u-%u'", e->rank,
                                 e->index);
    return rc;
}

int label_store_add(sqlite3 *db, const struct label_entry *entry, size_t n, const char *author)
{
    sqlite3_stmt *insert = NULL;
    int64_t newest = 0;
    char at[32];
    int rc = check_contradictions(entry, n);

    text_utc_now(at);
    if (rc == 0)
        rc = rundb_exec(db, "BEGIN IMMEDIATE");
    if (rc < 0)
        return rc;
    rc = rundb_prepare(db,
                       "INSERT INTO label (foi, rank, thread, idx, label, author, at) "
                       "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM "
                       "execution WHERE foi = ?1 AND rank = ?2 AND thread = ?3 AND idx = ?4)",
                       &insert);
    if (rc == 0)
        rc = rundb_number(db, &newest, "SELECT coalesce(max(id), 0) FROM label", "");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_one(db, insert, &entry[i], author, at);
    sqlite3_finalize(insert);
    if (rc == 0)
        rc = add_act(db, newest);
    if (rc == 0)
        return rundb_exec(db, "COMMIT");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* ----------------------------------------------------------------------------- reading */

/* The labels of function ?1 with numbers in these ranges, in order. */
#define LABELS_HELD(held)                                                                      \
    "WITH held (first, last) AS (" held ") "                                                   \
    "SELECT x.tree, l.label, l.id FROM held CROSS JOIN label AS l ON l.id BETWEEN held.first " \
    "AND held.last JOIN execution AS x ON x.foi = l.foi AND x.rank = l.rank AND "              \
    "x.thread = l.thread AND x.idx = l.idx WHERE l.foi = ?1 ORDER BY l.id"

static int load_labels(sqlite3 *db, const char *sql, int64_t foi, int64_t number,
                       size_t n_trees, signed char *label, int64_t *newest)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, sql, "ii", foi, number);

    memset(label, LABEL_NONE, n_trees);
    *newest = 0;
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t tree = sqlite3_column_int64(query, 0);
        const char *text = rundb_text_or_null(query, 1);

        if (tree < 0 || (size_t)tree >= n_trees)
            continue;
        label[tree] = text == NULL                    ? LABEL_NONE
                      : strcmp(text, "abnormal") == 0 ? LABEL_ABNORMAL
                                                      : LABEL_NORMAL;
        *newest = sqlite3_column_int64(query, 2);
    }
    return rundb_close_query(db, query, rc, "cannot read the labels");
}

int label_store_load(sqlite3 *db, int64_t foi, int64_t last, size_t n_trees, signed char *label,
                     int64_t *newest)
{
    return load_labels(db, LABELS_HELD("SELECT 0, ?2"), foi, last, n_trees, label, newest);
}

/* What undo and redo wrote is there twice: so the steps of the undo log that hold, and what was
 * there before the first of them. */
#define STEPS_THAT_HOLD "FROM act WHERE foi = ?1 AND retrain IS NULL AND NOT is_undone"

int label_store_load_without(sqlite3 *db, int64_t foi, int64_t first, size_t n_trees,
                             signed char *label)
{
    int64_t newest;

    return load_labels(
        db,
        LABELS_HELD("SELECT 0, (SELECT min(first_label) - 1 " STEPS_THAT_HOLD ") UNION ALL "
                    "SELECT first_label, last_label " STEPS_THAT_HOLD " AND first_label <> ?2"),
        foi, first, n_trees, label, &newest);
}

/* -------------------------------------------------------------------------- inheriting */

/* The execution of the new run that has a label's function, rank, thread and number; 0 when it
 * has none, and so no label. */
static int64_t find_execution(sqlite3_stmt *find)
{
    int64_t foi = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;

    sqlite3_reset(find);
    return foi;
}

static int copy_label(sqlite3 *db, sqlite3_stmt *old, sqlite3_stmt *find, sqlite3_stmt *insert)
{
    int64_t rank = sqlite3_column_int64(old, 1), thread = sqlite3_column_int64(old, 2),
            index = sqlite3_column_int64(old, 3), foi;
    int rc = rundb_bind(db, find, "tiii", rundb_text(old, 0), rank, thread, index);

    foi = rc == 0 ? find_execution(find) : 0;
    if (foi == 0)
        return rc;
    return rundb_insert(db, insert, "iiiittt", foi, rank, thread, index,
                        rundb_text_or_null(old, 4), rundb_text(old, 5), rundb_text(old, 6));
}

static int copy_labels(sqlite3 *db, sqlite3 *from)
{
    sqlite3_stmt *old = NULL, *find = NULL, *insert = NULL;
    int rc = rundb_prepare(from, run_sql_given_labels, &old);

    if (rc == 0)
        rc = rundb_prepare(db,
                           "SELECT n.id FROM foi AS n JOIN execution AS x ON x.foi = n.id "
                           "WHERE n.name = ? AND x.rank = ? AND x.thread = ? AND x.idx = ?",
                           &find);
    if (rc == 0)
        rc = rundb_prepare(db,
                           "INSERT INTO label (foi, rank, thread, idx, label, author, at) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?)",
                           &insert);
    while (rc == 0 && sqlite3_step(old) == SQLITE_ROW)
        rc = copy_label(db, old, find, insert);
    rc = rundb_close_query(from, old, rc, "cannot read the labels");
    sqlite3_finalize(find);
    sqlite3_finalize(insert);
    return rc;
}

int label_store_inherit(sqlite3 *db, sqlite3 *from, size_t *n_kept, size_t *n_lost)
{
    int64_t n_before = 0, n_after = 0;
    int rc = rundb_number(from, &n_before, run_sql_n_held_labels, "");

    if (rc == 0)
        rc = copy_labels(db, from);
    if (rc == 0)
        rc = rundb_number(db, &n_after, run_sql_n_held_labels, "");
    *n_kept = (size_t)n_after;
    *n_lost = n_before > n_after ? (size_t)(n_before - n_after) : 0;
    return rc;
}
