#include "forest/forest.h"

#include "test.h"
#include "test_dir.h"

/*
 *     row  0     1    2   3    4    5   6    7
 *          main( foi( x   foi( x )) y   foi( x ))
 *     ns   100   50   10  20   5    3   30   10
 */
static uint64_t enter[] = {0, 5, 6, 20, 22, 60, 65, 70};
static uint64_t inclusive[] = {100, 50, 10, 20, 5, 3, 30, 10};
static uint32_t region[] = {0, 1, 2, 1, 2, 3, 1, 2};
static uint16_t depth[] = {0, 1, 2, 2, 3, 1, 1, 2};
static uint32_t subtree_len[] = {8, 4, 1, 2, 1, 1, 2, 1};
static struct message message[] = {{.call = 0}, {.call = 4}, {.call = 1},
                                   {.call = 5}, {.call = 7}, {.call = NO_CALL}};

static const struct call_view calls = {
    .n = 8,
    .enter_ns = enter,
    .inclusive_ns = inclusive,
    .region = region,
    .depth = depth,
    .subtree_len = subtree_len,
    .message = message,
    .n_messages = 6,
};

static void outermost_calls_are_roots(void **state)
{
    struct forest f = {0};

    (void)state;
    assert_int_equal(forest_add(&f, 3, &calls, 1, NULL), 0);
    assert_int_equal(forest_add(&f, 4, &calls, 1, NULL), 0);
    assert_int_equal(f.n_trees, 4);
    assert_int_equal(f.n, 12);
    assert_int_equal(f.first[1], 4);
    assert_int_equal(f.location[1], 3);
    assert_int_equal(f.index[1], 1);
    assert_int_equal(f.index[2], 0);
    assert_int_equal(f.location[2], 4);
    assert_int_equal(f.call[1], 6);
    assert_int_equal(f.enter_ns[1], 65);
    assert_int_equal(f.parent[3], 2);
    assert_int_equal(f.parent[6], FOREST_ROOT);
    assert_int_equal(forest_depth(&f, NULL, f.n_trees), 3);
    assert_int_equal(forest_depth(&f, (const uint32_t[]){1}, 1), 2);
    assert_int_equal(forest_tree(&f, 3), 0);
    assert_int_equal(forest_tree(&f, 4), 1);
    forest_release(&f);
    forest_release(&f);
}

static void exclusive_times_of_a_tree_sum_to_its_roots_inclusive(void **state)
{
    struct forest f = {0};
    uint64_t inclusive_ns[4];

    (void)state;
    forest_add(&f, 0, &calls, 1, NULL);
    assert_int_equal(f.exclusive_ns[0], 20);
    assert_int_equal(f.exclusive_ns[2], 15);
    for (uint32_t t = 0; t < f.n_trees; t++) {
        uint64_t sum = 0;

        for (uint32_t v = f.first[t]; v < f.first[t + 1]; v++)
            sum += f.exclusive_ns[v];
        assert_int_equal(sum, f.root_ns[t]);
    }
    forest_inclusive(&f, 0, inclusive_ns);
    assert_int_equal(inclusive_ns[0], 50);
    assert_int_equal(inclusive_ns[2], 20);
    forest_release(&f);
}

/* The root's begin is 4 off, the end of its x 3, the begin of the foi in it 7, that of y 9. */
static void times_are_off_by_their_own_borders_and_those_of_what_they_call(void **state)
{
    static const struct call_estimate estimate[] = {{1, 0, PLACED_AS_SAID, 4},
                                                    {2, 1, PLACED_AS_SAID, 3},
                                                    {3, 0, PLACED_AS_SAID, 7},
                                                    {5, 0, PLACED_AS_SAID, 9},
                                                    {7, 1, PLACED_AS_SAID, 50}};
    struct call_view estimated = calls;
    struct forest f = {0}, known = {0};

    (void)state;
    estimated.estimate = estimate;
    estimated.n_estimates = 5;
    forest_add(&known, 3, &calls, 1, NULL);
    assert_null(known.off_ns);
    assert_true(forest_off_ns(&known, 0) == 0);
    forest_add(&f, 3, &calls, 1, NULL);
    forest_add(&f, 4, &estimated, 1, NULL);
    assert_true(f.off_ns[0] == 0 && f.root_off_ns[1] == 0);
    assert_true(f.root_off_ns[2] == 4 && f.root_off_ns[3] == 0);
    assert_true(f.off_ns[6] == 4 + 3 + 7); /* the root itself */
    assert_true(f.off_ns[7] == 3 && f.off_ns[8] == 7 && f.off_ns[9] == 0);
    assert_true(f.off_ns[10] == 50 && f.off_ns[11] == 50); /* more than they took: too short */
    forest_append(&known, &f, 5, (const uint32_t[]){0, 1, 2, 3});
    assert_true(known.root_off_ns[0] == 0 && known.root_off_ns[4] == 4);
    assert_true(known.off_ns[3] == 0 && known.off_ns[14] == 7);
    forest_release(&f);
    forest_release(&known);
}

