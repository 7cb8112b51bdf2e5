#include "base/library.h"

#include "test.h"

struct cosine {
    double (*cos)(double);
};
static const char *const names[] = {"cos"};

static void the_first_that_has_all_is_taken(void **state)
{
    struct cosine loaded = {0};
    char why[200];

    (void)state;
    assert_true(library_try("libnone-here.so.9 libz.so.1 libm.so.6", names, 1, &loaded, why,
                            sizeof why));
    assert_true(loaded.cos(0) == 1);
    assert_string_equal(why, ""); /* what was said of those before is no trouble */
}

static void what_is_said_is_of_the_first(void **state)
{
    struct cosine loaded = {0};
    char why[200], cut[8];

    (void)state;
    assert_false(
        library_try("libnone-here.so.9 libnor-this.so.8", names, 1, &loaded, why, sizeof why));
    assert_non_null(strstr(why, "libnone-here.so.9"));
    assert_false(library_try("libnone-here.so.9", names, 1, &loaded, cut, sizeof cut));
    assert_string_equal(cut, "libnone");
    /* one that is there, and is no library */
    assert_false(library_try("libnone-here.so.9 /etc/passwd /etc/group", names, 1, &loaded, why,
                             sizeof why));
    assert_non_null(strstr(why, "/etc/passwd"));
    assert_false(library_try("", names, 1, &loaded, why, sizeof why));
    assert_string_equal(why, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_has_all_is_taken),
        cmocka_unit_test(what_is_said_is_of_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
