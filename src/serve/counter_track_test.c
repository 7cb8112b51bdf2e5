/* Windows over readings that are made by hand; what is known of each column is worked out by
 * hand. */
#include "serve/api_counters.h"

#include "base/mem.h"

#include <stdlib.h>

#include "test.h"

enum { TICKS, HEAT, MAX_READINGS = 32 };

static const struct counter grows = {COUNTER_ACCUMULATED, COUNTER_SINCE_START, "#"};
static const struct counter holds = {COUNTER_ABSOLUTE, COUNTER_AT_POINT, "C"};
static const struct counter averaged = {COUNTER_ABSOLUTE, COUNTER_SINCE_LAST, "W"};
static const struct counter on_top = {COUNTER_RELATIVE, COUNTER_SINCE_LAST, "#"};
static const struct counter to_come = {COUNTER_RELATIVE, COUNTER_UNTIL_NEXT, "#"};

struct sample {
    struct detail_reading reading[MAX_READINGS];
    struct detail_view view;
};

static void read_whole(struct sample *s, uint64_t ns, uint16_t counter, int64_t value)
{
    s->reading[s->view.n_readings++] =
        (struct detail_reading){.time_ns = ns, .whole = value, .counter = counter};
    s->view.reading = s->reading;
}

static void read_real(struct sample *s, uint64_t ns, uint16_t counter, double value)
{
    read_whole(s, ns, counter | READING_REAL, 0);
    s->reading[s->view.n_readings - 1].real = value;
}

/* From a time to another, in so many columns. */
static struct counter_track look(const struct sample *s, const struct counter *is,
                                 uint64_t begin_ns, uint64_t end_ns, uint32_t width)
{
    struct counter_track_window w = {begin_ns, end_ns, width, 1000};
    struct counter_track track = {0};

    counter_track_add(&track, &s->view, 7, TICKS, is, &w);
    return track;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void assert_piece(const struct counter_track *track, size_t i,
                         const struct counter_piece *expected)
{
    const struct counter_piece *p = &track->piece[i];

    assert_true(i < track->n);
    assert_int_equal(p->location, 7);
    assert_int_equal(p->first, expected->first);
    assert_int_equal(p->end, expected->end);
    assert_true(is_near(p->least, expected->least));
    assert_true(is_near(p->greatest, expected->greatest));
    assert_true(is_near(p->mean, expected->mean));
}

/*
 *     ns       0     10    20    30    40    50    60
 *     ticks    2     6     6                 9
 *     per ns   |.4---|0----|.1---------------|
 *     columns  [       0       |       1        ]        of 30 ns
 *
 * In column 0: (10 x .4 + 10 x 0 + 10 x .1) / 30 = 1/6 per ns; in column 1: .1, of 20 ns.
 */
static void what_grows_is_told_by_its_rate(void **state)
{
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 0, TICKS, 2);
    read_whole(&s, 10, TICKS, 6);
    read_whole(&s, 15, HEAT, 1000);
    read_whole(&s, 20, TICKS, 6);
    read_whole(&s, 50, TICKS, 9);
    track = look(&s, &grows, 0, 60, 2);
    assert_true(counter_track_is_rate(&grows));
    assert_int_equal(track.n, 2);
    assert_int_equal(track.n_readings, 4);
    assert_false(track.is_estimate);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 1, 0, .4e9, 1e9 / 6});
    assert_piece(&track, 1, &(struct counter_piece){7, 1, 2, .1e9, .1e9, .1e9});
    counter_track_release(&track);
}

/*
 *     ns       0     10    20    30    40
 *     ticks    5     8     3     3+1   9         begins anew at 20; two readings at 30
 *     per ns   |.3---|?----|.1---|.5---|
 *
 * Numbers of 2^62 and more are subtracted as they are: a double would not tell 8 from 5.
 */
static void a_counter_that_began_anew_says_nothing_of_the_time_between(void **state)
{
    const int64_t large = (int64_t)1 << 62;
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 0, TICKS, large + 5);
    read_whole(&s, 10, TICKS, large + 8);
    read_whole(&s, 20, TICKS, 3);
    read_whole(&s, 30, TICKS, 3);
    read_whole(&s, 30, TICKS, 4);
    read_whole(&s, 40, TICKS, 9);
    track = look(&s, &grows, 0, 40, 4);
    assert_int_equal(track.n_fell, 1);
    assert_int_equal(track.n, 3);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 1, .3e9, .3e9, .3e9});
    assert_piece(&track, 1, &(struct counter_piece){7, 2, 3, .1e9, .1e9, .1e9});
    assert_piece(&track, 2, &(struct counter_piece){7, 3, 4, .5e9, .5e9, .5e9});
    counter_track_release(&track);
}

/*
 *     ns       0     10         25       40      60
 *     heat           3          5   5.5          (at 25: 9, then 5)
 *     columns     [20    30     40     50     60]
 *
 * The window begins within what was read at 10. Column 20..30: 3 for 5 ns, 5 for 5 ns, and 9
 * for no time; then 5, all of 30..40; 5.5 was the last that was read, at 40.
 */
