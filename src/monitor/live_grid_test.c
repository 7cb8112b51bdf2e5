#include "monitor/live_grid.h"

#include "test.h"

static void add(struct live_grid *grid, uint32_t row, uint64_t time_ns, double calls)
{
    live_grid_add(grid, row, time_ns, (double[LIVE_PLANES]){calls, 0, 2 * calls, 0});
}

static double sum(const struct live_grid *grid, enum live_plane plane, uint32_t row,
                  uint64_t from_ns, uint64_t to_ns, uint32_t width)
{
    double value[LIVE_MAX_BINS], total = 0;
    struct live_span span = live_grid_span(grid, from_ns, to_ns, UINT64_MAX - 1, width);

    assert_true(span.width <= width);
    live_grid_read(grid, plane, row, &span, value);
    for (uint32_t i = 0; i < span.width; i++)
        total += value[i];
    return total;
}

/* A run of 11 days, in steps that grow: nothing is lost, memory stays. */
static void sums_are_exact_however_long_the_run(void **state)
{
    struct live_grid grid;
    uint64_t time_ns = 5000000, n = 0;

    (void)state;
    live_grid_init(&grid);
    live_grid_grow(&grid, 3);
    for (; time_ns < 1000000000000000; time_ns += 1 + time_ns / 1000, n++)
        add(&grid, n % 3, time_ns, 1);
    assert_int_equal(grid.n_bins, LIVE_MAX_BINS);
    assert_true(sum(&grid, LIVE_CALLS, 0, 0, UINT64_MAX, 100) +
                    sum(&grid, LIVE_CALLS, 1, 0, UINT64_MAX, 1000) +
                    sum(&grid, LIVE_CALLS, 2, 0, UINT64_MAX, 1) ==
                (double)n);
    assert_true(sum(&grid, LIVE_SEVERITY, 1, 0, UINT64_MAX, 7) ==
                2 * sum(&grid, LIVE_CALLS, 1, 0, UINT64_MAX, 7));
    live_grid_release(&grid);
}

/*
 *     bins of 1024 ns from 0     1024 bins     time 2^20 does not fit: bins of 2048 ns
 */
static void bins_are_merged_in_pairs(void **state)
{
    struct live_grid grid;
    double value[LIVE_MAX_BINS];
    struct live_span span;

    (void)state;
    live_grid_init(&grid);
    live_grid_grow(&grid, 1);
    add(&grid, 0, 0, 1);
    add(&grid, 0, 1024, 2);
    add(&grid, 0, 2048, 4);
    assert_int_equal(grid.shift, 10);
    add(&grid, 0, 1u << 20, 8);
    assert_int_equal(grid.shift, 11);
    span = live_grid_span(&grid, 0, UINT64_MAX, 1u << 20, LIVE_MAX_BINS);
    assert_int_equal(span.width, 513);
    assert_int_equal(span.bin_ns, 2048);
    live_grid_read(&grid, LIVE_CALLS, 0, &span, value);
    assert_true(value[0] == 3 && value[1] == 4 && value[512] == 8);

    /* A window, in groups that begin at their multiples. */
    span = live_grid_span(&grid, 2048, 4096, UINT64_MAX - 1, 10);
    assert_int_equal(span.width, 1);
    assert_int_equal(span.begin_ns, 2048);
    span = live_grid_span(&grid, 2048, 1u << 20, UINT64_MAX - 1, 16);
    assert_true(span.width <= 16);
    assert_int_equal(span.begin_ns % span.bin_ns, 0);
    assert_true(sum(&grid, LIVE_CALLS, 0, 2048, (1u << 20) + 1, 16) >= 12);
    live_grid_release(&grid);
}

static void many_rows_have_fewer_bins(void **state)
{
    struct live_grid grid;
    double total = 0;

    (void)state;
    live_grid_init(&grid);
    live_grid_grow(&grid, 2);
    add(&grid, 1, 77, 3);
    for (uint32_t n = 3; n < 40000; n = n * 3 / 2 + 1) {
        live_grid_grow(&grid, n);
        add(&grid, n - 1, (uint64_t)n * 1000000, 1);
        total += 1;
    }
    assert_true((size_t)grid.row_cap * grid.n_bins <= LIVE_MAX_CELLS);
    assert_true(grid.n_bins >= LIVE_MIN_BINS);
    assert_true(sum(&grid, LIVE_CALLS, 1, 0, UINT64_MAX, 1) == 3);
    for (uint32_t row = 2; row < grid.n_rows; row++)
        total -= sum(&grid, LIVE_CALLS, row, 0, UINT64_MAX, 64);
    assert_true(total == 0);
    live_grid_release(&grid);
}

/* As where a trace states its beginning wrongly, or a time is damaged. */
static void any_time_is_in_some_bin(void **state)
{
    static const uint64_t odd[] = {0, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63,
                                   ((uint64_t)1 << 63) - 1};
    static const uint64_t begin[] = {0, 5000, (uint64_t)1 << 40};

    (void)state;
    for (size_t b = 0; b < sizeof begin / sizeof *begin; b++) {
        struct live_grid grid;

        live_grid_init(&grid);
        live_grid_grow(&grid, 1);
        live_grid_reach(&grid, begin[b], 0);
        live_grid_reach(&grid, UINT64_MAX, begin[b]);
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            add(&grid, 0, odd[i], 1);
        assert_true(sum(&grid, LIVE_CALLS, 0, 0, UINT64_MAX, 10) == sizeof odd / sizeof *odd);
        live_grid_release(&grid);
    }
}

static void what_is_before_or_beyond_is_nothing(void **state)
{
    struct live_grid grid;

    (void)state;
    live_grid_init(&grid);
    live_grid_grow(&grid, 1);
    assert_int_equal(live_grid_span(&grid, 0, UINT64_MAX, 5, 10).width, 0);
    live_grid_reach(&grid, 1 << 20, 1 << 21);
    add(&grid, 0, 5, 1); /* earlier than the beginning: the first bin */
    assert_true(sum(&grid, LIVE_CALLS, 0, 0, UINT64_MAX, 10) == 1);
    assert_int_equal(live_grid_span(&grid, 0, 0, 1 << 21, 10).width, 0);
    assert_int_equal(live_grid_span(&grid, 0, 1 << 20, 1 << 21, 10).width, 0);
    assert_int_equal(live_grid_span(&grid, 1 << 22, 1 << 23, 1 << 21, 10).width, 0);
    assert_int_equal(live_grid_span(&grid, 9, 3, 1 << 21, 10).width, 0);
    live_grid_release(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_however_long_the_run),
        cmocka_unit_test(bins_are_merged_in_pairs),
        cmocka_unit_test(many_rows_have_fewer_bins),
        cmocka_unit_test(any_time_is_in_some_bin),
        cmocka_unit_test(what_is_before_or_beyond_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
