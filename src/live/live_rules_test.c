#include "live/live_models.h"

#include "base/err.h"

#include "test.h"

#define FILE_NAME "live_rules_test.txt"

static void write_file(const char *text)
{
    FILE *file = fopen(FILE_NAME, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct region region(const char *name, const char *short_name)
{
    return (struct region){
        .name = name, .short_name = short_name, .plain = name, .identity = name};
}

static void names_are_whole_and_expressions_may_be_anywhere(void **state)
{
    struct live_rules rules = {0};
    struct region send = region("MPI_Send", "MPI_Send"),
                  receive = region("MPI_Recv", "MPI_Recv");
    struct region method = region("void A::f(int, double)", "A::f"), other = region("ff", "ff");

    (void)state;
    write_file("# a comment\n\n  MPI_Send \t\r\n/A::f\\(/\nA::g\n");
    assert_int_equal(live_rules_ignore(&rules, FILE_NAME), 0);
    assert_int_equal(rules.ignore.n, 3);
    assert_true(live_rules_is_ignored(&rules, &send));
    assert_false(live_rules_is_ignored(&rules, &receive));
    assert_true(live_rules_is_ignored(&rules, &method));
    assert_false(live_rules_is_ignored(&rules, &other));
    assert_true(rules.ignore.rule[0].is_used);
    assert_false(rules.ignore.rule[2].is_used);
    live_rules_release(&rules);
    live_rules_release(&rules);
}

static void thresholds_stand_behind_the_last_space(void **state)
{
    struct live_rules rules = {0};
    struct region method = region("void A::f(int, double)", "A::f"), other = region("f", "f");

    (void)state;
    write_file("void A::f(int, double)  1e-3\nf 0.5\nA::f\t0.25");
    assert_int_equal(live_rules_thresholds(&rules, FILE_NAME, 1), 0);
    assert_true(live_rules_threshold(&rules, &method) == 0.25); /* the last one goes */
    assert_true(live_rules_threshold(&rules, &other) == 0.5);
    other = region("g", "g");
    assert_true(live_rules_threshold(&rules, &other) == 0);
    live_rules_release(&rules);
}

static void nonsense_is_refused_with_its_line(void **state)
{
    static const char *const wrong[] = {"a 0.1\nb\n",   "a 0.1\nb -1\n", "a 0.1\nb 1\n",
                                        "a 0.1\nb nan", "a 0.1\nb 0.1x", "a 0.1\n0.5"};
    struct live_rules rules = {0};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i]);
        assert_int_equal(live_rules_thresholds(&rules, FILE_NAME, 1), ERR_FORMAT);
        assert_non_null(strstr(err_message(), "line 2"));
        live_rules_release(&rules);
    }
    write_file("a\n/[/\n");
    assert_int_equal(live_rules_ignore(&rules, FILE_NAME), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "line 2"));
    live_rules_release(&rules);
    remove(FILE_NAME);
    assert_int_equal(live_rules_ignore(&rules, FILE_NAME), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_whole_and_expressions_may_be_anywhere),
        cmocka_unit_test(thresholds_stand_behind_the_last_space),
        cmocka_unit_test(nonsense_is_refused_with_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
