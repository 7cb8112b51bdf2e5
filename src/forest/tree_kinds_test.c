/* Forests are of one location, given as regions and the vertex of the caller. */
#include "forest/forest.h"

#include "test.h"

#define ROOT FOREST_ROOT
#define MAX_TREES 6000

/*   trees 0 and 2: a(b c)     1: a(b(c))     3: a(c b)     4: a     5: a(b c) */
static uint32_t region[] = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 3, 2, 1, 1, 2, 3};
static uint32_t parent[] = {ROOT, 0, 0, ROOT, 3, 4, ROOT, 6, 6, ROOT, 9, 9, ROOT, ROOT, 13, 13};
static uint32_t first[] = {0, 3, 6, 9, 12, 13, 16};
static const struct forest forest = {
    .n = 16, .region = region, .parent = parent, .n_trees = 6, .first = first};

static void trees_alike_are_of_a_kind(void **state)
{
    static const uint32_t of[] = {0, 1, 0, 2, 3, 0};
    struct tree_kinds kinds;

    (void)state;
    tree_kinds_find(&kinds, &forest, NULL);
    assert_int_equal(kinds.n, 4);
    assert_memory_equal(kinds.of, of, sizeof of);
    assert_int_equal(kinds.first[0], 0);
    assert_int_equal(kinds.first[2], 3);
    assert_int_equal(kinds.n_trees[0], 3);
    assert_int_equal(kinds.n_trees[3], 1);
    assert_int_equal(tree_kinds_vertex(&kinds, &forest, 5, 14), 1);
    assert_int_equal(tree_kinds_vertex(&kinds, &forest, 3, 11), 8);
    assert_int_equal(kinds.at[4], 10);
    tree_kinds_release(&kinds);
}

static void what_is_found_once_holds_for_all(void **state)
{
    static const uint32_t of_kinds[10] = {10, 11, 12, 13, 14, 15, 19, 20, 21, 22};
    struct tree_kinds kinds;

    (void)state;
    tree_kinds_find(&kinds, &forest, NULL);
    for (uint32_t v = 0; v < 16; v++) {
        uint32_t like = v >= 13 ? v - 13 : v >= 6 && v < 9 ? v - 6 : v;
        uint32_t at = tree_kinds_vertex(&kinds, &forest, forest_tree(&forest, v), v);

        assert_int_equal(of_kinds[at], 10 + like);
    }
    tree_kinds_release(&kinds);
}

/* Two large trees that differ in the caller of one vertex; and any number of threads. */
static void every_vertex_counts(void **state)
{
    static uint32_t regions[2 * MAX_TREES], parents[2 * MAX_TREES];
    uint32_t firsts[] = {0, MAX_TREES, 2 * MAX_TREES};
    struct forest large = {.n = 2 * MAX_TREES,
                           .region = regions,
                           .parent = parents,
                           .n_trees = 2,
                           .first = firsts};
    struct pool *pool = pool_new(3);
    struct tree_kinds kinds;

    (void)state;
    for (uint32_t v = 0; v < 2 * MAX_TREES; v++)
        parents[v] = v % MAX_TREES ? v - 1 : ROOT;
    for (uint32_t v = MAX_TREES + 2; v < 2 * MAX_TREES; v += 97) {
        parents[v] = v - 2;
        tree_kinds_find(&kinds, &large, pool);
        assert_int_equal(kinds.n, 2);
        tree_kinds_release(&kinds);
        parents[v] = v - 1;
    }
    tree_kinds_find(&kinds, &large, pool);
    assert_int_equal(kinds.n, 1);
    tree_kinds_release(&kinds);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_alike_are_of_a_kind),
        cmocka_unit_test(what_is_found_once_holds_for_all),
        cmocka_unit_test(every_vertex_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
