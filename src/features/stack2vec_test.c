/*
 * Forests are said in one line (sample_forest.h). What is checked: equal trees, other orders of
 * children, other threads and other forests give the same vectors, bit for bit; the vectors
 * minimise the loss that stack2vec.h states; odd input gives finite vectors.
 */
#include "features/stack2vec.h"

#include "base/err.h"
#include "base/mem.h"
#include "features/logistic.h"

#include "sample_forest.h"
#include "test.h"

struct fixture {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
    struct stack2vec model;
    struct matrix x;
};

static struct matrix matrix_new(size_t rows, size_t cols)
{
    return (struct matrix){mem_alloc(rows * cols, sizeof(double)), rows, cols, cols};
}

static void begin(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    sample_forest(text, &f->defs, &f->forest);
    wl_init(&f->wl, &f->forest, &f->defs, true, NULL);
}

static void fit(struct fixture *f, const struct stack2vec_opts *opts, unsigned n_threads)
{
    struct pool *pool = pool_new(n_threads);

    stack2vec_release(&f->model);
    free(f->x.x);
    f->x = matrix_new(f->forest.n_trees, opts->dims);
    assert_int_equal(stack2vec_fit(&f->model, opts, &f->wl.vocab, &f->wl.bags, pool, f->x), 0);
    pool_free(pool);
}

static uint32_t complete_of(const struct fixture *f, uint32_t v)
{
    return wl_complete(&f->wl, &f->forest, forest_tree(&f->forest, v), v);
}

static void end(struct fixture *f)
{
    stack2vec_release(&f->model);
    wl_release(&f->wl);
    forest_release(&f->forest);
    definitions_release(&f->defs);
    free(f->x.x);
}

static struct stack2vec_opts small(void)
{
    struct stack2vec_opts opts = stack2vec_default();

    opts.dims = 20; /* not a multiple of what rows are padded to */
    return opts;
}

static double distance(const struct fixture *f, size_t i, size_t j)
{
    double square = 0;

    for (size_t c = 0; c < f->x.cols; c++)
        square += pow(matrix_row(f->x, i)[c] - matrix_row(f->x, j)[c], 2);
    return sqrt(square);
}

static void assert_same_row(const struct fixture *f, size_t i, size_t j)
{
    assert_memory_equal(matrix_row(f->x, i), matrix_row(f->x, j), f->x.cols * sizeof(double));
}

static void assert_finite(const struct fixture *f)
{
    for (size_t i = 0; i < f->x.rows * f->x.cols; i++)
        assert_true(isfinite(f->x.x[i]));
}

/* n trees A(B:.. C D..) of different durations, with 4, 3, 2, 1, 0 Ds in turn and an E in every
 * seventh; then `odd`. */
static const char *varied(int n, const char *odd)
{
    static char text[1 << 17];
    char *at = text;

    for (int i = 0; i < n; i++)
        at += sprintf(at, "A:%d(B:%d C%s%s) ", 100 + i * 7919 % 50, 500 + i * 104729 % 200,
                      &" D D D D"[2 * (i % 5)], i % 7 == 3 ? " E(B:20)" : "");
    strcpy(at, odd);
    return text;
}

/* ------------------------------------------------------------------------------- equality */

static void trees_with_equal_bags_have_equal_vectors(void **state)
{
    struct stack2vec_opts opts = small();
    struct fixture f;

    (void)state;
    begin(&f, "A(B:5 C:7) A(B:6 C:7) A(C:7 B:5) A(B:5 C:7) A(B:5 C:7 C:7)");
    fit(&f, &opts, 1);
    assert_same_row(&f, 0, 2); /* the order of children does not matter */
    assert_same_row(&f, 0, 3);
    assert_true(distance(&f, 0, 1) > 0);
    assert_true(distance(&f, 0, 4) > distance(&f, 0, 1)); /* another structure */
    end(&f);
}

static void vectors_do_not_depend_on_the_number_of_threads(void **state)
{
    static const unsigned n_threads[] = {2, 3, 8};
    struct stack2vec_opts opts = small();
    struct fixture f;
    size_t size;
    double *one;

    (void)state;
    begin(&f, varied(700, "")); /* several batches, the last not full */
    fit(&f, &opts, 1);
    size = f.x.rows * f.x.cols * sizeof *one;
    one = mem_alloc(1, size);
    memcpy(one, f.x.x, size);
    for (size_t i = 0; i < sizeof n_threads / sizeof *n_threads; i++) {
        fit(&f, &opts, n_threads[i]);
        assert_memory_equal(f.x.x, one, size);
    }
    opts.seed = 2;
    fit(&f, &opts, 2);
    assert_memory_not_equal(f.x.x, one, size);
    free(one);
    end(&f);
}