/* The same, where gaps count as a whole: times are what they are, and may be another's. */
static void times_of_gaps_may_be_of_others(void **state)
{
    static const struct call_estimate estimate[] = {
        {1, 0, PLACED_OWN, 4}, {2, 1, PLACED_OTHERS, 3}, {3, 0, PLACED_OTHERS, 7}};
    struct call_view estimated = calls;
    struct forest f = {0}, both = {0};

    (void)state;
    estimated.estimate = estimate;
    estimated.n_estimates = 3;
    forest_add(&f, 3, &estimated, 1, NULL);
    assert_true(forest_off_ns(&f, 0) == 0 && forest_call_off_ns(&f, 0) == 0);
    assert_true(forest_doubt_of(&f, 0).own_ns == 4 && forest_doubt_of(&f, 0).others_ns == 0);
    assert_true(forest_doubt_of(&f, 1).own_ns == 0 && forest_doubt_of(&f, 1).others_ns == 3);
    assert_true(forest_doubt_of(&f, 2).others_ns == 7 && forest_doubt_of(&f, 3).own_ns == 0);
    forest_add(&both, 3, &calls, 1, NULL);
    assert_true(forest_doubt_of(&both, 0).own_ns == 0);
    forest_append(&both, &f, 5, (const uint32_t[]){0, 1, 2, 3});
    assert_true(forest_doubt_of(&both, f.n).own_ns == 4);
    forest_release(&f);
    forest_release(&both);
}

/* Who looks at one execution of a run that somebody else wrote has not checked all of it. */
static void estimates_in_any_order_are_of_no_other_tree(void **state)
{
    static const struct call_estimate estimate[] = {
        {3, 0, PLACED_AS_SAID, 4},           {2, 1, PLACED_AS_SAID, 3},
        {0, 0, PLACED_AS_SAID, 7},           {4, 0, PLACED_AS_SAID, 9},
        {UINT32_MAX, 1, PLACED_AS_SAID, 50}, {1, 0, PLACED_AS_SAID, 8}};
    struct call_view estimated = calls;
    struct forest f = {0};

    (void)state;
    estimated.estimate = estimate;
    for (estimated.n_estimates = 1; estimated.n_estimates <= 6; estimated.n_estimates++) {
        forest_of_call(&f, 0, &estimated, 3, NULL);
        forest_of_call(&f, 0, &estimated, 6, NULL);
    }
    assert_int_equal(f.n_trees, 12);
    for (uint32_t v = 0; v < f.n; v++)
        assert_true(f.off_ns[v] >= 0 && f.off_ns[v] <= 4 + 3 + 7 + 9 + 50 + 8);
    forest_release(&f);
}

static void messages_are_counted_in_their_tree(void **state)
{
    struct forest f = {0};

    (void)state;
    forest_add(&f, 0, &calls, 1, NULL);
    assert_int_equal(f.n_messages[0], 2);
    assert_int_equal(f.n_messages[1], 1);
    forest_release(&f);
}

static void a_function_that_is_not_called_has_no_trees(void **state)
{
    struct forest f = {0};

    (void)state;
    assert_int_equal(forest_add(&f, 0, &calls, 9, NULL), 0);
    assert_int_equal(f.n_trees, 0);
    assert_int_equal(forest_depth(&f, NULL, f.n_trees), 0);
    forest_release(&f);
}

