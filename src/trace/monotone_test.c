#include "trace/monotone.h"

#include <string.h>

#include "test.h"

static uint64_t repair(uint64_t *time, size_t n, uint64_t floor_ns)
{
    struct event event[300];
    uint64_t n_moved;

    for (size_t i = 0; i < n; i++)
        event[i].time_ns = time[i];
    n_moved = monotone_repair(event, n, floor_ns);
    for (size_t i = 0; i < n; i++)
        time[i] = event[i].time_ns;
    return n_moved;
}

static void a_late_outlier_is_moved_back(void **state)
{
    uint64_t time[] = {1, 2, 3, UINT64_MAX / 4, 4, 5, 6};
    static const uint64_t want[] = {1, 2, 3, 4, 4, 5, 6};

    (void)state;
    assert_int_equal(repair(time, 7, 0), 1);
    assert_memory_equal(time, want, sizeof want);
}

static void a_run_of_late_outliers_is_moved_back(void **state)
{
    uint64_t time[] = {1, 900, 901, 902, 4, 5, 6, 7};
    static const uint64_t want[] = {1, 4, 4, 4, 4, 5, 6, 7};

    (void)state;
    assert_int_equal(repair(time, 8, 0), 3);
    assert_memory_equal(time, want, sizeof want);
}

static void an_early_outlier_is_moved_up(void **state)
{
    uint64_t time[] = {4, 5, 6, 2, 7, 8, 9};
    static const uint64_t want[] = {4, 5, 6, 6, 7, 8, 9};

    (void)state;
    assert_int_equal(repair(time, 7, 0), 1);
    assert_memory_equal(time, want, sizeof want);
}

static void what_was_trusted_stays(void **state)
{
    uint64_t time[] = {3, 11, 12};
    static const uint64_t want[] = {10, 11, 12};

    (void)state;
    assert_int_equal(repair(time, 3, 10), 1);
    assert_memory_equal(time, want, sizeof want);
}

static void time_before_the_stated_start_is_in_order(void **state)
{
    uint64_t time[] = {(uint64_t)-20, (uint64_t)-10, 5};
    static const uint64_t want[] = {(uint64_t)-20, (uint64_t)-10, 5};

    (void)state;
    assert_int_equal(repair(time, 3, (uint64_t)-20), 0);
    assert_memory_equal(time, want, sizeof want);
}

/* Any input at all comes out in order. */
static void noise_comes_out_in_order(void **state)
{
    uint64_t time[300];

    (void)state;
    srand(1);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < 300; i++)
            time[i] = (uint64_t)(rand() % 1000);
        repair(time, 300, 7);
        assert_true(time[0] >= 7);
        for (size_t i = 1; i < 300; i++)
            assert_true(time[i - 1] <= time[i]);
    }
}

static uint64_t bound(uint64_t *time, size_t n, uint64_t floor_ns)
{
    struct event event[8];
    uint64_t n_moved;

    for (size_t i = 0; i < n; i++)
        event[i].time_ns = time[i];
    n_moved = monotone_bound(event, n, floor_ns);
    for (size_t i = 0; i < n; i++)
        time[i] = event[i].time_ns;
    return n_moved;
}

/* 2^62 and 2^63, as ns: no clock says that. */
static void an_impossible_time_is_that_of_a_neighbour(void **state)
{
    uint64_t time[] = {(uint64_t)1 << 63, (uint64_t)1 << 62, 3, 4, (uint64_t)1 << 62, 5};
    static const uint64_t want[] = {3, 3, 3, 4, 4, 5}, known[] = {2, 2, 3, 4, 4, 5};
    uint64_t again[6],
        early[] = {TIME_EARLIEST_NS, TIME_EARLIEST_NS - 1, TIME_LATEST_NS, TIME_LATEST_NS + 1};
    static const uint64_t kept[] = {TIME_EARLIEST_NS, TIME_EARLIEST_NS, TIME_LATEST_NS,
                                    TIME_LATEST_NS};

    (void)state;
    memcpy(again, time, sizeof again);
    assert_int_equal(bound(time, 6, MONOTONE_NO_FLOOR), 3);
    assert_memory_equal(time, want, sizeof want);
    assert_int_equal(bound(again, 6, 2), 3);
    assert_memory_equal(again, known, sizeof known);
    assert_int_equal(bound(early, 4, MONOTONE_NO_FLOOR), 2);
    assert_memory_equal(early, kept, sizeof kept);
}

static void a_location_of_impossible_times_is_at_the_start(void **state)
{
    uint64_t time[] = {(uint64_t)1 << 63, (uint64_t)1 << 62};

    (void)state;
    assert_int_equal(bound(time, 2, MONOTONE_NO_FLOOR), 2);
    assert_int_equal(time[0], 0);
    assert_int_equal(time[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impossible_time_is_that_of_a_neighbour),
        cmocka_unit_test(a_location_of_impossible_times_is_at_the_start),
        cmocka_unit_test(a_late_outlier_is_moved_back),
        cmocka_unit_test(a_run_of_late_outliers_is_moved_back),
        cmocka_unit_test(an_early_outlier_is_moved_up),
        cmocka_unit_test(what_was_trusted_stays),
        cmocka_unit_test(time_before_the_stated_start_is_in_order),
        cmocka_unit_test(noise_comes_out_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
