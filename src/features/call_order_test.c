/* Forests of many typical trees and some in another order; a letter is a tree of a pattern. */
#include "features/call_order.h"

#include <stdio.h>

#include "sample_model.h"
#include "test.h"

struct fixture {
    struct sample_model m;
    char *text;
    size_t size;
    FILE *to;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){0};
    f->to = open_memstream(&f->text, &f->size);
}

static void add(struct fixture *f, int n, const char *tree)
{
    for (int i = 0; i < n; i++)
        fprintf(f->to, "%s ", tree);
}

/* These trees are on a location of their own. */
static void end_location(struct fixture *f)
{
    uint32_t first = f->m.forest.n_trees;
    uint32_t location = first ? f->m.forest.location[first - 1] + 1 : 0;

    fclose(f->to);
    sample_forest(f->text, &f->m.defs, &f->m.forest);
    for (uint32_t t = first; t < f->m.forest.n_trees; t++) {
        f->m.forest.location[t] = location;
        f->m.forest.place[t] = (uint64_t)location << 32;
    }
    free(f->text);
    f->to = open_memstream(&f->text, &f->size);
}

static void learn(struct fixture *f)
{
    if (ftell(f->to) > 0)
        end_location(f);
    sample_model_learn(&f->m);
}

static void end(struct fixture *f)
{
    fclose(f->to);
    free(f->text);
    sample_model_release(&f->m);
}

/* How many trees are in another order somewhere. */
static uint32_t n_other(const struct fixture *f)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < f->m.forest.n_trees; t++)
        n += shape_order(&f->m.model.shapes,
                         f->m.place.shape[residual_like(&f->m.place, &f->m.forest, t,
                                                        f->m.measure[t].rarest)]) !=
             CALL_ORDER_FREE;
    return n;
}

/* n typical trees, then n_odd odd ones: how many of all are in another order. */
static uint32_t count_other(int n, const char *typical, int n_odd, const char *odd)
{
    struct fixture f;
    uint32_t n_found;

    begin(&f);
    add(&f, n, typical);
    add(&f, n_odd, odd);
    learn(&f);
    n_found = n_other(&f);
    end(&f);
    return n_found;
}

static void one_in_another_order_is_as_rare_as_it_is(void **state)
{
    struct fixture f;
    uint32_t early, late;

    (void)state;
    begin(&f);
    add(&f, 120, "S(a b c)");
    add(&f, 1, "S(c b a)");
    add(&f, 79, "S(a b c)");
    learn(&f);
    assert_int_equal(n_other(&f), 1);
    assert_true(fabs(f.m.measure[120].structure - log(200)) < 1e-6);
    assert_true(f.m.measure[119].structure == 0 && f.m.measure[121].structure == 0);
    call_order_swapped(&f.m.model.shapes, 0, f.m.defs.names.n, &f.m.forest,
                       f.m.forest.first[120], &early, &late);
    assert_string_equal(f.m.defs.region[early].name, "c");
    assert_string_equal(f.m.defs.region[late].name, "a");
    end(&f);
}

static void several_are_as_rare_as_they_are_together(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    add(&f, 297, "S(a b c)");
    add(&f, 2, "S(b a c)");
    add(&f, 1, "S(a c b)");
    learn(&f);
    assert_int_equal(n_other(&f), 3);
    for (uint32_t t = 297; t < 300; t++)
        assert_true(fabs(f.m.measure[t].structure - log(100)) < 1e-6);
    end(&f);
}

/* It is the call that is in another order, on whatever path, that is said. */
static void deep_inside_it_is_found_too(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    add(&f, 99, "S(x T(U(a b) U(a b)) y)");
    add(&f, 1, "S(x T(U(a b) U(b a)) y)");
    learn(&f);
    assert_int_equal(n_other(&f), 1);
    assert_int_equal(f.m.measure[99].rarest, f.m.forest.first[99] + 6);
    assert_true(fabs(f.m.measure[99].structure - log(200)) < 1e-6);
    end(&f);
}

