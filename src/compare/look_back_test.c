/* A run of a history against those before it: which they are, and what is said. */
#include "compare/run_history.h"

#include "base/err.h"

#include <math.h>

#include "sample_summary.h"
#include "test.h"
#include "test_dir.h"

static char dir[] = "/tmp/snag-look-back-XXXXXX";

static void add(struct history *h, unsigned seed, const char *solve, const char *branch)
{
    struct history_tags tags = {0};
    struct summary d;
    struct history_part part = {.foi = "step", .summary = &d};
    char program[120];
    int64_t id;

    snprintf(program, sizeof program, "synth:100*step(solve@%s pack@1ms);jitter=0.02;seed=%u",
             solve, seed);
    sample_summary(program, "step", &d);
    history_tags_set(&tags, "branch", branch);
    assert_int_equal(history_add(h, "a.snag", &tags, &part, 1, &id), 0);
    history_tags_release(&tags);
    summary_release(&d);
}

/* Numbers 1 to 6; from the 5th on, solve takes 3 ms. */
static void open_six(struct history *h, const char *name)
{
    char path[FS_PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(history_open(h, path, DATABASE_MAKE), 0);
    for (unsigned i = 1; i <= 6; i++)
        add(h, i, i < 5 ? "2ms" : "3ms", i % 2 ? "main" : "other");
}

static void compare(struct history *h, int64_t run, uint32_t last, const char *branch,
                    struct comparison *c)
{
    struct history_tags tags = {0};
    const struct look_back of = {.run = run, .foi = "step", .last = last, .tags = &tags};

    if (branch)
        history_tags_set(&tags, "branch", branch);
    assert_int_equal(look_back_compare(h, &of, c), 0);
    history_tags_release(&tags);
}

static void the_run_that_changed_is_slower_than_those_before(void **state)
{
    char name[COMPARE_NAME_SIZE];
    struct history h;
    struct comparison c;

    (void)state;
    open_six(&h, "changed.db");
    compare(&h, 5, 10, NULL, &c);
    assert_int_equal(c.n_runs[0], 4);
    assert_int_equal(c.n_runs[1], 1);
    assert_int_equal(c.whole.verdict, COMPARE_SLOWER);
    assert_true(fabs(compare_fraction(&c.whole) - 1.0 / 3) < 0.02);
    assert_string_equal(compare_path_name(&c, c.path[0].path, name), "step > solve");
    compare_release(&c);
    compare(&h, 4, 10, NULL, &c);
    assert_int_equal(c.n_runs[0], 3);
    assert_true(fabs(compare_fraction(&c.whole)) < 0.02);
    compare_release(&c);
    history_close(&h);
}

static void no_more_are_taken_than_asked_for_and_the_newest(void **state)
{
    struct history h;
    struct comparison c;

    (void)state;
    open_six(&h, "last.db");
    compare(&h, 6, 1, NULL, &c);
    assert_int_equal(c.n_runs[0], 1);
    assert_true(fabs(compare_fraction(&c.whole)) < 0.02); /* the 5th, which is as slow */
    compare_release(&c);
    compare(&h, 6, 10, "other", &c);
    assert_int_equal(c.n_runs[0], 2); /* the 2nd and the 4th */
    assert_true(compare_fraction(&c.whole) > 0.3);
    compare_release(&c);
    history_close(&h);
}

static void the_first_run_has_none_before_it(void **state)
{
    struct look_back of = {.run = 1, .foi = "step", .last = 10};
    struct history h;
    struct comparison c;

    (void)state;
    open_six(&h, "first.db");
    assert_int_equal(look_back_compare(&h, &of, &c), ERR_NOT_FOUND);
    assert_string_equal(err_message(), "there is no run before number 1 to compare it with");
    compare_release(&c);
    of.run = 7;
    assert_int_equal(look_back_compare(&h, &of, &c), ERR_NOT_FOUND);
    assert_string_equal(err_message(), "the history has no run 7 with 'step'");
    compare_release(&c);
    history_close(&h);
}

/* In each run step begins at another line. */
static void those_before_may_show_it_with_another_line(void **state)
{
    struct look_back of = {.run = 3, .foi = "train.py(10): step", .last = 10};
    char path[FS_PATH_SIZE], program[120], foi[40];
    struct history h;
    struct comparison c;

    (void)state;
    snprintf(path, sizeof path, "%s/lines.db", dir);
    assert_int_equal(history_open(&h, path, DATABASE_MAKE), 0);
    for (int i = 0; i < 3; i++) {
        struct summary d;
        struct history_part part = {.foi = foi, .summary = &d};
        int64_t id;

        snprintf(program, sizeof program, "synth:50*step(solve@1ms);jitter=0.02;seed=%d", i);
        snprintf(foi, sizeof foi, "train.py(%d): step", 10 + i);
        sample_summary(program, "step", &d);
        d.names.name[d.foi] = "train.py: step";
        assert_int_equal(history_add(&h, "a.snag", &(struct history_tags){0}, &part, 1, &id),
                         0);
        summary_release(&d);
    }
    assert_int_equal(look_back_compare(&h, &of, &c), 0);
    assert_int_equal(c.n_runs[0], 2);
    compare_release(&c);
    history_close(&h);
}

static int begin(void **state)
{
    (void)state;
    return test_dir(dir) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_run_that_changed_is_slower_than_those_before),
        cmocka_unit_test(no_more_are_taken_than_asked_for_and_the_newest),
        cmocka_unit_test(the_first_run_has_none_before_it),
        cmocka_unit_test(those_before_may_show_it_with_another_line),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
