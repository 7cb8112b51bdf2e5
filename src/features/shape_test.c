#include "features/shape.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct context paths;
    struct shapes shapes;
    uint32_t path[256], shape[256];
    uint8_t is_apart[256]; /* by path; none */
};

static void find(struct fixture *f, const struct forest *forest, const uint32_t *path,
                 bool is_learning, uint32_t *shape)
{
    struct tree_kinds kinds;
    uint32_t path_of_kinds[256], of_kinds[256];

    tree_kinds_find(&kinds, forest, NULL);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            path_of_kinds[tree_kinds_vertex(&kinds, forest, t, v)] = path[v];
    shapes_find(&f->shapes,
                &(struct shapes_input){.forest = forest,
                                       .kinds = &kinds,
                                       .path = path_of_kinds,
                                       .is_apart = f->is_apart,
                                       .defs = &f->defs},
                is_learning, of_kinds);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            shape[v] = of_kinds[tree_kinds_vertex(&kinds, forest, t, v)];
    tree_kinds_release(&kinds);
}

static void begin(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    sample_forest(text, &f->defs, &f->forest);
    assert_true(f->forest.n <= 256);
    context_number(&f->paths, &f->forest, true, f->path);
    find(f, &f->forest, f->path, true, f->shape);
    shapes_rank(&f->shapes, false);
}

static void end(struct fixture *f)
{
    shapes_release(&f->shapes);
    context_release(&f->paths);
    forest_release(&f->forest);
    definitions_release(&f->defs);
}

static uint32_t shape_of_tree(const struct fixture *f, uint32_t t)
{
    return f->shape[f->forest.first[t]];
}

/* Every number is in the range of its class, and classes grow with the numbers. */
static void classes_and_their_ranges_agree(void **state)
{
    uint32_t least, most;

    (void)state;
    for (uint32_t n = 0; n < 5000; n++) {
        shape_class_range(shape_class(n), &least, &most);
        assert_true(least <= n && n <= most);
        assert_true(n == 0 || shape_class(n) >= shape_class(n - 1));
        assert_true(shape_class(n) != shape_class(n + 1) || n + 1 <= most);
    }
    shape_class_range(shape_class(3), &least, &most);
    assert_true(least == 3 && most == 3);
    shape_class_range(shape_class(100), &least, &most);
    assert_true(least == 64 && most == 127);
}

static void order_and_small_differences_make_no_other_shape(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B C B B B) A(C B B B B B) A(B B C) A(B B B C) A(C B B)");
    assert_int_equal(shape_of_tree(&f, 0), shape_of_tree(&f, 1)); /* 4 and 5 B */
    assert_int_equal(shape_of_tree(&f, 2), shape_of_tree(&f, 4));
    assert_int_not_equal(shape_of_tree(&f, 2), shape_of_tree(&f, 3)); /* 2 and 3 B */
    assert_int_not_equal(shape_of_tree(&f, 0), shape_of_tree(&f, 3));
    end(&f);
}

/* Only direct children count; the same function elsewhere has other shapes. */
static void a_shape_is_of_one_path_and_one_level(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B(C)) A(B(C C C C)) A(B)");
    assert_int_equal(shape_of_tree(&f, 0), shape_of_tree(&f, 1));
    assert_int_equal(shape_of_tree(&f, 0), shape_of_tree(&f, 2));
    assert_int_not_equal(f.shape[1], f.shape[4]);
    assert_int_not_equal(f.shape[f.forest.n - 1], f.shape[2]); /* B and C without children */
    end(&f);
}

/* Of ten A: six have {B}, two {C}, one {D}, one nothing: with ties, 10, 4, 2 and 2 are as rare.
 */
static void rarity_by_hand(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B) A(B) A(C) A(B) A(D) A(B) A(B) A(C) A A(B)");
    assert_true(f.shapes.rarity[shape_of_tree(&f, 0)] == 0);
    assert_true(fabs(f.shapes.rarity[shape_of_tree(&f, 2)] - log(10.0 / 4)) < 1e-12);
    assert_true(fabs(f.shapes.rarity[shape_of_tree(&f, 4)] - log(10.0 / 2)) < 1e-12);
    assert_true(fabs(f.shapes.rarity[shape_of_tree(&f, 8)] - log(10.0 / 2)) < 1e-12);
    assert_int_equal(shapes_typical(&f.shapes, f.path[0]), shape_of_tree(&f, 0));
    end(&f);
}

static void what_was_not_learned_has_no_shape(void **state)
{
    struct fixture f;
    struct forest other = {0};
    uint32_t path[256], shape[256];

    (void)state;
    begin(&f, "A(B) A(B C)");
    sample_forest("A(C B) A(C) A(B(C))", &f.defs, &other);
    context_number(&f.paths, &other, false, path);
    find(&f, &other, path, false, shape);
    assert_int_equal(shape[0], shape_of_tree(&f, 1));
    assert_int_equal(shape[other.first[1]], SHAPE_NONE); /* {C} */
    assert_int_equal(shape[other.first[2]], shape_of_tree(&f, 0));
    assert_int_equal(shape[other.first[2] + 1], SHAPE_NONE); /* B never made a call */
    assert_int_equal(shape[other.first[2] + 2], SHAPE_NONE); /* an unknown path */
    forest_release(&other);
    end(&f);
}

static void what_is_apart_is_no_part_of_its_callers_shape(void **state)
{
    struct fixture f;
    struct shape_child child[4];
    uint32_t shape[256];

    (void)state;
    begin(&f, "A(B) A(B C(D)) A(C(D))");
    f.is_apart[f.path[f.forest.first[1] + 2]] = 1;
    find(&f, &f.forest, f.path, false, shape);
    assert_int_equal(shape[f.forest.first[1]], shape_of_tree(&f, 0));
    assert_int_equal(shape[f.forest.first[2]], SHAPE_NONE); /* {} of A */
    assert_int_equal(shape[f.forest.first[2] + 1], f.shape[f.forest.first[2] + 1]);
    assert_int_equal(shape_children(&f.forest, f.path + f.forest.first[1], f.is_apart,
                                    f.forest.first[1], child, 4),
                     1);
    end(&f);
}

static void children_are_counted_per_function(void **state)
{
    struct fixture f;
    struct shape_child child[4];

    (void)state;
    begin(&f, "A(B(C) C B D)");
    assert_int_equal(shape_children(&f.forest, f.path, f.is_apart, 0, child, 4), 3);
    assert_string_equal(f.defs.region[child[0].region].name, "B");
    assert_int_equal(child[0].number_class, 2);
    assert_string_equal(f.defs.region[child[1].region].name, "C");
    assert_int_equal(child[1].number_class, 1);
    assert_int_equal(shape_children(&f.forest, f.path, f.is_apart, 0, child, 2), 2);
    assert_int_equal(shape_children(&f.forest, f.path, f.is_apart, 2, child, 4), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_and_their_ranges_agree),
        cmocka_unit_test(order_and_small_differences_make_no_other_shape),
        cmocka_unit_test(a_shape_is_of_one_path_and_one_level),
        cmocka_unit_test(rarity_by_hand),
        cmocka_unit_test(what_was_not_learned_has_no_shape),
        cmocka_unit_test(what_is_apart_is_no_part_of_its_callers_shape),
        cmocka_unit_test(children_are_counted_per_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
