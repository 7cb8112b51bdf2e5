#include "trace/requests.h"

#include "base/rng.h"

#include "test.h"

static void what_is_posted_can_be_taken_once(void **state)
{
    struct requests r = {0};
    struct posted_request out;

    (void)state;
    assert_false(requests_take(&r, 7, &out));
    assert_false(requests_post(&r, 7, 100, 1));
    assert_true(requests_post(&r, 7, 200, 2));
    assert_true(requests_take(&r, 7, &out));
    assert_int_equal(out.time_ns, 200);
    assert_int_equal(out.ref, 2);
    assert_false(requests_take(&r, 7, &out));
    requests_release(&r);
}

/* Against an array: any order of posting and taking, ids that collide. */
static void agrees_with_a_plain_array(void **state)
{
    enum { N_IDS = 500 };
    static uint32_t model[N_IDS];
    struct rng rng = {1};
    struct requests r = {0};
    size_t n = 0;

    (void)state;
    for (uint32_t round = 1; round < 100000; round++) {
        uint64_t i = rng_below(&rng, N_IDS), id = i << 40;
        struct posted_request out;

        if (rng_below(&rng, 2)) {
            assert_int_equal(requests_post(&r, id, 0, round), model[i] != 0);
            n += model[i] == 0;
            model[i] = round;
        } else {
            assert_int_equal(requests_take(&r, id, &out), model[i] != 0);
            if (model[i])
                assert_int_equal(out.ref, model[i]);
            n -= model[i] != 0;
            model[i] = 0;
        }
        assert_int_equal(r.n, n);
    }
    assert_int_equal(requests_clear(&r), n);
    assert_int_equal(requests_clear(&r), 0);
    requests_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_posted_can_be_taken_once),
        cmocka_unit_test(agrees_with_a_plain_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
