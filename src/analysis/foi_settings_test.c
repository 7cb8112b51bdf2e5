/* Settings written to a run and read back; what is not there, and what makes no sense. */
#include "analysis/run_scoring.h"

#include "base/err.h"
#include "run/rundb.h"

#include "test.h"

static sqlite3 *database(const char *settings)
{
    sqlite3_stmt *insert;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(rundb_exec(db, "CREATE TABLE foi (id INTEGER, features TEXT, "
                                    "detector TEXT, threshold REAL, settings TEXT)"),
                     0);
    assert_int_equal(
        rundb_prepare(db, "INSERT INTO foi VALUES (1, 'time', 'lof', NULL, ?)", &insert), 0);
    assert_int_equal(rundb_insert(db, insert, "t", settings), 0);
    sqlite3_finalize(insert);
    return db;
}

static void what_is_written_is_read_back(void **state)
{
    struct foi_settings settings = {.neighbours = 7,
                                    .seed = UINT64_MAX - 1,
                                    .model_executions = 600,
                                    .told_threshold = -0.1 - 0.2,
                                    .learnt = {1.0 / 3, 0.07, stack2vec_default()}};
    struct stack2vec_opts *embedding = &settings.learnt.embedding;
    struct foi_settings out;
    char text[FOI_SETTINGS_SIZE];
    sqlite3 *db;

    (void)state;
    embedding->dims = 17;
    embedding->epochs = 3;
    embedding->learning_rate = 0.1 + 0.2;
    embedding->negatives = 1e-7;
    embedding->seed = settings.seed;
    foi_settings_text(&settings, text);
    db = database(text);
    assert_int_equal(foi_settings_load(db, 1, &out), 0);
    assert_string_equal(out.features, "time");
    assert_string_equal(out.detector, "lof");
    assert_true(isinf(out.threshold));
    assert_int_equal(out.neighbours, 7);
    assert_true(out.seed == settings.seed);
    assert_int_equal(out.model_executions, 600);
    assert_true(out.told_threshold == -0.1 - 0.2);
    assert_true(out.learnt.gamma == 1.0 / 3);
    assert_true(out.learnt.nu == 0.07);
    assert_memory_equal(&out.learnt.embedding, embedding, sizeof *embedding);
    assert_int_equal(foi_settings_load(db, 2, &out), ERR_NOT_FOUND);
    sqlite3_close(db);
}

static void what_is_not_there_is_as_usual(void **state)
{
    const struct stack2vec_opts typical = stack2vec_default();
    struct foi_settings out;
    sqlite3 *db = database("{\"gamma\": null}");

    (void)state;
    assert_int_equal(foi_settings_load(db, 1, &out), 0);
    assert_int_equal(out.model_executions, 0);
    assert_true(isnan(out.told_threshold));
    assert_true(out.learnt.gamma == 0);
    assert_memory_equal(&out.learnt.embedding, &typical, sizeof typical);
    sqlite3_close(db);
}

static void what_makes_no_sense_is_an_error(void **state)
{
    static const char *const wrong[] = {"{\"dimensions\": -1}",       "{\"dimensions\": 5000}",
                                        "{\"epochs\": 1e6}",          "{\"epochs\": 99999999}",
                                        "{\"learning_rate\": 1e999}", "{\"gamma\": -1}",
                                        "{\"model_executions\": -1}"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sqlite3 *db = database(wrong[i]);
        struct foi_settings out;

        assert_int_equal(foi_settings_load(db, 1, &out), ERR_FORMAT);
        sqlite3_close(db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_is_not_there_is_as_usual),
        cmocka_unit_test(what_makes_no_sense_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
