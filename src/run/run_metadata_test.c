#include "run/run_summary.h"

#include "base/fs.h"
#include "run/rundb.h"

#include "test.h"
#include "test_dir.h"

static void say(struct definitions *defs, uint32_t rank, const char *key, const char *value)
{
    definitions_metadata(defs, &(struct metadata){.rank = rank, .key = key, .value = value});
}

/* Four processes on two nodes. */
static void a_job(struct definitions *defs)
{
    static const char *const nodes[] = {"n2", "n1", "n2", "n1"};

    for (uint32_t r = 0; r < 4; r++) {
        definitions_location(defs, r, "Master thread", r)->node = nodes[r];
        say(defs, r, "Command Line", "md --steps 3");
        say(defs, r, "Seat", r % 2 ? "window" : "aisle");
    }
    say(defs, 0, "Empty", "");
}

static void what_all_say_is_kept_once(void **state)
{
    struct definitions defs = {0};
    struct run_metadata m;

    (void)state;
    a_job(&defs);
    run_metadata_of(&m, &defs);
    assert_int_equal(m.n, 5);
    assert_string_equal(run_metadata_get(&m, "Command Line"), "md --steps 3");
    assert_null(run_metadata_get(&m, "Seat")); /* it has two */
    assert_null(run_metadata_get(&m, "Empty"));
    assert_string_equal(m.at[1].value, "aisle");
    assert_string_equal(m.at[3].value, "n1");
    assert_string_equal(m.at[4].value, "n2");
    run_metadata_release(&m);
    definitions_release(&defs);
}

static void what_each_process_says_for_itself_is_left_out(void **state)
{
    struct definitions defs = {0};
    struct run_metadata m;
    char text[32];

    (void)state;
    for (uint32_t r = 0; r <= METADATA_VALUES; r++) {
        snprintf(text, sizeof text, "%u", r);
        say(&defs, r, "PID", text);
        if (r < METADATA_VALUES)
            say(&defs, r, "Socket", text);
        definitions_location(&defs, r, "Master thread", r)->node =
            arena_string(&defs.arena, text);
    }
    run_metadata_of(&m, &defs);
    assert_int_equal(m.n, METADATA_VALUES + METADATA_VALUES + 1); /* all nodes */
    assert_string_equal(m.at[0].key, "Socket");
    run_metadata_release(&m);
    definitions_release(&defs);
}

static void a_run_says_what_its_trace_said(void **state)
{
    char dir[] = "/tmp/snag-metadata-XXXXXX";
    struct definitions defs = {0};
    struct run_metadata m, again;
    struct database db;

    (void)state;
    assert_non_null(test_dir(dir));
    a_job(&defs);
    run_metadata_of(&m, &defs);
    assert_int_equal(rundb_create(dir, &db), 0);
    assert_int_equal(run_metadata_save(db.sql, &m), 0);
    assert_int_equal(run_metadata_load(&again, db.sql), 0);
    assert_int_equal(again.n, m.n);
    for (size_t i = 0; i < m.n; i++) {
        assert_string_equal(again.at[i].key, m.at[i].key);
        assert_string_equal(again.at[i].value, m.at[i].value);
    }
    run_metadata_release(&again);
    run_metadata_release(&m);
    database_close(&db);
    definitions_release(&defs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_say_is_kept_once),
        cmocka_unit_test(what_each_process_says_for_itself_is_left_out),
        cmocka_unit_test(a_run_says_what_its_trace_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
