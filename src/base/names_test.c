#include "base/names.h"

#include "test.h"

static void ids_are_dense_and_stable(void **state)
{
    struct names names = {0};
    char text[32];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "region %d", i);
        assert_int_equal(names_add(&names, text), i);
    }
    assert_int_equal(names_add(&names, "region 17"), 17);
    assert_int_equal(names_find(&names, "region 4999"), 4999);
    assert_string_equal(names.name[4999], "region 4999");
    names_release(&names);
}

static void unknown_names_are_not_found(void **state)
{
    struct names names = {0};

    (void)state;
    assert_int_equal(names_find(&names, "x"), NAMES_NONE);
    names_add(&names, "");
    assert_int_equal(names_find(&names, ""), 0);
    assert_int_equal(names_find(&names, "x"), NAMES_NONE);
    names_release(&names);
    names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_stable),
        cmocka_unit_test(unknown_names_are_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