/* ----------------------------------------------------------------------------- the method */

static void targets_are_shares_of_time_and_of_calls(void **state)
{
    struct stack2vec_opts opts = small();
    struct distinct_entry entry = {.weight_ns = 10, .count = 2};
    struct fixture f;

    (void)state;
    opts.count_share = 0.5;
    begin(&f, "A:10(B:10)"); /* A 20, B 10, A(B) 20: 50 ns; three calls */
    fit(&f, &opts, 1);
    assert_true(fabs(stack2vec_target(&f.model, &entry) - (0.5 * 10 / 50 + 0.5 * 2 / 3)) <
                1e-6);
    end(&f);
}

/* d loss / d x of row i of the bags, in double, as stack2vec.h states the loss. */
static double gradient_norm(const struct stack2vec *m, const struct distinct *bags, size_t i,
                            const float *x)
{
    double *gradient = mem_alloc(m->n_dims, sizeof *gradient), norm = 0;

    for (size_t c = 0; c < m->n_dims; c++)
        gradient[c] = m->opts.ridge * x[c];
    for (size_t w = 0; w < m->n_words; w++) {
        double z = 0, p = 0, sigma;

        for (size_t e = bags->first[i]; e < bags->first[i + 1]; e++)
            if (bags->entry[e].word == w)
                p = stack2vec_target(m, &bags->entry[e]);
        for (size_t c = 0; c < m->n_dims; c++)
            z += (double)x[c] * m->output[w * m->n_dims + c];
        sigma = 1 / (1 + exp(-z));
        for (size_t c = 0; c < m->n_dims; c++)
            gradient[c] += (sigma * (p + m->negative[w]) - p) * m->output[w * m->n_dims + c];
    }
    for (size_t c = 0; c < m->n_dims; c++)
        norm += gradient[c] * gradient[c];
    free(gradient);
    return sqrt(norm);
}

static void vectors_minimise_the_loss_of_their_tree(void **state)
{
    struct stack2vec_opts opts = small();
    struct distinct bags;
    struct fixture f;
    uint32_t *number;
    float *vector;

    (void)state;
    opts.steps = 200;
    begin(&f, varied(70, ""));
    fit(&f, &opts, 1);
    number = mem_alloc(f.wl.vocab.label.n, sizeof *number);
    for (uint32_t w = 0; w < f.wl.vocab.label.n; w++)
        number[w] = idmap_find(&f.model.label, f.wl.vocab.label.key[w]);
    distinct_init(&bags, &f.wl.bags, number);
    vector = mem_alloc(bags.n * f.model.n_dims, sizeof *vector);
    for (uint32_t t = 0; t < f.forest.n_trees; t++)
        for (size_t c = 0; c < f.x.cols; c++)
            vector[bags.row[t] * f.model.n_dims + c] = (float)matrix_row(f.x, t)[c];
    for (uint32_t i = 0; i < bags.n; i++)
        assert_true(gradient_norm(&f.model, &bags, i, vector + i * f.model.n_dims) < 1e-4);
    free(vector);
    distinct_release(&bags);
    free(number);
    end(&f);
}

/* All of it ten times slower: another place, which doc2vec's negatives would not show. */
static void a_tree_slower_everywhere_is_far_away(void **state)
{
    struct stack2vec_opts opts = small();
    struct fixture f;

    (void)state;
    begin(&f, varied(100, "A:1200(B:6000 C:100 D:100 D:100 D:100 D:100)"));
    fit(&f, &opts, 1);
    for (size_t t = 5; t < 100; t += 5)
        if (t % 7 != 3) /* those have the same structure */
            assert_true(distance(&f, 100, 0) > 2 * distance(&f, t, 0));
    end(&f);
}

static void logistic_is_right_to_six_decimals_and_five_digits(void **state)
{
    (void)state;
    for (double z = -80; z <= 80; z += 0.0137) {
        double exact = 1 / (1 + exp(-(double)(float)z));

        assert_true(fabs(logistic((float)z) - exact) < fmin(2e-7, 1e-5 * exact));
    }
    assert_true(isfinite(logistic(3e38f)) && isfinite(logistic(-3e38f)));
}

