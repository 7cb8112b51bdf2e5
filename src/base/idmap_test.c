#include "base/idmap.h"

#include "test.h"

static void ids_are_dense_and_keys_come_back(void **state)
{
    struct idmap map = {0};

    (void)state;
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(idmap_add(&map, key_quad(i % 7, i, 0, 3)), i);
    assert_int_equal(idmap_add(&map, key_quad(3, 10, 0, 3)), 10);
    assert_int_equal(idmap_find(&map, key_quad(4, 10, 0, 3)), IDMAP_NONE);
    assert_int_equal(map.key[10].low, 3);
    idmap_release(&map);
    idmap_release(&map);
}

static void keys_that_cancel_the_mixing_constant_still_differ(void **state)
{
    struct idmap map = {0};

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(idmap_add(&map, key_pair(0x9e3779b97f4a7c15u, i)), i);
    assert_int_equal(idmap_find(&map, key_pair(0x9e3779b97f4a7c15u, 999)), 999);
    idmap_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_keys_come_back),
        cmocka_unit_test(keys_that_cancel_the_mixing_constant_still_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
