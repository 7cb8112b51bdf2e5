/* What is next is asked of the table each time: others write to it, too. */
#include "analysis/acts.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "run/run_sql.h"
#include "run/rundb.h"

/* A statement with numbers alone. */
static int run(sqlite3 *db, const char *sql, int64_t a, int64_t b)
{
    sqlite3_stmt *statement = NULL;
    int rc = rundb_prepare(db, sql, &statement);

    if (rc == 0)
        rc = rundb_insert(db, statement,
                          sqlite3_bind_parameter_count(statement) > 1 ? "ii" : "i", a, b);
    sqlite3_finalize(statement);
    return rc;
}

int acts_add_labels(sqlite3 *db, int64_t after)
{
    int rc = run(db,
                 "DELETE FROM act WHERE is_undone AND foi IN "
                 "(SELECT foi FROM label WHERE id > ?)",
                 after, 0);

    return rc < 0 ? rc
                  : run(db,
                        "INSERT INTO act (foi, first_label, last_label) "
                        "SELECT foi, min(id), max(id) FROM label WHERE id > ? GROUP BY foi",
                        after, 0);
}

int acts_add_retrain(sqlite3 *db, int64_t foi, int64_t retrain)
{
    int rc = run(db, "DELETE FROM act WHERE is_undone AND foi = ?", foi, 0);

    return rc < 0 ? rc : run(db, "INSERT INTO act (foi, retrain) VALUES (?, ?)", foi, retrain);
}

int acts_next(sqlite3 *db, int64_t foi, enum act_way way, struct act *act)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, way == ACT_UNDO ? run_sql_next_undo : run_sql_next_redo, &query);

    *act = (struct act){.foi = foi};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
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
    int rc = acts_next(db, act->foi, way, &now);

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
    sqlite3_stmt *insert = NULL;
    char at[32];
    int rc = rundb_prepare(db, sql[way], &insert);

    label_now(at);
    if (rc == 0)
        rc = rundb_insert(db, insert, "iiitt", act->foi, act->first_label, act->last_label,
                          author, at);
    *n = (size_t)sqlite3_changes(db);
    sqlite3_finalize(insert);
    return rc;
}

int acts_turn_labels(sqlite3 *db, const struct act *act, enum act_way way, const char *author,
                     size_t *n)
{
    int rc = rundb_exec(db, "BEGIN IMMEDIATE");

    if (rc < 0)
        return rc;
    rc = check_next(db, act, way);
    if (rc == 0)
        rc = write_labels(db, act, way, author, n);
    if (rc == 0)
        rc = run(db, "UPDATE act SET is_undone = ?2 WHERE id = ?1", act->id, way == ACT_UNDO);
    if (rc == 0)
        return rundb_exec(db, "COMMIT");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int acts_turned_retrain(sqlite3 *db, int64_t retrain, enum act_way way)
{
    return run(db, "UPDATE act SET is_undone = ?2 WHERE retrain = ?1", retrain,
               way == ACT_UNDO);
}