/* ------------------------------------------------------------------------------ inference */

static void infer(const struct fixture *f, const struct fixture *g, struct matrix x,
                  struct stack2vec_unseen *unseen)
{
    struct pool *pool = pool_new(2);

    stack2vec_infer(&f->model, &g->wl.vocab, &g->wl.bags, pool, x, unseen);
    pool_free(pool);
}

/* Names are met in another order there, so words have other numbers. */
static void a_tree_gets_the_same_vector_in_another_forest(void **state)
{
    struct stack2vec_opts opts = small();
    struct stack2vec_unseen unseen;
    struct fixture f, g;

    (void)state;
    begin(&f, varied(150, ""));
    fit(&f, &opts, 2);
    begin(&g, "A:113(D C E(B:20) D:1) A:100(C D D D D B:500) A:100(B:500 C D D D D)");
    g.x = matrix_new(3, opts.dims);
    infer(&f, &g, g.x, &unseen);
    assert_memory_equal(matrix_row(g.x, 1), matrix_row(f.x, 0), opts.dims * sizeof(double));
    assert_memory_equal(matrix_row(g.x, 2), matrix_row(f.x, 0), opts.dims * sizeof(double));
    assert_int_equal(unseen.n_trees, 1);
    end(&g);
    end(&f);
}

static void unseen_subtrees_are_counted_and_left_out(void **state)
{
    struct stack2vec_opts opts = small();
    struct stack2vec_unseen unseen;
    struct fixture f, g;

    (void)state;
    begin(&f, "A(B:3 C) A(B:9 C)");
    fit(&f, &opts, 1);
    begin(&g, "A(B C X X) A(B C)");
    g.x = matrix_new(2, opts.dims);
    infer(&f, &g, g.x, &unseen);
    assert_int_equal(unseen.n_words, 2); /* X, A(B C X X) */
    assert_int_equal(unseen.n_calls, 3);
    assert_int_equal(unseen.n_trees, 1);
    assert_finite(&g);
    end(&g);
    end(&f);
}

static void a_packed_model_infers_as_before(void **state)
{
    struct stack2vec_opts opts = small();
    struct stack2vec_unseen unseen;
    struct stack2vec again;
    struct pack pack = {0};
    struct fixture f;
    struct matrix x;

    (void)state;
    begin(&f, varied(90, ""));
    fit(&f, &opts, 1);
    stack2vec_pack(&f.model, &pack);
    assert_int_equal(stack2vec_unpack(&again, &pack), 0);
    assert_int_equal(pack.at, pack.n);
    stack2vec_release(&f.model);
    f.model = again;
    x = matrix_new(f.x.rows, f.x.cols);
    infer(&f, &f, x, &unseen);
    assert_memory_equal(x.x, f.x.x, x.rows * x.cols * sizeof(double));
    assert_int_equal(unseen.n_words, 0);
    free(x.x);
    pack_release(&pack);
    end(&f);
}

static void infer_with(const struct stack2vec *model, const struct fixture *f)
{
    struct matrix x = matrix_new(f->forest.n_trees, model->opts.dims);
    struct stack2vec_unseen unseen;
    struct pool *pool = pool_new(1);

    stack2vec_infer(model, &f->wl.vocab, &f->wl.bags, pool, x, &unseen);
    pool_free(pool);
    free(x.x);
}

/* Cut anywhere it is refused; with any byte changed it is refused or still works. */
static void a_damaged_model_is_refused_or_harmless(void **state)
{
    struct stack2vec_opts opts = small();
    struct pack pack = {0};
    struct fixture f;

    (void)state;
    opts.dims = 3;
    begin(&f, "A(B:3 C) A(B:9 C)");
    fit(&f, &opts, 1);
    stack2vec_pack(&f.model, &pack);
    for (size_t n = 0; n < pack.n; n++) {
        struct pack cut = {.data = pack.data, .n = n};
        struct stack2vec again;

        assert_int_equal(stack2vec_unpack(&again, &cut), ERR_FORMAT);
        stack2vec_release(&again);
    }
    for (size_t at = 0; at < pack.n; at += at < 256 ? 1 : 13) {
        struct pack changed = {.data = pack.data, .n = pack.n};
        struct stack2vec again;

        pack.data[at] ^= 0x55;
        if (stack2vec_unpack(&again, &changed) == 0 && again.opts.steps <= 1000)
            infer_with(&again, &f);
        pack.data[at] ^= 0x55;
        stack2vec_release(&again);
    }
    pack_release(&pack);
    end(&f);
}