static void any_call_can_be_a_tree(void **state)
{
    struct forest f = {0};

    (void)state;
    forest_of_call(&f, 2, &calls, 3, NULL);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.exclusive_ns[0], 15);
    assert_int_equal(f.n_messages[0], 1);
    forest_release(&f);
}

static void several_calls_are_as_many_trees(void **state)
{
    const uint32_t row[] = {1, 6};
    struct forest one = {0}, both = {0};

    (void)state;
    forest_of_calls(&both, 2, &calls, row, 2, NULL);
    assert_int_equal(both.n_trees, 2);
    for (uint32_t t = 0; t < 2; t++)
        forest_of_call(&one, 2, &calls, row[t], NULL);
    assert_int_equal(one.n, both.n);
    assert_memory_equal(one.first, both.first, 3 * sizeof *one.first);
    assert_memory_equal(one.exclusive_ns, both.exclusive_ns, one.n * sizeof *one.exclusive_ns);
    assert_memory_equal(one.n_messages, both.n_messages, 2 * sizeof *one.n_messages);
    forest_release(&one);
    forest_release(&both);
}

static void expect_equal(const struct forest *a, const struct forest *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_trees, b->n_trees);
    assert_int_equal(a->n_gaps, b->n_gaps);
    assert_memory_equal(a->region, b->region, a->n * sizeof *a->region);
    assert_memory_equal(a->parent, b->parent, a->n * sizeof *a->parent);
    assert_memory_equal(a->exclusive_ns, b->exclusive_ns, a->n * sizeof *a->exclusive_ns);
    assert_memory_equal(a->first, b->first, (a->n_trees + 1) * sizeof *a->first);
    assert_memory_equal(a->location, b->location, a->n_trees * sizeof *a->location);
    assert_memory_equal(a->index, b->index, a->n_trees * sizeof *a->index);
    assert_memory_equal(a->n_messages, b->n_messages, a->n_trees * sizeof *a->n_messages);
    for (size_t i = 0; i < a->n_gaps; i++) {
        assert_int_equal(a->gap[i].tree, b->gap[i].tree);
        assert_int_equal(a->gap[i].vertex, b->gap[i].vertex);
        assert_int_equal(a->gap[i].n_rows, b->gap[i].n_rows);
    }
}

/* Two executions of step, in each a FLUSH; on location 1 there is none. */
static void parts_filled_in_any_order_are_the_forest(void **state)
{
    uint64_t enter_ns[] = {0, 20, 25, 100, 110, 120};
    uint64_t inclusive_ns[] = {100, 40, 30, 50, 5, 20};
    uint32_t regions[] = {0, 2, 1, 0, 1, 2}, len[] = {3, 2, 1, 3, 1, 1};
    uint16_t depths[] = {0, 1, 2, 0, 1, 1};
    static const struct call_estimate off[] = {
        {0, 0, PLACED_AS_SAID, 7}, {3, 1, PLACED_AS_SAID, 9}, {4, 0, PLACED_AS_SAID, 2}};
    const struct call_view view = {.n = 6,
                                   .estimate = off,
                                   .n_estimates = 3,
                                   .enter_ns = enter_ns,
                                   .inclusive_ns = inclusive_ns,
                                   .region = regions,
                                   .depth = depths,
                                   .subtree_len = len};
    struct region named[] = {{.name = "step", .short_name = "step", .kind = REGION_USER},
                             {.name = "a", .short_name = "a", .kind = REGION_USER},
                             {.name = "FLUSH", .short_name = "FLUSH", .kind = REGION_TRACER}};
    const struct definitions defs = {.region = named, .names.n = 3};
    const struct call_view views[] = {view, {.n = 0}, view};
    char dir[] = "/tmp/snag-forest-XXXXXX";
    struct forest added = {0}, divided = {0}, part[3];
    struct forest_size size[3];
    struct paged *paged;

    (void)state;
    assert_non_null(test_dir(dir));
    divided.paged = paged_new(dir, 1);
    for (uint32_t l = 0; l < 3; l++) {
        size[l] = forest_count(&views[l], 0, &defs);
        assert_int_equal(forest_add(&added, l, &views[l], 0, &defs), 0);
    }
    assert_int_equal(size[0].n_trees, 2);
    assert_int_equal(size[0].n_vertices, 3);
    assert_int_equal(forest_divide(&divided, size, 3, part), 0);
    for (uint32_t l = 3; l-- > 0;)
        forest_fill(&part[l], l, &views[l], 0, &defs);
    forest_unite(&divided, part, 3);
    assert_int_equal(added.n_gaps, 4);
    paged_drop(divided.paged);
    expect_equal(&divided, &added);
    assert_memory_equal(divided.off_ns, added.off_ns, added.n * sizeof *added.off_ns);
    assert_memory_equal(divided.root_off_ns, added.root_off_ns,
                        added.n_trees * sizeof *added.root_off_ns);
    assert_true(added.root_off_ns[3] > 0);
    paged = divided.paged;
    forest_release(&added);
    forest_release(&divided);
    paged_free(paged);
}

