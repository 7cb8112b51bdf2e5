#include "base/latest_value.h"

#include "test.h"

static void a_copy_is_what_was_written_last(void **state)
{
    struct latest_value latest_value;
    size_t size;
    char *copy;

    (void)state;
    latest_value_init(&latest_value);
    assert_null(latest_value_copy(&latest_value, &size));
    latest_value_write(&latest_value, "first", 6);
    latest_value_write(&latest_value, "2nd", 4);
    copy = latest_value_copy(&latest_value, &size);
    assert_int_equal(size, 4);
    assert_string_equal(copy, "2nd");
    free(copy);
    latest_value_write(&latest_value, NULL, 0);
    assert_null(latest_value_copy(&latest_value, &size));
    latest_value_release(&latest_value);
}

static void *write_many(void *arg)
{
    for (unsigned i = 1; i < 5000; i++) {
        unsigned twice[2] = {i, i};

        latest_value_write(arg, twice, sizeof twice);
    }
    return NULL;
}

static void a_copy_is_never_half_of_two(void **state)
{
    struct latest_value latest_value;
    pthread_t writer;
    unsigned seen = 0;

    (void)state;
    latest_value_init(&latest_value);
    pthread_create(&writer, NULL, write_many, &latest_value);
    while (seen < 4999) {
        size_t size;
        unsigned *copy = latest_value_copy(&latest_value, &size);

        if (copy) {
            assert_int_equal(copy[0], copy[1]);
            assert_true(copy[0] >= seen);
            seen = copy[0];
        }
        free(copy);
    }
    pthread_join(writer, NULL);
    latest_value_release(&latest_value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_what_was_written_last),
        cmocka_unit_test(a_copy_is_never_half_of_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
