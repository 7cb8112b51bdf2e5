#include "base/sequence.h"

#include "base/pool.h"

#include "test.h"

struct order {
    struct sequence seq;
    size_t seen[500];
    size_t n;
};

static void take_turn(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct order *order = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        sequence_wait(&order->seq, i);
        order->seen[order->n++] = i;
        sequence_next(&order->seq);
    }
}

static void turns_come_in_order(void **state)
{
    struct pool *pool = pool_new(4);
    struct order order = {.n = 0};

    (void)state;
    sequence_init(&order.seq);
    pool_for(pool, 500, 1, take_turn, &order);
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(order.seen[i], i);
    sequence_release(&order.seq);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_come_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