/*
 *     row  0     1  2      3  4    5          step  FLUSH (in which x) is left out
 *          step( a  FLUSH( x  ) b( FLUSH ) )
 *     ns   100   10 40     30    20  15
 */
static void what_the_tracer_did_is_set_apart(void **state)
{
    uint64_t enter_ns[] = {0, 0, 20, 25, 70, 72};
    uint64_t inclusive_ns[] = {100, 10, 40, 30, 20, 15};
    uint32_t regions[] = {0, 1, 2, 1, 3, 2}, len[] = {6, 1, 2, 1, 2, 1};
    uint16_t depths[] = {0, 1, 1, 2, 1, 2};
    struct message in_flush[] = {{.call = 3}, {.call = 4}};
    const struct call_view view = {.n = 6,
                                   .enter_ns = enter_ns,
                                   .inclusive_ns = inclusive_ns,
                                   .region = regions,
                                   .depth = depths,
                                   .subtree_len = len,
                                   .message = in_flush,
                                   .n_messages = 2};
    struct region named[] = {{.name = "step", .short_name = "step", .kind = REGION_USER},
                             {.name = "a", .short_name = "a", .kind = REGION_USER},
                             {.name = "FLUSH", .short_name = "FLUSH", .kind = REGION_TRACER},
                             {.name = "b", .short_name = "b", .kind = REGION_USER}};
    const struct definitions defs = {.region = named};
    const struct forest_gap *gap;
    struct forest f = {0};

    (void)state;
    assert_int_equal(forest_add(&f, 0, &view, 0, &defs), 0);
    assert_int_equal(forest_add(&f, 1, &view, 2, &defs), 0);
    assert_int_equal(f.n, 3 + 2 + 1);
    assert_int_equal(f.region[2], 3);
    assert_int_equal(f.parent[2], 0);
    assert_int_equal(f.exclusive_ns[0], 100 - 10 - 40 - 20);
    assert_int_equal(f.exclusive_ns[2], 5);
    assert_int_equal(f.root_ns[0], 100);
    assert_int_equal(f.tracer_ns[0], 55);
    assert_int_equal(forest_own_ns(&f, 0), 45);
    assert_int_equal(f.n_messages[0], 2);
    assert_int_equal(forest_row(&f, 0, 1), 1);
    assert_int_equal(forest_row(&f, 0, 2), 4);
    assert_int_equal(forest_gaps(&f, 0, &gap), 2);
    assert_true(gap[1].is_flush && gap[1].vertex == 3);
    assert_int_equal(forest_gaps(&f, 1, &gap), 0); /* who asks for the tracer has it */
    assert_int_equal(f.tracer_ns[1], 0);
    assert_int_equal(forest_row(&f, 1, 4), 3);
    forest_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outermost_calls_are_roots),
        cmocka_unit_test(exclusive_times_of_a_tree_sum_to_its_roots_inclusive),
        cmocka_unit_test(times_are_off_by_their_own_borders_and_those_of_what_they_call),
        cmocka_unit_test(times_of_gaps_may_be_of_others),
        cmocka_unit_test(estimates_in_any_order_are_of_no_other_tree),
        cmocka_unit_test(messages_are_counted_in_their_tree),
        cmocka_unit_test(a_function_that_is_not_called_has_no_trees),
        cmocka_unit_test(any_call_can_be_a_tree),
        cmocka_unit_test(several_calls_are_as_many_trees),
        cmocka_unit_test(what_the_tracer_did_is_set_apart),
        cmocka_unit_test(parts_filled_in_any_order_are_the_forest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
