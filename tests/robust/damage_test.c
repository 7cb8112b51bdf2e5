/*
 * Random damage to an OTF2 archive, see damage.h; its files taken away or emptied; and what
 * once went wrong.
 */
#include "base/fs.h"

#include "damage.h"
#include "sample_trace.h"
#include "spawn.h"
#include "test.h"

#define N_STEPS 12

/* In an event file: a record of a time, and 8 bytes of it. */
#define TIMESTAMP 5
#define FIRST_TIME 19

static void no_damage_goes_unnoticed_or_kills(void **state)
{
    assert_true(damage_all(*state));
}

/* One file is taken away, or emptied; then the same with all the others there. */
static void each_file(const struct damage *s, bool is_emptied)
{
    for (size_t i = 0; i < s->files.n; i++) {
        char dir[FS_PATH_SIZE], what[FS_PATH_SIZE];

        snprintf(dir, sizeof dir, "%s/without", s->dir);
        snprintf(what, sizeof what, "%s %s", s->files.file[i].name,
                 is_emptied ? "empty" : "missing");
        file_set_write(&s->files, dir, i);
        if (is_emptied)
            file_set_put(&s->files, i, dir, "", 0);
        assert_true(damage_is_info_right(s, dir, what));
        assert_true(damage_is_analyze_right(dir, what));
        fs_remove_tree(dir);
    }
}

static void each_file_may_be_missing(void **state)
{
    each_file(*state, false);
}

static void each_file_may_be_empty(void **state)
{
    each_file(*state, true);
}

/* A whole location file less: the rest is read and the damage is said. */
static void a_missing_event_file_is_damage_and_the_rest_is_read(void **state)
{
    const struct damage *s = *state;
    char dir[FS_PATH_SIZE];
    struct counts found;
    struct outcome o;
    size_t i = 0;

    while (strcmp(s->files.file[i].name, "traces/4294967296.evt") != 0)
        assert_true(++i < s->files.n);
    snprintf(dir, sizeof dir, "%s/less", s->dir);
    file_set_write(&s->files, dir, i);
    spawn_run(&o, "info", "--json", dir, NULL);
    assert_int_equal(o.status, 3);
    assert_true(damage_counts(o.out, &found));
    assert_int_equal(found.calls, s->intact.calls / SAMPLE_RANKS * (SAMPLE_RANKS - 1));
    assert_int_equal(found.locations, SAMPLE_RANKS);
    outcome_release(&o);
    fs_remove_tree(dir);
}

/* The first time of a location: of seconds and of centuries, before the trace and after it. */
static void each_bit_of_a_time_may_flip(void **state)
{
    const struct damage *s = *state;
    unsigned char *data;
    size_t i = 0;

    while (strcmp(s->files.file[i].name, "traces/0.evt") != 0)
        assert_true(++i < s->files.n);
    data = s->files.file[i].data;
    assert_int_equal(data[FIRST_TIME - 1], TIMESTAMP);
    for (unsigned bit = 0; bit < 64; bit += getenv("SNAG_LONG") ? 1 : 5) {
        char dir[FS_PATH_SIZE], what[64];

        snprintf(dir, sizeof dir, "%s/bit", s->dir);
        snprintf(what, sizeof what, "bit %u of the first time flipped", bit);
        data[FIRST_TIME + bit / 8] ^= (unsigned char)(1 << bit % 8);
        file_set_write(&s->files, dir, s->files.n);
        data[FIRST_TIME + bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_true(damage_is_analyze_right(dir, what));
        fs_remove_tree(dir);
    }
}

/*
 * Bytes in the middle of the anchor file that make libotf2 3.0 count to billions before it sees
 * that the file is at its end.
 */
static void an_anchor_that_keeps_the_library_busy_is_given_up(void **state)
{
    const struct damage *s = *state;
    struct rng rng = {1723ul * 1000003 + 17};
    char dir[FS_PATH_SIZE], what[DAMAGE_WHAT];
    struct outcome o;

    snprintf(dir, sizeof dir, "%s/busy", s->dir);
    file_set_damage(&s->files, &rng, dir, what);
    assert_string_equal(what, "traces.otf2: insert 32+45");
    setenv("SNAG_PATIENCE", "1", 1);
    spawn_run(&o, "info", dir, NULL);
    setenv("SNAG_PATIENCE", "10", 1);
    assert_true(outcome_is_clean(&o, what));
    assert_int_equal(o.status, 1);
    outcome_release(&o);
    fs_remove_tree(dir);
}

static bool is_definition(const char *what)
{
    return strstr(what, ".def:") != NULL;
}

static void write_sample(const char *dir)
{
    sample_trace_write(dir, N_STEPS);
}

static int setup(void **state)
{
    struct damage *s = *state = calloc(1, sizeof *s);

    s->is_definition = is_definition;
    damage_init(s, write_sample);
    assert_int_equal(s->intact.calls, SAMPLE_RANKS * (1 + N_STEPS * 9));
    assert_int_equal(s->intact.messages, SAMPLE_RANKS * N_STEPS * 2);
    assert_int_equal(s->intact.collectives, SAMPLE_RANKS * N_STEPS);
    return 0;
}

static int teardown(void **state)
{
    damage_release(*state);
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_event_file_is_damage_and_the_rest_is_read),
        cmocka_unit_test(an_anchor_that_keeps_the_library_busy_is_given_up),
        cmocka_unit_test(each_file_may_be_missing),
        cmocka_unit_test(each_file_may_be_empty),
        cmocka_unit_test(each_bit_of_a_time_may_flip),
        cmocka_unit_test(no_damage_goes_unnoticed_or_kills),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