/* Nothing is said of these. */
static void free_orders_are_free(void **state)
{
    static const char *const any[] = {"S(a b c)", "S(a c b)", "S(b a c)",
                                      "S(b c a)", "S(c a b)", "S(c b a)"};
    struct fixture f;

    (void)state;
    assert_int_equal(count_other(97, "S(a b c)", 3, "S(c b a)"), 0);
    assert_int_equal(count_other(100, "S(a b c)", 100, "S(c b a)"), 0);
    assert_int_equal(count_other(48, "S(a b)", 1, "S(b a)"), 0); /* of so few nothing is firm */
    begin(&f); /* two that alternate, and all there are */
    for (int i = 0; i < 600; i++)
        add(&f, 1, any[i < 300 ? i % 2 : i * 7 % 6]);
    learn(&f);
    assert_int_equal(n_other(&f), 0);
    end(&f);
}

/* c comes whenever it likes; that a comes before b is firm all the same. */
static void of_some_the_order_may_be_free(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (int i = 0; i < 33; i++) {
        add(&f, 1, "S(a b c)");
        add(&f, 1, "S(a c b)");
        add(&f, 1, "S(c a b)");
    }
    add(&f, 1, "S(c b a)");
    learn(&f);
    assert_int_equal(n_other(&f), 1);
    assert_true(f.m.measure[99].structure > 4 && f.m.measure[98].structure == 0);
    end(&f);
}

/* The turns of a loop, their number, and what is called in some of them now and then. */
static void loops_vary(void **state)
{
    (void)state;
    assert_int_equal(count_other(99, "S(a b a b a b a b)", 1, "S(a b a b b a a b)"), 1);
    assert_int_equal(count_other(99, "S(a b a b a b a b)", 1, "S(b a b a b a b a)"), 1);
    assert_int_equal(count_other(99, "S(a b a b a b a b)", 1, "S(a b a b a b a b a b a b)"), 0);
    assert_int_equal(count_other(99, "S(a b a b a b a b)", 1, "S(a a b b a a b b)"), 0);
    assert_int_equal(count_other(99, "S(a a a a b b b b)", 1, "S(a a a b a b b b)"), 0);
    assert_int_equal(count_other(99, "S(a a a c a)", 1, "S(c a a a a)"), 0);
    assert_int_equal(count_other(99, "S(a a a a c)", 1, "S(a a c a a)"), 1);
    assert_int_equal(count_other(99, "S(i a b a b a b a b e)", 1, "S(i b a b a b a b a e)"), 1);
}

static void where_what_comes_first_is_taken_it_is_free(void **state)
{
    (void)state;
    assert_int_equal(count_other(99, "S(MPI_Wait a b)", 1, "S(MPI_Wait b a)"), 1);
    assert_int_equal(count_other(99, "S(MPI_Waitany a b)", 1, "S(MPI_Waitany b a)"), 0);
}

/* One location does it the other way round, but once. */
static void what_is_usual_on_a_location_is_not_strange(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    add(&f, 1000, "S(a b)");
    end_location(&f);
    add(&f, 9, "S(b a)");
    add(&f, 1, "S(a b)");
    learn(&f);
    assert_int_equal(n_other(&f), 0);
    end(&f);
}

/* On one location it may be chance; on two the program ends so. */
static void how_a_program_ends_is_not_strange(void **state)
{
    struct fixture f;

    (void)state;
    for (uint32_t n_odd = 1; n_odd <= 2; n_odd++) {
        begin(&f);
        for (uint32_t location = 0; location < 2; location++) {
            add(&f, 99, "S(a b)");
            add(&f, 1, location < n_odd ? "S(b a)" : "S(a b)");
            end_location(&f);
        }
        learn(&f);
        assert_int_equal(n_other(&f), n_odd == 1);
        end(&f);
    }
}

static void what_comes_by_plan_is_not_strange(void **state)
{
    struct fixture f;

    (void)state;
    for (int is_by_plan = 0; is_by_plan < 2; is_by_plan++) {
        begin(&f);
        for (int i = 0; i < 6; i++) {
            add(&f, is_by_plan || i != 3 ? 99 : 90, "S(a b)");
            add(&f, 1, "S(b a)");
        }
        add(&f, 20, "S(a b)");
        learn(&f);
        assert_int_equal(n_other(&f), is_by_plan ? 0 : 6);
        end(&f);
    }
}

