/* A location is a text, a letter per execution: 'x' where the path in question is taken. */
#include "features/periodic.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct context paths;
};

static void add_location(struct fixture *f, const char *turns, uint32_t location)
{
    uint32_t first = f->forest.n_trees;

    for (const char *c = turns; *c; c++)
        sample_forest(*c == 'x'   ? "A(B C(D))"
                      : *c == 'y' ? "A(B C(D D))"
                                  : "A(B)",
                      &f->defs, &f->forest);
    for (uint32_t t = first; t < f->forest.n_trees; t++)
        f->forest.location[t] = location;
}

/* Whether A > C is periodic; and then A > C > D is, but no other. */
static bool is_periodic(const char *zero, const char *one)
{
    struct fixture f = {0};
    struct tree_kinds kinds;
    struct kind_sets paths;
    uint32_t *path;
    uint8_t *is_on;
    bool is_found;

    sample_forest("A(B C(D))", &f.defs, &f.forest); /* numbers: A 0, B 1, C 2, D 3 */
    path = malloc(f.forest.n * sizeof *path);
    context_number(&f.paths, &f.forest, true, path);
    forest_release(&f.forest);
    add_location(&f, zero, 0);
    add_location(&f, one, 1);
    path = realloc(path, f.forest.n * sizeof *path);
    tree_kinds_find(&kinds, &f.forest, NULL);
    for (uint32_t k = 0; k < kinds.n; k++)
        context_number_tree(&f.paths, &f.forest, kinds.first[k], true, path + kinds.at[k]);
    kind_sets_find(&paths, &kinds, path, f.paths.n);
    is_on = periodic_paths(&f.paths, &f.forest, &kinds, &paths, NULL);
    kind_sets_release(&paths);
    tree_kinds_release(&kinds);
    assert_int_equal(f.paths.n, 4);
    assert_false(is_on[0] || is_on[1]);
    assert_int_equal(is_on[2], is_on[3]);
    is_found = is_on[2];
    free(is_on);
    free(path);
    context_release(&f.paths);
    forest_release(&f.forest);
    definitions_release(&f.defs);
    return is_found;
}

/* n executions, every so many one that takes the path, the first of these at `at`. */
static const char *every(int period, int n, int at, char text[1024])
{
    for (int i = 0; i < n; i++)
        text[i] = i % period == at ? 'x' : '.';
    text[n] = 0;
    return text;
}

static void what_comes_every_so_many_executions_is_periodic(void **state)
{
    char text[1024], other[1024];

    (void)state;
    assert_true(is_periodic(every(40, 200, 0, text), ""));
    assert_true(is_periodic(every(40, 200, 39, text), ""));
    assert_true(is_periodic(every(40, 210, 7, text), "............"));
    assert_true(is_periodic(every(40, 200, 3, text), every(25, 200, 4, other)));
}

/* if (step > 0 && step % 20 == 0) */
static void what_execution_zero_leaves_out_is_periodic(void **state)
{
    char text[1024];

    (void)state;
    every(20, 200, 0, text);
    text[0] = '.';
    assert_true(is_periodic(text, ""));
    text[20] = '.';
    assert_false(is_periodic(text, ""));
}

static void one_time_too_many_or_too_few_and_it_is_not(void **state)
{
    static const int more[] = {17, 59, 86, 101, 190}, less[] = {20, 80, 160};
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        every(20, 200, 0, text);
        text[more[i]] = 'x';
        assert_false(is_periodic(text, ""));
    }
    for (size_t i = 0; i < sizeof less / sizeof *less; i++) {
        every(20, 200, 0, text);
        text[less[i]] = '.';
        assert_false(is_periodic(text, ""));
    }
}

static void what_stops_or_begins_late_or_is_off_on_another_location_is_not(void **state)
{
    char text[1024], other[1024];

    (void)state;
    every(20, 200, 0, text);
    memset(text + 101, '.', 99);
    assert_false(is_periodic(text, ""));
    every(20, 200, 0, text);
    memset(text, '.', 41);
    assert_false(is_periodic(text, ""));
    every(20, 200, 0, other);
    other[55] = 'x';
    assert_false(is_periodic(every(20, 200, 0, text), other));
    assert_false(is_periodic(other, every(20, 200, 0, text)));
}

static void too_few_turns_or_too_many_say_nothing(void **state)
{
    char text[1024];

    (void)state;
    assert_false(is_periodic(every(40, 160, 0, text), ""));
    assert_true(is_periodic(every(40, 161, 0, text), ""));
    assert_false(is_periodic(every(19, 200, 0, text), ""));
    assert_false(is_periodic("", "............"));
}

/* What is below takes part even where it is not the same each time. */
static void below_a_periodic_path_all_are(void **state)
{
    char text[1024];

    (void)state;
    every(20, 200, 5, text);
    text[45] = 'y';
    assert_true(is_periodic(text, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_every_so_many_executions_is_periodic),
        cmocka_unit_test(what_execution_zero_leaves_out_is_periodic),
        cmocka_unit_test(one_time_too_many_or_too_few_and_it_is_not),
        cmocka_unit_test(what_stops_or_begins_late_or_is_off_on_another_location_is_not),
        cmocka_unit_test(too_few_turns_or_too_many_say_nothing),
        cmocka_unit_test(below_a_periodic_path_all_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
