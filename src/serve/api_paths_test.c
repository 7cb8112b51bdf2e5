/* Executions by call path: which have it, how often, and for how long. */

#include "base/err.h"

#include "sample_page.h"
#include "test.h"

/*
 * Every third step has no io, every third calls write twice:
 *
 *     step(solve@2ms)   step(solve@2ms io@1ms(2*write@3ms))   step(solve@2ms io@1ms)
 */
#define PROGRAM                                                                                \
    "synth:10*main2(step(solve@2ms) step(solve@2ms io@1ms(2*write@3ms)) step(solve@2ms "       \
    "io@1ms))"

static int begin(void **state)
{
    return sample_page_begin(state, PROGRAM, "step");
}

static void executions_of_a_path_say_how_often_and_how_long(void **state)
{
    struct sample_page *p = *state;
    uint32_t *tree, *calls;
    double *time;

    sample_page_ok(p, "/fois/1/path?path=step%20%3E%20io%20%3E%20write");
    tree = sample_page_column(p, "tree", "u32", 10);
    calls = sample_page_column(p, "calls", "u32", 10);
    time = sample_page_column(p, "time_ns", "f64", 10);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(tree[i], 3 * i + 1);
        assert_int_equal(calls[i], 2);
        assert_true(time[i] == 6e6);
    }
    free(tree);
    free(calls);
    free(time);
}

static void time_on_a_path_is_its_own(void **state)
{
    struct sample_page *p = *state;
    double *time;

    sample_page_ok(p, "/fois/1/path?path=step%20%3E%20io");
    time = sample_page_column(p, "time_ns", "f64", 20);
    assert_true(time[0] == 1e6 && time[1] == 1e6); /* with and without write in it */
    free(time);
    sample_page_ok(p, "/fois/1/path?path=step");
    free(sample_page_column(p, "time_ns", "f64", 30));
}

static void no_execution_has_another_path(void **state)
{
    static const char *const paths[] = {"write",
                                        "io%20%3E%20write",
                                        "tep%20%3E%20io",
                                        "step%20%3E%20io%20%3E%20",
                                        "%20%3E%20step",
                                        "step%20%3E%20write",
                                        "main2%20%3E%20step",
                                        "step%20%3E%20io%20%3E%20write%20%3E%20x"};
    struct sample_page *p = *state;
    char route[80];

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(route, sizeof route, "/fois/1/path?path=%s", paths[i]);
        sample_page_ok(p, route);
        free(sample_page_column(p, "tree", "u32", 0));
    }
    sample_page_refused(p, "/fois/1/path", ERR_USAGE,
                        "'path' is missing, such as 'step > solve'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_of_a_path_say_how_often_and_how_long),
        cmocka_unit_test(time_on_a_path_is_its_own),
        cmocka_unit_test(no_execution_has_another_path),
    };

    return cmocka_run_group_tests(tests, begin, sample_page_end);
}
