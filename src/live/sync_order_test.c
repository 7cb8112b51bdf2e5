/* Parts of a collective of three ranks, by hand. */
#include "live/sync_order.h"

#include "test.h"

static const struct comm three = {.n_members = 3};

static bool add(struct sync_order *order, uint32_t rank, uint64_t begin_ns, uint64_t end_ns,
                enum collective_kind kind)
{
    struct collective part = {
        .begin_ns = begin_ns, .end_ns = end_ns, .kind = (uint32_t)kind, .root = 1};

    return sync_order_add(order, &part, &three, rank);
}

static void nobody_leaves_before_all_have_come(void **state)
{
    struct sync_order order = {0};

    (void)state;
    assert_false(add(&order, 0, 10, 30, COLLECTIVE_BARRIER));
    assert_false(add(&order, 1, 30, 31, COLLECTIVE_BARRIER)); /* when that one left */
    assert_true(add(&order, 2, 31, 32, COLLECTIVE_BARRIER));  /* after it had left */
    sync_order_release(&order);
    assert_false(add(&order, 0, 31, 32, COLLECTIVE_ALL_TO_ALL));
    assert_true(add(&order, 1, 10, 30, COLLECTIVE_ALL_TO_ALL));
    sync_order_release(&order);
}

/* Of one to all only the root is waited for, rank 1; of all to one only it waits. */
static void who_need_not_wait_may_leave(void **state)
{
    struct sync_order order = {0};

    (void)state;
    assert_false(add(&order, 0, 50, 60, COLLECTIVE_ONE_TO_ALL));
    assert_false(add(&order, 1, 10, 20, COLLECTIVE_ONE_TO_ALL));
    assert_true(add(&order, 2, 5, 9, COLLECTIVE_ONE_TO_ALL));
    sync_order_release(&order);
    assert_false(add(&order, 0, 10, 20, COLLECTIVE_ALL_TO_ONE));
    assert_false(add(&order, 2, 50, 60, COLLECTIVE_ALL_TO_ONE));
    assert_true(add(&order, 1, 30, 40, COLLECTIVE_ALL_TO_ONE));
    sync_order_release(&order);
    assert_false(add(&order, 0, 10, 20, COLLECTIVE_OTHER));
    assert_false(add(&order, 1, 30, 40, COLLECTIVE_OTHER));
    sync_order_release(&order);
}

/* All three parts of each are there, of every 100th but two. */
static void what_is_whole_is_forgotten(void **state)
{
    struct sync_order order = {0};

    (void)state;
    for (uint32_t i = 0; i < 3 * SYNC_ORDER_MAX_PENDING; i++) {
        struct collective part = {.begin_ns = 10, .end_ns = 20, .order = i};

        for (uint32_t rank = 0; rank < (i % 100 == 0 ? 2 : 3); rank++)
            assert_false(sync_order_add(&order, &part, &three, rank));
        sync_order_forget(&order);
    }
    assert_in_range(order.id.n, 3 * SYNC_ORDER_MAX_PENDING / 100,
                    6 * SYNC_ORDER_MAX_PENDING / 100 + 2000);
    assert_true(
        sync_order_add(&order, &(struct collective){.begin_ns = 21, .end_ns = 22}, &three, 2));
    sync_order_release(&order);
}

static void what_is_never_whole_is_bounded(void **state)
{
    struct sync_order order = {0};

    (void)state;
    for (uint32_t i = 0; i < 5 * SYNC_ORDER_MAX_PENDING; i++) {
        struct collective part = {.begin_ns = 10, .end_ns = 20, .order = i};

        assert_false(sync_order_add(&order, &part, &three, 0));
        sync_order_forget(&order);
        assert_true(order.id.n <= 2 * SYNC_ORDER_MAX_PENDING + 2000);
    }
    sync_order_release(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_leaves_before_all_have_come),
        cmocka_unit_test(who_need_not_wait_may_leave),
        cmocka_unit_test(what_is_whole_is_forgotten),
        cmocka_unit_test(what_is_never_whole_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
