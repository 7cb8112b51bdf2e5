/* Importances worked by hand on a tiny embedding; a foreign subtree in a forest of others. */
#include "explain/topsubtrees.h"

#include "base/mem.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
    struct stack2vec embedding;
    struct topsubtrees_input input;
    struct topsubtrees tops;
};

static void begin(struct fixture *f, const char *text, size_t dims)
{
    struct matrix *x = &f->input.x;

    *f = (struct fixture){
        .input = {
            .embedding = &f->embedding, .forest = &f->forest, .defs = &f->defs, .wl = &f->wl}};
    sample_forest(text, &f->defs, &f->forest);
    wl_init(&f->wl, &f->forest, &f->defs, true, NULL);
    *x = (struct matrix){NULL, f->forest.n_trees, dims, dims};
    x->x = mem_alloc(x->rows * dims, sizeof(double));
}

static void end(struct fixture *f)
{
    topsubtrees_release(&f->tops);
    stack2vec_release(&f->embedding);
    free(f->input.x.x);
    wl_release(&f->wl);
    forest_release(&f->forest);
    definitions_release(&f->defs);
}

static const char *name(const struct fixture *f, const struct topsubtree *top)
{
    static char out[TOPSUBTREES_NAME_SIZE];

    return topsubtrees_name(&f->forest, &f->defs, top->vertex, f->wl.vocab.degree[top->word],
                            out);
}

static void assert_top(const struct fixture *f, size_t i, const char *expected,
                       double importance)
{
    assert_true(i < f->tops.n);
    assert_string_equal(name(f, &f->tops.top[i]), expected);
    assert_float_equal(f->tops.top[i].importance, importance, 1e-6);
}

/* In order of first appearance the words are A B A(B x2) A(B) C A(C). */
static void begin_by_hand(struct fixture *f, uint32_t n_neighbours)
{
    static const float output[6][2] = {{0, 5},  {0.5f, 1.5f}, {1, 0},
                                       {-1, 3}, {-2, 0},      {-2, -1}};
    static const double x[] = {3, 1, 1, 1, 1, 0};
    struct stack2vec *m = &f->embedding;

    begin(f, "A:1(B:10 B:20) A:1(B:12) A:1(C:40)", 2);
    memcpy(f->input.x.x, x, sizeof x);
    f->input.n_neighbours = n_neighbours;
    m->opts.dims = 2;
    m->per_count = 1;
    assert_int_equal(f->wl.vocab.label.n, 6);
    for (uint32_t w = 0; w < 6; w++)
        idmap_add(&m->label, f->wl.vocab.label.key[w]);
    stack2vec_size(m);
    m->output = mem_alloc(m->n_padded * m->n_dims, sizeof *m->output);
    for (size_t w = 0; w < 6; w++)
        memcpy(m->output + w * m->n_dims, output[w], sizeof output[w]);
    topsubtrees_init(&f->tops, &f->input, 0);
}

/*
 * (3, 1) - (1, 1) = (2, 0): A 0, B 1, A(B x2) 2, A(B) -2; C is neither here nor there. There is
 * but twice as much of B, so it gets log 2.
 */
static void importances_are_the_difference_through_the_output_layer(void **state)
{
    struct fixture f;

    (void)state;
    begin_by_hand(&f, 1);
    assert_int_equal(f.tops.n_neighbours, 1);
    assert_int_equal(f.tops.neighbour[0], 1);
    assert_int_equal(f.tops.n, 3);
    assert_top(&f, 0, "A(B x2)", 2);
    assert_top(&f, 1, "A(B)", -2);
    assert_top(&f, 2, "B", log(2));
    assert_int_equal(f.tops.top[1].count, 0);
    assert_int_equal(f.tops.top[1].tree, 1);
    assert_int_equal(f.tops.top[2].count, 2);
    assert_int_equal(f.tops.top[2].weight_ns, 30);
    assert_float_equal(f.tops.top[2].typical_count, 1, 0);
    assert_float_equal(f.tops.top[2].typical_ns, 12, 0);
    end(&f);
}

/*
 * (3, 1) - (1, 0.5) = (2, 0.5): B 1.75, A(B x2) 2 which B says as well, A(B) -0.5, C -4, A(C)
 * -4.5 which C says as well. A would have 2.5, but there is as much of it everywhere.
 */