/* First executions are compared among each other: warming up comes first there. */
static void first_executions_have_an_order_of_their_own(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (int location = 0; location < 6; location++) {
        add(&f, 1, "S(b a)");
        add(&f, 99, "S(a b)");
        end_location(&f);
    }
    learn(&f);
    for (uint32_t t = 0; t < f.m.forest.n_trees; t++)
        assert_true(f.m.measure[t].structure == 0);
    end(&f);
}

/* A model knows it after it was written and read, of orders that it has seen and not seen. */
static void by_a_model_it_is_found_too(void **state)
{
    struct fixture f;
    struct forest other = {0};
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure measure[4];
    struct pack bytes = {0};
    struct residual_input input = {.forest = &other, .wl = &wl};

    (void)state;
    begin(&f);
    add(&f, 99, "S(a b(x y))");
    add(&f, 1, "S(b(x y) a)");
    learn(&f);
    residual_pack(&f.m.model, &bytes);
    assert_int_equal(residual_unpack(&model, &bytes, f.m.defs.names.n), 0);
    sample_forest("S(a b(x y)) S(b(x y) a) S(a b(y x)) S(a b(x))", &f.m.defs, &other);
    input.defs = &f.m.defs;
    wl_init(&wl, &other, &f.m.defs, false, NULL);
    residual_locate(&model, &place, &input);
    residual_measures(&model, &place, &input, measure);
    assert_true(measure[0].structure == 0);
    assert_true(fabs(measure[1].structure - log(100)) < 1e-6);
    assert_true(fabs(measure[2].structure - log(101)) < 1e-6);
    assert_true(shape_order(&model.shapes,
                            place.shape[residual_like(&place, &other, 3, measure[3].rarest)]) ==
                CALL_ORDER_FREE);
    residual_place_release(&place);
    residual_release(&model);
    wl_release(&wl);
    forest_release(&other);
    pack_release(&bytes);
    end(&f);
}

/* A model of an earlier version, which ended n bytes earlier. */
static void assert_is_read(struct fixture *f, const struct pack *bytes, uint32_t version,
                           size_t n)
{
    struct residual_model model;

    memcpy(bytes->data, &version, sizeof version);
    assert_int_equal(residual_unpack(&model,
                                     &(struct pack){.data = bytes->data, .n = bytes->n - n},
                                     f->m.defs.names.n),
                     0);
    assert_int_equal(model.shapes.orders.n, 0);
    residual_release(&model);
}

/* Which classes come by plan is an array of a byte for each; orders, of which there are none
 * here, are five arrays. */
static void models_of_before_say_nothing_of_turns_and_orders(void **state)
{
    struct fixture f;
    struct pack bytes = {0};
    size_t turns;

    (void)state;
    begin(&f);
    add(&f, 20, "S(a b)"); /* too few for an order to be firm */
    learn(&f);
    residual_pack(&f.m.model, &bytes);
    turns = sizeof(uint64_t) + f.m.model.class_id.n;
    assert_is_read(&f, &bytes, 5, turns);
    assert_is_read(&f, &bytes, 4, turns + 5 * sizeof(uint64_t));
    pack_release(&bytes);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_in_another_order_is_as_rare_as_it_is),
        cmocka_unit_test(several_are_as_rare_as_they_are_together),
        cmocka_unit_test(deep_inside_it_is_found_too),
        cmocka_unit_test(free_orders_are_free),
        cmocka_unit_test(of_some_the_order_may_be_free),
        cmocka_unit_test(loops_vary),
        cmocka_unit_test(where_what_comes_first_is_taken_it_is_free),
        cmocka_unit_test(what_is_usual_on_a_location_is_not_strange),
        cmocka_unit_test(how_a_program_ends_is_not_strange),
        cmocka_unit_test(what_comes_by_plan_is_not_strange),
        cmocka_unit_test(first_executions_have_an_order_of_their_own),
        cmocka_unit_test(by_a_model_it_is_found_too),
        cmocka_unit_test(models_of_before_say_nothing_of_turns_and_orders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
