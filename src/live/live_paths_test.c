#include "live/live_models.h"

#include <stdlib.h>

#include "test.h"

/* main(solve(wait) wait), and solve that nobody calls. */
static void paths_are_numbered_as_they_appear(void **state)
{
    struct definitions defs = {0};
    struct live_paths p = {0};
    uint32_t main_, solve, wait, a, b, c, d;
    char *name;

    (void)state;
    main_ = definitions_region(&defs, "main");
    solve = definitions_region(&defs, "solve");
    wait = definitions_region(&defs, "wait");
    a = live_paths_callee(&p, NO_PATH, main_);
    b = live_paths_callee(&p, a, solve);
    c = live_paths_callee(&p, b, wait);
    d = live_paths_callee(&p, a, wait);
    assert_int_equal(a, 0);
    assert_int_equal(d, 3);
    assert_int_equal(live_paths_callee(&p, NO_PATH, solve), 4);
    assert_int_equal(live_paths_callee(&p, a, solve), b);
    assert_int_equal(live_paths_callee(&p, a, solve), b);
    assert_int_equal(live_paths_callee(&p, NO_PATH, main_), a);
    assert_int_equal(p.n, 5);
    name = live_paths_name(&p, c, &defs);
    assert_string_equal(name, "main/solve/wait");
    free(name);
    name = live_paths_name(&p, 4, &defs);
    assert_string_equal(name, "solve");
    free(name);
    live_paths_release(&p);
    definitions_release(&defs);
}

/* Recursion without end: paths are bounded, and so is what they cost. */
static void there_are_not_more_paths_than_there_may_be(void **state)
{
    struct live_paths p = {0};
    uint32_t path = NO_PATH;

    (void)state;
    for (uint32_t i = 0; i < LIVE_MAX_PATHS + 1000; i++)
        path = live_paths_callee(&p, path, i % 7);
    assert_true(p.n <= LIVE_MAX_PATHS + 7);
    for (uint32_t i = 0; i < p.n; i++)
        assert_true(p.path[i].caller == NO_PATH || p.path[i].caller < i);
    live_paths_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_numbered_as_they_appear),
        cmocka_unit_test(there_are_not_more_paths_than_there_may_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