static void what_a_part_says_is_left_out(void **state)
{
    struct fixture f;

    (void)state;
    begin_by_hand(&f, 2);
    assert_int_equal(f.tops.n, 3);
    assert_top(&f, 0, "C", -4);
    assert_top(&f, 1, "B", 1.75);
    assert_top(&f, 2, "A(B)", -0.5);
    assert_float_equal(f.tops.top[0].typical_count, 0.5, 0);
    assert_float_equal(f.tops.top[0].typical_ns, 20, 0);
    end(&f);
}

#define ONE "M(A:50(B:10 B:11 C:30) D:21 A:20(B:20)) "
#define OTHER "M(A:50(B:11 B:10 C:31) D:20 A:20(B:21) D) "
#define FOREIGN "M(A:50(B:10 B:10 C:30) D:20 A:20(B:20 X:30(Y:10))) "

/* 19 trees of two kinds, and one that is like the first but for what an A calls. */
static void a_foreign_subtree_is_on_top(void **state)
{
    struct stack2vec_opts opts = stack2vec_default();
    struct pool *pool = pool_new(1);
    bool is_part[10] = {false};
    struct fixture f;

    (void)state;
    begin(&f,
          ONE OTHER ONE ONE OTHER ONE ONE OTHER ONE FOREIGN ONE ONE OTHER ONE ONE OTHER ONE ONE
              OTHER ONE,
          opts.dims);
    assert_int_equal(
        stack2vec_fit(&f.embedding, &opts, &f.wl.vocab, &f.wl.bags, pool, f.input.x), 0);
    topsubtrees_init(&f.tops, &f.input, 9);
    assert_string_equal(name(&f, &f.tops.top[0]), "X");
    assert_true(f.tops.top[0].importance > log(10));
    assert_int_equal(f.tops.top[0].count, 1);
    assert_int_equal(f.tops.top[0].weight_ns, 40);
    assert_float_equal(f.tops.top[0].typical_count, 0, 0);
    assert_string_equal(name(&f, &f.tops.top[1]), "Y");
    topsubtrees_mark(&f.tops, &f.input, f.tops.top[0].word, 9, is_part);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(is_part[i], i == 8);
    topsubtrees_release(&f.tops);
    topsubtrees_init(&f.tops, &f.input, 10);
    assert_true(f.tops.n == 0 || fabs(f.tops.top[0].importance) < 0.1);
    pool_free(pool);
    end(&f);
}

/* Down to the degree, no further; beyond three levels and twelve kinds there are dots. */
static void names_are_cut(void **state)
{
    char out[TOPSUBTREES_NAME_SIZE];
    struct fixture f;

    (void)state;
    begin(&f, "A(B(C(D(E))) B(C(D(E))) B) A(a b c d e f g h i j k l m n)", 1);
    assert_string_equal(topsubtrees_name(&f.forest, &f.defs, 0, 0, out), "A");
    assert_string_equal(topsubtrees_name(&f.forest, &f.defs, 0, 1, out), "A(B x3)");
    assert_string_equal(topsubtrees_name(&f.forest, &f.defs, 0, 2, out), "A(B(C) x2, B)");
    assert_string_equal(topsubtrees_name(&f.forest, &f.defs, 0, 4, out),
                        "A(B(C(D(...))) x2, B)");
    assert_string_equal(topsubtrees_name(&f.forest, &f.defs, f.forest.first[1], 1, out),
                        "A(a, b, c, d, e, f, g, h, i, j, k, l, ...)");
    end(&f);
}

static void alone_there_is_nothing_to_compare_with(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "A(B C)", 2);
    topsubtrees_init(&f.tops, &f.input, 0);
    assert_int_equal(f.tops.n, 0);
    assert_int_equal(f.tops.n_neighbours, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(importances_are_the_difference_through_the_output_layer),
        cmocka_unit_test(what_a_part_says_is_left_out),
        cmocka_unit_test(a_foreign_subtree_is_on_top),
        cmocka_unit_test(names_are_cut),
        cmocka_unit_test(alone_there_is_nothing_to_compare_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
