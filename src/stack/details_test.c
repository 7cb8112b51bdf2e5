#include "stack/details.h"

#include "test.h"

static void a_text_is_kept_once_and_cut_between_characters(void **state)
{
    struct details d = {0};
    struct argument_value value = {.kind = ARGUMENT_TEXT};
    char two[ARGUMENT_TEXT_BYTES + 8];

    (void)state;
    memset(two, 'x', sizeof two);
    memcpy(two + ARGUMENT_TEXT_BYTES - 2, "\xc3\xa4", 2); /* its second byte has no room */
    two[sizeof two - 1] = '\0';
    for (uint32_t i = 0; i < 4; i++) {
        value.text = i % 2 ? two : "north";
        assert_true(details_argument(&d, NULL, i, &value));
    }
    assert_int_equal(d.n_arguments, 4);
    assert_int_equal(d.argument[0].natural, d.argument[2].natural);
    assert_int_equal(d.argument[1].natural, d.argument[3].natural);
    assert_int_equal(strlen(d.text + d.argument[1].natural), ARGUMENT_TEXT_BYTES - 2);
    assert_int_equal(d.n_text, sizeof "north" + ARGUMENT_TEXT_BYTES - 1);
    details_clear(&d);
    value.text = "south";
    assert_true(details_argument(&d, NULL, 0, &value));
    assert_string_equal(d.text + d.argument[0].natural, "south");
    details_release(&d, NULL);
}

static void sorting_keeps_those_of_a_call_in_their_order(void **state)
{
    static const uint32_t call[] = {3, 0, 3, 1, 0, 3};
    static const int64_t sorted[] = {1, 4, 3, 0, 2, 5};
    struct details d = {0};

    (void)state;
    for (int64_t i = 0; i < 6; i++)
        assert_true(details_argument(
            &d, NULL, call[i], &(struct argument_value){.kind = ARGUMENT_WHOLE, .whole = i}));
    details_sort(&d, NULL, 4);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(d.argument[i].whole, sorted[i]);
    details_release(&d, NULL);
}

static void who_only_counts_keeps_nothing(void **state)
{
    struct details d = {.only_counts = true};

    (void)state;
    for (int64_t i = 0; i < 3; i++)
        assert_true(details_reading(&d, NULL, &(struct detail_reading){.row = 1},
                                    &(struct counter_value){.whole = i}));
    assert_true(
        details_argument(&d, NULL, 0, &(struct argument_value){.kind = ARGUMENT_WHOLE}));
    assert_true(d.n_readings == 0 && d.n_arguments == 0 && d.reading == NULL);
    assert_true(d.n_counted_readings == 3 && d.n_counted_arguments == 1);
    details_clear(&d);
    assert_true(d.only_counts && d.n_counted_readings == 0);
    details_release(&d, NULL);
}

static void what_has_no_room_in_a_record_is_refused(void **state)
{
    struct details d = {0};
    struct detail_reading at = {.time_ns = 1};

    (void)state;
    assert_false(
        details_reading(&d, NULL, &at, &(struct counter_value){.counter = MAX_COUNTERS}));
    assert_true(details_reading(
        &d, NULL, &at,
        &(struct counter_value){.counter = MAX_COUNTERS - 1, .is_real = true, .real = 0.5}));
    assert_int_equal(reading_counter(&d.reading[0]), MAX_COUNTERS - 1);
    assert_true(reading_value(&d.reading[0]) == 0.5);
    assert_false(details_argument(&d, NULL, 0,
                                  &(struct argument_value){.argument = MAX_ARGUMENT_NAMES}));
    details_release(&d, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_kept_once_and_cut_between_characters),
        cmocka_unit_test(sorting_keeps_those_of_a_call_in_their_order),
        cmocka_unit_test(who_only_counts_keeps_nothing),
        cmocka_unit_test(what_has_no_room_in_a_record_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