static void what_does_not_grow_holds_until_the_next_reading(void **state)
{
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 10, TICKS, 3);
    read_whole(&s, 25, TICKS, 9);
    read_whole(&s, 25, TICKS, 5);
    read_real(&s, 40, TICKS, 5.5);
    track = look(&s, &holds, 20, 60, 4);
    assert_false(counter_track_is_rate(&holds));
    assert_int_equal(track.n, 3);
    assert_int_equal(track.n_readings, 3);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 1, 3, 9, 4});
    assert_piece(&track, 1, &(struct counter_piece){7, 1, 2, 5, 5, 5});
    assert_piece(&track, 2, &(struct counter_piece){7, 2, 3, 5.5, 5.5, 5.5});
    counter_track_release(&track);

    /* Between two readings, with none inside: one piece as long as the window. */
    track = look(&s, &holds, 12, 20, 4);
    assert_int_equal(track.n, 1);
    assert_int_equal(track.n_readings, 0);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 4, 3, 3, 3});
    counter_track_release(&track);

    /* Before the first nothing is known, nor behind the last. */
    track = look(&s, &holds, 0, 10, 4);
    assert_int_equal(track.n, 0);
    track = look(&s, &holds, 41, 60, 4);
    assert_int_equal(track.n, 0);
}

/*
 *     ns       0     10         30
 *     watts    1     4          6         each of the time since the one before
 *     levels   |4----|6---------|
 */
static void a_mean_since_the_last_reading_is_of_the_time_before_it(void **state)
{
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 0, TICKS, 1);
    read_whole(&s, 10, TICKS, 4);
    read_whole(&s, 30, TICKS, 6);
    track = look(&s, &averaged, 1, 31, 3);
    assert_int_equal(track.n, 2);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 1, 4, 6, (9 * 4 + 1 * 6) / 10.0});
    assert_piece(&track, 1, &(struct counter_piece){7, 1, 3, 6, 6, 6});
    counter_track_release(&track);
}

/*
 *     ns       0     10         30     40
 *     added    1     4          6 and 2
 *     since the last   .4 |   (6 + 2) / 20 = .4 |
 *     until the next   1 / 10 = .1 | 4 / 20 = .2 |    what is to come at 30 is not known
 */
static void what_is_told_bit_by_bit_is_added_up(void **state)
{
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 0, TICKS, 1);
    read_whole(&s, 10, TICKS, 4);
    read_whole(&s, 30, TICKS, 6);
    read_whole(&s, 30, TICKS, 2);
    track = look(&s, &on_top, 0, 40, 4);
    assert_int_equal(track.n, 1);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 3, .4e9, .4e9, .4e9});
    counter_track_release(&track);
    track = look(&s, &to_come, 0, 40, 4);
    assert_int_equal(track.n, 2);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 1, .1e9, .1e9, .1e9});
    assert_piece(&track, 1, &(struct counter_piece){7, 1, 3, .2e9, .2e9, .2e9});
    counter_track_release(&track);
}

/* Of 1,000 readings, one each 10 ns, 100 are looked at: ten in each of ten columns, and what
 * lies between them and the next column is passed over. All grow by 3. */
static void of_too_many_readings_some_are_looked_at_in_each_column(void **state)
{
    struct detail_reading *reading = mem_alloc(1000, sizeof *reading);
    struct detail_view view = {.reading = reading, .n_readings = 1000};
    struct counter_track_window w = {0, 10000, 10, 100};
    struct counter_track track = {0};

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        reading[i] = (struct detail_reading){.time_ns = 10 * i, .whole = (int64_t)(3 * i)};
    counter_track_add(&track, &view, 7, TICKS, &grows, &w);
    assert_true(track.is_estimate);
    assert_int_equal(track.n_readings, 100);
    assert_int_equal(track.n, 1);
    assert_piece(&track, 0, &(struct counter_piece){7, 0, 10, .3e9, .3e9, .3e9});
    counter_track_release(&track);

    /* A peak that is passed over is not seen, one that is looked at is. */
    reading[5].whole = 1000000;
    reading[50].whole = 2000000;
    counter_track_add(&track, &view, 7, TICKS, &holds, &w);
    assert_true(is_near(track.piece[0].greatest, 1000000));
    counter_track_release(&track);
    w.most = 1000;
    counter_track_add(&track, &view, 7, TICKS, &holds, &w);
    assert_false(track.is_estimate);
    assert_true(is_near(track.piece[0].greatest, 2000000));
    counter_track_release(&track);
    free(reading);
}

/* Numbers from a file that somebody else wrote: times that go back, values that are none. */
static void readings_out_of_order_are_survived(void **state)
{
    struct sample s = {0};
    struct counter_track track;

    (void)state;
    read_whole(&s, 500, TICKS, INT64_MIN);
    read_whole(&s, 3, TICKS, INT64_MAX);
    read_real(&s, UINT64_MAX, TICKS, (double)INFINITY);
    read_real(&s, 20, 0x7fff, 1);
    read_real(&s, 10, TICKS, -1e308);
    read_real(&s, 11, TICKS, 1e308);
    for (int k = 0; k < 2; k++) {
        track = look(&s, k ? &grows : &holds, 0, 100, 8);
        for (size_t i = 0; i < track.n; i++)
            assert_true(track.piece[i].least <= track.piece[i].greatest &&
                        track.piece[i].first < track.piece[i].end && track.piece[i].end <= 8);
        counter_track_release(&track);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_is_told_by_its_rate),
        cmocka_unit_test(a_counter_that_began_anew_says_nothing_of_the_time_between),
        cmocka_unit_test(what_does_not_grow_holds_until_the_next_reading),
        cmocka_unit_test(a_mean_since_the_last_reading_is_of_the_time_before_it),
        cmocka_unit_test(what_is_told_bit_by_bit_is_added_up),
        cmocka_unit_test(of_too_many_readings_some_are_looked_at_in_each_column),
        cmocka_unit_test(readings_out_of_order_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
