#include "base/pool.h"

#include "test.h"

struct squares {
    uint64_t *out;
    unsigned n_threads;
};

static void square(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct squares *s = ctx;

    assert_true(worker < s->n_threads);
    for (size_t i = begin; i < end; i++)
        s->out[i] += i * i;
}

static void every_row_is_done_once_on_any_number_of_threads(void **state)
{
    static uint64_t out[1000];

    (void)state;
    for (unsigned n_threads = 1; n_threads <= 8; n_threads++) {
        struct pool *pool = pool_new(n_threads);
        struct squares s = {out, n_threads};

        memset(out, 0, sizeof out);
        for (int round = 1; round <= 20; round++) {
            pool_for(pool, 1000, 7, square, &s);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(out[i], (uint64_t)round * i * i);
        }
        pool_for(pool, 0, 1, square, &s);
        pool_free(pool);
    }
    pool_free(NULL);
}

static void without_a_pool_the_caller_does_it(void **state)
{
    uint64_t out[100] = {0};
    struct squares s = {out, 1};

    (void)state;
    assert_int_equal(pool_threads(NULL), 1);
    assert_true(pool_grain(NULL, 0) >= 1);
    pool_for(NULL, 100, pool_grain(NULL, 100), square, &s);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(out[i], i * i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_done_once_on_any_number_of_threads),
        cmocka_unit_test(without_a_pool_the_caller_does_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
