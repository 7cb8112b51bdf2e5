/* How much of something was when and where. */
#include "serve/api_map.h"

#include "base/mem.h"

#include <math.h>

#include "sample_columns.h"
#include "test.h"

/*
 *  ns        0    100  200  300  400
 *  spread         [ 60 ns     ]        from 150 to 270: half of a stretch, and 7 tenths
 */
static void what_was_between_two_times_is_shared_out_evenly(void **state)
{
    struct rank_map map = {.begin_ns = 100, .end_ns = 500, .width = 4, .rows = 2};
    uint8_t shade[8];
    double total[2];

    (void)state;
    rank_map_init(&map);
    rank_map_spread(&map, 1, (const double[]){150, 270}, 60);
    assert_true(fabs(map.cell_ns[4] - 25) < 1e-9 && fabs(map.cell_ns[5] - 35) < 1e-9);
    rank_map_spread(&map, 1, (const double[]){0, 100}, 1000);   /* before the window, */
    rank_map_spread(&map, 1, (const double[]){500, 900}, 1000); /* behind it, */
    rank_map_spread(&map, 0, (const double[]){0, 200}, 100);    /* half of it before */
    rank_map_spread(&map, 0, (const double[]){200, 200}, 7);    /* and for no time */
    assert_true(fabs(rank_map_shades(&map, shade, total) - 50) < 1e-9);
    assert_true(fabs(total[0] - 50) < 1e-9 && fabs(total[1] - 60) < 1e-9);
    assert_int_equal(shade[0], 255);
    assert_int_equal(shade[4], 180); /* 255 sqrt(1/2) */
    assert_int_equal(shade[6], 0);
    rank_map_release(&map);
}

static void a_little_is_not_nothing(void **state)
{
    struct rank_map map = {.begin_ns = 0, .end_ns = 2, .width = 2, .rows = 1};
    uint8_t shade[2];
    double total[1];

    (void)state;
    rank_map_init(&map);
    assert_true(rank_map_shades(&map, shade, total) == 0);
    assert_int_equal(shade[0], 0);
    rank_map_spread(&map, 0, (const double[]){0, 1}, 1e-9);
    rank_map_spread(&map, 0, (const double[]){1, 2}, 1e9);
    rank_map_shades(&map, shade, total);
    assert_int_equal(shade[0], 1);
    rank_map_release(&map);
}

/* The part of each stretch in which a call of the regions is open, call by call. */
static void define(double *cell, const struct call_view *c, const struct rank_map *map,
                   const bool *is_wanted)
{
    for (uint32_t x = 0; x < map->width; x++) {
        uint64_t length = (map->end_ns - map->begin_ns) / map->width,
                 from = map->begin_ns + x * length, until = from + length, last = from;

        cell[x] = 0;
        for (uint32_t i = 0; i < c->n; i++) { /* in preorder: callers come first */
            uint64_t enter = c->enter_ns[i], leave = enter + c->inclusive_ns[i];

            if (!is_wanted[c->region[i]] || enter >= until || leave <= last)
                continue;
            enter = enter > last ? enter : last;
            leave = leave < until ? leave : until;
            cell[x] += (double)(leave - enter);
            last = leave;
        }
    }
}

/* A window of few calls, in which nothing is merged. */
static void time_in_calls_is_what_the_definition_says(void **state)
{
    struct sample_columns sample;
    const bool is_wanted[] = {false, true, false, true, false};
    double cell[16], all = 0;

    (void)state;
    sample_columns_init(&sample, 40, 3);
    for (uint32_t l = 0; l < 2; l++) {
        struct call_view c = columns_view(&sample.columns, l);
        struct rank_map map = {.width = 16, .rows = 2};

        map.begin_ns = c.enter_ns[c.n / 2];
        map.end_ns = map.begin_ns + 64;
        rank_map_init(&map);
        rank_map_add_calls(&map, &sample.columns, NULL, l, is_wanted, 5);
        define(cell, &c, &map, is_wanted);
        for (uint32_t x = 0; x < map.width; x++) {
            assert_true(fabs(map.cell_ns[l * map.width + x] - cell[x]) < 1e-6);
            all += cell[x];
        }
        rank_map_release(&map);
    }
    assert_true(all > 0);
    sample_columns_release(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_between_two_times_is_shared_out_evenly),
        cmocka_unit_test(a_little_is_not_nothing),
        cmocka_unit_test(time_in_calls_is_what_the_definition_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
