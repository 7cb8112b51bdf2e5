/* A person labels, learns, takes it back and does it again, on a run of seven ranks. */
#include "analysis/label_store.h"

#include "analysis/retrain.h"
#include "base/err.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include "sample_ranking.h"
#include "test.h"

/* The labels that hold, as "0-3:normal:me 2-5:abnormal:you", and what is to be learnt. */
static void assert_labels(struct sample_ranking *f, const char *expected, int64_t to_learn)
{
    sqlite3_stmt *query;
    char text[512] = "";
    int n = 0;

    assert_int_equal(
        rundb_prepare(f->run.db, "SELECT * FROM labelled ORDER BY rank, idx", &query), 0);
    while (sqlite3_step(query) == SQLITE_ROW)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d-%d:%s:%s", n ? " " : "",
                      sqlite3_column_int(query, 1), sqlite3_column_int(query, 3),
                      rundb_text(query, 4), rundb_text(query, 5));
    sqlite3_finalize(query);
    assert_string_equal(text, expected);
    assert_int_equal(rundb_prepare(f->run.db, run_sql_show_labels, &query), 0);
    assert_int_equal(rundb_bind(f->run.db, query, "i", (int64_t)1), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_string_equal(sqlite3_column_name(query, 2), "to_learn");
    assert_int_equal(sqlite3_column_int64(query, 2), to_learn);
    sqlite3_finalize(query);
}

static void say(struct sample_ranking *f, uint32_t index, enum label label, const char *author)
{
    const struct label_entry entry = {1, 0, 0, index, label};

    assert_int_equal(label_store_add(f->run.db, &entry, 1, author), 0);
}

/* Undoes or redoes labels; how many were written. */
static size_t turn(struct sample_ranking *f, enum act_way way)
{
    struct act act;
    size_t n;

    assert_int_equal(undo_log_next(f->run.db, 1, way, &act), 0);
    assert_int_equal(act.retrain, 0);
    assert_int_equal(undo_log_turn_labels(f->run.db, &act, way, "undoer", &n), 0);
    return n;
}

static void assert_nothing_to(struct sample_ranking *f, enum act_way way)
{
    struct act act;

    assert_int_equal(undo_log_next(f->run.db, 1, way, &act), ERR_NOT_FOUND);
    assert_string_equal(err_message(), way == ACT_UNDO ? "there is nothing to undo"
                                                       : "there is nothing to redo");
}

static void labels_given_at_once_are_undone_and_redone_at_once(void **state)
{
    struct sample_ranking *f = *state;
    const struct label_entry both[] = {{1, 0, 0, 3, LABEL_NORMAL},
                                       {1, 2, 0, 5, LABEL_ABNORMAL}};

    assert_nothing_to(f, ACT_UNDO);
    say(f, 3, LABEL_ABNORMAL, "you");
    assert_int_equal(label_store_add(f->run.db, both, 2, "me"), 0);
    assert_labels(f, "0-3:normal:me 2-5:abnormal:me", 2);
    assert_int_equal(turn(f, ACT_UNDO), 2);
    assert_labels(f, "0-3:abnormal:you", 1);
    assert_int_equal(turn(f, ACT_UNDO), 1);
    assert_labels(f, "", 0);
    assert_nothing_to(f, ACT_UNDO);
    assert_int_equal(turn(f, ACT_REDO), 1);
    assert_int_equal(turn(f, ACT_REDO), 2);
    assert_labels(f, "0-3:normal:me 2-5:abnormal:me", 2);
    assert_nothing_to(f, ACT_REDO);
    turn(f, ACT_UNDO);
    assert_labels(f, "0-3:abnormal:you", 1);
}

static void a_label_taken_back_leaves_nothing_to_learn(void **state)
{
    struct sample_ranking *f = *state;

    say(f, 3, LABEL_NORMAL, "me");
    say(f, 3, LABEL_NONE, "me");
    assert_labels(f, "", 0);
    turn(f, ACT_UNDO);
    assert_labels(f, "0-3:normal:me", 1);
}

static void something_new_forgets_what_could_be_redone(void **state)
{
    struct sample_ranking *f = *state;

    say(f, 3, LABEL_NORMAL, "me");
    say(f, 4, LABEL_NORMAL, "me");
    turn(f, ACT_UNDO);
    say(f, 5, LABEL_ABNORMAL, "me");
    assert_nothing_to(f, ACT_REDO);
    turn(f, ACT_UNDO);
    assert_labels(f, "0-3:normal:me", 1);
}

