#include "base/queue.h"

#include "test.h"

static void items_come_out_in_order_and_a_full_queue_refuses(void **state)
{
    struct queue queue;
    int item[3];

    (void)state;
    queue_init(&queue, 2);
    for (int round = 0; round < 5; round++) {
        assert_true(queue_put(&queue, &item[0]));
        assert_true(queue_put(&queue, &item[1]));
        assert_false(queue_put(&queue, &item[2]));
        assert_ptr_equal(queue_take(&queue), &item[0]);
        assert_true(queue_put(&queue, &item[2]));
        assert_ptr_equal(queue_take(&queue), &item[1]);
        assert_ptr_equal(queue_take(&queue), &item[2]);
    }
    queue_release(&queue);
}

static void a_closed_queue_is_emptied_and_then_ends(void **state)
{
    struct queue queue;
    int item;

    (void)state;
    queue_init(&queue, 2);
    queue_put(&queue, &item);
    queue_close(&queue);
    assert_false(queue_put(&queue, &item));
    assert_ptr_equal(queue_take(&queue), &item);
    assert_null(queue_take(&queue));
    queue_release(&queue);
}

static void a_full_queue_is_waited_for_but_not_forever(void **state)
{
    struct queue queue;
    void *taken[4];
    int item;

    (void)state;
    queue_init(&queue, 3);
    for (int i = 0; i < 3; i++)
        assert_true(queue_put_within(&queue, &item, 0));
    assert_false(queue_put_within(&queue, &item, 2));
    assert_int_equal(queue_take_some(&queue, taken, 2), 2);
    assert_true(queue_put_within(&queue, &item, 0));
    assert_int_equal(queue_take_some(&queue, taken, 4), 2);
    assert_int_equal(queue_total(&queue), 4);
    assert_false(queue_is_closed(&queue));
    queue_close(&queue);
    assert_true(queue_is_closed(&queue));
    assert_false(queue_put_within(&queue, &item, 1000));
    assert_int_equal(queue_take_some(&queue, taken, 4), 0);
    queue_release(&queue);
}

static void what_is_ready_is_taken_without_waiting(void **state)
{
    struct queue queue;
    void *taken[4];
    int item[3];

    (void)state;
    queue_init(&queue, 3);
    assert_int_equal(queue_take_ready(&queue, taken, 4), 0);
    for (int i = 0; i < 3; i++)
        assert_true(queue_put(&queue, &item[i]));
    assert_int_equal(queue_take_ready(&queue, taken, 2), 2);
    assert_int_equal(queue_take_ready(&queue, taken + 2, 2), 1);
    assert_ptr_equal(taken[2], &item[2]);
    assert_int_equal(queue_take_ready(&queue, taken, 4), 0);
    queue_close(&queue);
    assert_int_equal(queue_take_ready(&queue, taken, 4), 0);
    queue_release(&queue);
}

#define N_GIVEN 20000

static void *give(void *arg)
{
    static char item[N_GIVEN];

    for (size_t i = 0; i < N_GIVEN;)
        i += i % 2 ? queue_put(arg, &item[i]) : queue_put_within(arg, &item[i], 10);
    return NULL;
}

static void nothing_is_lost_between_threads(void **state)
{
    struct queue queue;
    pthread_t giver;
    char *before = NULL;
    size_t n = 0;

    (void)state;
    queue_init(&queue, 8);
    pthread_create(&giver, NULL, give, &queue);
    for (; n < N_GIVEN; n++) {
        char *item = queue_take(&queue);

        assert_true(before == NULL || item == before + 1);
        before = item;
    }
    pthread_join(giver, NULL);
    queue_release(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_order_and_a_full_queue_refuses),
        cmocka_unit_test(a_closed_queue_is_emptied_and_then_ends),
        cmocka_unit_test(a_full_queue_is_waited_for_but_not_forever),
        cmocka_unit_test(what_is_ready_is_taken_without_waiting),
        cmocka_unit_test(nothing_is_lost_between_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
