/* A number that two threads read while a third one raises it. */
#include "base/shared_cache.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "test.h"

#define LAST 2000

/* A value: the number twice, so that half a value would be seen. */
struct number {
    struct shared shared;
    int value, again;
};

static atomic_int n_alive, now, n_made;

static void free_number(struct shared *value)
{
    atomic_fetch_sub(&n_alive, 1);
    free(value);
}

static int renew(struct shared *old, void *ctx, struct shared **out)
{
    struct number *new, *before = (struct number *)old;
    int value = atomic_load(&now);

    (void)ctx;
    if (value < 0)
        return err_set(ERR_RANGE, "negative");
    *out = old;
    if (before && before->value == value)
        return 0;
    new = mem_alloc(1, sizeof *new);
    *new = (struct number){{1, free_number}, value, value};
    atomic_fetch_add(&n_alive, 1);
    atomic_fetch_add(&n_made, 1);
    *out = &new->shared;
    return 0;
}

static void begin(struct shared_cache *cache, int value)
{
    shared_cache_init(cache);
    atomic_store(&now, value);
    atomic_store(&n_made, 0);
}

static void a_value_is_made_once_and_stays_while_it_is_used(void **state)
{
    struct shared_cache cache;
    struct shared *first, *same, *other, *newer;

    (void)state;
    begin(&cache, 5);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &first), 0);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &same), 0);
    assert_ptr_equal(first, same);
    assert_int_equal(shared_cache_take(&cache, 2, renew, NULL, &other), 0);
    assert_ptr_not_equal(first, other);
    assert_int_equal(n_made, 2);
    atomic_store(&now, 6);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &newer), 0);
    assert_int_equal(((struct number *)newer)->value, 6);
    shared_cache_give_back(&cache, first);
    assert_int_equal(((struct number *)same)->value, 5);
    assert_int_equal(n_alive, 3);
    shared_cache_give_back(&cache, same);
    assert_int_equal(n_alive, 2);
    shared_cache_give_back(&cache, newer);
    shared_cache_give_back(&cache, other);
    assert_int_equal(n_alive, 2);
    shared_cache_release(&cache);
    assert_int_equal(n_alive, 0);
}

static void what_cannot_be_made_leaves_the_shelf_as_it_was(void **state)
{
    struct shared_cache cache;
    struct shared *value = NULL;

    (void)state;
    begin(&cache, -1);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &value), ERR_RANGE);
    atomic_store(&now, 3);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &value), 0);
    atomic_store(&now, -1);
    assert_int_equal(shared_cache_take(&cache, 1, renew, NULL, &value), ERR_RANGE);
    assert_int_equal(n_alive, 1);
    shared_cache_give_back(&cache, value);
    shared_cache_release(&cache);
    assert_int_equal(n_alive, 0);
}

static void *look(void *arg)
{
    int seen = 0;

    while (seen < LAST) {
        struct shared *value;
        const struct number *number;

        assert_int_equal(shared_cache_take(arg, 1, renew, NULL, &value), 0);
        number = (const struct number *)value;
        assert_int_equal(number->value, number->again);
        assert_true(number->value >= seen);
        seen = number->value;
        shared_cache_give_back(arg, value);
    }
    return NULL;
}

static void threads_see_whole_values_that_grow_newer(void **state)
{
    struct shared_cache cache;
    pthread_t thread[2];

    (void)state;
    begin(&cache, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, look, &cache);
    for (int i = 1; i <= LAST; i++)
        atomic_store(&now, i);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    shared_cache_release(&cache);
    assert_int_equal(n_alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_made_once_and_stays_while_it_is_used),
        cmocka_unit_test(what_cannot_be_made_leaves_the_shelf_as_it_was),
        cmocka_unit_test(threads_see_whole_values_that_grow_newer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
