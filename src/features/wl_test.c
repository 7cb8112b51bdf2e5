/* Numbers are checked against figure 4 of the paper and by hand. */
#include "features/wl.h"

#include "features/context.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
};

static void begin(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    sample_forest(text, &f->defs, &f->forest);
    wl_init(&f->wl, &f->forest, &f->defs, true, NULL);
}

static uint32_t complete_of(const struct fixture *f, uint32_t v)
{
    return wl_complete(&f->wl, &f->forest, forest_tree(&f->forest, v), v);
}

static void end(struct fixture *f)
{
    wl_release(&f->wl);
    forest_release(&f->forest);
    definitions_release(&f->defs);
}

static size_t words_of_degree(const struct fixture *f, uint32_t degree)
{
    size_t n = 0;

    for (uint32_t w = 0; w < f->wl.vocab.label.n; w++)
        n += f->wl.vocab.degree[w] == degree;
    return n;
}

/* The tree of figure 4: the vertices C and B stop early, A goes on to degree 2. */
static void the_papers_tree_has_the_papers_subtrees(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B(C) C(D E))");
    assert_int_equal(words_of_degree(&f, 0), 5);
    assert_int_equal(words_of_degree(&f, 1), 3); /* A(B C), B(C), C(D E) */
    assert_int_equal(words_of_degree(&f, 2), 1); /* A(B(C) C(D E)) */
    end(&f);
}

static void the_order_of_children_does_not_matter_but_their_number_does(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B C B) A(B B C) A(B C)");
    assert_int_equal(complete_of(&f, f.forest.first[0]), complete_of(&f, f.forest.first[1]));
    assert_int_not_equal(complete_of(&f, f.forest.first[0]),
                         complete_of(&f, f.forest.first[2]));
    end(&f);
}

/* Two trees that differ three levels down only. */
static void labels_of_degree_d_see_d_levels_down(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B(C(D))) A(B(C(E)))");
    assert_int_not_equal(complete_of(&f, 0), complete_of(&f, 4));
    assert_int_equal(words_of_degree(&f, 0), 5);
    assert_int_equal(words_of_degree(&f, 1), 4); /* A(B) B(C) C(D) C(E) */
    assert_int_equal(words_of_degree(&f, 2), 3); /* A(B(C)) B(C(D)) B(C(E)) */
    assert_int_equal(words_of_degree(&f, 3), 2);
    end(&f);
}

static void weights_are_summed_inclusive_times(void **state)
{
    struct fixture f;
    size_t at;

    (void)state;
    begin(&f, "A:5(B:20 C:7(B:1) B:30)");
    for (at = 0; f.wl.bags.word[at] != complete_of(&f, 1); at++)
        ;
    assert_int_equal(f.wl.bags.weight_ns[at], 51);
    assert_int_equal(f.wl.bags.count[at], 3);
    assert_int_equal(f.wl.bags.weight_ns[0], 63);
    assert_int_equal(f.wl.bags.first[1], 6); /* A B C, A(B C B), C(B), A(B C(B) B) */
    end(&f);
}

static void labels_do_not_depend_on_the_forest_they_are_found_in(void **state)
{
    struct fixture f, g;

    (void)state;
    begin(&f, "A(B(C D))");
    begin(&g, "A(X) A(B(D C))");
    assert_memory_equal(&f.wl.vocab.label.key[complete_of(&f, 0)],
                        &g.wl.vocab.label.key[complete_of(&g, 2)], sizeof(struct key));
    end(&f);
    end(&g);
}

static void a_deep_chain_has_a_bounded_number_of_labels(void **state)
{
    char text[4 * 200 + 1] = "";
    struct fixture f;
    char *at = text;

    (void)state;
    for (int i = 0; i < 200; i++)
        at += sprintf(at, "A(");
    at += sprintf(at, "A");
    for (int i = 0; i < 200; i++)
        at += sprintf(at, ")");
    begin(&f, text);
    assert_int_equal(f.wl.vocab.label.n, WL_DEEPEST + 1);
    end(&f);
}

static void paths_are_numbered_behind_their_callers(void **state)
{
    struct context context = {0};
    uint32_t path[9], again[9]; /* the four and five vertices of the two trees */
    struct fixture f;

    (void)state;
    begin(&f, "A(B(C) C) A(C B(C C))");
    context_number(&context, &f.forest, true, path);
    assert_int_equal(context.n, 4);
    assert_int_equal(path[2], path[7]);
    assert_int_equal(path[3], path[5]);
    assert_int_not_equal(path[2], path[3]);
    for (uint32_t p = 0; p < context.n; p++)
        assert_true(context.parent[p] == PATH_NONE || context.parent[p] < p);
    context_number(&context, &f.forest, false, again);
    assert_memory_equal(path, again, sizeof path);
    end(&f);
    begin(&f, "A(C(D(E)) C)"); /* what is below an unknown path is unknown */
    f.forest.region[1] = 77;
    context_number(&context, &f.forest, false, again);
    assert_int_equal(again[0], path[0]);
    assert_int_equal(again[1], PATH_NONE);
    assert_int_equal(again[3], PATH_NONE);
    context_release(&context);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_tree_has_the_papers_subtrees),
        cmocka_unit_test(the_order_of_children_does_not_matter_but_their_number_does),
        cmocka_unit_test(labels_of_degree_d_see_d_levels_down),
        cmocka_unit_test(weights_are_summed_inclusive_times),
        cmocka_unit_test(labels_do_not_depend_on_the_forest_they_are_found_in),
        cmocka_unit_test(a_deep_chain_has_a_bounded_number_of_labels),
        cmocka_unit_test(paths_are_numbered_behind_their_callers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
