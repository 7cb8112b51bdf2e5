/* A machine of twenty points, packed and read back. */
#include "detect/ocsvm.h"

#include "base/err.h"
#include "base/rng.h"

#include "test.h"

struct fixture {
    double x[20 * 3], score[20];
    struct matrix points;
    struct pool *pool;
    struct ocsvm_model model;
    struct pack pack;
};

static int set_up(void **state)
{
    const struct ocsvm_opts opts = {.nu = 0.2};
    struct fixture *f = calloc(1, sizeof *f);
    struct rng rng = {1};
    struct ocsvm *svm;

    for (size_t i = 0; i < 60; i++)
        f->x[i] = rng_real(&rng);
    f->points = (struct matrix){f->x, 20, 3, 3};
    f->pool = pool_new(1);
    assert_int_equal(ocsvm_new(f->points, &opts, f->pool, &svm), 0);
    assert_int_equal(ocsvm_train(svm, NULL, NULL), 0);
    ocsvm_model_init(&f->model, svm);
    ocsvm_free(svm);
    assert_int_equal(ocsvm_model_score(&f->model, f->points, f->pool, f->score), 0);
    ocsvm_model_pack(&f->model, &f->pack);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    ocsvm_model_release(&f->model);
    pack_release(&f->pack);
    pool_free(f->pool);
    free(f);
    return 0;
}

static void what_is_read_back_scores_as_before(void **state)
{
    struct fixture *f = *state;
    struct pack reader = {.data = f->pack.data, .n = f->pack.n};
    struct ocsvm_model back;
    double score[20];

    assert_int_equal(ocsvm_model_unpack(&back, &reader), 0);
    assert_int_equal(reader.at, reader.n);
    assert_int_equal(ocsvm_model_score(&back, f->points, f->pool, score), 0);
    assert_memory_equal(score, f->score, sizeof score);
    ocsvm_model_release(&back);
}

static void what_is_cut_off_is_an_error(void **state)
{
    struct fixture *f = *state;

    for (size_t n = 0; n < f->pack.n; n++) {
        struct pack reader = {.data = f->pack.data, .n = n};
        struct ocsvm_model back;

        assert_int_equal(ocsvm_model_unpack(&back, &reader), ERR_FORMAT);
        ocsvm_model_release(&back);
    }
}

/* Every bit of the sizes and of the first numbers, turned. */
static void what_is_changed_is_an_error_or_still_a_model(void **state)
{
    struct fixture *f = *state;

    for (size_t bit = 0; bit < 8 * 80 && bit < 8 * f->pack.n; bit++) {
        struct pack reader = {.data = f->pack.data, .n = f->pack.n};
        struct ocsvm_model back;

        f->pack.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (ocsvm_model_unpack(&back, &reader) == 0) {
            assert_int_equal(back.support.cols, 3);
            assert_int_equal(back.support.rows, f->model.support.rows);
        }
        ocsvm_model_release(&back);
        f->pack.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read_back_scores_as_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_cut_off_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_changed_is_an_error_or_still_a_model, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