static void what_somebody_undid_meanwhile_is_not_undone_again(void **state)
{
    struct sample_ranking *f = *state;
    struct act act;
    size_t n;

    say(f, 3, LABEL_NORMAL, "me");
    say(f, 4, LABEL_NORMAL, "me");
    assert_int_equal(undo_log_next(f->run.db, 1, ACT_UNDO, &act), 0);
    turn(f, ACT_UNDO);
    assert_int_equal(undo_log_turn_labels(f->run.db, &act, ACT_UNDO, "me", &n), ERR_EXISTS);
    assert_labels(f, "0-3:normal:me", 1);
}

/* Score and verdict of all, as one number. */
static double standing(struct sample_ranking *f)
{
    sqlite3_stmt *query;
    double sum;

    assert_int_equal(rundb_prepare(f->run.db,
                                   "SELECT sum(score * (tree + 1)) + count(*) FILTER "
                                   "(WHERE verdict = 'anomaly') FROM execution",
                                   &query),
                     0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    sum = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    return sum;
}

static void retrains_stand_among_labels(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_settings as;
    struct retrain_result result;
    struct act act;
    double before = standing(f), learnt;

    say(f, 3, LABEL_ABNORMAL, "me");
    sample_ranking_open(f);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    free(result.change);
    learnt = standing(f);
    assert_true(learnt != before);
    assert_labels(f, "0-3:abnormal:me", 0);
    say(f, 4, LABEL_NORMAL, "me");
    assert_labels(f, "0-3:abnormal:me 0-4:normal:me", 1);
    turn(f, ACT_UNDO);
    assert_labels(f, "0-3:abnormal:me", 0);

    assert_int_equal(undo_log_next(f->run.db, 1, ACT_UNDO, &act), 0);
    assert_true(act.retrain > 0);
    assert_int_equal(retrain_undo(f->run.db, 1, act.retrain, &f->ranking, &result), 0);
    free(result.change);
    assert_true(standing(f) == before);
    turn(f, ACT_UNDO);
    assert_labels(f, "", 0);

    turn(f, ACT_REDO);
    assert_int_equal(undo_log_next(f->run.db, 1, ACT_REDO, &act), 0);
    assert_int_equal(retrain_find(f->run.db, 1, act.retrain, &as), 0);
    assert_int_equal(retrain_redo(f->run.db, &as, &f->ranking, &result), 0);
    free(result.change);
    assert_true(standing(f) == learnt);
    assert_labels(f, "0-3:abnormal:me", 0);
    assert_int_equal(retrain_redo(f->run.db, &as, &f->ranking, &result), ERR_EXISTS);
    free(result.change);
    turn(f, ACT_REDO);
    assert_labels(f, "0-3:abnormal:me 0-4:normal:me", 1);
}

/* What is said of #0-3 if the act with that first label had not been; 420 executions. */
static enum label without(struct sample_ranking *f, int64_t first)
{
    signed char label[420];

    assert_int_equal(label_store_load_without(f->run.db, 1, first, 420, label), 0);
    return (enum label)label[3];
}

/* Rows: 1 abnormal, 2 normal, 3 undone: abnormal, 4 redone: normal, ... */
static void without_an_act_nothing_holds_that_undo_and_redo_wrote_of_it(void **state)
{
    struct sample_ranking *f = *state;

    say(f, 3, LABEL_ABNORMAL, "me");
    say(f, 3, LABEL_NORMAL, "me");
    turn(f, ACT_UNDO);
    assert_int_equal(without(f, 1), LABEL_NONE);
    turn(f, ACT_REDO);
    assert_int_equal(without(f, 1), LABEL_NORMAL);
    assert_int_equal(without(f, 2), LABEL_ABNORMAL);
    turn(f, ACT_UNDO);
    turn(f, ACT_UNDO);
    turn(f, ACT_REDO);
    assert_int_equal(without(f, 1), LABEL_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(labels_given_at_once_are_undone_and_redone_at_once,
                                        sample_ranking_set_up, sample_ranking_tear_down),
        cmocka_unit_test_setup_teardown(a_label_taken_back_leaves_nothing_to_learn,
                                        sample_ranking_set_up, sample_ranking_tear_down),
        cmocka_unit_test_setup_teardown(something_new_forgets_what_could_be_redone,
                                        sample_ranking_set_up, sample_ranking_tear_down),
        cmocka_unit_test_setup_teardown(what_somebody_undid_meanwhile_is_not_undone_again,
                                        sample_ranking_set_up, sample_ranking_tear_down),
        cmocka_unit_test_setup_teardown(
            without_an_act_nothing_holds_that_undo_and_redo_wrote_of_it, sample_ranking_set_up,
            sample_ranking_tear_down),
        cmocka_unit_test_setup_teardown(retrains_stand_among_labels, sample_ranking_set_up,
                                        sample_ranking_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
