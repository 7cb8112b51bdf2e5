/* A run with one slow step out of sixty on each of seven ranks; a person says it is normal. */
#include "analysis/retrain.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "run/rundb.h"

#include <time.h>

#include "sample_ranking.h"
#include "test.h"

static int say(struct sample_ranking *f, uint32_t rank, uint32_t index, enum label label)
{
    const struct label_entry entry = {1, rank, 0, index, label};

    return label_store_add(f->run.db, &entry, 1, "me");
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    int64_t n;

    assert_int_equal(rundb_prepare(db, sql, &query), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

/* The execution with the highest score. */
static void strangest(sqlite3 *db, uint32_t *rank, uint32_t *index)
{
    *rank = (uint32_t)number(db, "SELECT rank FROM execution ORDER BY score DESC, tree");
    *index = (uint32_t)number(db, "SELECT idx FROM execution ORDER BY score DESC, tree");
}

static void a_normal_label_takes_the_like_of_it_out_of_the_anomalies(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_result result;
    uint32_t rank, index;
    int64_t n_before = number(f->run.db, "SELECT count(*) FROM execution WHERE verdict = "
                                         "'anomaly'");

    assert_true(n_before >= 2);
    strangest(f->run.db, &rank, &index);
    assert_int_equal(say(f, rank, index, LABEL_NORMAL), 0);
    sample_ranking_open(f);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    assert_int_equal(result.n_normal, 1);
    assert_true(result.n_changes >= 1);
    assert_false(result.change[0].is_anomaly);
    assert_int_equal(
        number(f->run.db, "SELECT count(*) FROM execution WHERE verdict = 'anomaly'"),
        result.n_anomalies);
    assert_true(result.n_anomalies < n_before);
    free(result.change);
}

static void undo_brings_back_the_one_before_and_then_the_detectors_scores(void **state)
{
    static const char sum[] = "SELECT CAST(1e6 * sum(score * (tree + 1)) AS INTEGER) FROM "
                              "execution";
    struct sample_ranking *f = *state;
    struct retrain_result result;
    uint32_t rank, index;
    int64_t at_first = number(f->run.db, sum), after_one;

    strangest(f->run.db, &rank, &index);
    assert_int_equal(say(f, rank, index, LABEL_NORMAL), 0);
    sample_ranking_open(f);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    free(result.change);
    after_one = number(f->run.db, sum);
    assert_true(after_one != at_first);
    assert_int_equal(say(f, rank, index, LABEL_NONE), 0);
    assert_int_equal(say(f, 3, 17, LABEL_ABNORMAL), 0);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    free(result.change);
    assert_true(number(f->run.db, sum) != after_one);
    assert_int_equal(retrain_undo(f->run.db, 1, 2, &f->ranking, &result), 0);
    free(result.change);
    assert_int_equal(result.id, 1);
    assert_int_equal(number(f->run.db, sum), after_one);
    assert_int_equal(retrain_undo(f->run.db, 1, 1, NULL, &result), 0);
    free(result.change);
    assert_int_equal(result.id, 0);
    assert_int_equal(number(f->run.db, sum), at_first);
    assert_int_equal(retrain_undo(f->run.db, 1, 1, NULL, &result), ERR_NOT_FOUND);
    free(result.change);
}

/* From looking what is to be undone until it is done somebody else retrains, or undoes. */
static void what_somebody_retrained_meanwhile_is_not_undone(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_settings as;
    struct retrain_result result;
    int64_t id = 0, second = 2;

    assert_int_equal(say(f, 3, 17, LABEL_ABNORMAL), 0);
    sample_ranking_open(f);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    free(result.change);
    assert_int_equal(retrain_to_undo(f->run.db, 1, &id, &as), 0);
    assert_int_equal(id, 1);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "you", &result), 0);
    free(result.change);
    assert_int_equal(retrain_undo(f->run.db, 1, id, &f->ranking, &result), ERR_EXISTS);
    assert_int_equal(retrain_to_undo(f->run.db, 1, &id, &as), ERR_EXISTS);
    assert_int_equal(number(f->run.db, "SELECT sum(is_undone) FROM retrain"), 0);

    assert_int_equal(retrain_to_undo(f->run.db, 1, &second, &as), 0);
    assert_int_equal(retrain_undo(f->run.db, 1, second, &f->ranking, &result), 0);
    free(result.change);
    assert_int_equal(retrain_to_undo(f->run.db, 1, &second, &as), ERR_EXISTS);
    assert_int_equal(retrain_undo(f->run.db, 1, 2, &f->ranking, &result), ERR_EXISTS);
    assert_int_equal(number(f->run.db, "SELECT sum(is_undone) FROM retrain"), 1);
}

