#include "analysis/recurrence.h"

#include "test.h"

#define MAX_EXECUTIONS 256

struct fixture {
    struct occurrence x[MAX_EXECUTIONS];
    size_t n;
};

static void add(struct fixture *f, uint32_t location, uint32_t index, double cost)
{
    assert_true(f->n < MAX_EXECUTIONS);
    f->x[f->n++] =
        (struct occurrence){.location = location, .index = index, .n_here = 1000, .cost = cost};
}

static size_t count(const struct fixture *f, uint32_t period)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->x[i].period == period;
    return n;
}

static void what_comes_at_equal_distances_is_one(void **state)
{
    struct fixture f = {.n = 0};

    (void)state;
    for (uint32_t i = 99; i < 1000; i += 100)
        add(&f, 3, i, i == 499 ? 1.9 : 1);
    recurrence_find(f.x, f.n);
    assert_int_equal(count(&f, 100), 10);
    for (size_t i = 0; i < f.n; i++)
        assert_int_equal(f.x[i].turn_of, 4); /* cost most */
}

static void others_between_and_a_missing_turn_do_not_hide_it(void **state)
{
    struct fixture f = {.n = 0};

    (void)state;
    for (uint32_t i = 0; i < 14; i++)
        add(&f, 0, 3 + 71 * i % 97, 1); /* a crowd at the beginning */
    for (uint32_t i = 150; i < 1000; i += 100)
        if (i != 450)
            add(&f, 0, i, 1);
    recurrence_find(f.x, f.n);
    assert_int_equal(count(&f, 100), 8);
    assert_int_equal(count(&f, 0), 14);
}

static void what_cost_much_more_is_no_turn(void **state)
{
    struct fixture f = {.n = 0};

    (void)state;
    for (uint32_t i = 0; i < 1000; i += 100)
        add(&f, 0, i, i == 300 ? 5 : 1);
    recurrence_find(f.x, f.n);
    assert_int_equal(count(&f, 100), 9);
    assert_int_equal(f.x[3].period, 0);
    assert_int_equal(f.x[3].turn_of, 3);
}

static void few_turns_or_half_of_them_are_chance(void **state)
{
    struct fixture f = {.n = 0};

    (void)state;
    for (uint32_t i = 0; i < 500; i += 100)
        add(&f, 0, i, 1);
    for (uint32_t i = 0; i < 500; i += 50)
        add(&f, 1, i, 1); /* and then no more: ten of twenty */
    for (uint32_t i = 0; i < 1000; i += 10)
        add(&f, 2, i, 1); /* one in ten */
    recurrence_find(f.x, f.n);
    for (size_t i = 0; i < f.n; i++)
        if (f.x[i].location != 2)
            assert_int_equal(f.x[i].period, 0);
}

static void two_at_once_are_told_apart(void **state)
{
    struct fixture f = {.n = 0};

    (void)state;
    for (uint32_t i = 0; i < 1000; i += 100)
        add(&f, 0, i, 1);
    for (uint32_t i = 60; i < 1000; i += 125)
        add(&f, 0, i, 1);
    for (uint32_t i = 0; i < 1000; i += 100)
        add(&f, 1, i, 1);
    recurrence_find(f.x, f.n);
    assert_int_equal(count(&f, 100), 20);
    assert_int_equal(count(&f, 125), 8);
    for (size_t i = 0; i < f.n; i++)
        assert_int_equal(f.x[f.x[i].turn_of].location, f.x[i].location);
}

static void at_random_nothing_comes_back(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int run = 0; run < 200; run++) {
        struct fixture f = {.n = 0};
        uint32_t index = 0;

        for (;;) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            index += 1 + (uint32_t)(random >> 33) % 99; /* one in fifty */
            if (index >= 1000)
                break;
            add(&f, 0, index, 1);
        }
        recurrence_find(f.x, f.n);
        assert_int_equal(count(&f, 0), f.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_at_equal_distances_is_one),
        cmocka_unit_test(others_between_and_a_missing_turn_do_not_hide_it),
        cmocka_unit_test(what_cost_much_more_is_no_turn),
        cmocka_unit_test(few_turns_or_half_of_them_are_chance),
        cmocka_unit_test(two_at_once_are_told_apart),
        cmocka_unit_test(at_random_nothing_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