/* ------------------------------------------------------------------------------ odd input */

static void little_input_gives_finite_vectors(void **state)
{
    static const char *const texts[] = {
        "A",                          /* one tree of one call */
        "A:0",                        /* that took no time */
        "A(B C(D))",                  /* one tree */
        "A(B:3) A(B:4)",              /* two */
        "A A A A A",                  /* all equal */
        "A:0(B:0) A:0(B:0 B:0) A:0",  /* a clock that never moves */
        "A:1 A:1 A:1000000000000000", /* one that takes eleven days */
    };
    struct stack2vec_opts opts = stack2vec_default(); /* more dimensions than subtrees */
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        begin(&f, texts[i]);
        fit(&f, &opts, 2);
        assert_finite(&f);
        end(&f);
    }
}

static void without_durations_counts_tell_trees_apart(void **state)
{
    struct stack2vec_opts opts = small();
    struct fixture f;

    (void)state;
    begin(&f, "A:0(B:0) A:0(B:0 B:0) A:0(B:0) A:0");
    fit(&f, &opts, 1);
    assert_same_row(&f, 0, 2);
    assert_true(distance(&f, 0, 1) > 0.01 && distance(&f, 0, 3) > 0.01);
    end(&f);
}

/* One tree that takes a million times longer leaves the others where they are to each other. */
static void one_giant_does_not_flatten_the_others(void **state)
{
    struct stack2vec_opts opts = small();
    struct fixture f;
    double before;

    (void)state;
    begin(&f, varied(100, ""));
    fit(&f, &opts, 1);
    before = distance(&f, 0, 3);
    end(&f);
    begin(&f, varied(100, "A(B:700000000 C D)"));
    fit(&f, &opts, 1);
    assert_finite(&f);
    assert_true(distance(&f, 0, 3) > before / 2 && distance(&f, 0, 3) < before * 2);
    end(&f);
}

static void only_the_commonest_words_are_kept(void **state)
{
    struct stack2vec_opts opts = small();
    struct fixture f;

    (void)state;
    opts.most_words = 3;
    begin(&f, "A(B) A(B) A(B) A(C)"); /* A 4, B 3, A(B) 3, C 1, A(C) 1 */
    fit(&f, &opts, 1);
    assert_int_equal(f.model.n_words, 3);
    assert_int_equal(f.model.n_left_out, 2);
    assert_int_equal(idmap_find(&f.model.label, f.wl.vocab.label.key[complete_of(&f, 7)]),
                     IDMAP_NONE);
    assert_true(distance(&f, 0, 3) > 0); /* B and A(B) are missing there */
    end(&f);
}

static void senseless_options_are_refused(void **state)
{
    struct stack2vec_opts good = stack2vec_default(), bad[6];

    (void)state;
    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].dims = 0;
    bad[1].dims = STACK2VEC_MAX_DIMS + 1;
    bad[2].ridge = 0;
    bad[3].learning_rate = NAN;
    bad[4].count_share = 1.5;
    bad[5].most_words = 0;
    assert_int_equal(stack2vec_check(&good), 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(stack2vec_check(&bad[i]), ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_with_equal_bags_have_equal_vectors),
        cmocka_unit_test(vectors_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(targets_are_shares_of_time_and_of_calls),
        cmocka_unit_test(vectors_minimise_the_loss_of_their_tree),
        cmocka_unit_test(a_tree_slower_everywhere_is_far_away),
        cmocka_unit_test(logistic_is_right_to_six_decimals_and_five_digits),
        cmocka_unit_test(a_tree_gets_the_same_vector_in_another_forest),
        cmocka_unit_test(unseen_subtrees_are_counted_and_left_out),
        cmocka_unit_test(a_packed_model_infers_as_before),
        cmocka_unit_test(a_damaged_model_is_refused_or_harmless),
        cmocka_unit_test(little_input_gives_finite_vectors),
        cmocka_unit_test(without_durations_counts_tell_trees_apart),
        cmocka_unit_test(one_giant_does_not_flatten_the_others),
        cmocka_unit_test(only_the_commonest_words_are_kept),
        cmocka_unit_test(senseless_options_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