/* In a run that somebody else has made. */
static void labels_of_what_there_is_not_move_nothing(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_result result;
    uint32_t rank, index;
    char sql[120];

    strangest(f->run.db, &rank, &index);
    assert_int_equal(say(f, rank, index, LABEL_NORMAL), 0);
    sample_ranking_open(f);
    snprintf(sql, sizeof sql,
             "UPDATE execution SET tree = 4000000000 WHERE rank = %u AND idx = %u", rank,
             index);
    assert_int_equal(sqlite3_exec(f->run.db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    assert_int_equal(result.n_effects, 0);
    free(result.change);
}

static void labels_are_taken_all_or_none(void **state)
{
    struct sample_ranking *f = *state;
    const struct label_entry unknown[] = {{1, 0, 0, 5, LABEL_NORMAL},
                                          {1, 0, 0, 60, LABEL_NORMAL}};
    const struct label_entry both[] = {{1, 0, 0, 5, LABEL_NORMAL},
                                       {1, 0, 0, 5, LABEL_ABNORMAL}};

    assert_int_equal(label_store_add(f->run.db, unknown, 2, "me"), ERR_NOT_FOUND);
    assert_string_equal(err_message(), "the run has no execution '#0-60'");
    assert_int_equal(label_store_add(f->run.db, both, 2, "me"), ERR_USAGE);
    assert_int_equal(number(f->run.db, "SELECT count(*) FROM label"), 0);
}

/* Of this thread: what others do to the machine does not count. */
static uint64_t busy_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* So many labels for one execution, of which the last contradicts the others: the least time.
 */
static uint64_t refuse_repeated(sqlite3 *db, size_t n)
{
    struct label_entry *entry = calloc(n, sizeof *entry);
    uint64_t least_ns = UINT64_MAX;

    for (size_t i = 0; i < n; i++)
        entry[i] = (struct label_entry){1, 3, 0, 5, i + 1 < n ? LABEL_NORMAL : LABEL_ABNORMAL};
    for (int k = 0; k < 5; k++) {
        uint64_t began_ns = busy_ns(), took_ns;

        assert_int_equal(label_store_add(db, entry, n, "me"), ERR_USAGE);
        took_ns = busy_ns() - began_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    free(entry);
    return least_ns;
}

static void sixteen_times_the_labels_take_about_sixteen_times_as_long(void **state)
{
    struct sample_ranking *f = *state;

    assert_true(refuse_repeated(f->run.db, 64000) < 64 * refuse_repeated(f->run.db, 4000));
}

static void the_last_word_holds_and_earlier_ones_can_be_asked_for(void **state)
{
    struct sample_ranking *f = *state;
    signed char label[7 * 60];
    int64_t newest;

    assert_int_equal(say(f, 1, 2, LABEL_ABNORMAL), 0);
    assert_int_equal(say(f, 1, 2, LABEL_NORMAL), 0);
    assert_int_equal(say(f, 1, 2, LABEL_NONE), 0);
    assert_int_equal(label_store_load(f->run.db, 1, LABEL_LAST, sizeof label, label, &newest),
                     0);
    assert_int_equal(newest, 3);
    assert_int_equal(label[62], LABEL_NONE);
    assert_int_equal(label_store_load(f->run.db, 1, 2, sizeof label, label, &newest), 0);
    assert_int_equal(label[62], LABEL_NORMAL);
    assert_int_equal(number(f->run.db, "SELECT count(*) FROM labelled"), 0);
}

/* Runs that an earlier version retrained name its learner. */
static void what_was_learnt_by_a_learner_that_is_gone_can_be_undone(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_settings newest;
    struct retrain_result result;

    sample_ranking_open(f);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    free(result.change);
    assert_int_equal(rundb_exec(f->run.db, "UPDATE retrain SET learner = 'gp'"), 0);
    assert_int_equal(retrain_newest(f->run.db, 1, &newest), 0);
    assert_null(retrain_opts(&newest, f->run.pool).learner);
    assert_int_equal(retrain_undo(f->run.db, 1, 1, &f->ranking, &result), 0);
    assert_int_equal(result.id, 0);
    free(result.change);
}

/* What somebody else does to the run right before a transaction begins. */
struct meddler {
    const char *path, *sql;
    bool has_met;
};

static int meddle(unsigned event, void *ctx, void *statement, void *text)
{
    struct meddler *m = ctx;
    sqlite3 *other = NULL;

    (void)event, (void)statement;
    if (m->has_met || strncmp(text, "BEGIN", 5) != 0)
        return 0;
    m->has_met = true;
    assert_int_equal(sqlite3_open(m->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, m->sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    return 0;
}

/* A tree that keeps its score was given another one meanwhile: what is stored is the ranking.
 */
static void scores_that_change_meanwhile_are_replaced_too(void **state)
{
    struct sample_ranking *f = *state;
    struct retrain_result result;
    struct meddler m = {.path = sqlite3_db_filename(f->run.db, "main"),
                        .sql = "UPDATE execution SET score = 99, verdict = 'anomaly' "
                               "WHERE foi = 1 AND tree = 5"};

    sample_ranking_open(f);
    assert_int_equal(number(f->run.db, "SELECT score > 90 FROM execution WHERE tree = 5"), 0);
    sqlite3_trace_v2(f->run.db, SQLITE_TRACE_STMT, meddle, &m);
    assert_int_equal(retrain_run(f->run.db, &f->ranking, "me", &result), 0);
    sqlite3_trace_v2(f->run.db, 0, NULL, NULL);
    assert_true(m.has_met);
    assert_int_equal(number(f->run.db, "SELECT score > 90 FROM execution WHERE tree = 5"), 0);
    free(result.change);
}

static void labels_survive_another_analysis_of_the_trace(void **state)
{
    struct sample_ranking *f = *state;
    struct sample_run again;
    size_t n_kept, n_lost;

    assert_int_equal(say(f, 1, 2, LABEL_ABNORMAL), 0);
    assert_int_equal(say(f, 6, 59, LABEL_NORMAL), 0);
    sample_run_init(&again, "synth:60*step(compute@1ms(a 3*b));ranks=6;jitter=0.05", "step",
                    NULL);
    assert_int_equal(label_store_inherit(again.db, f->run.db, &n_kept, &n_lost), 0);
    assert_int_equal(n_kept, 1);
    assert_int_equal(n_lost, 1);
    assert_int_equal(number(again.db, "SELECT rank * 100 + idx FROM labelled"), 102);
    sample_run_release(&again);
}

int main(void)
{
#define TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, sample_ranking_set_up, sample_ranking_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_normal_label_takes_the_like_of_it_out_of_the_anomalies),
        TEST(undo_brings_back_the_one_before_and_then_the_detectors_scores),
        TEST(what_somebody_retrained_meanwhile_is_not_undone),
        TEST(labels_of_what_there_is_not_move_nothing),
        TEST(labels_are_taken_all_or_none),
        TEST(sixteen_times_the_labels_take_about_sixteen_times_as_long),
        TEST(the_last_word_holds_and_earlier_ones_can_be_asked_for),
        TEST(what_was_learnt_by_a_learner_that_is_gone_can_be_undone),
        TEST(scores_that_change_meanwhile_are_replaced_too),
        TEST(labels_survive_another_analysis_of_the_trace),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
