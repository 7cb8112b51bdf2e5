/* Heaps against sorting, with values that repeat. */
#include "base/order.h"

#include "test.h"

#include <stdlib.h>

struct thing {
    uint32_t rank;
    double cost;
};

static int by_cost(const void *a, const void *b)
{
    const struct thing *p = a, *q = b;

    return ORDER(q->cost, p->cost) ?: ORDER(p->rank, q->rank);
}

static bool is_above(const uint32_t *a, const uint32_t *b)
{
    return *a > *b;
}

static void the_second_key_decides_among_those_that_have_the_same_first_one(void **state)
{
    struct thing thing[] = {{3, 1}, {1, 2}, {2, 1}, {0, 1}};

    (void)state;
    qsort(thing, 4, sizeof *thing, by_cost);
    assert_int_equal(thing[0].rank, 1);
    assert_int_equal(thing[1].rank, 0);
    assert_int_equal(thing[2].rank, 2);
    assert_int_equal(thing[3].rank, 3);
}

/* The k least of n are kept in a heap with the greatest of them on top. */
static void a_heap_keeps_the_least(void **state)
{
    uint32_t heap[8], sorted[40];

    (void)state;
    for (uint32_t n = 8; n <= 40; n++) {
        for (uint32_t i = 0; i < n; i++) {
            sorted[i] = i * 7919 % 23;
            if (i < 8) {
                heap[i] = sorted[i];
                HEAP_RISE(heap, i, is_above);
            } else if (sorted[i] < heap[0]) {
                heap[0] = sorted[i];
                HEAP_SINK(heap, 0, 8, is_above);
            }
        }
        qsort(sorted, n, sizeof *sorted, order_u32);
        assert_int_equal(heap[0], sorted[7]);
        qsort(heap, 8, sizeof *heap, order_u32);
        assert_memory_equal(heap, sorted, sizeof heap);
    }
}

static void the_kth_smallest_has_none_larger_before_it_and_none_smaller_behind(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 40; n++)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t x[40], sorted[40];

            for (uint32_t i = 0; i < n; i++)
                x[i] = sorted[i] = i * 7919 % 23;
            qsort(sorted, n, sizeof *sorted, order_u32);
            assert_int_equal(SELECT_KTH(x, n, k), sorted[k]);
            for (uint32_t i = 0; i < n; i++)
                assert_true(i < k ? x[i] <= x[k] : x[i] >= x[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_key_decides_among_those_that_have_the_same_first_one),
        cmocka_unit_test(a_heap_keeps_the_least),
        cmocka_unit_test(the_kth_smallest_has_none_larger_before_it_and_none_smaller_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
