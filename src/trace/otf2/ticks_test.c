#include "trace/otf2/otf2_definitions.h"

#include "trace/monotone.h"

#include "test.h"

static void any_frequency_is_exact(void **state)
{
    struct ticks ticks;

    (void)state;
    ticks_init(&ticks, 1000000, 500);
    assert_int_equal(ticks_to_ns(&ticks, 503), 3000);
    ticks_init(&ticks, 1000000000, 1000);
    assert_int_equal(ticks_to_ns(&ticks, 1001), 1);
    ticks_init(&ticks, 2095197216, 0);
    assert_int_equal(ticks_to_ns(&ticks, 2095197216u * 1000000ull), 1000000000000000);
    assert_int_equal(ticks_to_ns(&ticks, 2095197217u * 1000000ull), 1000000000477282);
    ticks_init(&ticks, 0, 0);
    assert_int_equal(ticks_to_ns(&ticks, 77), 77);
}

static void times_before_the_origin_wrap(void **state)
{
    struct ticks ticks;

    (void)state;
    ticks_init(&ticks, 1000000, 500);
    assert_int_equal((int64_t)ticks_to_ns(&ticks, 497), -3000);
}

/* From one a second, of which 2^34 are too many nanoseconds, to ones of which nobody can say
 * too many. */
static void what_is_beyond_any_time_is_impossible(void **state)
{
    static const uint64_t frequency[] = {1, 3, 1000000, 999999999, 1000000000, 2095197216};
    struct ticks ticks;

    (void)state;
    for (size_t i = 0; i < sizeof frequency / sizeof *frequency; i++) {
        __uint128_t most = (__uint128_t)TIME_LATEST_NS * frequency[i] / 1000000000;

        ticks_init(&ticks, frequency[i], 0);
        assert_true(time_is_possible(ticks_to_ns(&ticks, (uint64_t)most)));
        for (int bit = 0; bit < 63; bit++) {
            struct event event = {.time_ns = (uint64_t)1 << bit};
            bool is_possible = (__uint128_t)event.time_ns <= most;

            if ((__uint128_t)event.time_ns <= most + 3 * frequency[i] && !is_possible)
                continue; /* by so little that it is counted as one */
            ticks_convert(&ticks, &event, 1);
            assert_int_equal(time_is_possible(event.time_ns), is_possible);
            assert_int_equal(event.time_ns, ticks_to_ns(&ticks, (uint64_t)1 << bit));
        }
    }
}

/* Two measurements that are as far apart as numbers can be. */
static void absurd_offsets_overflow_nothing(void **state)
{
    struct ticks ticks;

    (void)state;
    ticks_init(&ticks, 1000000000, 0);
    assert_true(ticks_add_offset(&ticks, 1000, INT64_MIN));
    assert_true(ticks_add_offset(&ticks, 2000, INT64_MAX));
    for (uint64_t at = 0; at < 3000; at += 100)
        (void)ticks_to_ns(&ticks, at);
    ticks_release(&ticks);
}

static void offsets_are_interpolated_and_extended(void **state)
{
    struct ticks ticks;

    (void)state;
    ticks_init(&ticks, 1000000000, 0);
    assert_true(ticks_add_offset(&ticks, 1000, 100));
    assert_int_equal(ticks_to_ns(&ticks, 5000), 5100); /* one measurement: constant */
    assert_true(ticks_add_offset(&ticks, 2000, 200));
    assert_false(ticks_add_offset(&ticks, 2000, 300));
    assert_true(ticks_add_offset(&ticks, 3000, 0));
    assert_int_equal(ticks_to_ns(&ticks, 1000), 1100);
    assert_int_equal(ticks_to_ns(&ticks, 1500), 1650);
    assert_int_equal(ticks_to_ns(&ticks, 2500), 2600);
    assert_int_equal(ticks_to_ns(&ticks, 3500), 3400);
    assert_int_equal(ticks_to_ns(&ticks, 500), 550); /* back again, before the first */
    ticks_clear_offsets(&ticks);
    assert_int_equal(ticks_to_ns(&ticks, 500), 500);
    ticks_release(&ticks);
}

/* Back and forth over the offsets and the origin: the same as one by one. */
static void many_at_once_are_as_one_by_one(void **state)
{
    struct ticks one, many;
    struct event event[400];

    (void)state;
    ticks_init(&one, 2600000000u, 100000);
    ticks_init(&many, 2600000000u, 100000);
    for (uint64_t n_offsets = 0; n_offsets < 4; n_offsets++) {
        for (size_t i = 0; i < 400; i++)
            event[i].time_ns = i * i * 7919 % 500000;
        ticks_convert(&many, event, 400);
        for (size_t i = 0; i < 400; i++)
            assert_int_equal(event[i].time_ns, ticks_to_ns(&one, i * i * 7919 % 500000));
        ticks_add_offset(&one, n_offsets * 120000, (int64_t)(n_offsets * n_offsets * 500));
        ticks_add_offset(&many, n_offsets * 120000, (int64_t)(n_offsets * n_offsets * 500));
    }
    ticks_release(&one);
    ticks_release(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_frequency_is_exact),
        cmocka_unit_test(times_before_the_origin_wrap),
        cmocka_unit_test(what_is_beyond_any_time_is_impossible),
        cmocka_unit_test(absurd_offsets_overflow_nothing),
        cmocka_unit_test(offsets_are_interpolated_and_extended),
        cmocka_unit_test(many_at_once_are_as_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
